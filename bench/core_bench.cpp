// Symbolic expressions on the hot path: a typical set of 20 outputs (offsets, guards, trip counts) of a tiled kernel.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <vector>

#include "kernelcast/expr.h"

namespace {

using namespace kernelcast;

const std::array<const char*, 8> input_names = {"wg.x", "wg.y", "lsz.x", "lsz.y", "n", "m", "K", "tile"};

// Counts of the kind that binding needs: blocks per grid, trips, bytes, guards at the borders.
std::vector<Expr> typical_outputs() {
  const Expr gx = Expr::symbol("wg.x"), gy = Expr::symbol("wg.y"), bx = Expr::symbol("lsz.x"),
             by = Expr::symbol("lsz.y");
  const Expr n = Expr::symbol("n"), m = Expr::symbol("m"), k = Expr::symbol("K"), tile = Expr::symbol("tile");
  std::vector<Expr> out;
  const Expr row = gy * by, column = gx * bx;
  for (int i = 0; i < 8; ++i) out.push_back(4 * (row * k + column + 32 * i) + 16 * tile * i);  // addresses
  out.push_back(ceil_div(n, bx));
  out.push_back(ceil_div(m, by));
  out.push_back(floor_div(k + 31, 32));
  out.push_back(floor_div(n + 99, 100) * 7 + mod(m, 12));
  out.push_back(max(0, min(bx, n - column)));
  out.push_back(max(0, min(by, m - row)));
  out.push_back(less(column, n) * less(row, m));
  out.push_back(select(less(k, tile), k, tile * floor_div(k, 16)));
  out.push_back(n * m * 4 + 4 * k * n + 4 * k * m);
  out.push_back(2 * n * m * k);
  out.push_back(bx * by * tile * 8 + 64);
  out.push_back(mod(column * 4, 128) + mod(row * k * 4, 128));
  return out;
}

std::vector<Symbol> inputs() {
  std::vector<Symbol> all;
  for (const char* name : input_names) all.emplace_back(name);
  return all;
}

constexpr std::array<std::int64_t, 8> point = {17, 5, 32, 8, 4096, 4000, 1024, 16};

void evaluate_20(benchmark::State& state) {
  const CompiledExprs code(typical_outputs(), inputs());
  std::vector<std::int64_t> out(code.outputs()), scratch;
  std::array<std::int64_t, 8> in = point;
  for (auto _ : state) {
    in[0] = (in[0] + 1) & 63;
    code.evaluate(in, out, scratch);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.counters["instructions"] = static_cast<double>(code.instructions());
  state.counters["s/instruction"] =
      benchmark::Counter(static_cast<double>(code.instructions()),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(evaluate_20);

// The slow way, for comparison: walks the expressions with a map of values.
void evaluate_20_uncompiled(benchmark::State& state) {
  const std::vector<Expr> outputs = typical_outputs();
  SymbolValues values;
  for (std::size_t i = 0; i < point.size(); ++i) values.emplace(Symbol(input_names[i]), point[i]);
  for (auto _ : state) {
    for (const Expr& e : outputs) benchmark::DoNotOptimize(e.evaluate(values));
  }
}
BENCHMARK(evaluate_20_uncompiled);

void evaluate_20_lanes(benchmark::State& state) {
  const CompiledExprs code(typical_outputs(), inputs());
  const auto lanes = static_cast<std::size_t>(state.range(0));
  std::vector<std::int64_t> in(point.size() * lanes), out(code.outputs() * lanes), scratch;
  for (std::size_t i = 0; i < point.size(); ++i) {
    for (std::size_t l = 0; l < lanes; ++l) in[i * lanes + l] = point[i] + static_cast<std::int64_t>(i == 0 ? l : 0);
  }
  for (auto _ : state) {
    code.evaluate_lanes(in, out, lanes, scratch);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(static_cast<std::size_t>(state.iterations()) * lanes));
}
BENCHMARK(evaluate_20_lanes)->Arg(32)->Arg(1024);

// A division by zero on the side of a select that is not taken: the careful path answers.
void evaluate_guarded_division_by_zero(benchmark::State& state) {
  const CompiledExprs code(std::vector<Expr>{select(less(Expr::symbol("n"), 1), 0, floor_div(1024, Expr::symbol("n")))},
                           inputs());
  std::vector<std::int64_t> out(code.outputs()), scratch;
  std::array<std::int64_t, 8> in = point;
  in[4] = 0;  // the side that divides by n is not taken
  for (auto _ : state) {
    code.evaluate(in, out, scratch);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(evaluate_guarded_division_by_zero);

void build_20(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(typical_outputs());
}
BENCHMARK(build_20);

void compile_20(benchmark::State& state) {
  const std::vector<Expr> outputs = typical_outputs();
  const std::vector<Symbol> symbols = inputs();
  for (auto _ : state) benchmark::DoNotOptimize(CompiledExprs(outputs, symbols));
}
BENCHMARK(compile_20);

void substitute_20(benchmark::State& state) {
  const std::vector<Expr> outputs = typical_outputs();
  const std::map<Symbol, Expr> by = {{Symbol("n"), 4096}, {Symbol("K"), Expr::symbol("n") + 1}};
  for (auto _ : state) {
    for (const Expr& e : outputs) benchmark::DoNotOptimize(e.substitute(by));
  }
}
BENCHMARK(substitute_20);

}  // namespace
