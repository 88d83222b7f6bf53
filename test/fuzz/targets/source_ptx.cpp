// folder: execute frontend profile
// with: engines/execute/random_source.cpp
// A random kernel as source and as the PTX that is generated from it: both execute the same accesses of each buffer and
// leave the same bytes behind.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <tuple>

#include "engines/execute/random_source.h"
#include "frontend/pipeline/code_of_source.h"
#include "fuzz/drawn.h"
#include "kernelcast/error.h"
#include "kernelcast/execute.h"

using namespace kernelcast;

namespace {

using Place = std::tuple<MemorySpace, AccessKind, std::string>;
struct Traffic {
  double lanes = 0, bytes = 0;
  bool operator==(const Traffic&) const = default;
};
struct Outcome {
  std::map<Place, Traffic> traffic;
  double barriers = 0;
  std::string findings;
};

Outcome outcome_of(const Analysis& analysis, Launch launch, const std::vector<std::string>& names) {
  const KernelProfile& p = analysis.profile;
  for (std::size_t i = 0; i < names.size() && i < p.parameters.size(); ++i) {
    if (const auto arg = launch.args.extract(names[i])) launch.args[p.parameters[i].name] = arg.mapped();
    // What the kernel does not use is a number of PTX, not a pointer.
    if (const auto buffer = launch.buffers.extract(names[i]); buffer && p.parameters[i].pointer)
      launch.buffers[p.parameters[i].name] = buffer.mapped();
  }
  ExecuteOptions options;
  options.sample = -1;
  options.jobs = 1;
  options.check_shared = false;  // random kernels read shared memory that nothing wrote
  const Execution execution = execute(p, *analysis.program, launch, MemoryGeometry{}, options);
  Outcome out;
  out.barriers = execution.workload.barriers;
  for (const Finding& f : execution.findings) out.findings += std::string(name_of(f.kind)) + ": " + f.text + "\n";
  std::size_t next = 0;
  for (const Block& b : p.blocks)
    for (const Access& a : b.accesses) {
      const AccessCount& count = execution.workload.access_counts.at(next++);
      std::string name = "?";
      if (a.buffer >= 0) {
        const Buffer& buffer = p.buffers[static_cast<std::size_t>(a.buffer)];
        name = buffer.parameter >= 0 ? names.at(static_cast<std::size_t>(buffer.parameter)) : "shared";
      }
      Traffic& t = out.traffic[{a.space, a.kind, name}];
      t.lanes += count.lanes;
      t.bytes += count.bytes;
    }
  std::erase_if(out.traffic, [](const auto& entry) { return entry.second.lanes == 0; });
  return out;
}

std::string described(const Outcome& o) {
  std::string text = "barriers " + std::to_string(o.barriers) + "\n" + o.findings;
  for (const auto& [place, traffic] : o.traffic)
    text += std::string(name_of(std::get<0>(place))) + " " + std::string(name_of(std::get<1>(place))) + " " +
            std::get<2>(place) + ": lanes " + std::to_string(traffic.lanes) + ", bytes " +
            std::to_string(traffic.bytes) + "\n";
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Drawn drawn(data, size);
  const auto seed = drawn.value<std::uint64_t>();
  FrontendOptions options;
  options.target = "sm_70";
  options.program = true;
  Source source;
  source.path = "random.cl";
  source.text = agreement::random_source(seed);
  Source ptx;
  ptx.path = "random.ptx";
  ptx.text = frontend::code_of_source(source, "random_kernel", options.target).assembly;
  const Analysis first = analyze(source, options), second = analyze(ptx, options);
  const Launch launch = agreement::random_launch(seed + drawn.below(1000));
  const std::vector<std::string> names{"a", "b", "c", "n"};
  if (!first.program || !second.program) {
    std::fprintf(stderr, "no program: %s%s\n%s", first.no_program.c_str(), second.no_program.c_str(), ptx.text.c_str());
    std::abort();
  }
  const std::string one = described(outcome_of(first, launch, names)),
                    two = described(outcome_of(second, launch, names));
  if (one == two) return 0;
  std::fprintf(stderr, "seed %llu\n%s\nsource:\n%sPTX:\n%s%s", static_cast<unsigned long long>(seed),
               source.text.c_str(), one.c_str(), two.c_str(), ptx.text.c_str());
  std::abort();
}
