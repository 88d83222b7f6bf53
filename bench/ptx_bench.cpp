// Reading and printing PTX: bytes a second on a module of some ten thousand lines.
#include <benchmark/benchmark.h>

#include <fstream>
#include <sstream>
#include <string>

#include "ptx/parse.h"
#include "ptx/print.h"

namespace {

using namespace kernelcast;

std::string sample(const std::string& name) {
  std::ifstream file(std::string(KERNELCAST_SOURCE_DIR) + "/test/data/ptx/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The body of the sample's first kernel, many times, each under another name.
std::string large_module() {
  const std::string text = sample("ampere.ptx");
  const std::string head = text.substr(0, text.find(".visible .entry arithmetic("));
  const std::size_t begin = text.find('(', head.size()), end = text.find(".visible .entry memory(");
  const std::string kernel = text.substr(begin, end - begin);
  std::string all = head;
  for (int i = 0; i < 80; ++i) all += ".visible .entry kernel" + std::to_string(i) + kernel;
  return all;
}

void parse_module(benchmark::State& state) {
  const std::string text = large_module();
  for (auto _ : state) benchmark::DoNotOptimize(ptx::parse(text, "large.ptx"));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
BENCHMARK(parse_module)->Unit(benchmark::kMillisecond);

void print_module(benchmark::State& state) {
  const ptx::Module module = ptx::parse(large_module(), "large.ptx");
  std::size_t bytes = 0;
  for (auto _ : state) {
    const std::string text = ptx::print(module);
    bytes = text.size();
    benchmark::DoNotOptimize(text.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
}
BENCHMARK(print_module)->Unit(benchmark::kMillisecond);

void parse_fragment(benchmark::State& state) {
  const std::string text =
      "{ .reg .pred P1; LAB_WAIT: mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1; @P1 bra DONE; bra LAB_WAIT; "
      "DONE: }";
  const std::vector<ptx::FragmentOperand> operands(2);
  for (auto _ : state) benchmark::DoNotOptimize(ptx::parse_fragment(text, operands, ptx::FragmentSyntax::c, "a.cu"));
}
BENCHMARK(parse_fragment)->Unit(benchmark::kMicrosecond);

}  // namespace
