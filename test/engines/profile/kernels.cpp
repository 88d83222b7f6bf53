#include "kernels.h"

namespace kernelcast::kernels {

Builder::Builder(std::string name) {
  p_.kernel = p_.symbol = std::move(name);
  p_.files = {p_.kernel + ".cl"};
}

Builder& Builder::scalar(const std::string& name) {
  p_.parameters.push_back({.name = name, .type = "int", .integer = true, .used = true, .bytes = 4});
  return *this;
}

int Builder::buffer(const std::string& name, MemorySpace space) {
  Buffer b{.name = name, .space = space};
  if (space == MemorySpace::global) {
    b.parameter = static_cast<int>(p_.parameters.size());
    p_.parameters.push_back({.name = name, .type = "float*", .pointer = true, .bytes = 4});
  }
  p_.buffers.push_back(b);
  return static_cast<int>(p_.buffers.size()) - 1;
}

int Builder::loop(const Expr& trips, int parent, Guard guard) {
  Loop l;
  l.parent = parent;
  l.counter = Symbol("k" + std::to_string(p_.loops.size()));
  l.trips = trips;
  l.guard = std::move(guard);
  l.line = {0, 10 + static_cast<int>(p_.loops.size())};
  p_.loops.push_back(l);
  return static_cast<int>(p_.loops.size()) - 1;
}

int Builder::unknown_loop(double trips, int parent, Guard guard) {
  const int u = unknown(Unknown::Kind::trip_count, trips);
  const int l = loop(0, parent, std::move(guard));
  p_.loops[l].unknown = u;
  return l;
}

int Builder::unknown(Unknown::Kind kind, double value, bool uniform) {
  const int line = 100 + static_cast<int>(p_.unknowns.size());
  const char* prefix = kind == Unknown::Kind::trip_count    ? "trips:"
                       : kind == Unknown::Kind::probability ? "branch:"
                                                            : "access:";
  p_.unknowns.push_back({kind, prefix + std::to_string(line), {0, line}, value, uniform, "made up"});
  return static_cast<int>(p_.unknowns.size()) - 1;
}

int Builder::block(int loop, Guard guard) {
  Block b;
  b.name = "b" + std::to_string(p_.blocks.size());
  b.loop = loop;
  b.guard = std::move(guard);
  b.line = {0, 50 + static_cast<int>(p_.blocks.size())};
  b.ops[OpClass::int_add] = 2;
  b.ops[OpClass::fp32_fma] = static_cast<double>(p_.blocks.size());
  p_.blocks.push_back(b);
  return static_cast<int>(p_.blocks.size()) - 1;
}

Access& Builder::access(int block, int buffer, const Expr& offset, AccessKind kind, int bytes) {
  Access a;
  a.space = buffer >= 0 ? p_.buffers[buffer].space : MemorySpace::global;
  a.kind = kind;
  a.bytes = bytes;
  a.buffer = buffer;
  a.offset = offset;
  a.line = {0, 70};
  p_.blocks[block].accesses.push_back(a);
  return p_.blocks[block].accesses.back();
}

void Builder::branch(int block, const Expr& condition) {
  Branch b{.verdict = Branch::Verdict::divergent, .reason = "compares", .condition = {}, .line = {}};
  b.block = block;
  b.condition = condition;
  p_.branches.push_back(b);
}

void Builder::branch_unknown(int block, int unknown) {
  Branch b{.verdict = Branch::Verdict::unknown, .reason = "data", .condition = {}, .line = {}};
  b.block = block;
  b.unknown = unknown;
  p_.branches.push_back(b);
}

Guard when(const Expr& condition) { return Guard{{Path{condition, {}}}}; }
Expr lid(int axis) { return local_id(axis); }
Expr wg(int axis) { return group_id(axis); }
Expr lsz(int axis) { return local_size(axis); }
Expr nwg(int axis) { return num_groups(axis); }
Expr gid(int axis) { return wg(axis) * lsz(axis) + lid(axis); }
Expr arg(const std::string& name) { return argument(name); }

Launch launch(Dim3 grid, Dim3 block, std::map<std::string, ArgValue> args) {
  Launch l;
  l.grid = grid;
  l.block = block;
  l.args = std::move(args);
  return l;
}

KernelProfile vector_add() {
  Builder k("vector_add");
  k.scalar("n");
  const int a = k.buffer("a"), b = k.buffer("b"), c = k.buffer("c");
  const Expr inside = less(gid(0), arg("n"));
  k.branch(k.block(), inside);
  const int body = k.block(-1, when(inside));
  k.access(body, a, gid(0) * 4);
  k.access(body, b, gid(0) * 4);
  k.access(body, c, gid(0) * 4, AccessKind::store);
  return k.take();
}

KernelProfile matmul_naive() {
  Builder k("matmul_naive");
  k.scalar("m").scalar("n").scalar("k");
  const int a = k.buffer("a"), b = k.buffer("b"), c = k.buffer("c");
  const Expr inside = less(gid(1), arg("m")) * less(gid(0), arg("n"));
  k.branch(k.block(), inside);
  const int loop = k.loop(arg("k"), -1, when(inside));
  const int body = k.block(loop);
  k.access(body, a, (gid(1) * arg("k") + k.counter(loop)) * 4);
  k.access(body, b, (k.counter(loop) * arg("n") + gid(0)) * 4);
  k.branch(body, less(k.counter(loop) + 1, arg("k")));
  const int end = k.block(-1, when(inside));
  k.access(end, c, (gid(1) * arg("n") + gid(0)) * 4, AccessKind::store);
  return k.take();
}

KernelProfile matmul_tiled(int tile) {
  Builder k("matmul_tiled");
  k.scalar("m").scalar("n").scalar("k");
  const int a = k.buffer("a"), b = k.buffer("b"), c = k.buffer("c");
  const int sa = k.buffer("tile_a", MemorySpace::shared), sb = k.buffer("tile_b", MemorySpace::shared);
  const int outer = k.loop(ceil_div(arg("k"), tile));
  const Expr t = k.counter(outer);
  const Expr in_a = less(gid(1), arg("m")) * less(t * tile + lid(0), arg("k"));
  const Expr in_b = less(gid(0), arg("n")) * less(t * tile + lid(1), arg("k"));
  const int load_a = k.block(outer, when(in_a));
  k.access(load_a, a, (gid(1) * arg("k") + t * tile + lid(0)) * 4);
  const int load_b = k.block(outer, when(in_b));
  k.access(load_b, b, ((t * tile + lid(1)) * arg("n") + gid(0)) * 4);
  const int put = k.block(outer);
  k.access(put, sa, (lid(1) * tile + lid(0)) * 4, AccessKind::store);
  k.access(put, sb, (lid(1) * tile + lid(0)) * 4, AccessKind::store);
  k.at(put).barriers = 1;
  k.at(put).flat_barriers = 1;
  const int inner = k.loop(tile, outer);
  const int mac = k.block(inner);
  k.access(mac, sa, (lid(1) * tile + k.counter(inner)) * 4);
  k.access(mac, sb, (k.counter(inner) * tile + lid(0)) * 4);
  const int wait = k.block(outer);
  k.at(wait).barriers = 1;
  const int end = k.block(-1, when(less(gid(1), arg("m")) * less(gid(0), arg("n"))));
  k.access(end, c, (gid(1) * arg("n") + gid(0)) * 4, AccessKind::store);
  return k.take();
}

namespace {

KernelProfile transpose(int pad) {
  Builder k("transpose");
  k.scalar("w").scalar("h");
  const int in = k.buffer("in"), out = k.buffer("out"), tile = k.buffer("tile", MemorySpace::shared);
  const Expr inside = less(gid(0), arg("w")) * less(gid(1), arg("h"));
  const int load = k.block(-1, when(inside));
  k.access(load, in, (gid(1) * arg("w") + gid(0)) * 4);
  k.access(load, tile, (lid(1) * (lsz(0) + pad) + lid(0)) * 4, AccessKind::store);
  k.at(k.block()).barriers = 1;
  const Expr x = wg(1) * lsz(1) + lid(0), y = wg(0) * lsz(0) + lid(1);
  const int store = k.block(-1, when(less(x, arg("h")) * less(y, arg("w"))));
  k.access(store, tile, (lid(0) * (lsz(0) + pad) + lid(1)) * 4);
  k.access(store, out, (y * arg("h") + x) * 4, AccessKind::store);
  return k.take();
}

KernelProfile triangular() {
  Builder k("triangular");
  k.scalar("n");
  const int a = k.buffer("a"), x = k.buffer("x");
  const int loop = k.loop(gid(0), -1, when(less(gid(0), arg("n"))));
  const int body = k.block(loop);
  k.access(body, a, (gid(0) * arg("n") + k.counter(loop)) * 4);
  k.access(body, x, k.counter(loop) * 4);
  k.branch(body, less(k.counter(loop) + 1, gid(0)));
  return k.take();
}

// Triangles of every orientation: over groups and a counter, rising and falling, and over two counters.
KernelProfile triangles() {
  Builder k("triangles");
  k.scalar("n");
  const int a = k.buffer("a"), s = k.buffer("s", MemorySpace::shared);
  const int rising = k.loop(gid(0) * 2 + 1);
  const int first = k.block(rising);
  k.access(first, a, (gid(0) * 7 + k.counter(rising) * 3) * 4);
  k.access(first, s, (lid(0) + k.counter(rising)) * 8);
  k.branch(first, less(k.counter(rising), gid(0)));
  const int falling = k.loop(arg("n") - gid(0));
  const int second = k.block(falling);
  k.access(second, a, (gid(0) * arg("n") + k.counter(falling)) * 4, AccessKind::store);
  k.access(second, a, mod(gid(0) + k.counter(falling), 5) * 4);
  const int third = k.block(falling, when(less_equal(k.counter(falling), gid(0)) * less(lid(0), 20)));
  k.access(third, a, (gid(0) - k.counter(falling)) * 12);
  const int i = k.loop(arg("n"));
  const int j = k.loop(k.counter(i) + lid(0) - 3, i);
  const int fourth = k.block(j);
  k.access(fourth, a, (k.counter(i) * 33 + k.counter(j) + lid(0)) * 4);
  k.at(fourth).barriers = 1;
  return k.take();
}

// Rows and columns from one running number, rings, and quotients of loops: what repeats along groups and counters.
KernelProfile periodic() {
  Builder k("periodic");
  k.scalar("w");
  const int a = k.buffer("a"), b = k.buffer("b"), s = k.buffer("s", MemorySpace::shared);
  const int body = k.block(-1, when(less(gid(0), 3000)));
  k.access(body, a, mod(gid(0), 7) * 4);
  k.access(body, a, floor_div(gid(0), 3) * 12, AccessKind::store);
  k.access(body, b, (mod(gid(0), arg("w")) * 64 + floor_div(gid(0), arg("w")) + gid(1)) * 4);
  k.access(body, s, (mod(wg(0) * 3 + gid(1) * 2, 10) + lid(0)) * 4);
  const int loop = k.loop(floor_div(gid(0), 40) + 25);
  const int inner = k.block(loop);
  k.access(inner, a, (mod(k.counter(loop) * 5 + wg(0), 6) + lid(0)) * 4);
  k.access(inner, a, (ceil_div(k.counter(loop) - gid(0), 4) + mod(gid(0), 3) * k.counter(loop)) * 8, AccessKind::load,
           8);
  k.access(inner, b,
           (Expr::apply(Op::bit_and, wg(0) - k.counter(loop), 3) * mod(wg(0), 5) +
            Expr::apply(Op::shift_right, lid(0) + wg(0) * 6, 2)) *
               4);
  return k.take();
}

KernelProfile grid_stride() {
  Builder k("grid_stride");
  k.scalar("n");
  const int a = k.buffer("a"), b = k.buffer("b");
  const Expr step = nwg(0) * lsz(0);
  const int loop = k.loop(ceil_div(arg("n") - gid(0), step));
  const int body = k.block(loop);
  k.access(body, a, (gid(0) + k.counter(loop) * step) * 4);
  k.access(body, b, (gid(0) + k.counter(loop) * step) * 8, AccessKind::store, 8);
  k.branch(body, less(gid(0) + (k.counter(loop) + 1) * step, arg("n")));
  return k.take();
}

KernelProfile strided() {
  Builder k("strided");
  k.scalar("stride").scalar("pitch");
  const int a = k.buffer("a"), s = k.buffer("s", MemorySpace::shared), l = k.buffer("l", MemorySpace::local);
  const int c = k.buffer("c", MemorySpace::constant);
  const int body = k.block();
  k.access(body, a, gid(0) * arg("stride") * 4);
  k.access(body, a, gid(0) * 24 + 8, AccessKind::load, 8);    // array of structures
  k.access(body, a, gid(1) * arg("pitch") + gid(0) * 4 + 4);  // misaligned rows
  k.access(body, a, gid(0) * 16, AccessKind::store, 16).also = {4, -64, 1000};
  k.access(body, a, gid(0), AccessKind::atomic, 1);
  for (int bytes : {1, 2, 4, 8, 16}) {
    k.access(body, s, lid(0) * bytes * arg("stride"), AccessKind::load, bytes);
    k.access(body, s, lid(0) * bytes + 2, AccessKind::store, bytes);
  }
  k.access(body, s, mod(lid(0), 5) * 4, AccessKind::atomic);
  k.access(body, l, lid(1) * 4 + 8).also = {2};
  k.access(body, l, 16, AccessKind::store, 16);
  k.access(body, c, wg(0) * 4);
  k.access(body, c, mod(lid(0), 3) * 4);
  k.access(body, -1, gid(0) * 12);
  return k.take();
}

KernelProfile wrapped() {
  Builder k("wrapped");
  k.scalar("n");
  const int a = k.buffer("a"), h = k.buffer("h");
  const int body = k.block(-1, when(less(gid(0), arg("n"))));
  k.access(body, a, mod(gid(0) + 1, arg("n")) * 4);
  k.access(body, a, mod(gid(0) - 1, arg("n")) * 4);
  k.access(body, h, mod(gid(0), 7) * 4, AccessKind::atomic);
  k.access(body, a, min(gid(0) + 3, arg("n") - 1) * 4);
  k.access(body, a, floor_div(gid(0), 3) * 4);
  k.access(body, a, gid(0) * gid(0) * 4, AccessKind::store);
  k.access(body, a, Expr::apply(Op::bit_xor, gid(0), 5) * 4);
  return k.take();
}

KernelProfile reduction() {
  Builder k("reduction");
  k.scalar("n");
  const int g = k.buffer("g"), s = k.buffer("s", MemorySpace::shared), o = k.buffer("o");
  const int first = k.block(-1, when(less(gid(0), arg("n"))));
  k.access(first, g, gid(0) * 4);
  const int put = k.block();
  k.access(put, s, lid(0) * 4, AccessKind::store);
  k.at(put).barriers = 1;
  k.at(put).flat_barriers = 1;
  const int loop = k.loop(Expr::apply(Op::bit_width, floor_div(lsz(0), 2)));
  const Expr half = Expr::apply(Op::shift_right, floor_div(lsz(0), 2), k.counter(loop));
  const int head = k.block(loop);
  k.branch(head, less(lid(0), half));
  const int body = k.block(loop, when(less(lid(0), half)));
  k.access(body, s, (lid(0) + half) * 4);
  k.access(body, s, lid(0) * 4, AccessKind::store);
  k.at(k.block(loop)).barriers = 1;
  const int last = k.block(-1, when(equal(lid(0), 0)));
  k.access(last, o, wg(0) * 4, AccessKind::store);
  return k.take();
}

KernelProfile data_dependent() {
  Builder k("data_dependent");
  k.scalar("n");
  const int a = k.buffer("a"), b = k.buffer("b"), s = k.buffer("s", MemorySpace::shared),
            c = k.buffer("c", MemorySpace::constant);
  const int p = k.unknown(Unknown::Kind::probability, 0.3), u = k.unknown(Unknown::Kind::probability, 0.7, true);
  const int near = k.unknown(Unknown::Kind::address, 4), far = k.unknown(Unknown::Kind::address, 128.5);
  const Expr inside = less(gid(0), arg("n"));
  const int head = k.block(-1, when(inside));
  k.branch_unknown(head, p);
  k.branch_unknown(head, u);
  const int taken = k.block(-1, Guard{{Path{inside, {{p, true}}}}});
  k.access(taken, a, gid(0) * 4);
  k.access(taken, s, lid(0) * 8);
  k.access(taken, c, mod(lid(0), 3) * 4);
  k.access(taken, b, mod(gid(0), 11) * 4);
  k.access(taken, b, 0).unknown = near;
  k.access(taken, b, 0).unknown = far;
  k.branch(taken, less(lid(0), 7));
  k.branch_unknown(taken, p);
  const int other =
      k.block(-1, Guard{{Path{inside, {{p, false}, {u, true}}}, Path{inside * less(lid(0), 5), {{p, true}, {u, false}}},
                         Path{less_equal(arg("n"), gid(0)), {}}}});
  k.access(other, b, gid(0) * 12 + 4, AccessKind::store);
  k.access(other, s, lid(0) * 8, AccessKind::load, 8);
  k.branch(other, equal(mod(lid(0), 2), 0));
  k.at(other).barriers = 1;
  const int row = k.unknown_loop(2.25, -1, Guard{{Path{inside, {{u, true}}}}});
  const int inner = k.unknown_loop(3, row);
  const int body = k.block(inner, Guard{{Path{less(k.counter(inner), lid(0)), {{p, true}}}}});
  k.access(body, a, (gid(0) * 5 + k.counter(row) * 3 + k.counter(inner)) * 4);
  k.access(body, a, 0, AccessKind::atomic).unknown = near;
  k.at(k.block(row)).barriers = 2;
  return k.take();
}

}  // namespace

std::vector<Case> all_cases() {
  std::vector<Case> all;
  all.push_back({"vector_add",
                 vector_add(),
                 {launch({4}, {64}, {{"n", 256}}), launch({5}, {100}, {{"n", 431}}), launch({3}, {7, 5}, {{"n", 17}}),
                  launch({70}, {33}, {{"n", 2000}}), launch({2}, {64}, {{"n", -3}})}});
  all.push_back({"matmul_naive",
                 matmul_naive(),
                 {launch({2, 2}, {16, 16}, {{"m", 32}, {"n", 32}, {"k", 32}}),
                  launch({3, 2}, {16, 4}, {{"m", 7}, {"n", 37}, {"k", 5}}),
                  launch({2, 3}, {32, 11}, {{"m", 30}, {"n", 51}, {"k", 9}}),
                  launch({2, 2}, {7, 5}, {{"m", 9}, {"n", 13}, {"k", 0}})}});
  all.push_back({"matmul_tiled",
                 matmul_tiled(8),
                 {launch({3, 3}, {8, 8}, {{"m", 24}, {"n", 24}, {"k", 24}}),
                  launch({4, 3}, {8, 8}, {{"m", 19}, {"n", 29}, {"k", 21}}),
                  launch({2, 2}, {8, 8}, {{"m", 3}, {"n", 5}, {"k", 1}})}});
  all.push_back({"matmul_tiled16", matmul_tiled(16), {launch({2, 2}, {16, 16}, {{"m", 31}, {"n", 32}, {"k", 33}})}});
  for (int pad : {0, 1})
    all.push_back({"transpose",
                   transpose(pad),
                   {launch({2, 2}, {16, 16}, {{"w", 32}, {"h", 32}}), launch({3, 2}, {16, 16}, {{"w", 45}, {"h", 19}}),
                    launch({1, 1}, {32, 32}, {{"w", 32}, {"h", 32}})}});
  all.push_back({"triangular",
                 triangular(),
                 {launch({3}, {32}, {{"n", 96}}), launch({9}, {48}, {{"n", 400}}), launch({2}, {7, 5}, {{"n", 11}})}});
  all.push_back({"triangles",
                 triangles(),
                 {launch({9}, {8}, {{"n", 40}}), launch({7}, {5, 2}, {{"n", 33}}), launch({12}, {3}, {{"n", 20}})}});
  all.push_back(
      {"periodic",
       periodic(),
       {launch({40}, {12}, {{"w", 50}}), launch({29, 2}, {7}, {{"w", 6}}), launch({30}, {3, 2}, {{"w", 1}})}});
  all.push_back({"grid_stride",
                 grid_stride(),
                 {launch({4}, {64}, {{"n", 1000}}), launch({3}, {50}, {{"n", 150}}), launch({3}, {50}, {{"n", 449}}),
                  launch({2}, {33}, {{"n", 5}})}});
  all.push_back(
      {"strided",
       strided(),
       {launch({3, 2}, {64}, {{"stride", 1}, {"pitch", 260}}),
        launch({2, 3}, {32, 11}, {{"stride", 2}, {"pitch", 132}}),
        launch({2, 2}, {7, 5}, {{"stride", 17}, {"pitch", 30}}), launch({3}, {96}, {{"stride", 0}, {"pitch", 128}}),
        launch({2}, {40, 2}, {{"stride", -3}, {"pitch", 1}})}});
  all.push_back({"wrapped",
                 wrapped(),
                 {launch({4}, {64}, {{"n", 256}}), launch({5}, {50}, {{"n", 231}}), launch({9}, {7, 5}, {{"n", 60}})}});
  all.push_back({"reduction",
                 reduction(),
                 {launch({4}, {64}, {{"n", 250}}), launch({3}, {100}, {{"n", 300}}), launch({2}, {256}, {{"n", 512}}),
                  launch({2}, {1}, {{"n", 2}})}});
  all.push_back({"data_dependent",
                 data_dependent(),
                 {launch({4}, {64}, {{"n", 256}}), launch({3}, {50}, {{"n", 131}}), launch({5}, {7, 5}, {{"n", 29}})}});
  return all;
}

}  // namespace kernelcast::kernels
