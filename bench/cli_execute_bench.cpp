// Speed of the interpreter on kernels of examples/, one thread: lane instructions a second.
#include <benchmark/benchmark.h>

#include "io/text_file.h"
#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

Analysis analysed(const std::string& file, const std::string& target) {
  Source source;
  source.path = std::string(KERNELCAST_SOURCE_DIR) + "/examples/" + file;
  source.text = read_text_file(source.path);
  FrontendOptions options;
  options.target = target;
  options.program = true;
  return analyze(source, options);
}

void run(benchmark::State& state, const std::string& file, const std::string& target, int warp_size,
         const Launch& launch, bool locality, bool checks) {
  const Analysis analysis = analysed(file, target);
  MemoryGeometry geometry;
  geometry.warp_size = warp_size;
  ExecuteOptions options;
  options.sample = -1;
  options.jobs = 1;
  options.locality = locality;
  options.check_shared = checks;
  double lanes = 0;
  for (auto _ : state) {
    const Execution e = execute(analysis.profile, *analysis.program, launch, geometry, options);
    lanes += e.lane_instructions_run;
  }
  state.counters["lane_instructions_per_s"] = benchmark::Counter(lanes, benchmark::Counter::kIsRate);
}

Launch nbody() {
  Launch l;
  l.grid = {8, 1, 1};
  l.block = {256, 1, 1};
  l.args = {{"n", std::int64_t{2048}}, {"softening", 0.1}};
  return l;
}

Launch matmul() {
  Launch l;
  l.grid = {8, 8, 1};
  l.block = {16, 16, 1};
  l.args = {{"n", std::int64_t{128}}};
  return l;
}

BENCHMARK_CAPTURE(run, nbody_sm70, "nbody.cl", "sm_70", 32, nbody(), true, true);
BENCHMARK_CAPTURE(run, nbody_gfx90a, "nbody.cl", "gfx90a", 64, nbody(), true, true);
BENCHMARK_CAPTURE(run, matmul_naive_sm70, "matmul_naive.cl", "sm_70", 32, matmul(), true, true);
BENCHMARK_CAPTURE(run, matmul_naive_without_locality, "matmul_naive.cl", "sm_70", 32, matmul(), false, true);
BENCHMARK_CAPTURE(run, matmul_tiled_sm70, "matmul_tiled.cl", "sm_70", 32, matmul(), true, true);
BENCHMARK_CAPTURE(run, matmul_tiled_without_checks, "matmul_tiled.cl", "sm_70", 32, matmul(), false, false);

}  // namespace
}  // namespace kernelcast
