// Loop nests on CPUs: the vectoriser's verdict, how often code runs, what the core makes of it.
#include "kernelcast/cpu_code.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernelcast/bind.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

constexpr const char* saxpy = R"(void saxpy(const float* restrict x, float* restrict y, float a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}
)";
constexpr const char* sum = R"(void sum(const double* restrict x, double* restrict out, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += x[i];
  out[0] = s;
}
)";

CpuCode analysed(const char* text, int optimization, bool simd = true, const char* cpu = "haswell",
                 bool threads = false, const char* kernel = "") {
  Source s;
  s.path = "nest.c";
  s.text = text;
  s.language = Language::c;
  CpuCodeOptions o;
  o.cpu = cpu;
  o.optimization = optimization;
  o.simd = simd;
  o.threads = threads;
  o.kernel = kernel;
  return analyze_cpu(s, o);
}

struct Totals {
  double cycles = 0, flops = 0, bytes = 0;
  double of_buffers = 0;  // bytes that are not the stack's
};
Workload bound(const CpuCode& code, std::int64_t n) {
  MemoryGeometry g;
  g.warp_size = 1;
  g.sector_bytes = g.segment_bytes = 64;
  Launch l;
  l.args["n"] = n;
  return Binder(code.profile, g).bind(l);
}
Totals totals(const CpuCode& code, std::int64_t n) {
  const Workload w = bound(code, n);
  Totals r;
  for (std::size_t b = 0; b < code.blocks.size(); ++b) r.cycles += code.blocks[b].cycles * w.block_counts[b].lanes;
  r.flops = flops32(w.thread_ops) + flops64(w.thread_ops);
  std::size_t at = 0;
  for (const Block& block : code.profile.blocks)
    for (const Access& access : block.accesses) {
      const double bytes = w.access_counts[at++].bytes;
      r.bytes += bytes;
      if (access.space == MemorySpace::global) r.of_buffers += bytes;
    }
  return r;
}

TEST(CpuCode, SaxpyIsVectorisedForTheTarget) {
  const CpuCode code = analysed(saxpy, 3);
  ASSERT_FALSE(code.loops.empty());
  EXPECT_EQ(code.loops[0].line.line, 3);
  EXPECT_EQ(code.loops[0].width, 8);  // 256 bits of float
}

TEST(CpuCode, WithoutSimdNothingIsVectorised) {
  for (const CpuLoopCode& l : analysed(saxpy, 3, false).loops) EXPECT_EQ(l.width, 1);
  const double scalar = totals(analysed(saxpy, 3, false), 1000000).cycles,
               vector = totals(analysed(saxpy, 3), 1000000).cycles;
  EXPECT_GT(scalar, 2 * vector);
}

TEST(CpuCode, ASumOfFloatingPointNumbersIsNotVectorisedAndSaysWhy) {
  const CpuCode code = analysed(sum, 3);
  ASSERT_FALSE(code.loops.empty());
  EXPECT_EQ(code.loops[0].width, 1);
  EXPECT_NE(code.loops[0].reason.find("reorder floating-point"), std::string::npos) << code.loops[0].reason;
  // One addition after the other: 3 cycles on Haswell.
  EXPECT_NEAR(totals(code, 1000000).cycles / 1e6, 3, 0.1);
}

TEST(CpuCode, OnlyLoopsOfTheVectoriserAreListed) {
  // Statements on lines of their own: other passes have remarks about them.
  const char* rows = R"(void rows(const double* a, const double* x, double* y, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    y[i] = 0;
    for (int j = 0; j < n; ++j) {
      y[i] = a[i * n + j] * x[j] + y[i];
    }
  }
}
)";
  for (const bool threads : {false, true})
    for (const CpuLoopCode& l : analysed(rows, 3, true, "haswell", threads).loops) {
      EXPECT_TRUE(l.line.line == 3 || l.line.line == 5) << l.line.line << ": " << l.reason;
      EXPECT_EQ(l.reason.find("hoist"), std::string::npos) << l.reason;
      EXPECT_EQ(l.reason.find("inlined"), std::string::npos) << l.reason;
      EXPECT_EQ(l.reason.find("loop not vectorized"), std::string::npos) << l.reason;
    }
}

TEST(CpuCode, CountsDoNotDependOnHowItIsCompiled) {
  for (const std::int64_t n : {1, 7, 16, 1000, 1023})
    for (const int optimization : {0, 1, 2, 3}) {
      const Totals r = totals(analysed(saxpy, optimization), n);
      EXPECT_EQ(r.flops, 2.0 * static_cast<double>(n)) << n << " -O" << optimization;
      EXPECT_EQ(r.bytes, 12.0 * static_cast<double>(n)) << n << " -O" << optimization;
    }
}

TEST(CpuCode, OptimisationPays) {
  const double plain = totals(analysed(saxpy, 0), 100000).cycles, best = totals(analysed(saxpy, 3), 100000).cycles;
  EXPECT_GT(plain, 5 * best);
}

TEST(CpuCode, TheMarkedLoopIsParallel) {
  EXPECT_EQ(analysed(saxpy, 0).parallel_loops.size(), 1u);
  EXPECT_GE(analysed(saxpy, 3).parallel_loops.size(), 1u);  // vector body and remainder
  EXPECT_TRUE(analysed(sum, 3).parallel_loops.empty());
}

TEST(CpuCode, EntriesOfLoopsAreCounted) {
  const CpuCode code = analysed(sum, 0);
  EXPECT_EQ(code.blocks.size(), code.profile.blocks.size());
  EXPECT_EQ(code.first_change - code.first_entry, code.profile.loops.size());
  EXPECT_EQ(code.profile.blocks.size() - code.first_change, code.profile.loops.size());
}

TEST(CpuCode, OverlapChecksAreTakenToHold) {
  std::string text = saxpy;
  for (std::size_t at; (at = text.find(" restrict")) != std::string::npos;) text.erase(at, 9);
  const CpuCode checked = analysed(text.c_str(), 3);
  EXPECT_EQ(checked.loops[0].width, 8);
  EXPECT_NEAR(totals(checked, 100000).cycles / totals(analysed(saxpy, 3), 100000).cycles, 1, 0.1);
}

TEST(CpuCode, AccessesUnderMasksCount) {
  // The vectoriser makes masked loads and stores of the guard, and takes the address from one lane of the indices.
  constexpr const char* guarded = R"(void copy(const float* restrict in, float* restrict out, int n) {
  for (unsigned long block = 0; block < 100; ++block)
    for (unsigned long lane = 0; lane < 64; ++lane) {
      int i = (int)(block * 64 + lane);
      if (i < n) out[i] = in[i] * 2;
    }
}
)";
  const CpuCode vectors = analysed(guarded, 3);
  ASSERT_TRUE(std::any_of(vectors.loops.begin(), vectors.loops.end(), [](const auto& l) { return l.width == 8; }));
  EXPECT_DOUBLE_EQ(totals(vectors, 6400).bytes, 2 * 4 * 6400);
  EXPECT_DOUBLE_EQ(totals(analysed(guarded, 3, false), 6400).bytes, 2 * 4 * 6400);
  MemoryGeometry g;
  g.warp_size = 1;
  g.sector_bytes = g.segment_bytes = 64;
  Launch l;
  l.args["n"] = std::int64_t{6400};
  Binder binder(vectors.profile, g);
  EXPECT_DOUBLE_EQ(binder.bind(l).footprint_bytes, 2 * 4 * 6400);
}

TEST(CpuCode, AGatherIsAnAccessALane) {
  constexpr const char* gather =
      R"(void gather(const float* restrict in, const int* restrict at, float* restrict out, int n) {
  for (int i = 0; i < n; ++i) out[i] = in[at[i]];
}
)";
  const CpuCode code = analysed(gather, 3, true, "skylake-avx512");
  ASSERT_GT(code.loops[0].width, 1);
  EXPECT_DOUBLE_EQ(totals(code, 6400).bytes, 3 * 4 * 6400);
}

TEST(CpuCode, NamesOfOnePortSetCountOnce) {
  // LLVM's model of Zen 4 has several names for the same two units. What limits the loop is its chain of multiply-adds,
  // four cycles each, beside which a multiplication, two loads and the addresses find room.
  Source s;
  s.path = "nest.c";
  s.text = R"(void dot(const double* restrict a, const double* restrict b, double* restrict out, int n) {
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += 3.0 * a[k] * b[k];
  out[0] = sum;
}
)";
  s.language = Language::c;
  CpuCodeOptions o;
  o.cpu = "znver4";
  EXPECT_NEAR(totals(analyze_cpu(s, o), 64000).cycles / 64000, 4, 0.2);
}

// Indices of 32 bits made of a wider counter: the vectoriser asks first whether they stay below the type's limit, which
// they do. Taken for even odds, that question would let the scalar loop run half of the time.
TEST(CpuCode, ChecksThatIndicesStayInTheirTypeHold) {
  const auto cycles = [](const char* type) {
    const std::string text =
        std::string("void f(const double* a, double* b, long n) {\n  for (long y = 0; y < n; ++y)\n") +
        "    for (long x = 0; x < 128; ++x) {\n      const " + type +
        " at = y * n + x;\n      b[at] = 2.0 * a[at] + 3.0 * a[at + 1];\n    }\n}\n";
    return totals(analysed(text.c_str(), 3, true, "skylake-avx512"), 1000).cycles;
  };
  EXPECT_NEAR(cycles("int") / cycles("long"), 1, 0.3);
}

// Zen 4 has 64 entries for vector instructions, and what a vector register stores waits in them too: a chain of
// multiply-adds of four cycles runs 64 links ahead, and half as many where each link is stored. Measured: 61 and 29
// when the misprediction at the end is over (docs/reference/offload.md).
TEST(CpuCode, VectorQueueEndsTheOverlapOfPassages) {
  const auto overlap = [](const char* pointers) {
    Source s;
    s.path = "nest.c";
    s.text = std::string("void dots(const double* ") + pointers + " a, const double* " + pointers + " b, double* " +
             pointers + " out, int n) {\n  for (int r = 0; r < n; ++r)\n" +
             "    for (int k = 0; k < n; ++k) out[r] += a[k] * b[k];\n}\n";
    s.language = Language::c;
    CpuCodeOptions o;
    o.cpu = "znver4";
    const CpuCode code = analyze_cpu(s, o);
    return code.overlap_cycles.at(1);  // of the unrolled loop; the outer one stands before it, what is left over behind
  };
  EXPECT_NEAR(overlap("restrict"), 4 * 64, 12);
  EXPECT_NEAR(overlap(""), 4 * 32, 12);
}

TEST(CpuCode, AccessesCountByWidth) {
  // Vectors of eight floats at addresses that are multiples of four: (32 - 4) / 64 of them cross into a second line.
  const auto accesses = [](const CpuCode& code) {
    L1Accesses most;
    for (const CpuBlockCode& b : code.blocks)
      if (b.accesses.to_32 > most.to_32) most = b.accesses;
    return most;
  };
  const L1Accesses vector = accesses(analysed(saxpy, 3));
  EXPECT_GT(vector.to_32, 0);
  EXPECT_EQ(vector.to_64, 0);
  EXPECT_DOUBLE_EQ(vector.crossings, vector.to_32 * 28 / 64);
  EXPECT_EQ(accesses(analysed(saxpy, 3, false)).to_32, 0);
}

TEST(CpuCode, CodeForOneCpuRunsOnAnother) {
  // LLVM prefers registers of 256 bits for Skylake's servers, and 512 bits for Zen 4.
  Source s;
  s.path = "nest.c";
  s.text = saxpy;
  s.language = Language::c;
  CpuCodeOptions o;
  o.cpu = "znver4";
  EXPECT_EQ(analyze_cpu(s, o).loops.at(0).width, 16);
  o.made_for = "skylake-avx512";
  const CpuCode code = analyze_cpu(s, o);
  EXPECT_EQ(code.loops.at(0).width, 8);
  EXPECT_EQ(code.cpu, "znver4");
  o.made_for = "no-such-cpu";
  EXPECT_THROW(static_cast<void>(analyze_cpu(s, o)), LimitError);
}

TEST(CpuCode, MultiplyAddsBeginAsOftenAsMeasured) {
  // Twelve sums that need nothing of each other: LLVM's model of Zen 4 begins one multiply-add a cycle.
  std::string text =
      "void sums(const double* restrict x, double* restrict out, double a, int n) {\n  double s[12] = {0};\n"
      "  for (int i = 0; i < n; ++i) {\n";
  for (int k = 0; k < 12; ++k) text += "    s[" + std::to_string(k) + "] = s[" + std::to_string(k) + "] * a + 0.5;\n";
  text += "  }\n  for (int k = 0; k < 12; ++k) out[k] = s[k];\n}\n";
  Source s;
  s.path = "nest.c";
  s.text = text;
  s.language = Language::c;
  CpuCodeOptions o;
  o.cpu = "znver4";
  o.simd = false;
  const double model = totals(analyze_cpu(s, o), 64000).cycles / 64000;
  o.scalar_fma_per_cycle = 2.003;
  EXPECT_NEAR(model, 12, 0.5);
  EXPECT_NEAR(totals(analyze_cpu(s, o), 64000).cycles / 64000, 6, 0.5);
}

/// Cycles of an element of a loop for a core of LLVM's Skylake server.
double cycles_of_element(const char* text, void (*change)(CpuCodeOptions&)) {
  Source s;
  s.path = "nest.c";
  s.text = text;
  s.language = Language::c;
  CpuCodeOptions o;
  o.cpu = "skylake-avx512";
  change(o);
  return totals(analyze_cpu(s, o), 64000).cycles / 64000;
}

TEST(CpuCode, ScattersTakeTheTimeThatWasMeasured) {
  const char* scatter =
      R"(void scatter(const double* restrict in, const long* restrict at, double* restrict out, int n) {
#pragma clang loop vectorize(assume_safety) vectorize_width(4)
  for (int i = 0; i < n; ++i) if (in[i] > 0) out[at[i]] = in[i];
}
)";
  const double eight = cycles_of_element(scatter, [](CpuCodeOptions& o) { o.scatter_element_cycles = 8; });
  const double twenty = cycles_of_element(scatter, [](CpuCodeOptions& o) { o.scatter_element_cycles = 20; });
  EXPECT_GE(eight, 8);
  EXPECT_LE(eight, 9.5);
  EXPECT_GE(twenty, 20);
  EXPECT_LE(twenty, 21.5);
}

TEST(CpuCode, GathersTakeTheTimeThatWasMeasured) {
  const char* gather = R"(void gather(const double* restrict in, const long* restrict at, double* restrict out, int n) {
  for (int i = 0; i < n; ++i) out[i] = in[at[i]];
}
)";
  const double plain = cycles_of_element(gather, [](CpuCodeOptions&) {});
  const double eight = cycles_of_element(gather, [](CpuCodeOptions& o) { o.gather_element_cycles = 8; });
  const double twenty = cycles_of_element(gather, [](CpuCodeOptions& o) { o.gather_element_cycles = 20; });
  EXPECT_LT(plain, 6);
  // Loading the indices and storing takes less than a cycle an element, on the same ports or others.
  EXPECT_GE(eight, 8);
  EXPECT_LE(eight, 9);
  EXPECT_GE(twenty, 20);
  EXPECT_LE(twenty, 21);
}

TEST(CpuCode, TheDeviceFileSaysHowMuchTheCoreTakesIn) {
  const auto plain = [](CpuCodeOptions& o) { o.simd = false; };
  const auto narrow = [](CpuCodeOptions& o) {
    o.simd = false;
    o.issue_width = 1.9832;
  };
  // No chain limits it: four or more instructions an element, two a cycle.
  EXPECT_GT(cycles_of_element(saxpy, narrow), 1.5 * cycles_of_element(saxpy, plain));
  EXPECT_GE(cycles_of_element(saxpy, narrow), 2);
}

// Threads: Clang makes a function of the shared loop.

CpuCode for_threads(const char* text, int optimization) { return analysed(text, optimization, true, "haswell", true); }

double uops_of_a_passage(const CpuCode& code) {
  double most = 0;
  for (const CpuBlockCode& b : code.blocks) most = std::max(most, b.uops);
  return most;
}

TEST(CpuCode, CountsDoNotDependOnThreads) {
  for (const std::int64_t n : {1, 7, 1000, 1023})
    for (const int optimization : {0, 1, 2, 3}) {
      const CpuCode code = for_threads(saxpy, optimization);
      EXPECT_NE(code.assembly.find("__kmpc_fork_call"), std::string::npos);
      EXPECT_FALSE(code.parallel_loops.empty());
      const Totals r = totals(code, n);
      EXPECT_EQ(r.flops, 2.0 * static_cast<double>(n)) << n << " -O" << optimization;
      EXPECT_EQ(r.bytes, 12.0 * static_cast<double>(n)) << n << " -O" << optimization;
    }
}

TEST(CpuCode, PlainCodeForThreadsFetchesTheAddressOfEveryVariable) {
  // a, x, y and y again: each is loaded through the address that the function got, so a load more for each.
  EXPECT_GE(uops_of_a_passage(for_threads(saxpy, 0)), uops_of_a_passage(analysed(saxpy, 0)) + 4);
  EXPECT_GT(totals(for_threads(saxpy, 0), 10000).cycles, totals(analysed(saxpy, 0), 10000).cycles);
  // The optimiser loads them once.
  EXPECT_NEAR(totals(for_threads(saxpy, 3), 100000).cycles / totals(analysed(saxpy, 3), 100000).cycles, 1, 0.15);
}

TEST(CpuCode, WhoCallsTheNestDoesNotMatter) {
  const std::string caller =
      std::string(saxpy) + "void twice(const float* restrict x, float* restrict y, int n) { saxpy(x, y, 2, n); }\n";
  const CpuCode alone = analysed(saxpy, 3, true, "haswell", true),
                called = analysed(caller.c_str(), 3, true, "haswell", true);
  EXPECT_EQ(called.parallel_loops.size(), alone.parallel_loops.size());
  EXPECT_DOUBLE_EQ(totals(called, 4096).cycles, totals(alone, 4096).cycles);
}

TEST(CpuCode, WhoseAVariableIsIsKeptForThreads) {
  constexpr const char* text = R"(void rows(const double* a, double* out, int n) {
  int j;
  double sum;
#pragma omp target teams distribute parallel for private(j, sum)
  for (int i = 0; i < n; ++i) {
    sum = 0;
    for (j = 0; j < n; ++j) sum += a[i * n + j];
    out[i] = sum;
  }
}
)";
  const CpuCode code = for_threads(text, 0);
  EXPECT_NE(code.assembly.find("__kmpc_fork_call"), std::string::npos);
  EXPECT_EQ(totals(code, 30).flops, 900);
  EXPECT_EQ(totals(code, 30).bytes, 8 * (900 + 30));
}

TEST(CpuCode, WhatCannotBeCountedForThreadsIsTakenInPlace) {
  constexpr const char* reduced = R"(void sum(const double* restrict x, double* restrict out, int n) {
  double s = 0;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < n; ++i) s += x[i];
  out[0] = s;
}
)";
  const CpuCode code = for_threads(reduced, 0);
  EXPECT_EQ(code.assembly.find("__kmpc_fork_call"), std::string::npos);
  EXPECT_EQ(code.parallel_loops.size(), 1u);
  EXPECT_EQ(totals(code, 100).flops, 100);
}

// Work-items: loops between barriers.

constexpr const char* turned = R"(extern void kc_barrier(void);
extern void kc_work_item(void);
static double tile[64];
void turned(const double* restrict in, double* restrict out, int n) {
#pragma omp parallel for
  for (int g = 0; g < n; ++g)
    for (unsigned long l = 0; l < 64; ++l) {
      kc_work_item();
      double mine = in[g * 64 + l] * 3;
      tile[l] = mine + 1;
      kc_barrier();
      out[g * 64 + l] = mine - tile[63 - l];
    }
}
)";

TEST(CpuCode, AWorkItemLoopEndsAtABarrier) {
  const CpuCode code = analysed(turned, 3, false);
  ASSERT_EQ(code.profile.loops.size(), 3u);  // groups; items before the barrier and behind it
  EXPECT_EQ(code.profile.loops[1].parent, 0);
  EXPECT_EQ(code.profile.loops[2].parent, 0);
  EXPECT_EQ(totals(code, 10).flops, 3 * 640);
  EXPECT_EQ(code.assembly.find("kc_barrier"), std::string::npos);
  std::string without = turned;
  without.replace(without.find("      kc_barrier();\n"), 20, "");
  EXPECT_EQ(analysed(without.c_str(), 3, false).profile.loops.size(), 2u);
}

TEST(CpuCode, ALoopWithABarrierIsGoneThroughByAllWorkItems) {
  constexpr const char* tree = R"(extern void kc_barrier(void);
extern void kc_work_item(void);
void sums(const double* restrict in, double* restrict out, double* restrict partial, int n) {
  for (int g = 0; g < n; ++g)
    for (unsigned long l = 0; l < 64; ++l) {
      kc_work_item();
      partial[l] = in[g * 64 + l];
      for (int step = 32; step > 0; step /= 2) {
        kc_barrier();
        partial[l] += 1;
      }
      if (l == 0) out[g] = partial[0];
    }
}
)";
  const CpuCode code = analysed(tree, 3, false);
  // Six steps (32, 16, ... 1) of 64 work-items.
  EXPECT_EQ(totals(code, 10).flops, 10 * 6 * 64);
}

// The work-item as a function of its own, as tools/validate/opencl_nest.py writes it.

std::string work_items(const std::string& body) {
  return std::string(R"(extern void kc_barrier(void);
extern void kc_work_item(void);
#define LOCAL __attribute__((annotate("kc_local")))
static void item(unsigned long l, int g, const double* in, double* out, int n) {
)") + body +
         R"(}
void nest(const double* restrict in, double* restrict out, int n) {
#pragma omp parallel for
  for (int g = 0; g < n; ++g)
    for (unsigned long l = 0; l < 64; ++l) {
      kc_work_item();
      item(l, g, in, out, n);
    }
}
)";
}

CpuCode analysed_items(const std::string& body, bool simd = true, const char* cpu = "haswell") {
  return analysed(work_items(body).c_str(), 3, simd, cpu, false, "nest");
}

const std::string tree_of_sums = R"(  LOCAL double sums[64];
  sums[l] = in[g * 64 + l];
  for (int step = 32; step > 0; step /= 2) {
    kc_barrier();
    if (l < step) sums[l] += sums[l + step];
  }
  if (l == 0) out[g] = sums[0];
)";

TEST(CpuCode, WhatAWorkItemComputesOnceLivesAcrossBarriers) {
  // The address of sums[l] is kept for each item, so vectors of items gather and scatter what lies side by side.
  const CpuCode vectors = analysed_items(tree_of_sums, true, "skylake-avx512");
  EXPECT_NE(vectors.assembly.find("vgatherqpd"), std::string::npos);
  EXPECT_NE(vectors.assembly.find("vscatterqpd"), std::string::npos);
  EXPECT_EQ(vectors.assembly.find("memcpy"), std::string::npos);
}

TEST(CpuCode, KeptCountersAndAddressesAreSeenThrough) {
  for (const bool simd : {false, true}) {
    const CpuCode code = analysed_items(tree_of_sums, simd, "skylake-avx512");
    for (const Unknown& u : code.profile.unknowns)  // how many of the 64 add in a step is not in closed form
      EXPECT_EQ(u.kind, Unknown::Kind::probability) << u.reason;
    const Totals r = totals(code, 10);
    EXPECT_EQ(r.flops, 10 * (simd ? 6 * 64 : 63));  // whole vectors; 32 + 16 + ... + 1
    EXPECT_GE(r.of_buffers, 10 * (64 + 1) * 8);
    EXPECT_LE(r.of_buffers, 10 * (64 + (simd ? 64 : 1)) * 8);  // the sum is stored under a condition
  }
}

TEST(CpuCode, AnIndexThatIsKeptIsComputedAgain) {
  const CpuCode code = analysed_items(R"(  LOCAL double tile[64];
  const int at = g * 64 + (int)l;
  tile[l] = in[at];
  kc_barrier();
  out[at] = tile[63 - l];
)");
  EXPECT_TRUE(code.profile.unknowns.empty());
  EXPECT_EQ(totals(code, 10).of_buffers, 10 * 64 * 16);
}

TEST(CpuCode, LoopsOfWorkItemsStayRolled) {
  const std::string dot = R"(  double sum = 0;
  for (int k = 0; k < n; ++k) sum += in[l * n + k] * in[k];
  out[g * 64 + l] = sum;
)";
  const auto multiply_adds = [](const CpuCode& code) {
    std::size_t n = 0;
    for (std::size_t at = code.assembly.find("vfmadd"); at != std::string::npos;
         at = code.assembly.find("vfmadd", at + 1))
      ++n;
    return n;
  };
  EXPECT_EQ(multiply_adds(analysed_items(dot)), 1u);
  std::string plain = work_items(dot);
  plain.replace(plain.find("      kc_work_item();\n"), 22, "");
  EXPECT_GT(multiply_adds(analysed(plain.c_str(), 3, true, "haswell", false, "nest")), 4u);
}

TEST(CpuCode, WorkItemsGoThroughALoopThatAllShareSideBySide) {
  // The sum over the tile has no barrier and as many trips for all: the loop over items comes to stand inside, and is
  // vectorised, which a sum is not.
  const CpuCode code = analysed_items(R"(  LOCAL double tile[64];
  tile[l] = in[g * 64 + l];
  kc_barrier();
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += tile[k & 63];
  out[g * 64 + l] = sum;
)");
  EXPECT_TRUE(std::any_of(code.loops.begin(), code.loops.end(),
                          [](const CpuLoopCode& l) { return l.width > 1 && l.line.line == 9; }));
  EXPECT_EQ(totals(code, 10).flops, 10 * 64 * 10);
}

TEST(CpuCode, LocalMemoryIsTheGroupsEvenIfItIsOneNumber) {
  const CpuCode code = analysed_items(R"(  LOCAL double first;
  if (l == 0) first = in[g];
  kc_barrier();
  out[g * 64 + l] = first;
)",
                                      false);
  // One load a group; as a variable of each item the value would be loaded by none but the first, or by all.
  EXPECT_EQ(totals(code, 10).of_buffers, 10 * (8 + 64 * 8));
}

TEST(CpuCode, ALoopThatEndsInTwoWaysIsLeftInOnePiece) {
  const CpuCode code = analysed_items(R"(  double sum = in[g * 64 + l];
  for (int k = 0; k < n; ++k) {
    kc_barrier();
    if (sum > 10) break;
    sum += in[k];
  }
  out[g * 64 + l] = sum;
)");
  const std::vector<std::string>& notes = code.profile.notes;
  EXPECT_TRUE(
      std::any_of(notes.begin(), notes.end(), [](const std::string& n) { return n.starts_with("barriers under"); }));
}

TEST(CpuCode, ABranchThatAllItemsTakeAlikeMayHoldABarrier) {
  const CpuCode code = analysed_items(R"(  LOCAL double tile[64];
  double x = in[g * 64 + l];
  if (n > 3) {
    tile[l] = x;
    kc_barrier();
    x = tile[63 - l] + 1;
  }
  out[g * 64 + l] = x;
)",
                                      false);
  EXPECT_TRUE(code.profile.notes.empty());
  EXPECT_EQ(totals(code, 10).flops, 640);
  EXPECT_EQ(totals(code, 10).of_buffers, 640 * 16);
  EXPECT_EQ(totals(code, 3).flops, 0);
}

TEST(CpuCode, AnArrayOfAWorkItemsOwnIsThere64Times) {
  const CpuCode code = analysed_items(R"(  double mine[4];
  for (int k = 0; k < 4; ++k) mine[(k + l) & 3] = in[g * 64 + l] + k;
  kc_barrier();
  out[g * 64 + l] = mine[g & 3];
)",
                                      false);
  EXPECT_NE(code.assembly.find("$2"), std::string::npos);
  EXPECT_EQ(totals(code, 10).of_buffers, 10 * 64 * 16);
  EXPECT_EQ(totals(code, 10).flops, 10 * 64 * 4);
}

// Exits of loops.

/// Entries of innermost loops, and those whose trips are not the ones of the time before.
std::pair<double, double> entries_and_changes(const CpuCode& code, std::int64_t n) {
  const Workload w = bound(code, n);
  double entries = 0, changes = 0;
  for (std::size_t i = 0; i < code.profile.loops.size(); ++i) {
    const bool outer = std::any_of(code.profile.loops.begin(), code.profile.loops.end(),
                                   [i](const Loop& other) { return other.parent == static_cast<int>(i); });
    if (!outer) entries += w.block_counts[code.first_entry + i].lanes;
    changes += w.block_counts[code.first_change + i].lanes;
  }
  return {entries, changes};
}

TEST(CpuCode, TripsThatChangeAreCounted) {
  const auto of = [](const char* loop, std::int64_t n) {
    const std::string text = std::string("void f(double* a, long n) {\n  for (long i = 0; i < n; ++i)\n    for (") +
                             loop + ") a[j] = a[j] * 2;\n}\n";
    return entries_and_changes(analysed(text.c_str(), 0), n);
  };
  const auto square = of("long j = 0; j < n; ++j", 100);
  EXPECT_EQ(square.first, 100);
  EXPECT_EQ(square.second, 0);
  const auto triangle = of("long j = i; j < n; ++j", 100);
  EXPECT_EQ(triangle.first, 100);
  EXPECT_EQ(triangle.second, 99);
  // Twice for the first 72 of a hundred in steps of 100: trips of ceil((172 - i)/100) are 2 up to i = 71, then 1.
  const auto strided = of("long j = i; j < 172; j += 100", 100);
  EXPECT_EQ(strided.first, 100);
  EXPECT_EQ(strided.second, 1);
}

TEST(CpuCode, TripsOfAnOuterCounterChangeOnceForAllPassesInside) {
  const CpuCode code = analysed(R"(void f(double* a, long n) {
  for (long i = 0; i < n; ++i)
    for (long k = 0; k < 7; ++k)
      for (long j = i; j < n; ++j) a[j * 8 + k] = a[j * 8 + k] * 2;
}
)",
                                0);
  EXPECT_EQ(entries_and_changes(code, 50), (std::pair<double, double>{350, 49}));
}

TEST(CpuCode, TripsThatAreNotKnownChangeEachTime) {
  const CpuCode code = analysed(R"(void f(const long* at, double* a, long n) {
  for (long i = 0; i < n; ++i)
    for (long j = at[i]; j < at[i + 1]; ++j) a[j] = a[j] * 2;
}
)",
                                0);
  const auto [entries, changes] = entries_and_changes(code, 50);
  EXPECT_GT(entries, 0);
  EXPECT_EQ(entries, changes);
}

TEST(CpuCode, WrongInputIsRefused) {
  EXPECT_THROW(analysed(saxpy, 3, true, "pentium-9"), LimitError);
  EXPECT_THROW(analysed("void f(", 3), UserError);
  Source cl;
  cl.path = "k.cl";
  cl.text = "__kernel void k(__global int* a) { a[0] = 1; }";
  cl.language = Language::opencl;
  EXPECT_THROW(analyze_cpu(cl, {}), UserError);
}

}  // namespace
}  // namespace kernelcast
