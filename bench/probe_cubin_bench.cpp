// The patcher of cubins: reading a file that ptxas made of 512 FFMA, and setting the stall of each of them, as one
// order of the search for the fastest needs it. Left out where no ptxas is found (KERNELCAST_PTXAS).
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "machine/sass/cubin.h"
#include "probe/cuda/assemble_ptx.h"
#include "probe/cuda/ptx.h"

namespace kernelcast::probe::cuda {
using namespace sass;
namespace {

std::string made_by_ptxas(benchmark::State& state) {
  const char* named = std::getenv("KERNELCAST_PTXAS");
  const auto ptxas = sass::find_ptxas(named != nullptr ? named : "");
  if (!ptxas) {
    state.SkipWithError("ptxas is not installed");
    return "";
  }
  const Assembled a = assemble(*ptxas, fma_body(48, 512), 90);
  if (a.cubin.empty()) state.SkipWithError(a.message.c_str());
  return a.cubin;
}

void read_cubin(benchmark::State& state) {
  const std::string bytes = made_by_ptxas(state);
  for (auto _ : state) benchmark::DoNotOptimize(Cubin(bytes, "bench").kernels().size());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}
BENCHMARK(read_cubin);

void patch_stalls(benchmark::State& state) {
  const std::string bytes = made_by_ptxas(state);
  if (bytes.empty()) return;
  Cubin cubin(bytes, "bench");
  const Cubin::Kernel kernel = cubin.kernels().front();
  std::int64_t patched = 0;
  std::uint32_t value = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < kernel.instructions; ++i) {
      if (get(cubin.at(kernel, i), opcode) != ffma_registers) continue;
      cubin.patch(kernel, i, stall, 1 + value % 15);
      ++patched;
    }
    ++value;
  }
  state.SetItemsProcessed(patched);
}
BENCHMARK(patch_stalls);

}  // namespace
}  // namespace kernelcast::probe::cuda
