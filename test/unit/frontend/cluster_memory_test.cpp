// Which accesses go to the shared memory of other blocks of a cluster, by whatever way the address came about.
#include <gtest/gtest.h>

#include <string>

#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

struct Counted {
  double own = 0, other = 0, barriers = 0;
};

Counted accesses_of(const std::string& path, const std::string& text) {
  Source source;
  source.path = path;
  source.text = text;
  FrontendOptions options;
  options.target = "sm_90";
  Counted out;
  for (const Block& b : analyze(source, options).profile.blocks) {
    out.barriers += b.stalls.cluster_barriers;
    for (const Access& a : b.accesses)
      if (a.space == MemorySpace::shared) (a.in_cluster ? out.other : out.own) += a.copies();
  }
  return out;
}

Counted accesses_in(const std::string& body) {
  return accesses_of("k.cu",
                     "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\nstruct Four { int a[4]; };\n"
                     "extern \"C\" __global__ void k(int* out, int n, int r) {\n  __shared__ int s[256];\n"
                     "  cg::cluster_group c = cg::this_cluster();\n  const int t = threadIdx.x;\n" +
                         body + "}\n");
}

TEST(ClusterMemory, LoadsStoresAndAtomicsThroughMapSharedRank) {
  Counted n = accesses_in("s[t] = out[t]; c.sync(); out[t] = c.map_shared_rank(s, r)[t];");
  EXPECT_EQ(n.own, 1);
  EXPECT_EQ(n.other, 1);
  EXPECT_EQ(n.barriers, 1);
  n = accesses_in("c.map_shared_rank(s, r)[t] = n; c.sync(); out[t] = s[t];");
  EXPECT_EQ(n.own, 1);
  EXPECT_EQ(n.other, 1);
  n = accesses_in("atomicAdd(c.map_shared_rank(&s[out[t]], r), n);");
  EXPECT_EQ(n.own, 0);
  EXPECT_EQ(n.other, 1);
}

TEST(ClusterMemory, PointersThatMoveOrAreChosen) {
  Counted n = accesses_in(
      "int* p = c.map_shared_rank(s, r); int x = 0;\n"
      "#pragma unroll 1\nfor (int i = 0; i < n; ++i, ++p) x += *p; out[t] = x;");
  EXPECT_EQ(n.own, 0);
  EXPECT_EQ(n.other, 1);
  n = accesses_in(
      "int* p = c.map_shared_rank(s, r); int* q = c.map_shared_rank(s + 128, 1);\n"
      "int* z = n ? p : q; out[t] = z[t];");
  EXPECT_EQ(n.own, 0);
  EXPECT_GE(n.other, 1);
  n = accesses_in("*(Four*)(out + 4 * t) = *(Four*)(c.map_shared_rank(s, r) + 4 * t);");
  EXPECT_EQ(n.own, 0);
  EXPECT_GE(n.other, 1);
}

/// Both are an address in the block's own memory: the lanes lie side by side.
TEST(ClusterMemory, InPtx) {
  const auto ptx = [](const std::string& code) {
    return accesses_of("k.ptx",
                       ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                       "  .reg .b32 %r<9>; .reg .b64 %rd<9>;\n  .shared .align 4 .b8 s[1024];\n"
                       "  ld.param.u64 %rd1, [p];\n  cvta.to.global.u64 %rd1, %rd1;\n"
                       "  mov.u32 %r1, %tid.x;\n  shl.b32 %r2, %r1, 2;\n  mov.u32 %r3, s;\n" +
                           code + "  st.global.u32 [%rd1], %r5;\n  ret;\n}\n");
  };
  Counted n =
      ptx("  add.u32 %r3, %r3, %r2;\n  mapa.shared::cluster.u32 %r4, %r3, 1;\n"
          "  ld.shared::cluster.u32 %r5, [%r4];\n");
  EXPECT_EQ(n.own, 0);
  EXPECT_EQ(n.other, 1);
  n =
      ptx("  cvt.u64.u32 %rd2, %r3;\n  cvta.shared.u64 %rd2, %rd2;\n  mapa.u64 %rd3, %rd2, 1;\n"
          "  mul.wide.u32 %rd4, %r1, 4;\n  add.u64 %rd3, %rd3, %rd4;\n  ld.u32 %r5, [%rd3];\n");
  EXPECT_EQ(n.own, 0);
  EXPECT_EQ(n.other, 1);
  n =
      ptx("  st.shared.u32 [%r3], %r1;\n  barrier.cluster.arrive.relaxed;\n  barrier.cluster.wait;\n  ld.shared.u32 "
          "%r5, [%r3];\n");
  EXPECT_EQ(n.own, 2);
  EXPECT_EQ(n.other, 0);
  EXPECT_EQ(n.barriers, 0);  // what is relaxed waits for no memory
}

}  // namespace
}  // namespace kernelcast
