// The search itself: launch configurations a second on one core with the default model (target: a million), the
// enumeration of a constrained space, expressions, a second run of many variants.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>

#include "tune/enumerate.h"
#include "tune/forecaster.h"
#include "tune/space_flags.h"
#include "tune/tuner.h"

namespace {

using namespace kernelcast;
using namespace kernelcast::tune;

/// One guarded load and store for each thread, with a loop: what a simple kernel looks like.
KernelProfile profile() {
  KernelProfile p;
  p.kernel = "scale";
  p.target = "sm_70";
  p.parameters = {{"in", "const float*", true, false, true, 4},
                  {"out", "float*", true, false, true, 4},
                  {"n", "int", false, true, true, 4}};
  p.buffers.push_back({"in", MemorySpace::global, -1, 256, 0});
  p.buffers.push_back({"out", MemorySpace::global, -1, 256, 1});
  const Expr i = Expr(local_id(0)) + Expr(local_size(0)) * Expr(group_id(0));
  Block b;
  b.guard = {{Path{less(i, argument("n")), {}}}};
  Access a;
  a.offset = Expr(4) * i;
  for (const int buffer : {0, 1}) {
    a.buffer = buffer;
    a.kind = buffer == 0 ? AccessKind::load : AccessKind::store;
    b.accesses.push_back(a);
  }
  b.ops[OpClass::global_load] = b.ops[OpClass::global_store] = 1;
  b.ops[OpClass::fp32_fma] = 4;
  p.blocks.push_back(b);
  p.registers = {16, 12, 20, "max-live estimate", 0};
  return p;
}

SpaceFlags flags(const char* block) {
  SpaceFlags f;
  f.block = block;
  f.problem = "1048576,1";
  f.arguments = {{"n", std::int64_t{1048576}}};
  return f;
}

/// Searches the space over and over; an item is a configuration on a device.
void search(benchmark::State& state, const Space& space, const TuneOptions& o) {
  std::uint64_t done = 0;
  for (auto _ : state) {
    AnalysisMemory memory(
        [](const Source&, const FrontendOptions&) {
          Analysis a;
          a.profile = profile();
          return a;
        },
        "", "id");
    for (const DeviceTuning& d : tune::tune(space, o, memory).devices) done += d.evaluated;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(done));
}

/// 262,144 configurations. `distinct`: no two are the same launch; otherwise one in sixteen is new.
void launches(benchmark::State& state, const char* model, bool distinct) {
  SpaceFlags f = flags("1..32,1..32");
  if (distinct) {
    f.problem.clear();
    f.grid = "1..256";
  } else {
    f.tile = "1..16,1..16";
  }
  const Space space = space_of(f, false);
  TuneOptions o;
  o.launch.args = {{"n", std::int64_t{1048576}}};
  o.devices = {DeviceCatalog(KERNELCAST_SOURCE_DIR "/devices").find("v100")};
  o.model = &model_named(model);
  o.most_refused = 10;
  search(state, space, o);
}
BENCHMARK_CAPTURE(launches, kernelcast, "kernelcast", false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(launches, kernelcast_distinct, "kernelcast", true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(launches, roofline_distinct, "roofline", true)->Unit(benchmark::kMillisecond);

std::shared_ptr<LaunchCounts> counts_for(const std::shared_ptr<const KernelProfile>& profile, const Device& device,
                                         const Launch& base, const Model& model) {
  return std::make_shared<LaunchCounts>(profile, device.geometry(), model, base, model.on(device)->first_window());
}

/// One profile for another launch and another device each time: two forecasters, launches that do not come back.
void another_launch_and_device(benchmark::State& state, const char* name) {
  const Model& model = model_named(name);
  const auto scale = std::make_shared<const KernelProfile>(profile());
  const DeviceCatalog catalog(KERNELCAST_SOURCE_DIR "/devices");
  const std::array<Device, 2> devices{catalog.find("v100"), catalog.find("gtx980")};
  Launch base;
  base.args = {{"n", std::int64_t{1048576}}};
  std::vector<LaunchLimits> limits(devices.begin(), devices.end());
  std::vector<LaunchForecaster> on;
  for (std::size_t d = 0; d < devices.size(); ++d)
    on.emplace_back(counts_for(scale, devices[d], base, model), devices[d], limits[d], model, 0.5);
  LaunchShape shape;
  shape.grid_known = shape.block_known = true;
  std::int64_t n = 0;
  for (auto _ : state) {
    n = (n + 1) % 1000003;
    shape.grid.x = 1 + n % 6151;
    shape.block.x = 32 * (1 + n / 6151 % 32);
    benchmark::DoNotOptimize(on[static_cast<std::size_t>(n) % 2].time(shape));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(another_launch_and_device, kernelcast, "kernelcast");
BENCHMARK_CAPTURE(another_launch_and_device, opencl_quantitative, "opencl-quantitative");
BENCHMARK_CAPTURE(another_launch_and_device, ske, "ske");
BENCHMARK_CAPTURE(another_launch_and_device, roofline, "roofline");
BENCHMARK_CAPTURE(another_launch_and_device, mwp_cwp, "mwp-cwp");

/// Launches that do not come back, each on the eight devices of one code generation target, as a search does it.
void another_launch_on_eight_devices(benchmark::State& state) {
  SpaceFlags f = flags("1..32,1..32");
  f.problem.clear();
  f.grid = "1..32";
  const Space space = space_of(f, false);
  const DeviceCatalog catalog(KERNELCAST_SOURCE_DIR "/devices");
  TuneOptions o;
  o.launch.args = {{"n", std::int64_t{1048576}}};
  for (const char* name :
       {"a4000", "a6000", "rtx3060", "rtx3060laptop", "rtx3060ti", "rtx3070ti", "rtx3080", "rtx3090"})
    o.devices.push_back(catalog.find(name));
  o.model = &model_named("kernelcast");
  o.most_refused = 10;
  search(state, space, o);
}
BENCHMARK(another_launch_on_eight_devices)->Unit(benchmark::kMillisecond);

/// The second run of 4,000 variants: everything is answered from the folder.
void kept_variants(benchmark::State& state) {
  const auto folder = std::filesystem::temp_directory_path() / ("kernelcast_bench_" + std::to_string(::getpid()));
  SpaceFlags f = flags("64");
  f.parameters = {"V=1..4000"};
  const Space space = space_of(f, false);
  TuneOptions o;
  o.launch.args = {{"n", std::int64_t{1048576}}};
  o.devices = {DeviceCatalog(KERNELCAST_SOURCE_DIR "/devices").find("v100")};
  o.model = &model_named("kernelcast");
  const auto run = [&] {
    AnalysisMemory memory(
        [](const Source&, const FrontendOptions&) {
          Analysis a;
          a.profile = profile();
          return a;
        },
        folder.string(), "id");
    return tune::tune(space, o, memory).devices[0].evaluated;
  };
  run();
  std::uint64_t done = 0;
  for (auto _ : state) done += run();
  state.SetItemsProcessed(static_cast<std::int64_t>(done));
  std::filesystem::remove_all(folder);
}
BENCHMARK(kept_variants)->Unit(benchmark::kMillisecond);

void enumerate_constrained(benchmark::State& state) {
  SpaceFlags f = flags("B * 32");
  f.parameters = {"B=1..32", "TX=1..10", "TY=1..10", "T=1..10", "U=1..10", "S=0,1"};
  f.constraints = {"T % U == 0", "(B * 32 * TX + T * 2) * (TY + T * 2) * (2 + S) * 4 <= 49152"};
  const Space space = space_of(f, false);
  const std::atomic<bool> stop = false;
  std::uint64_t combinations = 0;
  for (auto _ : state) combinations += enumerate(space, 10000000, 0, stop).combinations;
  state.SetItemsProcessed(static_cast<std::int64_t>(combinations));
}
BENCHMARK(enumerate_constrained)->Unit(benchmark::kMillisecond);

void shape(benchmark::State& state) {
  const Space space = space_of(flags("1..512,1..512"), false);
  SpaceReader reader(space);
  Configuration c = 0;
  for (auto _ : state) {
    reader.choose(c = (c + 7919) % 262144);
    benchmark::DoNotOptimize(reader.shape());
  }
}
BENCHMARK(shape);

}  // namespace
