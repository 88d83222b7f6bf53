// Verdicts on labelled loops, and rewritten loops under the executor: no illegal rewrite is offered, and legal ones
// change no result.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <set>

#include "engines/frontend/loop_cases.h"
#include "engines/frontend/random_loops.h"
#include "kernelcast/error.h"
#include "kernelcast/execute.h"

namespace kernelcast::labelled {
namespace {

Source source_of(const Case& c) {
  Source s;
  s.path = c.path;
  s.text = c.text;
  return s;
}

using Buffers = std::map<std::string, std::vector<unsigned char>>;

/// All buffers after 128 work-items.
Buffers results(const Source& source) {
  FrontendOptions options;
  options.program = true;
  const Analysis a = analyze(source, options);
  EXPECT_TRUE(a.program) << a.no_program;
  if (!a.program) return {};
  Launch launch;
  launch.grid = {2, 1, 1};
  launch.block = {64, 1, 1};
  for (const Parameter& p : a.profile.parameters) {
    if (p.pointer) {
      const bool real = p.type.find("float") != std::string::npos ||
                        source.text.find("const float* restrict in") != std::string::npos ||
                        source.text.find("const float* __restrict__ in") != std::string::npos;
      launch.buffers[p.name] = {128 * 32, real                         ? "uniform(-1,1)"
                                          : source.path == "random.cl" ? "uniform(0,1000)"
                                                                       : "uniform(-50,50)"};
    } else {
      launch.args[p.name] = std::int64_t{p.name == "m" ? 128 : 23};
    }
  }
  ExecuteOptions o;
  o.sample = -1;
  o.jobs = 1;
  o.keep_buffers = true;
  o.check_shared = false;
  const Execution e = execute(a.profile, *a.program, launch, MemoryGeometry{}, o);
  EXPECT_TRUE(e.complete);
  return e.buffers;
}

TEST(LabelledLoops, AreMany) {
  std::set<std::string> names;
  for (const Case& c : cases()) names.insert(c.name);
  EXPECT_GE(names.size(), 40U);
}

TEST(LabelledLoops, VerdictsAndReasons) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const std::vector<DivergentLoop> loops = divergent_loops(source_of(c), {});
    ASSERT_EQ(loops.size(), 1U);
    const DivergentLoop& l = loops[0];
    EXPECT_EQ(name_of(l.postpone.legal), name_of(c.postpone)) << l.postpone.reason;
    EXPECT_EQ(name_of(l.postpone.condition), name_of(c.postpone_condition)) << l.postpone.reason;
    EXPECT_EQ(name_of(l.advance.legal), name_of(c.advance)) << l.advance.reason;
    EXPECT_EQ(name_of(l.advance.condition), name_of(c.advance_condition)) << l.advance.reason;
    for (const LegalityVerdict& v : {l.postpone, l.advance}) {
      if (v.legal == Legality::yes) continue;
      EXPECT_FALSE(v.reason.empty());
      EXPECT_GT(v.line, 0);
    }
  }
}

TEST(LabelledLoops, OnlyLegalOnesAreRewrittenAndKeepTheirResults) {
  int rewrites = 0, refused = 0, in_order = 0;
  for (const Case& c : cases()) {
    const Source source = source_of(c);
    const DivergentLoop loop = divergent_loops(source, {}).at(0);
    Buffers before;
    for (const Policy p : {Policy::round_robin, Policy::advance, Policy::advance_in_order}) {
      SCOPED_TRACE(std::string(c.name) + ", " + std::to_string(static_cast<int>(p)));
      const Legality legal = p == Policy::advance ? loop.advance.legal : loop.postpone.legal;
      if (p == Policy::advance_in_order && ++in_order % 3 != 0) continue;  // nearly the text of round robin
      Source changed = source;
      try {
        changed.text = rewritten(source, {}, loop, p);
      } catch (const UserError&) {
        EXPECT_TRUE(legal != Legality::yes || !loop.no_rewrite.empty());
        ++refused;
        continue;
      }
      EXPECT_EQ(legal, Legality::yes);
      if (before.empty()) before = results(source);
      const Buffers after = results(changed);
      EXPECT_EQ(before, after) << changed.text;
      ++rewrites;
    }
  }
  EXPECT_GE(rewrites, 90);
  EXPECT_GE(refused, 80);
}

// Random statements: whatever is called legal and rewritten leaves the results as they were.
TEST(RandomLoops, LegalRewritesKeepTheirResults) {
  int postponed = 0, advanced = 0, refused = 0;
  const char* many = std::getenv("KERNELCAST_RANDOM_LOOPS");
  const int loops = many == nullptr ? 120 : std::atoi(many);
  for (int seed = 1; seed <= loops; ++seed) {
    Source source;
    source.path = "random.cl";
    source.text = random_loop(static_cast<std::uint64_t>(seed));
    const std::vector<DivergentLoop> found = divergent_loops(source, {});
    if (found.empty()) continue;  // the condition is a constant, or the same for all lanes
    Buffers before;
    for (const Policy p : {Policy::round_robin, Policy::advance}) {
      const LegalityVerdict& v = p == Policy::advance ? found[0].advance : found[0].postpone;
      if (v.legal != Legality::yes || !found[0].no_rewrite.empty()) {
        ++refused;
        continue;
      }
      Source changed = source;
      changed.text = rewritten(source, {}, found[0], p);
      if (before.empty()) before = results(source);
      ASSERT_TRUE(before == results(changed)) << "seed " << seed << "\n" << source.text << changed.text;
      ++(p == Policy::advance ? advanced : postponed);
    }
  }
  if (many != nullptr) std::cout << postponed << " postponed, " << advanced << " advanced, " << refused << " refused\n";
  EXPECT_GE(postponed, loops / 4);
  EXPECT_GE(advanced, loops / 40);
  EXPECT_GE(refused, loops / 4);
}

TEST(DivergentLoops, UniformBranchesAreNone) {
  Source s;
  s.path = "u.cl";
  s.text =
      "__kernel void k(__global int* a, int n) { for (int i = 0; i < n; ++i) { if (i & 1) { a[0] += 1; } else { a[1] "
      "+= 2; } } }\n";
  EXPECT_TRUE(divergent_loops(s, {}).empty());
}

TEST(DivergentLoops, CudaKernels) {
  Source s;
  s.path = "k.cu";
  s.text =
      "__global__ void k(const int* __restrict__ in, int* __restrict__ out, int n) {\n"
      "  int id = blockIdx.x * blockDim.x + threadIdx.x, s = 0;\n"
      "  for (int i = 0; i < n; ++i) {\n"
      "    if (in[i] > id) { s += i; } else { s -= i; }\n"
      "    __syncwarp();\n  }\n  out[id] = s;\n}\n";
  const auto loops = divergent_loops(s, {});
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].loop.first, 3);
  EXPECT_EQ(loops[0].branch_line, 4);
  EXPECT_EQ(loops[0].postpone.condition, Condition::collective);
  EXPECT_EQ(loops[0].postpone.line, 5);
  EXPECT_NE(loops[0].divergence.find("threadIdx"), std::string::npos);
}

}  // namespace
}  // namespace kernelcast::labelled
