// One reading of RAPL's counters, on a tree of two packages with their memory: what a measurement itself costs.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <fstream>

#include "kernelcast/power.h"

namespace kernelcast::power {
namespace {

namespace fs = std::filesystem;

void rapl_reading(benchmark::State& state) {
  const fs::path root = fs::temp_directory_path() / ("powercap-bench-" + std::to_string(getpid()));
  for (const char* id : {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1", "intel-rapl:1:0"}) {
    fs::create_directories(root / id);
    std::ofstream(root / id / "name") << (std::string(id).size() > 12 ? "dram\n" : "package\n");
    std::ofstream(root / id / "energy_uj") << "1234567\n";
    std::ofstream(root / id / "max_energy_range_uj") << "262143328850\n";
  }
  {
    Rapl rapl(root);
    if (!rapl.there()) state.SkipWithError(rapl.reason().c_str());
    for (auto _ : state) benchmark::DoNotOptimize(rapl.joules());
  }
  fs::remove_all(root);
}
BENCHMARK(rapl_reading);

}  // namespace
}  // namespace kernelcast::power
