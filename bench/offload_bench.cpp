// Transfers, cost and decision, and the CPU model on counts that are at hand. The way from source is in
// cli_offload_bench.cpp.
#include "kernelcast/offload.h"

#include <benchmark/benchmark.h>

#include "kernelcast/cpu_model.h"
#include "kernelcast/offload_replay.h"

namespace kernelcast::offload {
namespace {

Device device(const char* name) { return DeviceCatalog(KERNELCAST_SOURCE_DIR "/devices").find(name); }

void link_from_the_device_file(benchmark::State& state) {
  const Device gpu = device("gtx1080"), cpu = device("i7-6700k");
  for (auto _ : state) benchmark::DoNotOptimize(link_of(gpu, cpu, HostMemory::pageable).to.s_per_byte);
}
BENCHMARK(link_from_the_device_file);

void transfer(benchmark::State& state) {
  const Link link = link_of(device("gtx1080"), device("i7-6700k"), HostMemory::pinned);
  const std::vector<double> messages(static_cast<std::size_t>(state.range(0)), 1e6);
  for (auto _ : state) benchmark::DoNotOptimize(one_way_s(link.to, messages));
  state.SetItemsProcessed(state.iterations() * state.range(0));  // messages
}
BENCHMARK(transfer)->Arg(4)->Arg(1024);

void cost_and_decision(benchmark::State& state) {
  double transfer_s = 1e-3;
  for (auto _ : state) {
    benchmark::DoNotOptimize(transfer_s);
    const Weights w{0.5, 0.5};
    check(w);
    const double cpu = cost(w, 0, 20, 5e-3, busy_power_by_instructions(20, 1e10, 5e-9));
    const double gpu = cost(w, transfer_s, 10, 1e-3, busy_power_by_instructions(10, 1e11, 1e-9));
    benchmark::DoNotOptimize(decide({cpu, 1.4}, {gpu, 1.6}, 0.6));
  }
}
BENCHMARK(cost_and_decision);

/// A nest as the front end leaves it: so many blocks in three loops.
CpuCode nest(std::size_t blocks) {
  CpuCode c;
  c.profile.loops.resize(3);
  for (std::size_t b = 0; b < blocks; ++b) {
    Block block;
    block.loop = static_cast<int>(b % 3);
    c.profile.blocks.push_back(block);
    c.blocks.push_back({10, 20, 5});
  }
  c.first_entry = blocks;
  c.profile.blocks.resize(blocks + 3);
  c.blocks.resize(blocks + 3);
  c.parallel_loops = {0};
  return c;
}

void cpu_model(benchmark::State& state) {
  const Device cpu = device("i7-6700k");
  const CpuCode code = nest(static_cast<std::size_t>(state.range(0)));
  Workload w;
  w.block_counts.assign(code.blocks.size(), {1e6, 1e6});
  w.reuse.known = true;
  for (auto& kind : w.reuse.level)
    for (auto& depth : kind)
      for (auto& level : depth) level = {1e5, 1e6};
  for (auto _ : state) benchmark::DoNotOptimize(estimate_cpu(code, w, cpu, 0).time_s);
}
BENCHMARK(cpu_model)->Arg(8)->Arg(128);

void score_of_the_table(benchmark::State& state) {
  std::vector<ReplayCell> cells(39);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i].cpu_cost = static_cast<double>(i + 1);
    cells[i].gpu_cost = 5;
  }
  const std::vector<Decision> decisions(cells.size(), Decision::gpu);
  for (auto _ : state) benchmark::DoNotOptimize(score(cells, decisions).loss);
}
BENCHMARK(score_of_the_table);

}  // namespace
}  // namespace kernelcast::offload
