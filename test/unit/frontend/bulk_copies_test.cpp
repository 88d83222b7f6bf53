// Copies in bulk, asynchronous products and WMMA in PTX: what they move.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kernelcast/bind.h"
#include "kernelcast/error.h"
#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A kernel of which thread 0 runs `loop` 16 times; %r10 to %r12 are its counter, the array and the barrier.
KernelProfile profile_of_loop(const std::string& loop, const std::string& target = "sm_90",
                              const std::string& directives = "", std::vector<TensorBox> tensor_maps = {},
                              const std::string& before = "") {
  Source source;
  source.path = "test.ptx";
  source.text = ".version 8.6\n.target " + target + "\n.address_size 64\n.visible .entry k(.param .u64 p,\n" +
                " .param .align 64 .b8 a[128], .param .align 64 .b8 b[128])\n" + directives + R"({
  .reg .pred %p<4>; .reg .b32 %r<64>; .reg .b64 %rd<16>; .reg .b16 %h<4>;
  .shared .align 128 .b8 tile[65536];
  .shared .align 8 .b64 bar;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd1, %rd1;
  mov.b64 %rd2, a;
  cvta.param.u64 %rd2, %rd2;
  mov.b64 %rd3, b;
  cvta.param.u64 %rd3, %rd3;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r10, 0;
  mov.u32 %r11, tile;
  mov.u32 %r12, bar;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $out;
)" + before + R"($loop:
  shl.b32 %r13, %r10, 6;
  shl.b32 %r14, %r2, 7;
)" + loop + R"(
  add.u32 %r10, %r10, 1;
  setp.lt.u32 %p2, %r10, 16;
  @%p2 bra $loop;
$out:
  bar.sync 0;
  ret;
})";
  source.tensor_maps = std::move(tensor_maps);
  FrontendOptions options;
  options.target = "sm_90";
  options.capability = target;
  return analyze(source, options).profile;
}

Workload of(const KernelProfile& p, std::int64_t blocks = 8, std::int64_t threads = 128) {
  Launch launch;
  launch.grid = {blocks, 1, 1};
  launch.block = {threads, 1, 1};
  return Binder(p, MemoryGeometry{}).bind(launch);
}

const std::string tensor_copy =
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rd2, {%r13, %r14}], "
    "[%r12];\n";
std::string expect(const std::string& bytes) {
  return "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r12], " + bytes + ";\n";
}

TEST(BulkCopies, MoveTheirBytesWithoutARequestOfAWarp) {
  const KernelProfile p = profile_of_loop(
      "mul.wide.u32 %rd4, %r10, 4096;\nadd.s64 %rd5, %rd1, %rd4;\n" + expect("4096") +
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rd5], 4096, [%r12];\n");
  EXPECT_THAT(p.unmodeled, IsEmpty());
  const Workload w = of(p);
  const AccessCount& read = w.at(MemorySpace::global, AccessKind::load);
  EXPECT_EQ(read.bytes, 8 * 16 * 4096);
  EXPECT_EQ(read.sectors, 8 * 16 * 4096 / 32);
  EXPECT_EQ(read.requests, 0);
  EXPECT_EQ(read.bank_passes, 0);
  EXPECT_EQ(w.bulk_sectors, read.sectors);
  EXPECT_EQ(w.bulk_bytes, read.bytes);
  EXPECT_EQ(w.at(MemorySpace::shared, AccessKind::store).bank_passes, 8 * 16 * 4096 / 128);
  EXPECT_EQ(w.stalls.fills, 8 * 16);
  // All blocks read the same 64 KB.
  ASSERT_TRUE(w.reuse.known);
  EXPECT_EQ(w.reuse.at(Reuse::read, Reuse::depths - 1, Reuse::windows - 1).footprint, 16 * 4096 / 32);
  EXPECT_EQ(w.compulsory_bytes, 16 * 4096);
}

TEST(LaneCopies, GoPastTheL1WhereTheTextSaysSo) {
  const auto copied = [](const std::string& how) {
    return of(profile_of_loop("mul.wide.u32 %rd4, %r10, 16;\nadd.s64 %rd5, %rd1, %rd4;\ncp.async." + how +
                              ".shared.global [%r11], [%rd5], 16;\n"));
  };
  const Workload w = copied("cg");
  EXPECT_GT(w.past_l1_sectors, 0);
  EXPECT_EQ(w.past_l1_sectors, w.at(MemorySpace::global, AccessKind::load).sectors);
  EXPECT_EQ(copied("ca").past_l1_sectors, 0);
}

TEST(BulkCopies, ToGlobalMemoryAreWrites) {
  const KernelProfile p = profile_of_loop(
      "mul.wide.u32 %rd4, %r10, 4096;\nadd.s64 %rd5, %rd1, %rd4;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%rd5], [%r11], 4096;\n"
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd5], [%r11], 1024;\n");
  EXPECT_THAT(p.unmodeled, IsEmpty());
  const Workload w = of(p);
  EXPECT_EQ(w.at(MemorySpace::global, AccessKind::store).bytes, 8 * 16 * 4096);
  EXPECT_EQ(w.at(MemorySpace::global, AccessKind::atomic).bytes, 8 * 16 * 1024);
  EXPECT_EQ(w.at(MemorySpace::shared, AccessKind::load).bank_passes, 8 * 16 * 5120 / 128);
  EXPECT_EQ(w.bulk_bytes, 0);
  const AtomicCount& updates = w.atomics[static_cast<std::size_t>(AtomicKind::integer)];
  EXPECT_EQ(updates.updates, 0);  // no lanes that meet in one word
  EXPECT_EQ(updates.sectors, 8 * 16 * 1024 / 32);
  EXPECT_GE(updates.bytes, 15 * 4096 + 1024);  // spread over all that is written
}

TEST(BulkCopies, BoxesOfTensorMapsAreWhatTheirBarrierExpects) {
  const std::string of_b =
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%rd3, {%r13, 0}], "
      "[%r12];\n";
  const KernelProfile p = profile_of_loop(expect("24576") + tensor_copy + tensor_copy + of_b);
  EXPECT_THAT(p.unmodeled, IsEmpty());
  const Workload w = of(p);
  EXPECT_EQ(w.at(MemorySpace::global, AccessKind::load).bytes, 8 * 16 * 24576);
  // Of a: 8 by 16 boxes, each asked for twice; of b: 16, the same for all blocks.
  ASSERT_TRUE(w.reuse.known);
  EXPECT_EQ(w.reuse.at(Reuse::read, Reuse::depths - 1, Reuse::windows - 1).footprint * 32, (8 * 16 + 16) * 8192);
  EXPECT_EQ(w.footprint_read_bytes, (8 * 16 + 16) * 8192);
  EXPECT_EQ(w.compulsory_bytes, 0);  // where the boxes lie is not known
  EXPECT_TRUE(std::any_of(p.assumptions.begin(), p.assumptions.end(), [](const Assumption& a) {
    return a.what.find("tensor map") != std::string::npos && a.value.find("8192 bytes") != std::string::npos;
  }));
}

TEST(BulkCopies, BoxesThatAreGivenNeedNoBarrier) {
  const std::string store = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd3, {%r13, %r14}], [%r11];\n";
  const Workload w =
      of(profile_of_loop(expect("%r1") + tensor_copy + store, "sm_90", "", {{"a", 4096, 64}, {"b", 1024, 128}}));
  EXPECT_EQ(w.at(MemorySpace::global, AccessKind::load).bytes, 8 * 16 * 4096);
  EXPECT_EQ(w.at(MemorySpace::global, AccessKind::store).bytes, 8 * 16 * 1024);
  EXPECT_EQ(w.at(MemorySpace::shared, AccessKind::load).bank_passes, 8 * 16 * 1024 / 128);
  EXPECT_EQ(w.at(MemorySpace::shared, AccessKind::store).bank_passes, 8 * 16 * 4096 / 64);  // rows of half a line
  EXPECT_THROW((void)profile_of_loop(tensor_copy, "sm_90", "", {{"c", 4096, 64}}), UsageError);
}

TEST(BulkCopies, MulticastReadsOnceAndWritesEverywhere) {
  std::string copy = tensor_copy;
  copy.replace(copy.find("bytes [") + 5, 0, ".multicast::cluster");
  copy.replace(copy.rfind("[%r12];"), 7, "[%r12], 3;");
  const Workload w = of(profile_of_loop("mov.b16 %h1, 3;\n" + expect("16384") + copy));
  EXPECT_EQ(w.at(MemorySpace::global, AccessKind::load).bytes, 8 * 16 * 8192);
  EXPECT_EQ(w.bulk_bytes, 8 * 16 * 16384);
}

TEST(BulkCopies, WithoutAConstantAreNamed) {
  const KernelProfile p = profile_of_loop(expect("%r1") + tensor_copy);
  ASSERT_THAT(p.unmodeled, SizeIs(1));
  EXPECT_THAT(p.unmodeled[0].what, HasSubstr("cp.async.bulk.tensor"));
  EXPECT_TRUE(std::any_of(p.assumptions.begin(), p.assumptions.end(),
                          [](const Assumption& a) { return a.what.find("its tensor map says") != std::string::npos; }));
  EXPECT_EQ(of(p).at(MemorySpace::global, AccessKind::load).bytes, 0);
}

// Measured on B200: 64x128x16 takes 64.55 cycles as 128x128x16 does (64.62); 128 rows of two blocks take half of it.
TEST(BulkCopies, ProductsOfHalfTheRowsHoldThePipeAsLong) {
  const auto held = [](const std::string& group, int descriptor) {
    const KernelProfile p =
        profile_of_loop("mov.b64 %rd6, 0;\nmov.u32 %r20, 0;\ntcgen05.mma.cta_group::" + group +
                            ".kind::f16 [%r20], %rd6, %rd6, " + std::to_string(descriptor) + ", %p1;\n",
                        "sm_100a");
    const TensorOps ops = of(p).warp_ops.tensor;
    return ops.of(TensorType::f16_f32) * ops.hold();
  };
  constexpr int m64n128 = 4 << 24 | 16 << 17 | 1 << 4, m128n128 = 8 << 24 | 16 << 17 | 1 << 4;
  EXPECT_GT(held("1", m64n128), 0);
  EXPECT_EQ(held("1", m64n128), held("1", m128n128));
  EXPECT_EQ(held("2", m64n128), held("2", m128n128) / 2);
}

TEST(BulkCopies, ProductsReadTheirOperandsInSharedMemory) {
  const KernelProfile p = profile_of_loop(
      "mov.b64 %rd6, 0;\nmov.u32 %r20, 0;\n"
      "tcgen05.mma.cta_group::1.kind::f16 [%r20], %rd6, %rd6, 135266320, %p1;\n",  // m128n64k16
      "sm_100a");
  EXPECT_THAT(p.unmodeled, IsEmpty());
  const Workload w = of(p);
  EXPECT_EQ(w.warp_ops.tensor.of(TensorType::f16_f32), 8.0 * 16 * 128 * 64 * 16);
  EXPECT_EQ(w.warp_ops.tensor.shared_bytes, 8 * 16 * (128 + 64) * 16 * 2);
  EXPECT_EQ(w.stalls.products, 8.0 * 16 * 128 * 64 * 16);
}

/// Instructions with scales, whose descriptor names another scale factor in each iteration; bits of it that change.
KernelProfile profile_of_scaled(const std::string& changing) {
  return profile_of_loop("mov.b64 %rd6, 0;\nmov.u32 %r20, 0;\nand.b32 %r21, %r10, 3;\nmul.lo.u32 %r21, %r21, " +
                             changing +
                             ";\nadd.u32 %r21, %r21, 280494080;\n"  // m256n224
                             "tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale [%r20], %rd6, %rd6, %r21, [%r20], "
                             "[%r20], %p1;\n",
                         "sm_100a");
}

TEST(BulkCopies, ShapeOfADescriptorWhoseOtherBitsChange) {
  const KernelProfile p = profile_of_scaled("536870928");  // 29, 30 and 4, 5
  EXPECT_THAT(p.unmodeled, IsEmpty());
  EXPECT_EQ(of(p).warp_ops.tensor.of(TensorType::f8_f32), 8.0 * 16 * 256 * 224 * 32);
  EXPECT_THAT(profile_of_scaled("131072").unmodeled, SizeIs(1));  // 17: n
}

TEST(Clusters, ComeFromTheirDirective) {
  const KernelProfile p = profile_of_loop("", "sm_90", ".explicitcluster\n.reqnctapercluster 2, 1, 1\n");
  EXPECT_EQ(p.cluster, (Dim3{2, 1, 1}));
  EXPECT_EQ(of(p).cluster, (Dim3{2, 1, 1}));
}

TEST(Clusters, ComeFromTheAttributeOfATemplate) {
  Source cuda;
  cuda.path = "test.cu";
  cuda.language = Language::cuda;
  cuda.text = R"(template <int N> __global__ __cluster_dims__(N, 1, 1) void k(int* a) { a[threadIdx.x] = N; }
template __global__ void k<4>(int*);
)";
  FrontendOptions options;
  options.target = "sm_90";
  EXPECT_EQ(analyze(cuda, options).profile.cluster, (Dim3{4, 1, 1}));
  cuda.text = "__global__ void k(int* a) { a[threadIdx.x] = 1; }\n";
  EXPECT_EQ(analyze(cuda, options).profile.cluster, (Dim3{0, 0, 0}));
}

TEST(Clusters, OfALaunchAreAsThoseOfTheCode) {
  Source cuda;
  cuda.path = "test.cu";
  cuda.language = Language::cuda;
  const auto text = [](const std::string& attribute) {
    return "__global__ " + attribute + R"( void k(int* a) {
  unsigned rank;
  asm("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  for (unsigned i = rank; i < 10; ++i) a[i * 128 + threadIdx.x] = 1;
})";
  };
  cuda.text = text("");
  FrontendOptions options;
  options.target = options.capability = "sm_90";
  EXPECT_NE(analyze(cuda, options).profile.loops.at(0).unknown, -1);
  options.cluster = {2, 1, 1};
  const KernelProfile p = analyze(cuda, options).profile;
  EXPECT_EQ(p.cluster, options.cluster);
  EXPECT_EQ(p.loops.at(0).unknown, -1);
  cuda.text = text("__cluster_dims__(2, 1, 1)");
  EXPECT_EQ(analyze(cuda, options).profile.cluster, options.cluster);
  cuda.text = text("__cluster_dims__(4, 1, 1)");
  EXPECT_THROW(analyze(cuda, options), UsageError);
}

TEST(TensorMemory, IsFilledFromSharedMemory) {
  const KernelProfile p = profile_of_loop(
      "mov.u32 %r20, 0;\ntcgen05.cp.cta_group::1.32x128b.warpx4 [%r20], %rd1;\nprefetch.tensormap [%rd2];\n",
      "sm_100a");
  EXPECT_THAT(p.unmodeled, IsEmpty());
  EXPECT_EQ(of(p).warp_ops.tensor.shared_bytes, 8.0 * 16 * 512);
}

TEST(SetMaxNReg, SaysWhatABlockHoldsAtATime) {
  const auto profile_of = [](int registers, const std::string& directives = "") {
    const std::string set = "setmaxnreg.inc.sync.aligned.u32 " + std::to_string(registers) + ";\n";
    return profile_of_loop("", "sm_90a", directives, {}, set);
  };
  const KernelProfile p = profile_of(240);
  ASSERT_THAT(p.set_registers, SizeIs(1));
  EXPECT_EQ(p.set_registers[0].registers, 240);
  EXPECT_EQ(of(p).set_registers_per_block, 32 * (240 + 3 * p.registers.per_thread));
  const KernelProfile bounded = profile_of(240, ".maxntid 384, 1, 1\n");
  EXPECT_EQ(bounded.registers.per_thread, 168);  // 65536 / 384, in steps of 8: what the launch has
  EXPECT_THROW((void)profile_of(250), UserError);
}

// As nvcc writes a product of 16 x 16 x 16 halves: the same accesses as our own header's.
TEST(Wmma, OfPtxMovesWhatOurHeaderMoves) {
  Source cuda;
  cuda.path = "test.cu";
  cuda.language = Language::cuda;
  cuda.text = R"(#include <mma.h>
using namespace nvcuda::wmma;
__global__ void k(const half* a, float* c) {
  __shared__ half tile[16 * 24];
  tile[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  fragment<matrix_a, 16, 16, 16, half, row_major> x;
  fragment<matrix_b, 16, 16, 16, half, row_major> y;
  fragment<accumulator, 16, 16, 16, float> z;
  fill_fragment(z, 0.f);
  load_matrix_sync(x, tile, 24);
  load_matrix_sync(y, tile, 24);
  mma_sync(z, x, y, z);
  store_matrix_sync(c, z, 16, mem_row_major);
})";
  Source ptx;
  ptx.path = "test.ptx";
  ptx.text = R"(.version 8.3
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 c)
{
  .reg .b32 %r<40>; .reg .f32 %f<10>; .reg .b64 %rd<6>; .reg .b16 %h<2>;
  .shared .align 16 .b8 tile[768];
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [c];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 2;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u16 %h1, [%rd4];
  mov.u32 %r2, tile;
  shl.b32 %r3, %r1, 1;
  add.s32 %r3, %r2, %r3;
  st.shared.u16 [%r3], %h1;
  bar.sync 0;
  mov.u32 %r4, 24;
  mov.u32 %r5, 16;
  mov.f32 %f1, 0f00000000;
  wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%r2], %r4;
  wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}, [%r2], %r4;
  wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%f2, %f3, %f4, %f5, %f6, %f7, %f8, %f9},
    {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, {%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27},
    {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1};
  wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd2], {%f2, %f3, %f4, %f5, %f6, %f7, %f8, %f9}, %r5;
  ret;
})";
  FrontendOptions options;
  options.target = "sm_80";
  const KernelProfile of_source = analyze(cuda, options).profile, of_ptx = analyze(ptx, options).profile;
  EXPECT_THAT(of_ptx.unmodeled, IsEmpty());
  const Workload x = of(of_source, 4, 32), y = of(of_ptx, 4, 32);
  EXPECT_EQ(x.warp_ops.tensor, y.warp_ops.tensor);
  EXPECT_GT(y.warp_ops.tensor.of(TensorType::f16_f32), 0);
  for (const MemorySpace space : {MemorySpace::global, MemorySpace::shared})
    for (const AccessKind kind : {AccessKind::load, AccessKind::store}) {
      const AccessCount &a = x.at(space, kind), &b = y.at(space, kind);
      EXPECT_EQ(a.requests, b.requests) << name_of(space) << " " << name_of(kind);
      EXPECT_EQ(a.sectors, b.sectors);
      EXPECT_EQ(a.bank_passes, b.bank_passes) << name_of(space) << " " << name_of(kind);
    }
}

}  // namespace
}  // namespace kernelcast
