// One forecast of the model `sm`: making the program of profile and workload, and simulating it. It may take a second.
#include <benchmark/benchmark.h>

#include "example_profile.h"
#include "kernelcast/bind.h"
#include "kernelcast/model.h"
#include "kernelcast/sm_model.h"

namespace kernelcast {
namespace {

void forecast_by_sm(benchmark::State& state, const char* example, const char* id, Launch launch) {
  const KernelProfile profile = profile_of(example);
  const Device device = DeviceCatalog(KERNELCAST_SOURCE_DIR "/devices").find(id);
  const Model& model = sm::cycle_level_model();
  Binder binder(profile, device.geometry());
  binder.set_reuse(model.reads_reuse());
  Workload workload;
  binder.bind(launch, workload);
  for (auto _ : state) benchmark::DoNotOptimize(model.estimate(profile, workload, device));
}

Launch tiles() {
  Launch launch;
  launch.grid = {64, 64};
  launch.block = {16, 16};
  launch.args["n"] = std::int64_t{1024};
  return launch;
}

Launch lines() {
  Launch launch;
  launch.grid = {4096};
  launch.block = {256};
  launch.args["n"] = std::int64_t{1048576};
  return launch;
}

void sm_matmul_k20(benchmark::State& state) { forecast_by_sm(state, "matmul_tiled.cl", "k20", tiles()); }
void sm_matmul_v100(benchmark::State& state) { forecast_by_sm(state, "matmul_tiled.cl", "v100", tiles()); }
void sm_saxpy_v100(benchmark::State& state) { forecast_by_sm(state, "saxpy.cu", "v100", lines()); }
BENCHMARK(sm_matmul_k20)->Unit(benchmark::kMillisecond);
BENCHMARK(sm_matmul_v100)->Unit(benchmark::kMillisecond);
BENCHMARK(sm_saxpy_v100)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kernelcast
