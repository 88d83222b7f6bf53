// Binder against its slow twin on random kernels: loops up to two deep, random guards, affine and other addresses,
// small launches. A failure prints the whole kernel.
#include <gtest/gtest.h>
// rapidcheck/gtest.h needs gtest first
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "compare.h"
#include "kernels.h"

namespace kernelcast {
namespace {

template <class T>
T pick(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

// Full range from the first case on, not growing with the number of cases.
int between(int low, int high) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high + 1)); }

struct Random {
  explicit Random(bool unknowns) : k("random"), with_unknowns(unknowns) {}

  kernels::Builder k;
  bool with_unknowns;
  std::vector<int> uniform_or_not;  // unknowns of kind probability

  /// A variable or size that may appear in an index of code inside `loop`.
  Expr leaf(int loop) {
    std::vector<Expr> leaves;
    for (int axis = 0; axis < 2; ++axis) {
      leaves.push_back(kernels::lid(axis));
      leaves.push_back(kernels::wg(axis));
      leaves.push_back(kernels::gid(axis));
    }
    leaves.push_back(kernels::lsz(0));
    leaves.push_back(kernels::nwg(0));
    leaves.push_back(kernels::arg("n"));
    for (int l = loop; l >= 0; l = parents[l])
      for (int i = 0; i < 3; ++i) leaves.push_back(k.counter(l));
    return *rc::gen::elementOf(leaves);
  }

  Expr affine(int loop) {
    Expr e = between(-3, 9);
    const int terms = between(1, 3);
    for (int i = 0; i < terms; ++i) {
      Expr t = leaf(loop) * pick({1, 1, 2, 3, -1, 8});
      if (between(0, 5) == 0) t = t * pick<Expr>({kernels::arg("n"), kernels::lsz(0), kernels::nwg(0)});
      e = e + t;
    }
    return e;
  }

  Expr index(int loop) {
    const Expr a = affine(loop);
    switch (between(0, 11)) {
      case 0:
        return mod(a, between(1, 9));
      case 1:
        return floor_div(a, between(1, 5));
      case 2:
        return ceil_div(a, pick({2, 4, -3}));
      case 3:
        return min(a, affine(loop));
      case 4:
        return max(a, affine(loop));
      case 5:
        return a * leaf(loop);
      case 6:
        return select(condition(loop), a, affine(loop));
      case 7:
        return Expr::apply(pick({Op::bit_and, Op::bit_or, Op::bit_xor}), a, pick({3, 7, 5}));
      case 8:
        return mod(a, kernels::arg("n") + 20);
      default:
        return a;
    }
  }

  Expr comparison(int loop) {
    const Op op = pick({Op::less, Op::less, Op::less_equal, Op::equal});
    const Expr left = between(0, 4) == 0 ? index(loop) : affine(loop);
    const Expr right = pick<Expr>({Expr(between(-5, 40)), kernels::arg("n"), leaf(loop)});
    return Expr::apply(op, left, right);
  }

  Expr condition(int loop) {
    const Expr a = comparison(loop);
    switch (between(0, 6)) {
      case 0:
        return a * comparison(loop);
      case 1:
        return logical_not(a * comparison(loop));
      case 2:
        return logical_not(a);
      default:
        return a;
    }
  }

  Guard guard(int loop) {
    const int choice = between(0, with_unknowns ? 5 : 2);
    if (choice == 0) return {};
    if (choice <= 2) return kernels::when(condition(loop));
    const auto factor = [&] {
      if (uniform_or_not.empty() || between(0, 2) == 0)
        uniform_or_not.push_back(
            k.unknown(Unknown::Kind::probability, pick({0.0, 0.25, 0.6, 1.0}), between(0, 1) == 1));
      return Path::Factor{*rc::gen::elementOf(uniform_or_not), between(0, 1) == 1};
    };
    const Expr c = condition(loop);
    Guard g;
    g.paths = {Path{c, {factor()}}};
    if (choice == 4) g.paths.push_back(Path{logical_not(c), {factor()}});
    if (choice == 5) {
      const Path::Factor f = g.paths[0].factors[0];
      g.paths.push_back(Path{1, {{f.unknown, !f.taken}}});
    }
    return g;
  }

  int loop(int parent) {
    if (with_unknowns && between(0, 3) == 0) {
      parents.push_back(parent);
      return k.unknown_loop(pick({0.0, 1.0, 2.5, 3.0}), parent, guard(parent));
    }
    const Expr bound = affine(parent);
    const Expr trips = [&]() -> Expr {
      switch (between(0, 5)) {
        case 0:
          return Expr(between(0, 5));
        case 1:
          return min(ceil_div(kernels::arg("n") - leaf(parent), 8), 6);
        case 2:
          return max(min(bound, 5), 0);
        case 3:
          return min(floor_div(bound, pick({2, 3})) + 1, leaf(parent));
        case 4:
          return mod(bound, 5);
        default:
          return ceil_div(kernels::arg("n") - kernels::gid(0), kernels::nwg(0) * kernels::lsz(0));
      }
    }();
    const Guard g = guard(parent);
    parents.push_back(parent);
    return k.loop(min(trips, 7), parent, g);
  }

  KernelProfile make() {
    k.scalar("n");
    const std::vector<int> buffers{k.buffer("a"), k.buffer("b"), k.buffer("s", MemorySpace::shared),
                                   k.buffer("l", MemorySpace::local), k.buffer("c", MemorySpace::constant)};
    std::vector<int> places{-1};
    const int loops = between(0, 2);
    for (int l = 0; l < loops; ++l) places.push_back(loop(*rc::gen::elementOf(places)));
    const int blocks = between(1, 3);
    for (int i = 0; i < blocks; ++i) {
      const int at = *rc::gen::elementOf(places);
      const int b = k.block(at, guard(at));
      k.at(b).barriers = between(0, 1);
      const int accesses = between(1, 3);
      for (int j = 0; j < accesses; ++j) {
        const int bytes = pick({4, 4, 4, 1, 2, 8, 16});
        Access& a = k.access(b, *rc::gen::elementOf(buffers), index(at) * pick({4, 4, 4, bytes, 1, 12}),
                             pick({AccessKind::load, AccessKind::store, AccessKind::atomic}), bytes);
        if (between(0, 4) == 0) a.also = {between(-40, 200), 4};
        if (with_unknowns && between(0, 5) == 0)
          a.unknown = k.unknown(Unknown::Kind::address, pick({0.0, 4.0, 1.5, 300.0}));
      }
      if (between(0, 1) == 0) k.branch(b, condition(at));
      if (with_unknowns && between(0, 1) == 0)
        k.branch_unknown(b, k.unknown(Unknown::Kind::probability, 0.4, between(0, 3) == 0));
    }
    return k.take();
  }

  std::vector<int> parents;
};

std::string text(const KernelProfile& p, const Launch& l, const MemoryGeometry& g) {
  std::ostringstream out;
  const auto show = [&](const Guard& guard) {
    for (const auto& path : guard.paths) {
      out << " {" << path.condition.str();
      for (const auto& f : path.factors) out << ", " << (f.taken ? "" : "not ") << f.unknown;
      out << "}";
    }
    out << "\n";
  };
  out << "grid " << l.grid.x << "," << l.grid.y << " block " << l.block.x << "," << l.block.y << "," << l.block.z
      << " n=" << std::get<0>(l.args.at("n")) << " warp " << g.warp_size << " banks " << g.shared_banks << "\n";
  for (std::size_t i = 0; i < p.unknowns.size(); ++i)
    out << "unknown " << i << " " << p.unknowns[i].default_value << (p.unknowns[i].uniform ? " uniform\n" : "\n");
  for (const auto& x : p.loops) {
    out << "loop " << x.counter.name() << " in " << x.parent << " trips " << x.trips.str() << " unknown " << x.unknown;
    show(x.guard);
  }
  for (const auto& b : p.blocks) {
    out << "block in loop " << b.loop;
    show(b.guard);
    for (const auto& a : b.accesses)
      out << "  " << name_of(a.space) << " " << name_of(a.kind) << " " << a.bytes << " at " << a.offset.str() << "\n";
  }
  for (const auto& b : p.branches) out << "branch in block " << b.block << ": " << b.condition.str() << "\n";
  return out.str();
}

void check(bool unknowns) {
  const KernelProfile profile = Random(unknowns).make();
  const auto warp = pick({32, 64});
  MemoryGeometry geometry{warp, pick({32, 64}), pick({64, 128}), pick({16, 32}), 4};
  geometry.shared_pairs = pick({0, 1});
  geometry.l1_banks = pick({0, 4, 32});
  geometry.l1_tags = pick({0, 4});
  geometry.l1_tag_banks = pick({0, 0, 4});
  geometry.l1_group = pick({0, 0, 4});
  Launch launch = kernels::launch({between(1, 6), between(1, 3), 1},
                                  pick<Dim3>({{8}, {33}, {64}, {7, 5}, {32, 3}, {4, 4, 3}, {70}}),
                                  {{"n", static_cast<std::int64_t>(between(-2, 90))}});
  Binder binder(profile, geometry);
  const auto got = compare::differences(profile, binder.bind(launch), twin::count(profile, launch, geometry));
  if (!got.empty()) RC_FAIL(text(profile, launch, geometry) + got);
  // Often enough to come from memory, then a neighbouring launch with warm tables.
  Workload again;
  for (int i = 0; i < 3; ++i) binder.bind(launch, again);
  const auto same = compare::differences(profile, again, twin::count(profile, launch, geometry));
  if (!same.empty()) RC_FAIL("remembered\n" + text(profile, launch, geometry) + same);
  launch.grid.x += 1;
  const auto next = compare::differences(profile, binder.bind(launch), twin::count(profile, launch, geometry));
  if (!next.empty()) RC_FAIL("second launch\n" + text(profile, launch, geometry) + next);
}

RC_GTEST_PROP(RandomKernels, KnownControlFlowIsExact, ()) { check(false); }
RC_GTEST_PROP(RandomKernels, UnknownsGiveTheSameExpectations, ()) { check(true); }

}  // namespace
}  // namespace kernelcast
