// The published experiment of the model of 2017: its cells, its programs as loop nests of ours, and the scores.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelcast/offload_region.h"

namespace kernelcast::offload {

/// One cell of the published table.
struct ReplayCell {
  std::string program;
  double size_mib = 0;
  Decision printed = Decision::gpu;  // what the source's model said
  double cpu_cost = 0, gpu_cost = 0; // measured, milliseconds
  [[nodiscard]] Decision cheaper() const { return gpu_cost < cpu_cost ? Decision::gpu : Decision::cpu; }
};
/// CSV with the columns program, size_mib, predicted, cpu_cost, gpu_cost (others are passed over). Throws UserError
/// "NAME:LINE: ..." for anything else.
std::vector<ReplayCell> parse_replay(std::string_view csv, const std::string& name);

/// A program of the suite as our loop nests have it.
struct ReplayProgram {
  std::string name, file;              // "2MM", "2mm.c"
  std::vector<std::string> kernels;    // in order
  std::map<std::string, Role> roles;   // where data move as the suite's data clauses say
  double arrays = 1;                   // n = root(doubles / arrays)
  int dimensions = 2;                  // square or cube root
  std::string gpu_file = {};           // "atax.cl": OpenCL form with n work-groups for each kernel; empty: `file`
};
std::span<const ReplayProgram> replay_programs();
/// The side n for data of so many MiB of doubles, rounded down.
std::int64_t side_of(const ReplayProgram& program, double size_mib);

/// How a list of decisions fares against the measured cells.
struct ReplayScore {
  int right = 0, cells = 0, too_close = 0;
  int cpu_cells = 0, cpu_found = 0;  // cells that favour the CPU; of these decided so, or called close
  double loss = 1;                   // geometric mean of the chosen side's cost over the cheaper one's
};
/// "Too close" is right where the dearer side costs at most 1.10 of the cheaper, and is charged the dearer side.
ReplayScore score(std::span<const ReplayCell> cells, std::span<const Decision> decisions);

}  // namespace kernelcast::offload
