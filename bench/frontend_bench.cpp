// Code generation and reading back its text: at most 15 ms for a small kernel, of which reading is a small part.
#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>

#include "frontend/code/amd/amdgcn.h"
#include "frontend/code/nvidia/ptx_analysis.h"
#include "frontend/pipeline/code_of_source.h"
#include "kernelcast/frontend.h"

namespace {

using namespace kernelcast;
using namespace kernelcast::frontend;

Source source_of(const std::string& file) {
  std::ifstream in(KERNELCAST_SOURCE_DIR "/test/data/kernels/" + file);
  std::stringstream text;
  text << in.rdbuf();
  Source s;
  s.path = file;
  s.text = text.str();
  return s;
}

void generate(benchmark::State& state, const char* file, const char* kernel, const char* target) {
  const PreparedKernel prepared(source_of(file), kernel, target);
  for (auto _ : state) benchmark::DoNotOptimize(prepared.generate());
}

void read_back(benchmark::State& state, const char* file, const char* kernel, const char* target) {
  const TargetCode code = code_of_source(source_of(file), kernel, target);
  std::vector<std::string> names;
  for (const CodeBlock& b : code.blocks) names.push_back(b.name);
  for (auto _ : state) {
    if (std::string(target).starts_with("sm_"))
      benchmark::DoNotOptimize(analyze_ptx(code.assembly, kernel, 70, 0, names));
    else
      benchmark::DoNotOptimize(analyze_amdgcn(code.assembly, kernel, names));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(code.assembly.size()) *
                          static_cast<std::int64_t>(state.iterations()));
}

/// A kernel of a file of which another was analyzed before (1) or was not (0): Clang reads the file once.
void analyze_kernel(benchmark::State& state) {
  Source s = source_of("linear_algebra.cl");
  FrontendOptions options;
  options.target = "sm_70";
  options.kernel = "axpy";
  int run = 0;
  for (auto _ : state) {
    if (state.range(0) == 0) s.path = std::to_string(run++) + ".cl";
    benchmark::DoNotOptimize(analyze(s, options));
  }
}
BENCHMARK(analyze_kernel)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

#define KC_KERNEL(file, kernel, target)                                                                  \
  BENCHMARK_CAPTURE(generate, kernel##_##target, file, #kernel, #target)->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(read_back, kernel##_##target, file, #kernel, #target)->Unit(benchmark::kMillisecond)

KC_KERNEL("linear_algebra.cl", axpy, sm_70);
KC_KERNEL("linear_algebra.cl", matmul_tiled, sm_70);
KC_KERNEL("stencils.cl", lattice_boltzmann, sm_70);
KC_KERNEL("linear_algebra.cl", axpy, gfx90a);
KC_KERNEL("linear_algebra.cl", matmul_tiled, gfx90a);
KC_KERNEL("stencils.cl", lattice_boltzmann, gfx90a);

}  // namespace
