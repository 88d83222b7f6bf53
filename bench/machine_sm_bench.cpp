// Warp instructions a second of the cycle-level SM on one core.
#include <benchmark/benchmark.h>

#include "kernelcast/sm.h"

namespace {

using namespace kernelcast::sm;

void warp_instructions(benchmark::State& state, const std::string& body) {
  const Spec spec = load_spec(std::string(KERNELCAST_SOURCE_DIR) + "/devices/sm/nvidia-gk110.toml");
  const Program program = assemble("loop 4\nrepeat 64\n" + body + "\nend\nend\n", "bench");
  SmLaunch launch;
  launch.warps_per_block = 16;
  std::uint64_t count = 0;
  for (auto _ : state) count += simulate(spec, program, launch).warp_instructions;
  state.counters["warp_instructions_per_s"] =
      benchmark::Counter(static_cast<double>(count), benchmark::Counter::kIsRate);
}

void ffma(benchmark::State& state) { warp_instructions(state, "FFMA R8, R0, R1, R4\nFFMA R9, R0, R1, R5"); }
void chains(benchmark::State& state) { warp_instructions(state, "FFMA R8, R8, R1\nIADD R9, R9, R1"); }
void conflicts(benchmark::State& state) { warp_instructions(state, "FFMA R8, R0, R2, R16"); }

BENCHMARK(ffma);
BENCHMARK(chains);
BENCHMARK(conflicts);

}  // namespace
