// Whole predictions a second, as a tuner makes them: a kernel read once by the front end, then bound and forecast again
// and again for other launches and devices. items_per_second counts predictions of one model on one core.
#include <benchmark/benchmark.h>

#include <array>

#include "example_profile.h"
#include "kernelcast/bind.h"
#include "kernelcast/model.h"

namespace kernelcast {
namespace {

/// Launches of `range(0)` different sizes, one after the other, in turn on two devices of one memory geometry. One
/// launch object is changed in place, as a tuner would.
void predict(benchmark::State& state, const char* example, bool square, const char* name = "opencl-quantitative") {
  const KernelProfile profile = profile_of(example);
  const DeviceCatalog catalog(KERNELCAST_SOURCE_DIR "/devices");
  const std::array<Device, 2> devices = {catalog.find("v100"), catalog.find("a100-sxm4-40gb")};
  Binder binder(profile, devices[0].geometry());
  const Model& model = model_named(name);
  binder.set_reuse(model.reads_reuse());
  Workload workload;
  Launch launch;
  launch.block = square ? Dim3{16, 16} : Dim3{256};
  ArgValue& n = launch.args["n"];
  std::int64_t i = 0;
  for (auto _ : state) {
    const std::int64_t tiles = 8 + i % 1024;
    launch.grid = square ? Dim3{tiles, 8 + i / 1024} : Dim3{8 + i};
    n = launch.grid.x * launch.block.x;
    binder.bind(launch, workload);
    benchmark::DoNotOptimize(model.seconds(workload, devices[static_cast<std::size_t>(i % 2)]));
    if (++i == state.range(0)) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
}

void predict_matmul_tiled(benchmark::State& state) { predict(state, "matmul_tiled.cl", true); }
void predict_matmul_naive(benchmark::State& state) { predict(state, "matmul_naive.cl", true); }
void predict_saxpy(benchmark::State& state) { predict(state, "saxpy.cu", false); }
// The default model, which reads reuse.
void predict_matmul_tiled_kernelcast(benchmark::State& state) { predict(state, "matmul_tiled.cl", true, "kernelcast"); }
void predict_saxpy_kernelcast(benchmark::State& state) { predict(state, "saxpy.cu", false, "kernelcast"); }
// 64 launches that come back; 10 million, of which none does.
BENCHMARK(predict_matmul_tiled)->Arg(64)->Arg(10'000'000);
BENCHMARK(predict_matmul_naive)->Arg(64)->Arg(10'000'000);
BENCHMARK(predict_saxpy)->Arg(64)->Arg(10'000'000);
BENCHMARK(predict_matmul_tiled_kernelcast)->Arg(64)->Arg(10'000'000);
BENCHMARK(predict_saxpy_kernelcast)->Arg(64)->Arg(10'000'000);

}  // namespace
}  // namespace kernelcast
