// The addresses that a kernel walks through, against the same statements run here: what the analysis says of the
// stores, iteration after iteration and lane by lane, are the indices that C computes, however the loops were unrolled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kernelcast/error.h"
#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

using Walk = std::vector<std::int64_t>;

KernelProfile profile_of(const std::string& path, const std::string& text, const std::string& target = "sm_70") {
  Source source;
  source.path = path;
  source.text = text;
  FrontendOptions options;
  options.target = target;
  return analyze(source, options).profile;
}

SymbolValues launch_of(std::int64_t lid, std::int64_t n) {
  SymbolValues v;
  for (int axis = 0; axis < 3; ++axis) {
    v[local_id(axis)] = axis == 0 ? lid : 0;
    v[group_id(axis)] = 0;
    v[local_size(axis)] = axis == 0 ? 64 : 1;
    v[num_groups(axis)] = 1;
  }
  v[argument("n")] = n;
  return v;
}

bool holds(const Guard& guard, const SymbolValues& v) {
  std::int64_t sum = 0;
  for (const Path& p : guard.paths) {
    EXPECT_THAT(p.factors, SizeIs(0)) << "decided by data";
    sum += p.condition.evaluate(v);
  }
  EXPECT_LE(sum, 1);
  return sum > 0;
}

/// Indices (4 bytes each) of one store over all loops around it.
void walk(const KernelProfile& p, const Block& block, const Access& store, const std::vector<int>& around,
          std::size_t depth, SymbolValues& v, Walk& out) {
  if (depth == around.size()) {
    if (!holds(block.guard, v)) return;
    const std::int64_t offset = store.offset.evaluate(v);
    EXPECT_EQ(offset % 4, 0);
    out.push_back(offset / 4);
    for (std::int64_t further : store.also) out.push_back((offset + further) / 4);
    return;
  }
  const Loop& loop = p.loops[static_cast<std::size_t>(around[depth])];
  EXPECT_EQ(loop.unknown, -1) << "trips unknown";
  if (!holds(loop.guard, v)) return;
  const std::int64_t trips = loop.trips.evaluate(v);
  for (std::int64_t c = 0; c < trips && out.size() < 5000; ++c) {
    v[loop.counter] = c;
    walk(p, block, store, around, depth + 1, v, out);
  }
}

Walk walk_of(const KernelProfile& p, std::int64_t lid, std::int64_t n) {
  Walk out;
  for (const Block& b : p.blocks)
    for (const Access& a : b.accesses) {
      if (a.kind != AccessKind::store) continue;
      EXPECT_EQ(a.unknown, -1) << "irregular";
      std::vector<int> around;
      for (int l = b.loop; l >= 0; l = p.loops[static_cast<std::size_t>(l)].parent) around.insert(around.begin(), l);
      SymbolValues v = launch_of(lid, n);
      walk(p, b, a, around, 0, v, out);
    }
  std::sort(out.begin(), out.end());
  return out;
}

struct WalkCase {
  const char* name;
  const char* body;  // C over: int lid, int n, put(index)
  Walk (*run)(int lid, int n);
};

// The same text becomes the kernel's and, compiled here, the reference.
// clang-format off
#define WALK_END walked
#define WALK(name, ...)                                      \
  WalkCase { #name, #__VA_ARGS__, [](int lid, int n) {       \
    Walk walked;                                             \
    auto put = [&](auto at) { walked.push_back(at); };       \
    (void)lid, (void)n;                                      \
    __VA_ARGS__;                                             \
    return walked; } }

const WalkCase walk_cases[] = {
    WALK(mask_wrap, int s = lid; for (int i = 0; i < n; ++i) { put(s); s = (s + 5) & 63; }),
    WALK(modulo_wrap, unsigned s = lid; for (int i = 0; i < n; ++i) { put(s); s = (s + 3) % 10; }),
    WALK(saturating, int s = lid; for (int i = 0; i < n; ++i) { put(s); s = s + 4 < 100 ? s + 4 : 100; }),
    WALK(trailing, int last = 77; for (int i = lid; i < n; ++i) { put(last); last = i; }),
    WALK(trailing_from_before, int last = lid - 1; for (int i = lid; i < n; ++i) { put(last); last = i; }),
    WALK(swap, int p = lid; int q = 100; for (int i = 0; i < n; ++i) { put(p + i); int t = p; p = q; q = t; }),
    WALK(flip, int p = 0; for (int i = 0; i < n; ++i) { put(64 * p + lid); p = 1 - p; }),
    WALK(flip_bit, int p = 0; for (int i = 0; i < n; ++i) { put(64 * p + lid); p ^= 1; }),
    WALK(bits_in_common_among_many_terms, for (int i = 2; i < n; ++i)
         put(i / 2 + i / 3 + i / 4 + i / 5 + i / 6 + i / 7 + i / 8 + i / 9 + i / 10 + i / 11 + i / 12 + i / 13 +
             i / 14 + i / 15 + i / 16 + i / 17 + (i | lid))),
    WALK(long_counter, for (long i = lid; i < n; i += 64) put(i)),
    WALK(short_index, for (int i = 0; i < n; ++i) { short s = (short)(i * 3); put(s + lid); }),
    WALK(byte_index, for (int i = 0; i < n; ++i) { unsigned char s = (unsigned char)(i * 7 + lid); put(s); }),
    WALK(clamped, for (int i = 0; i < n; ++i) { int at = i + lid - 3; put(at < 0 ? 0 : at > n - 1 ? n - 1 : at); }),
    WALK(butterfly, for (int k = 1; k < n; k *= 2) put(lid ^ k)),
    WALK(pairs, for (int k = 2; k <= n; k <<= 1) for (int j = k >> 1; j > 0; j >>= 1) put(k * 64 + (lid ^ j))),
    WALK(triangle, for (int i = 0; i < n; ++i) for (int j = i; j < n; ++j) put(i * 64 + j)),
    WALK(carried_through_inner, int at = lid;
         for (int i = 0; i < n; ++i) { for (int j = 0; j < 3; ++j) { put(at); at += 2; } at += i; }),
    WALK(do_while, int i = lid; do { put(i); i += 7; } while (i < n);),
    WALK(by_goto, int i = lid; again: if (i < n) { put(i); i += 5; goto again; }),
    WALK(two_tests, for (int i = 0; i < n && i * 2 < lid + 20; ++i) put(i)),
    WALK(unsigned_division, for (unsigned i = lid; i < (unsigned)n; ++i) put(i / 7 * 64 + i % 7)),
    WALK(signed_division, for (int i = -5; i < n; ++i) put((i / 4) * 10 + i % 4 + lid)),
    WALK(sign_bit, for (int i = -3; i < n; ++i) put(lid + (int)((unsigned)i >> 31))),
    WALK(by_switch, for (int i = 0; i < n; ++i) {
      int at = 0;
      switch (i & 3) { case 0: at = lid; break; case 1: at = 5; break; case 3: at = 9 + lid; break; default: at = i; }
      put(at);
    }),
    WALK(continue_odd, for (int i = 0; i < n; ++i) { if ((i + lid) & 1) continue; put(i); }),
    WALK(early_return, if (lid >= n) return WALK_END; for (int i = 0; i < 3; ++i) put(lid + i)),
    WALK(break_at_bound, for (int i = 0; i < 50; ++i) { if (i + lid >= n) break; put(i); }),
    WALK(down_unsigned, for (unsigned i = n; i-- > 0;) put(i + lid)),
    WALK(not_equal, for (int i = 0; i != n; ++i) put(i * 2 + lid)),
    WALK(min_bound, int end = n < 20 ? n : 20; for (int i = lid; i < end; ++i) put(i)),
};

// clang-format on

class Walks : public ::testing::TestWithParam<WalkCase> {};

TEST_P(Walks, AddressesAreThoseOfTheStatementsRun) {
  const WalkCase& c = GetParam();
  const std::string text = std::string(
                               "#define put(at) a[at] = 1\n#define WALK_END\n"
                               "__kernel void k(volatile __global int* a, int n) {\n"
                               "  int lid = get_local_id(0);\n  ") +
                           c.body + ";\n}\n";
  for (const char* target : {"sm_70", "gfx90a"}) {
    const KernelProfile p = profile_of("test.cl", text, target);
    for (int n : {1, 2, 3, 4, 5, 8, 13, 16, 31, 64})
      for (int lid : {0, 1, 2, 7, 33, 63}) {
        Walk expected = c.run(lid, n);
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(walk_of(p, lid, n), expected) << target << " n " << n << " lid " << lid;
        if (HasFailure()) return;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Profile, Walks, ::testing::ValuesIn(walk_cases),
                         [](const auto& test) { return std::string(test.param.name); });

// Structures by value.

const char* const with_structure =
    "struct P { int n; const float* a; short step; long m; };\n"
    "__global__ void k(P p, float* out) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < p.n)\n    for (long j = 0; j < p.m; ++j) out[i] += p.a[i + j * p.step];\n}\n";

TEST(Fields, OfStructuresByValueAreParametersAndBuffers) {
  for (const char* target : {"sm_70", "gfx90a"}) {
    const KernelProfile p = profile_of(std::string(target) == "sm_70" ? "test.cu" : "test.hip", with_structure, target);
    EXPECT_THAT(p.unknowns, SizeIs(0)) << target;
    const std::string owner = p.parameters[0].name;  // HIP names no structures
    std::vector<std::string> used, buffers;
    for (const Parameter& q : p.parameters)
      if (q.used) used.push_back(q.name + " " + std::to_string(q.bytes));
    for (const Buffer& b : p.buffers) buffers.push_back(b.name);
    EXPECT_THAT(used, ::testing::UnorderedElementsAre(owner + "+0 4", owner + "+16 2", owner + "+24 8")) << target;
    EXPECT_THAT(buffers, ::testing::IsSupersetOf({owner + "+8", std::string("out")})) << target;
  }
}

// Pointers.

TEST(Pointers, ThatSwapKeepTheirPattern) {
  const KernelProfile p = profile_of("test.cl",
                                     "__kernel void k(__global float* a, __global float* b, int n) {\n"
                                     "  int i = get_local_id(0);\n  __global float *from = a, *to = b;\n"
                                     "  for (int t = 0; t < n; ++t) {\n    to[i] = from[i] * 2;\n"
                                     "    barrier(CLK_GLOBAL_MEM_FENCE);\n"
                                     "    __global float* other = from; from = to; to = other;\n  }\n}\n");
  EXPECT_THAT(p.unknowns, SizeIs(0));
  int accesses = 0;
  for (const Block& b : p.blocks)
    for (const Access& a : b.accesses) {
      ++accesses;
      EXPECT_EQ(a.offset.evaluate(launch_of(9, 4)), 36);
    }
  EXPECT_GE(accesses, 2);
}

TEST(Pointers, ChosenByAKnownConditionHaveKnownOffsets) {
  const KernelProfile p = profile_of("test.cl",
                                     "__kernel void k(__global int* a, __global int* b, int n) {\n"
                                     "  int i = get_local_id(0);\n  __global int* p = i < n ? a + 3 * i : b + i;\n"
                                     "  *p = 1;\n}\n");
  EXPECT_THAT(p.unknowns, SizeIs(0));
  for (const Block& b : p.blocks)
    for (const Access& a : b.accesses)
      for (std::int64_t lid : {0, 3, 9, 20}) {
        if (!holds(b.guard, launch_of(lid, 10))) continue;
        EXPECT_EQ(a.offset.evaluate(launch_of(lid, 10)), lid < 10 ? 12 * lid : 4 * lid);
      }
}

TEST(Pointers, ThatMayBeNullAreTakenAsGiven) {
  const KernelProfile p = profile_of(
      "test.cu",
      "__global__ void k(const float* a, float* b) {\n  if (a != nullptr) b[threadIdx.x] = a[threadIdx.x];\n}\n");
  EXPECT_THAT(p.unknowns, SizeIs(0));
  ASSERT_THAT(p.assumptions, SizeIs(1));
  EXPECT_THAT(p.assumptions[0].what, HasSubstr("buffer a is given"));
  for (const Block& b : p.blocks) EXPECT_TRUE(b.accesses.empty() || holds(b.guard, launch_of(0, 0)));
}

// Carried values whose step is known only after an inner loop: nothing of the way there may stay in the result.
TEST(Profile, NoPlaceholderSurvives) {
  const KernelProfile p =
      profile_of("test.cl",
                 "__kernel void merge(__global const int* x, __global int* y, int n) {\n"
                 "  int a = 0, b = n, k = get_local_id(0);\n"
                 "  while (k < n) {\n    while (a < b && x[a] < k) a += 2;\n"
                 "    for (int i = a; i < b; ++i) y[i + k] = a;\n    b -= a;\n    k += b;\n  }\n}\n");
  auto check = [](const Expr& e) {
    for (Symbol s : e.symbols()) EXPECT_FALSE(s.name().starts_with("phi:") || s.name().starts_with("data:")) << e.str();
  };
  for (const Loop& l : p.loops) {
    check(l.trips);
    for (const Path& q : l.guard.paths) check(q.condition);
  }
  for (const Block& b : p.blocks) {
    for (const Access& a : b.accesses) check(a.offset);
    for (const Path& q : b.guard.paths) check(q.condition);
  }
}

// However the outcomes of the branches are drawn, a lane that enters a loop leaves it by one exit.
TEST(Profile, ExitsOfALoopAreDisjoint) {
  const KernelProfile p = profile_of("test.cl",
                                     "__kernel void k(__global const volatile int* x, volatile __global int* y) {\n"
                                     "  int i = 0;\n  for (;;) {\n    if (x[i] == 1) { y[1] = 1; break; }\n"
                                     "    if (x[i] == 2) { ((volatile __global float*)y)[2] = 2; break; }\n    if "
                                     "(x[i] == 3) { ((volatile __global char*)y)[12] = 3; break; }\n"
                                     "    ++i;\n  }\n  y[4] = 4;\n}\n");
  std::vector<const Guard*> outside;
  for (const Block& b : p.blocks)
    for (const Access& a : b.accesses)
      if (b.loop < 0 && a.kind == AccessKind::store && a.offset.constant() != 16) outside.push_back(&b.guard);
  ASSERT_THAT(outside, SizeIs(3));
  for (unsigned outcome = 0; outcome < 1u << p.unknowns.size(); ++outcome) {
    int left = 0;
    for (const Guard* g : outside)
      for (const Path& q : g->paths)
        left += std::all_of(q.factors.begin(), q.factors.end(),
                            [&](const Path::Factor& f) { return ((outcome >> f.unknown & 1) != 0) == f.taken; });
    EXPECT_EQ(left, 1) << "outcome " << outcome;
  }
}

// The value after a loop that data may end early, where the known end decides.
TEST(Profile, ValuesAfterASearchAreThoseOfItsEnd) {
  EXPECT_NO_THROW(profile_of("test.cl",
                             "__kernel void k(__global const float* c, __global float* y, float u, int n) {\n"
                             "  int i = get_global_id(0);\n  if (i < n) {\n    int at = -1;\n"
                             "    for (int x = 0; x < n; x++) if (c[x] >= u) { at = x; break; }\n"
                             "    if (at == -1) at = n - 1;\n    y[i] = c[at];\n  }\n}\n"));
}

// The second test of `a || b` follows the first one always, but perhaps some iterations later.
TEST(Profile, TheSecondTestOfAnOrRunsOnlyIfTheFirstFails) {
  const KernelProfile p =
      profile_of("test.cl",
                 "__kernel void k(__global const volatile int* x, volatile __global int* y) {\n"
                 "  int i = 0;\n  while (x[i] == 1 || ((volatile __global const short*)x)[i] == 2) {\n"
                 "    y[i] = i;\n    ++i;\n  }\n}\n");
  int seconds = 0;
  for (const Block& b : p.blocks)
    for (const Access& a : b.accesses) {
      if (b.loop < 0) continue;
      ASSERT_THAT(b.guard.paths, SizeIs(1));
      EXPECT_THAT(b.guard.paths[0].factors, SizeIs(a.bytes == 2 ? 1 : 0));
      seconds += a.bytes == 2;
    }
  EXPECT_EQ(seconds, 1);
}

TEST(Profile, DataInAddressesLeaveThemDefined) {
  const KernelProfile p = profile_of("test.cl",
                                     "__kernel void k(__global const int* x, __global int* y) {\n"
                                     "  int i = get_local_id(0), d = x[0];\n  y[i + 64 / d] = 1;\n  y[i + d] = 2;\n"
                                     "  y[i * d] = 3;\n}\n");
  std::map<int, const Access*> stores;
  for (const Block& b : p.blocks)
    for (const Access& a : b.accesses)
      if (a.kind == AccessKind::store) stores[a.line.line] = &a;
  ASSERT_THAT(stores, SizeIs(3));
  for (const auto& [line, store] : stores) EXPECT_NO_THROW((void)store->offset.evaluate(launch_of(3, 0))) << line;
  EXPECT_EQ(stores[3]->unknown, -1);  // the base moves, the pattern stays
  EXPECT_EQ(stores[4]->unknown, -1);
  EXPECT_GE(stores[5]->unknown, 0);  // the stride is not known
}

TEST(Profile, EveryUnknownIsOfUse) {
  const KernelProfile p = profile_of(
      "test.cl",
      "__kernel void k(__global const int* x, __global int* y, int n) {\n  int a = get_local_id(0), turn = 0;\n"
      "  for (int i = 0; i < n; ++i) {\n    if (turn) { for (int j = 0; j < a; ++j) y[j] += x[j]; a += 2; }\n"
      "    else a += 2;\n    turn = !turn;\n    if (x[i] > 3) y[i + a] = 1;\n  }\n}\n");
  std::vector<int> uses(p.unknowns.size());
  auto count = [&](int unknown) {
    ASSERT_LT(unknown, static_cast<int>(uses.size()));
    if (unknown >= 0) ++uses[static_cast<std::size_t>(unknown)];
  };
  auto count_guard = [&](const Guard& g) {
    for (const Path& q : g.paths)
      for (const Path::Factor& f : q.factors) count(f.unknown);
  };
  for (const Loop& l : p.loops) {
    count(l.unknown);
    count_guard(l.guard);
  }
  for (const Block& b : p.blocks) {
    count_guard(b.guard);
    for (const Access& a : b.accesses) count(a.unknown);
  }
  for (const Branch& b : p.branches) count(b.unknown);
  EXPECT_FALSE(uses.empty());
  EXPECT_THAT(uses, ::testing::Each(::testing::Gt(0)));
}

TEST(Profile, NumbersBeyond64BitsBecomeUnknown) {
  EXPECT_NO_THROW(profile_of("test.cl",
                             "__kernel void k(__global long* a, long n) {\n  long i = get_global_id(0);\n"
                             "  long big = n * 9223372036854775807L * 5L + i * 4611686018427387904L;\n"
                             "  if (big * 3L > n) a[big] = 1;\n"
                             "  for (long j = 0; j < big; ++j) a[j * big] += 1;\n}\n"));
}

/// The block's size bounds the trips, so that LLVM tests what is left by an exclusive or.
TEST(Walk, LoopsOfFewTripsThatDependOnTheThread) {
  const KernelProfile p = profile_of("k.cu", R"(
__global__ __launch_bounds__(96) void k(int* out, int n) {
#pragma unroll
  for (int i = threadIdx.x; i < 580; i += 96) out[i] = 1;
})");
  for (const std::int64_t lid : {0, 3, 4, 50, 95}) {
    Walk expected;
    for (std::int64_t i = lid; i < 580; i += 96) expected.push_back(i);
    EXPECT_EQ(walk_of(p, lid, 580), expected) << lid;
  }
}

}  // namespace
}  // namespace kernelcast
