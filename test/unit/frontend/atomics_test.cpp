// How the front end reads atomics and loops that wait for other blocks, and what ptxas makes of the same kernels.
#include <gtest/gtest.h>

#include <string>

#include "kernelcast/frontend.h"
#include "machine/sass/cubin.h"

namespace kernelcast {
namespace {

KernelProfile kernel_of(const std::string& parameters, const std::string& body, const std::string& target = "sm_86",
                        const std::string& ptxas = {}) {
  Source source;
  source.path = "test.cu";
  source.text = "extern \"C\" __global__ void k(" + parameters + ") {" + body + "}";
  source.language = Language::cuda;
  FrontendOptions options;
  options.target = target;
  options.ptxas = ptxas;
  return analyze(source, options).profile;
}

const Access& atomic_of(const KernelProfile& p) {
  for (const Block& b : p.blocks)
    for (const Access& a : b.accesses)
      if (a.kind == AccessKind::atomic) return a;
  throw std::runtime_error("the kernel has no atomic");
}

double ops_of(const KernelProfile& p, OpClass c) {
  double sum = 0;
  for (const Block& b : p.blocks) sum += b.ops[c];
  return sum;
}

struct UpdateCase {
  const char *name, *type, *body;
  AtomicKind kind;
  bool joined;
};

// d: the type's; x: int; o: int, the same for all.
const UpdateCase updates[] = {
    {"constant", "int", "atomicAdd(d + o, 1);", AtomicKind::integer, true},
    {"value", "int", "atomicAdd(d, x[threadIdx.x]);", AtomicKind::integer, true},
    {"value_used", "int", "x[threadIdx.x] = atomicAdd(d, x[threadIdx.x]);", AtomicKind::integer, true},
    {"of_the_block", "int", "atomicAdd(d + blockIdx.x, x[threadIdx.x]);", AtomicKind::integer, true},
    {"of_data", "int", "atomicAdd(d + x[blockIdx.x], x[threadIdx.x]);", AtomicKind::integer, true},
    {"of_the_lane", "int", "atomicAdd(d + x[threadIdx.x], 1);", AtomicKind::integer, false},
    {"of_the_warp", "int", "atomicAdd(d + threadIdx.x / 32, x[threadIdx.x]);", AtomicKind::integer, false},
    {"maximum", "int", "atomicMax(d, x[threadIdx.x]);", AtomicKind::integer, true},
    {"maximum_used", "int", "x[threadIdx.x] = atomicMax(d, x[threadIdx.x]);", AtomicKind::integer, false},
    {"wrapping", "unsigned", "atomicInc(d, 1000);", AtomicKind::integer, false},
    {"long_constant", "unsigned long long", "atomicAdd(d, 1ull);", AtomicKind::integer, true},
    {"long_value", "unsigned long long", "atomicAdd(d, (unsigned long long)x[threadIdx.x]);", AtomicKind::integer,
     false},
    {"real", "float", "atomicAdd(d, 1.0f);", AtomicKind::real, false},
    {"double", "double", "atomicAdd(d, (double)x[threadIdx.x]);", AtomicKind::real, false},
    {"exchange", "int", "atomicExch(d, x[threadIdx.x]);", AtomicKind::exchange, false},
    {"compare", "int", "atomicCAS(d, 3, x[threadIdx.x]);", AtomicKind::compare, false},
};

class Update : public ::testing::TestWithParam<UpdateCase> {
 protected:
  static KernelProfile profile(const std::string& ptxas = {}) {
    return kernel_of(GetParam().type + std::string("* d, int* x, int o"), GetParam().body, "sm_86", ptxas);
  }
};

TEST_P(Update, HasItsKindAndIsJoined) {
  const Access a = atomic_of(profile());
  EXPECT_EQ(a.atomic, GetParam().kind);
  EXPECT_EQ(a.joined, GetParam().joined);
  EXPECT_FALSE(a.retried);
}

TEST_P(Update, IsJoinedByPtxasToo) {
  const auto ptxas = sass::find_ptxas();
  if (!ptxas) GTEST_SKIP() << "ptxas is not installed";
  EXPECT_EQ(ops_of(profile(*ptxas), OpClass::vote) > 0, GetParam().joined);
}

INSTANTIATE_TEST_SUITE_P(Atomics, Update, ::testing::ValuesIn(updates),
                         [](const auto& info) { return std::string(info.param.name); });

struct SharedCase {
  const char *name, *type, *body;
  bool retried;
};

const SharedCase shared_updates[] = {
    {"integer", "int", "atomicAdd(s + x[threadIdx.x], 2);", false},
    {"minimum", "int", "atomicMin(s + x[threadIdx.x], 2);", false},
    {"real", "float", "atomicAdd(s + x[threadIdx.x], 2.0f);", true},
    {"double", "double", "atomicAdd(s + x[threadIdx.x], 2.0);", true},
    {"long_integer", "unsigned long long", "atomicAdd(s + x[threadIdx.x], 2ull);", true},
    {"long_exchange", "unsigned long long", "atomicExch(s + x[threadIdx.x], 2ull);", false},
    {"long_compare", "unsigned long long", "atomicCAS(s + x[threadIdx.x], 2ull, 3ull);", false},
};

class SharedUpdate : public ::testing::TestWithParam<SharedCase> {
 protected:
  /// Nothing but a retried update reads shared memory: another one's old value is used, or it might be left out.
  static KernelProfile profile(const std::string& target, const std::string& ptxas = {}) {
    const std::string type = GetParam().type;
    const std::string body = GetParam().body;
    return kernel_of(
        type + "* d, int* x",
        "__shared__ " + type + " s[256]; s[threadIdx.x] = 0; __syncthreads();" + "d[threadIdx.x] = " + body, target,
        ptxas);
  }
};

TEST_P(SharedUpdate, IsRetriedOnNvidia) {
  EXPECT_EQ(atomic_of(profile("sm_86")).retried, GetParam().retried);
  EXPECT_FALSE(atomic_of(profile("gfx90a")).retried);
}

TEST_P(SharedUpdate, IsRetriedByPtxasToo) {
  const auto ptxas = sass::find_ptxas();
  if (!ptxas) GTEST_SKIP() << "ptxas is not installed";
  EXPECT_EQ(ops_of(profile("sm_86", *ptxas), OpClass::shared_load) > 0, GetParam().retried);
}

INSTANTIATE_TEST_SUITE_P(Atomics, SharedUpdate, ::testing::ValuesIn(shared_updates),
                         [](const auto& info) { return std::string(info.param.name); });

struct WaitCase {
  const char *name, *body;
  Loop::Wait wait;
  bool counted;  // the loop's trips are an assumption that can be replaced
};

const WaitCase waits[] = {
    {"flag_of_the_block_before", "while (((volatile int*)f)[blockIdx.x] == 0) {} d[blockIdx.x + 1] = 1;",
     Loop::Wait::flag, false},
    {"turn", "while (atomicAdd(f, 0) != blockIdx.x) {} d[blockIdx.x] = 1;", Loop::Wait::flag, false},
    {"grid_barrier", "while (((volatile int*)f)[0] < n) {} d[blockIdx.x] = 1;", Loop::Wait::none, false},
    {"lock", "while (atomicCAS(f, 0, 1) != 0) {} d[0] += 1; atomicExch(f, 0);", Loop::Wait::lock, false},
    {"lock_by_exchange", "while (atomicExch(f, 1) != 0) {} d[0] += 1; atomicExch(f, 0);", Loop::Wait::lock, false},
    {"repeated_update",
     "int old = f[0], seen; do { seen = old; old = atomicCAS(f, seen, seen * 3 + d[1]); } while (old != seen);",
     Loop::Wait::none, true},
    {"search", "int i = blockIdx.x; while (f[i] != 0) i = f[i]; d[blockIdx.x] = i;", Loop::Wait::none, true},
    {"flag_in_shared_memory", "__shared__ volatile int s; s = 0; while (s == 0) {} d[blockIdx.x] = 1;",
     Loop::Wait::none, true},
};

class Waiting : public ::testing::TestWithParam<WaitCase> {};

TEST_P(Waiting, IsToldFromOtherLoops) {
  const KernelProfile p = kernel_of("int* d, int* f, int n", GetParam().body);
  ASSERT_EQ(p.loops.size(), 1U);
  EXPECT_EQ(p.loops[0].wait, GetParam().wait);
  EXPECT_EQ(p.loops[0].unknown >= 0, GetParam().counted);
}

INSTANTIATE_TEST_SUITE_P(Atomics, Waiting, ::testing::ValuesIn(waits),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kernelcast
