// Binding a profile to launches: the hot path of tuning.
#include <benchmark/benchmark.h>

#include "kernelcast/bind.h"

namespace kernelcast {
namespace {

/// C = A * B with 16 x 16 tiles in shared memory and no guards (sizes are multiples of the tile).
/// `guarded`: loads and the store check the bounds.
KernelProfile matmul_tiled(bool guarded) {
  KernelProfile p;
  p.kernel = "matmul_tiled";
  for (const char* name : {"m", "n", "k"})
    p.parameters.push_back({.name = name, .type = "int", .integer = true, .used = true, .bytes = 4});
  for (const char* name : {"a", "b", "c"}) {
    p.buffers.push_back({.name = name, .parameter = static_cast<int>(p.parameters.size())});
    p.parameters.push_back({.name = name, .type = "float*", .pointer = true, .bytes = 4});
  }
  for (const char* name : {"tile_a", "tile_b"}) p.buffers.push_back({.name = name, .space = MemorySpace::shared});
  const Expr lx = local_id(0), ly = local_id(1), m = argument("m"), n = argument("n"), k = argument("k");
  const Expr wx = group_id(0), wy = group_id(1);
  const Expr x = wx * Expr(local_size(0)) + lx, y = wy * Expr(local_size(1)) + ly;
  Loop outer, inner;
  outer.counter = Symbol("t");
  outer.trips = ceil_div(k, 16);
  inner.counter = Symbol("i");
  inner.trips = 16;
  inner.parent = 0;
  p.loops = {outer, inner};
  const Expr t = outer.counter, i = inner.counter;
  const auto when = [&](const Expr& e) { return guarded ? Guard{{Path{e, {}}}} : Guard{}; };
  const auto block = [&](int loop, Guard g, std::vector<Access> accesses) {
    Block b;
    b.loop = loop;
    b.guard = std::move(g);
    b.accesses = std::move(accesses);
    for (OpClass c : {OpClass::int_add, OpClass::int_mad, OpClass::fp32_fma, OpClass::control, OpClass::compare,
                      OpClass::shared_load})
      b.ops[c] = 2;
    p.blocks.push_back(std::move(b));
  };
  const auto access = [&](int buffer, const Expr& offset, AccessKind kind = AccessKind::load) {
    Access a;
    a.space = p.buffers[buffer].space;
    a.kind = kind;
    a.buffer = buffer;
    a.offset = offset;
    return a;
  };
  block(-1, {}, {});
  block(0, when(less(y, m) * less(t * 16 + lx, k)), {access(0, (y * k + t * 16 + lx) * 4)});
  block(0, when(less(x, n) * less(t * 16 + ly, k)), {access(1, ((t * 16 + ly) * n + x) * 4)});
  block(0, {}, {access(3, (ly * 16 + lx) * 4, AccessKind::store), access(4, (ly * 16 + lx) * 4, AccessKind::store)});
  p.blocks.back().barriers = 2;
  block(1, {}, {access(3, (ly * 16 + i) * 4), access(4, (i * 16 + lx) * 4)});
  block(-1, when(less(y, m) * less(x, n)), {access(2, (y * n + x) * 4, AccessKind::store)});
  return p;
}

/// `distinct` launches; `ragged`: sizes that are no multiples of the tile.
std::vector<Launch> launches(int distinct, bool ragged) {
  std::vector<Launch> all;
  for (int i = 0; i < distinct; ++i) {
    Launch l;
    const std::int64_t groups = 8 + i, n = groups * 16 - (ragged ? 5 : 0), k = 16 * (4 + i % 29) - (ragged ? 3 : 0);
    l.grid = {groups, groups + 1};
    l.block = i % 4 == 3 ? Dim3{16, 8} : Dim3{16, 16};
    l.args = {{"m", (groups + 1) * l.block.y - (ragged ? 3 : 0)}, {"n", n}, {"k", k}};
    all.push_back(l);
  }
  return all;
}

void cycle(benchmark::State& state, bool guarded, bool ragged, bool reuse = false) {
  const KernelProfile profile = matmul_tiled(guarded);
  const auto all = launches(static_cast<int>(state.range(0)), ragged);
  Binder binder(profile, {});
  binder.set_reuse(reuse);
  Workload out;
  std::size_t next = 0;
  for (auto _ : state) {
    binder.bind(all[next], out);
    benchmark::DoNotOptimize(out.threads);
    next = next + 1 == all.size() ? 0 : next + 1;
  }
  state.SetItemsProcessed(state.iterations());
}

void bind_matmul_tiled(benchmark::State& s) { cycle(s, false, false); }
void bind_matmul_tiled_guarded(benchmark::State& s) { cycle(s, true, false); }
void bind_matmul_tiled_ragged(benchmark::State& s) { cycle(s, true, true); }
void bind_matmul_tiled_reuse(benchmark::State& s) { cycle(s, false, false, true); }
// 64 launches that come back, and so many that hardly anything is remembered.
BENCHMARK(bind_matmul_tiled)->Arg(64)->Arg(200000);
BENCHMARK(bind_matmul_tiled_guarded)->Arg(64)->Arg(200000);
BENCHMARK(bind_matmul_tiled_ragged)->Arg(64)->Arg(200000);
BENCHMARK(bind_matmul_tiled_reuse)->Arg(64)->Arg(200000);

void prepare_matmul_tiled(benchmark::State& state) {
  const KernelProfile profile = matmul_tiled(true);
  for (auto _ : state) {
    Binder binder(profile, {});
    benchmark::DoNotOptimize(binder);
  }
}
BENCHMARK(prepare_matmul_tiled);

}  // namespace
}  // namespace kernelcast
