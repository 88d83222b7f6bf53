// PTX texts, as compilers write them: names, parameters, addresses, lines, limits.
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

Source ptx_of(const std::string& body, const std::string& target = "sm_80") {
  Source source;
  source.path = "test.ptx";
  source.text = ".version 8.3\n.target " + target + "\n.address_size 64\n" + body;
  return source;
}

KernelProfile profile_of(const Source& source, const std::string& target = "sm_80") {
  FrontendOptions options;
  options.target = target;
  return analyze(source, options).profile;
}

// out[i] = in[i] for i < n, as nvcc writes it.
const char* const copy = R"(.visible .entry _Z4copyPKfPfi(
  .param .u64 _Z4copyPKfPfi_param_0, .param .u64 _Z4copyPKfPfi_param_1, .param .u32 _Z4copyPKfPfi_param_2)
.reqntid 128, 1, 1
{
  .reg .pred %p<2>; .reg .f32 %f<2>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [_Z4copyPKfPfi_param_0];
  ld.param.u64 %rd2, [_Z4copyPKfPfi_param_1];
  ld.param.u32 %r2, [_Z4copyPKfPfi_param_2];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r1, %r3, %r4, %r5;
  setp.ge.s32 %p1, %r1, %r2;
  @%p1 bra $L__BB0_2;
  cvta.to.global.u64 %rd3, %rd1;
  mul.wide.s32 %rd4, %r1, 4;
  add.s64 %rd5, %rd3, %rd4;
  ld.global.f32 %f1, [%rd5];
  cvta.to.global.u64 %rd6, %rd2;
  add.s64 %rd7, %rd6, %rd4;
  st.global.f32 [%rd7], %f1;
$L__BB0_2:
  ret;
})";

TEST(Ptx, kernel_is_read_as_if_it_came_from_source) {
  const KernelProfile p = profile_of(ptx_of(copy));
  EXPECT_EQ(p.kernel, "copy");
  ASSERT_THAT(p.parameters, SizeIs(3));
  EXPECT_EQ(p.parameters[0].name, "param_0");
  EXPECT_TRUE(p.parameters[0].pointer);
  EXPECT_TRUE(p.parameters[1].pointer);
  EXPECT_TRUE(p.parameters[2].integer);
  EXPECT_EQ(p.required_block, (Dim3{128, 1, 1}));
  EXPECT_THAT(p.unmodeled, IsEmpty());
  std::vector<Access> all;
  for (const Block& b : p.blocks) all.insert(all.end(), b.accesses.begin(), b.accesses.end());
  ASSERT_THAT(all, SizeIs(2));
  const Expr index = Expr(group_id(0)) * Expr(local_size(0)) + Expr(local_id(0));
  for (int k : {0, 1}) {
    const Access& a = all[static_cast<std::size_t>(k)];
    EXPECT_EQ(a.space, MemorySpace::global);
    ASSERT_GE(a.buffer, 0);
    EXPECT_EQ(p.buffers[static_cast<std::size_t>(a.buffer)].name, k == 0 ? "param_0" : "param_1");
    EXPECT_EQ(a.offset, index * Expr(4));
  }
  EXPECT_EQ(all[0].line.line, 19 + 2);  // of the text: the head has three lines
}

TEST(Ptx, loop_counts_its_trips) {
  const KernelProfile p = profile_of(ptx_of(R"(.visible .entry walk(.param .u64 p, .param .u32 n)
{
  .reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r2, [n];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  mov.f32 %f1, 0f00000000;
  mov.u32 %r3, 0;
$loop:
  ld.global.f32 %f2, [%rd3];
  add.f32 %f1, %f1, %f2;
  add.s64 %rd3, %rd3, 512;
  add.s32 %r3, %r3, 1;
  setp.lt.s32 %p1, %r3, 100;
  @%p1 bra $loop;
  st.global.f32 [%rd1], %f1;
  ret;
})"));
  ASSERT_FALSE(p.blocks.empty());
  double loads = 0;
  for (const Block& b : p.blocks)
    for (const Access& a : b.accesses)
      if (a.kind == AccessKind::load)
        loads +=
            a.copies() * static_cast<double>(
                             b.loop < 0 ? 1 : p.loops[static_cast<std::size_t>(b.loop)].trips.constant().value_or(-1));
  EXPECT_EQ(loads, 100);
}

// Triton writes one register in braces.
TEST(Ptx, braces_around_one_register_are_the_register) {
  std::string braces = copy;
  for (const auto& [plain, braced] :
       {std::pair{"ld.global.f32 %f1,", "ld.global.f32 { %f1 },"}, std::pair{"[%rd7], %f1;", "[%rd7], { %f1 };"}}) {
    const std::size_t at = braces.find(plain);
    ASSERT_NE(at, std::string::npos);
    braces.replace(at, std::string(plain).size(), braced);
  }
  const KernelProfile one = profile_of(ptx_of(copy)), other = profile_of(ptx_of(braces));
  ASSERT_EQ(one.blocks.size(), other.blocks.size());
  for (std::size_t b = 0; b < one.blocks.size(); ++b) {
    ASSERT_EQ(one.blocks[b].accesses.size(), other.blocks[b].accesses.size());
    for (std::size_t a = 0; a < one.blocks[b].accesses.size(); ++a)
      EXPECT_EQ(one.blocks[b].accesses[a].offset, other.blocks[b].accesses[a].offset);
  }
}

TEST(Ptx, loop_on_a_barrier_is_a_wait) {
  const KernelProfile p = profile_of(ptx_of(R"(.visible .entry k(.param .u64 p)
{
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
  .shared .align 8 .b64 bar;
  mov.u32 %r1, bar;
$wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
  @%p1 bra $done;
  bra $wait;
$done:
  ld.param.u64 %rd1, [p];
  st.global.u32 [%rd1], %r1;
  ret;
})",
                                            "sm_90"),
                                     "sm_90");
  ASSERT_THAT(p.loops, SizeIs(1));
  EXPECT_EQ(p.loops[0].trips, Expr(1));
}

/// Bytes of the first access to shared memory, of a kernel that ends in ldmatrix from the address in %r9; %r1 is the
/// thread's number and %r2 the array.
Access row_read_at(const std::string& computing) {
  const KernelProfile p = profile_of(ptx_of(R"(.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<16>; .reg .b64 %rd<2>;
  .shared .align 16 .b8 tile[8192];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
)" + computing + R"(
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r9];
  ld.param.u64 %rd1, [p];
  st.global.v4.u32 [%rd1], {%r10, %r11, %r12, %r13};
  ret;
})"));
  for (const Block& b : p.blocks)
    for (const Access& a : b.accesses)
      if (a.space == MemorySpace::shared) return a;
  return {};
}

// As nvcc writes them: the array by `mov`, its elements in the local space.
TEST(Ptx, small_array_of_unknown_index_is_in_registers) {
  const auto accesses = [](int elements) {
    const std::string bytes = std::to_string(4 * elements);
    const KernelProfile p = profile_of(ptx_of(R"(.visible .entry k(.param .u64 p, .param .u32 n)
{ .local .align 4 .b8 depot[)" + bytes + R"(];
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<12>;
  mov.u64 %rd2, depot; ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, 0;
$init:
  mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd2, %rd3; st.local.u32 [%rd4], %r2;
  add.s32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, )" +
                                              std::to_string(elements) + R"(; @%p1 bra $init;
  mov.u32 %r3, 0;
$loop:
  mul.wide.u32 %rd5, %r3, 4; add.s64 %rd6, %rd1, %rd5; ld.global.u32 %r4, [%rd6];
  mul.wide.s32 %rd7, %r4, 4; add.s64 %rd8, %rd2, %rd7;
  ld.local.f32 %f1, [%rd8]; add.f32 %f1, %f1, 0f3F800000; st.local.f32 [%rd8], %f1;
  add.s32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r1; @%p2 bra $loop;
  ld.local.f32 %f2, [%rd2]; st.global.f32 [%rd1], %f2; ret; })"));
    int local = 0;
    for (const Block& b : p.blocks)
      for (const Access& a : b.accesses) local += a.space == MemorySpace::local;
    return local;
  };
  EXPECT_EQ(accesses(4), 0);
  EXPECT_GT(accesses(64), 0);
}

TEST(Ptx, comparison_sets_a_number_of_its_type) {
  const KernelProfile p = profile_of(ptx_of(R"(.visible .entry k(.param .u64 p)
{ .reg .b16 %h<3>; .reg .f32 %f<3>; .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p]; ld.global.b16 %h1, [%rd1]; set.eq.f16.f16 %h2, %h1, %h1; st.global.b16 [%rd1], %h2;
  ld.global.f32 %f1, [%rd1+4]; set.lt.f32.f32 %f2, %f1, %f1; st.global.f32 [%rd1+4], %f2;
  ld.global.u32 %r1, [%rd1+8]; set.eq.u32.u32 %r2, %r1, %r1; st.global.u32 [%rd1+8], %r2; ret; })"));
  EXPECT_TRUE(p.unknowns.empty());
}

TEST(Ptx, one_lane_and_one_warp_are_known) {
  const std::string head = R"(.visible .entry k(.param .u64 p)
{ .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5;
)";
  const std::string tail = R"(
  @!%p1 bra $out;
  st.global.u32 [%rd1], %r1;
$out: ret; })";
  const auto stores = [&](const std::string& condition) {
    Launch launch;
    launch.grid = {4};
    launch.block = {128};
    const KernelProfile p = profile_of(ptx_of(head + condition + tail), "sm_90");
    EXPECT_TRUE(p.unknowns.empty()) << condition;
    return Binder(p, {}).bind(launch).at(MemorySpace::global, AccessKind::store).lanes;
  };
  EXPECT_EQ(stores("elect.sync _|%p1, -1;"), 4 * 4);  // of each warp one lane
  EXPECT_EQ(stores("elect.sync %r3|%p1, -1;"), 4 * 4);
  EXPECT_EQ(stores("elect.sync %r3|%p2, -1; setp.eq.u32 %p1, %r3, 0;"), 4 * 128);
  EXPECT_EQ(stores("shfl.sync.idx.b32 %r3, %r2, 0, 31, -1; setp.eq.u32 %p1, %r3, 2;"),
            4 * 32);  // of each block one warp
  EXPECT_EQ(stores("shfl.sync.idx.b32 %r3|%p2, %r2, 0, 31, -1; setp.eq.u32 %p1, %r3, 2;"), 4 * 32);
  EXPECT_EQ(stores("shfl.sync.idx.b32 %r3|%p1, %r2, 0, 31, -1;"), 4 * 128);
}

// As nvcc 13.0 writes it for struct { float* out; int n; const float* in; }, and for a pointer to pointers.
TEST(Ptx, pointers_in_structures_and_in_memory_are_buffers) {
  const KernelProfile p = profile_of(ptx_of(R"(.visible .entry k(.param .align 8 .b8 s[24], .param .u64 rows)
{
  .reg .f32 %f<3>; .reg .b32 %r<2>; .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [s];
  ld.param.u64 %rd2, [s+16];
  ld.param.u64 %rd3, [rows];
  cvta.to.global.u64 %rd4, %rd1;
  cvta.to.global.u64 %rd5, %rd2;
  cvta.to.global.u64 %rd6, %rd3;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd7, %r1, 4;
  add.s64 %rd8, %rd5, %rd7;
  ld.global.f32 %f1, [%rd8];
  ld.global.u64 %rd9, [%rd6+8];
  cvta.to.global.u64 %rd10, %rd9;
  add.s64 %rd11, %rd10, %rd7;
  ld.global.f32 %f2, [%rd11];
  add.f32 %f1, %f1, %f2;
  add.s64 %rd8, %rd4, %rd7;
  st.global.f32 [%rd8], %f1;
  ret;
})"));
  std::vector<std::string> names;
  for (const Block& b : p.blocks)
    for (const Access& a : b.accesses) {
      names.push_back(a.buffer < 0 ? "" : p.buffers[static_cast<std::size_t>(a.buffer)].name);
      EXPECT_LT(a.unknown, 0);
      if (a.kind == AccessKind::store) {
        EXPECT_EQ(a.offset, Expr(local_id(0)) * Expr(4));
      }
    }
  ASSERT_THAT(names, SizeIs(4));
  EXPECT_THAT(names, ::testing::IsSupersetOf({"s+0", "s+16", "rows"}));
}

// The host may have written them: nothing that is computed from them goes away.
TEST(Ptx, constants_are_not_taken_for_zero) {
  for (const char* const declared : {".const .align 4 .b8 c[64];", ".global .align 4 .b8 c[64];"}) {
    const std::string space = std::string(declared).substr(0, 7) == ".global" ? "global" : "const";
    const KernelProfile p = profile_of(ptx_of(std::string(declared) + R"(
.visible .entry k(.param .u64 out)
{
  .reg .f32 %f<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  ld.)" + space + R"(.f32 %f1, [c+8];
  sin.approx.f32 %f2, %f1;
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%rd2], %f3;
  ret;
})"));
    double special = 0;
    for (const Block& b : p.blocks) special += b.ops[OpClass::fp32_special];
    EXPECT_EQ(special, 1) << declared;
  }
}

TEST(Ptx, loops_are_unrolled_as_the_assembler_does_and_no_further) {
  const auto loads_of = [](const std::string& pragma, int trips) {
    const KernelProfile p = profile_of(ptx_of(R"(.visible .entry k(.param .u64 p)
{
  .reg .pred %p<2>; .reg .f32 %f<3>; .reg .b32 %r<3>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  mov.f32 %f1, 0f00000000;
  mov.u32 %r1, 0;
$loop:
)" + pragma + R"(  ld.global.f32 %f2, [%rd2];
  add.f32 %f1, %f1, %f2;
  add.s64 %rd2, %rd2, 512;
  add.s32 %r1, %r1, 1;
  setp.ne.s32 %p1, %r1, )" + std::to_string(trips) +
                                              R"(;
  @%p1 bra $loop;
  st.global.f32 [%rd2], %f1;
  ret;
})"));
    std::size_t loads = 0;
    for (const Block& b : p.blocks)
      for (const Access& a : b.accesses) loads += a.kind == AccessKind::load ? static_cast<std::size_t>(a.copies()) : 0;
    return loads;
  };
  // ptxas 13.0, sm_86: 2, 100 and 112 loads; with the pragma one.
  EXPECT_EQ(loads_of("", 2), 1U);
  EXPECT_EQ(loads_of("", 100), 100U);
  EXPECT_EQ(loads_of("", 1000), 112U);
  EXPECT_EQ(loads_of("  .pragma \"nounroll\";\n", 100), 1U);
}

TEST(Ptx, swizzle_acts_on_the_whole_offset_in_the_array) {
  // Rows of 128 bytes, pieces of 16 bytes exchanged by the row's number.
  const Access a = row_read_at(
      "shl.b32 %r3, %r1, 7;\nadd.s32 %r4, %r2, %r3;\nadd.s32 %r4, %r4, 32;\nshr.u32 %r5, %r4, 7;\n"
      "rem.u32 %r5, %r5, 8;\nshl.b32 %r5, %r5, 4;\nxor.b32 %r9, %r4, %r5;");
  EXPECT_LT(a.unknown, 0);
  for (int lane : {0, 1, 5, 9, 31}) {
    const std::int64_t plain = 128 * lane + 32;
    EXPECT_EQ(a.offset.substitute({{local_id(0), Expr(lane)}}), Expr(plain ^ ((lane % 8) << 4))) << lane;
  }
}

// The address of a parameter that PTX only reads: nvcc 13.0 keeps it in the constant bank.
TEST(Ptx, parameter_read_by_address_is_not_copied) {
  Source s;
  s.path = "test.cu";
  s.text =
      "struct alignas(64) Map { unsigned long long x[16]; };\n"
      "extern \"C\" __global__ void k(const __grid_constant__ Map m, int* c) {\n"
      "__shared__ __align__(128) char tile[1024]; __shared__ unsigned long long bar;\n"
      "asm volatile(\"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3}], [%4];\"\n"
      ":: \"r\"((int)__cvta_generic_to_shared(tile)), \"l\"(&m), \"r\"(0), \"r\"(c[1]), "
      "\"r\"((int)__cvta_generic_to_shared(&bar)) : \"memory\"); c[0] = tile[c[2]]; }\n";
  EXPECT_EQ(profile_of(s, "sm_90").stack_bytes, 0);
}

TEST(Ptx, instruction_that_is_not_understood_is_named) {
  EXPECT_THAT(
      [] {
        return profile_of(ptx_of(R"(.visible .entry k()
{
  .reg .b32 %r<3>;
  brx.idx %r1, table;
table: .branchtargets a;
a:
  ret;
})"));
      },
      ::testing::Throws<Error>());
}

TEST(Ptx, machine_code_is_told_what_to_do) {
  Source source;
  source.path = "kernel.cubin";
  source.text = std::string(
      "\x7f"
      "ELF\x02\x01\x01\0",
      8);
  try {
    profile_of(source);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr("cuobjdump -ptx"));
  }
}

}  // namespace
}  // namespace kernelcast
