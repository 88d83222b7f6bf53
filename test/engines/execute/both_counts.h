// One launch counted by closed forms and by executing every block, and how the two differ.
#pragma once

#include <string>

#include "engines/profile/compare.h"
#include "kernelcast/bind.h"
#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"

namespace kernelcast::both {

inline const MemoryGeometry geometries[] = {
    {}, {32, 32, 128, 32, 4, 32, 4}, {64, 64, 64, 32, 4, 4, 0, 0, 4}, {32, 32, 128, 16, 4, 32, 0, 4}};

inline twin::Counts counts_of(const Workload& w) {
  twin::Counts c;
  c.block_counts = w.block_counts;
  c.access_counts = w.access_counts;
  c.branch_counts = w.branch_counts;
  c.warp_ops = w.warp_ops;
  c.thread_ops = w.thread_ops;
  c.barriers = w.barriers;
  c.flat_barriers = w.flat_barriers;
  c.footprint_bytes = w.footprint_bytes;
  c.footprint_read_bytes = w.footprint_read_bytes;
  c.footprint_write_bytes = w.footprint_write_bytes;
  return c;
}

/// Where data decide an address, how many sectors, segments and passes it takes is not to be compared.
inline void forget_what_data_decide(const KernelProfile& profile, const Workload& symbolic, twin::Counts& executed) {
  std::size_t access = 0;
  for (const Block& b : profile.blocks)
    for (const Access& a : b.accesses) {
      if (a.unknown >= 0) {
        executed.access_counts[access].sectors = symbolic.access_counts[access].sectors;
        executed.access_counts[access].segments = symbolic.access_counts[access].segments;
        executed.access_counts[access].bank_passes = symbolic.access_counts[access].bank_passes;
      }
      ++access;
    }
}

/// Empty: none.
inline std::string differences(const Analysis& analysis, const Launch& launch, const MemoryGeometry& geometry) {
  if (!analysis.program) return "no program: " + analysis.no_program;
  ExecuteOptions options;
  options.sample = -1;
  options.jobs = 1;
  options.check_shared = false;  // random kernels read shared memory that nothing wrote
  const Execution execution = execute(analysis.profile, *analysis.program, launch, geometry, options);
  std::string text;
  for (const Finding& f : execution.findings) text += std::string(name_of(f.kind)) + ": " + f.text + "\n";
  Launch closed = launch;
  Binder binder(analysis.profile, geometry);
  const Workload symbolic = binder.bind(closed);
  twin::Counts executed = counts_of(execution.workload);
  forget_what_data_decide(analysis.profile, symbolic, executed);
  return text + compare::differences(analysis.profile, symbolic, executed);
}

}  // namespace kernelcast::both
