// Time to find a device by id, by the name on the box (which reads the heads of all files), and to load the host.
#include <benchmark/benchmark.h>

#include "kernelcast/device.h"

namespace {

const std::string folder = KERNELCAST_SOURCE_DIR "/devices";

void find(benchmark::State& state, const std::string& name) {
  for (auto _ : state) {
    kernelcast::DeviceCatalog catalog(folder);
    benchmark::DoNotOptimize(catalog.find(name));
  }
  state.counters["files"] = static_cast<double>(kernelcast::DeviceCatalog(folder).ids().size());
}
void find_by_id(benchmark::State& state) { find(state, "nvidia-geforce-gtx-280"); }
void find_by_name(benchmark::State& state) { find(state, "GeForce GTX 280"); }
void find_host(benchmark::State& state) { find(state, "host"); }
void load_all(benchmark::State& state) {
  for (auto _ : state) {
    kernelcast::DeviceCatalog catalog(folder);
    for (const std::string& id : catalog.ids()) benchmark::DoNotOptimize(catalog.find(id));
  }
}

BENCHMARK(find_by_id)->Unit(benchmark::kMicrosecond);
BENCHMARK(find_by_name)->Unit(benchmark::kMicrosecond);
BENCHMARK(find_host)->Unit(benchmark::kMicrosecond);
BENCHMARK(load_all)->Unit(benchmark::kMicrosecond);

}  // namespace
