// Replay and closed forms.
#include <benchmark/benchmark.h>

#include "kernelcast/converge.h"

namespace kernelcast {
namespace {

void replay_of(benchmark::State& state, Policy policy) {
  const BranchPattern pattern = independent_pattern(32, 8192, 0.5, 1);
  for (auto _ : state) benchmark::DoNotOptimize(replay(pattern, policy).trips);
  state.SetItemsProcessed(state.iterations() * 32 * 8192);  // iterations of lanes
}
BENCHMARK_CAPTURE(replay_of, plain, Policy::plain);
BENCHMARK_CAPTURE(replay_of, majority, Policy::majority);
BENCHMARK_CAPTURE(replay_of, round_robin, Policy::round_robin);
BENCHMARK_CAPTURE(replay_of, advance, Policy::advance);

void closed_form_of(benchmark::State& state, Policy policy) {
  for (auto _ : state) benchmark::DoNotOptimize(expected_rates(policy, {0.3, 0.2, 32, 0}).taken);
}
BENCHMARK_CAPTURE(closed_form_of, round_robin, Policy::round_robin);
BENCHMARK_CAPTURE(closed_form_of, advance, Policy::advance);
BENCHMARK_CAPTURE(closed_form_of, majority, Policy::majority);

void best_schedule_of_four_lanes(benchmark::State& state) {
  const BranchPattern pattern = independent_pattern(4, 32, 0.5, 1);
  for (auto _ : state) benchmark::DoNotOptimize(best_schedule(pattern).in_order);
}
BENCHMARK(best_schedule_of_four_lanes);

}  // namespace
}  // namespace kernelcast
