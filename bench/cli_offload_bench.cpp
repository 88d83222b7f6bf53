// `kernelcast offload` from source: the analysis of both sides, then one answer with everything prepared.
#include <benchmark/benchmark.h>

#include "cli/offload.h"
#include "io/text_file.h"

namespace kernelcast::cli {
namespace {

struct Case {
  Source source;
  Device cpu, gpu;
};

Case gemm() {
  Case c;
  c.source.path = KERNELCAST_SOURCE_DIR "/examples/offload/gemm.c";
  c.source.text = read_text_file(c.source.path);
  c.source.language = Language::c;
  const DeviceCatalog catalog(KERNELCAST_SOURCE_DIR "/devices");
  c.cpu = catalog.find("i7-6700k");
  c.gpu = catalog.find("gtx1080");
  return c;
}

offload::Region region_of(const Case& c) {
  std::vector<std::string> warnings;
  return analysed_region(c.source, c.source, {"gemm"}, {}, c.cpu, c.gpu, {}, warnings);
}

void region_from_source(benchmark::State& state) {
  const Case c = gemm();
  for (auto _ : state) benchmark::DoNotOptimize(region_of(c).kernels.size());
  state.SetLabel("GEMM, both sides");
}
BENCHMARK(region_from_source)->Unit(benchmark::kMillisecond);

void answer(benchmark::State& state) {
  const Case c = gemm();
  const offload::Region region = region_of(c);
  offload::Evaluator evaluator(region, c.cpu, c.gpu);
  offload::OffloadRequest q;
  q.launch.block = {128, 1, 1};
  std::int64_t n = 512;
  for (auto _ : state) {
    q.launch.args["n"] = n++;  // no size twice: nothing is taken from the last one
    benchmark::DoNotOptimize(evaluator.answer(q).verdict.probability);
  }
}
BENCHMARK(answer)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kernelcast::cli
