// What memory and locality cost per event: stack distances a touch, recording a request, first touch and later accesses
// of buffers.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "execute/locality.h"
#include "execute/memory.h"

namespace kernelcast::interpreter {
namespace {

using Keys = std::vector<std::uint64_t>;

std::uint64_t next(std::uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return state >> 20U;
}

void touch_all(benchmark::State& state, const Keys& keys) {
  for (auto _ : state) {
    memory::StackDistances s;
    for (std::size_t i = 0; i < keys.size(); i += 512)
      s.touch(std::span(keys).subspan(i, std::min<std::size_t>(512, keys.size() - i)));
    benchmark::DoNotOptimize(s.distinct());
    state.counters["rate"] = s.rate();
  }
  state.counters["time_per_touch"] = benchmark::Counter(
      static_cast<double>(keys.size()), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void random_touches(benchmark::State& state) {
  Keys keys(8'000'000);
  std::uint64_t random = 1;
  for (auto& k : keys) k = next(random) % static_cast<std::uint64_t>(state.range(0));
  touch_all(state, keys);
}
BENCHMARK(random_touches)->RangeMultiplier(16)->Range(1 << 8, 1 << 22)->Unit(benchmark::kMillisecond);

void random_touches_of_far_sectors(benchmark::State& state) {
  Keys keys(8'000'000);
  std::uint64_t random = 1;
  for (auto& k : keys) k = next(random) % static_cast<std::uint64_t>(state.range(0)) * 128;
  touch_all(state, keys);
}
BENCHMARK(random_touches_of_far_sectors)->Arg(1 << 20)->Unit(benchmark::kMillisecond);

void repeated_scans(benchmark::State& state) {
  Keys keys(8'000'000);
  std::uint64_t k = 0;
  for (auto& key : keys) key = k++ % static_cast<std::uint64_t>(state.range(0));
  touch_all(state, keys);
}
BENCHMARK(repeated_scans)->RangeMultiplier(16)->Range(1 << 8, 1 << 20)->Unit(benchmark::kMillisecond);

// Three rows of a stencil: near and far reuse.
void stencil_touches(benchmark::State& state) {
  Keys keys;
  for (std::uint64_t y = 1; y < 1000; ++y)
    for (std::uint64_t x = 0; x < 2048; ++x)
      for (const std::uint64_t row : {y - 1, y, y + 1}) keys.push_back(row * 2048 + x);
  touch_all(state, keys);
}
BENCHMARK(stencil_touches)->Unit(benchmark::kMillisecond);

void record_requests(benchmark::State& state) {
  LocalityRecorder recorder(LocalityLimits::of(std::int64_t{1} << 30, 8));
  double touches = 0;
  for (auto _ : state) {
    recorder.begin_block(0);
    for (std::uint64_t i = 0; i < 2000; ++i) {
      for (int warp = 0; warp < 8; ++warp) {
        const std::uint64_t at = 4 * (i * 8 + static_cast<std::uint64_t>(warp));
        const std::uint64_t sectors[] = {at, at + 1, at + 2, at + 3};
        recorder.touch(warp, sectors);
      }
    }
    if (state.range(0) != 0) benchmark::DoNotOptimize(recorder.end_block());
    touches += 2000 * 8 * 4;
  }
  state.counters["time_per_touch"] =
      benchmark::Counter(touches, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(record_requests)->ArgName("with_block_distances")->Arg(0)->Arg(1);

struct OneBuffer {
  KernelProfile profile;
  Program program;
  Launch launch;
  ExecuteOptions options;
  OneBuffer(std::int64_t elements, const char* fill) {
    profile.parameters.push_back({"a", "float*", true, false, true, 4});
    profile.buffers.push_back({"a", MemorySpace::global, -1, 256, 0});
    launch.buffers["a"] = {elements, fill};
  }
};

void first_touch(benchmark::State& state, const char* fill) {
  const OneBuffer setup(16 << 20, fill);
  for (auto _ : state) {
    Memory memory(setup.profile, setup.program, setup.launch, setup.options);
    for (std::int64_t page = 0; page < 16384; ++page) benchmark::DoNotOptimize(memory.at(0, page * page_bytes, 4));
  }
  state.SetBytesProcessed(state.iterations() * (64 << 20));
}
BENCHMARK_CAPTURE(first_touch, zero, "zero")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(first_touch, uniform, "uniform")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(first_touch, normal, "normal")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(first_touch, permutation, "permutation")->Unit(benchmark::kMillisecond);

void later_accesses(benchmark::State& state) {
  const OneBuffer setup(1 << 20, "zero");
  Memory memory(setup.profile, setup.program, setup.launch, setup.options);
  for (std::int64_t i = 0; i < (1 << 20); ++i) benchmark::DoNotOptimize(memory.at(0, 4 * i, 4));
  std::int64_t i = 0;
  for (auto _ : state) {
    for (int lane = 0; lane < 32; ++lane) benchmark::DoNotOptimize(memory.at(0, 4 * (i + lane), 4));
    i = (i + 32) & ((1 << 20) - 1);
  }
  state.SetItemsProcessed(state.iterations() * 32);
}
BENCHMARK(later_accesses);

}  // namespace
}  // namespace kernelcast::interpreter
