// What one answer of a model costs: seconds() is the hot path of tuning (at most 100 ns), estimate() what people read.
#include <benchmark/benchmark.h>

#include "../test/unit/model/hand_made.h"
#include "kernelcast/model.h"

namespace {

using namespace kernelcast;

Workload workload() {
  Workload w = hand_made::launch(1024, 256);
  hand_made::execute(w, OpClass::fp32_fma, 1024);
  hand_made::execute(w, OpClass::int_add, 2048);
  hand_made::execute(w, OpClass::control, 1024);
  hand_made::access(w, MemorySpace::global, AccessKind::load, 128, 4);
  hand_made::access(w, MemorySpace::global, AccessKind::store, 1, 1);
  hand_made::access(w, MemorySpace::shared, AccessKind::load, 2048, 0, 2);
  w.barriers = w.flat_barriers = 128 * w.blocks;
  w.branch_counts.resize(8);
  w.footprint_bytes = 12e6;
  return w;
}

void seconds(benchmark::State& state, const Model* model) {
  const Workload w = workload();
  const Device d = hand_made::device();
  for (auto _ : state) benchmark::DoNotOptimize(model->seconds(w, d));
}

void estimate(benchmark::State& state, const Model* model) {
  const Workload w = workload();
  const Device d = hand_made::device();
  const KernelProfile p;
  for (auto _ : state) benchmark::DoNotOptimize(model->estimate(p, w, d));
}

const bool registered = [] {
  for (const Model* m : all_models()) {
    const std::string name(m->name());
    benchmark::RegisterBenchmark(("seconds/" + name).c_str(), seconds, m);
    benchmark::RegisterBenchmark(("estimate/" + name).c_str(), estimate, m);
  }
  return true;
}();

}  // namespace
