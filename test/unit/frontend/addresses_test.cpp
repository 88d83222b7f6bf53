// Addresses in the PTX of small stencils. Counts are those of NVRTC 11.8 for the same text but where a test says so.
#include <gmock/gmock.h>

#include <regex>
#include <set>

#include "frontend/pipeline/code_of_source.h"
#include "frontend/pipeline/pipeline.h"
#include "kernelcast/frontend.h"

namespace kernelcast::frontend {
namespace {

struct Shape {
  std::size_t loads, bases, wide;  // loads of global memory, registers that they start from, mul.wide
};

bool operator==(const Shape& a, const Shape& b) { return a.loads == b.loads && a.bases == b.bases && a.wide == b.wide; }
void PrintTo(const Shape& s, std::ostream* out) {
  *out << s.loads << " loads, " << s.bases << " bases, " << s.wide << " mul.wide";
}

TargetCode code_of(const std::string& text) {
  Source s;
  s.path = "test.cu";
  s.text = text;
  return code_of_source(s, "k", "sm_80");
}

Shape shape_of(const std::string& text) {
  const std::string ptx = code_of(text).assembly;
  Shape shape{};
  std::set<std::string> bases;
  static const std::regex load(R"(ld\.global\S*\s+[^\[]*\[(%rd\d+))"), wide(R"(mul\.wide)");
  for (auto i = std::sregex_iterator(ptx.begin(), ptx.end(), load); i != std::sregex_iterator(); ++i, ++shape.loads)
    bases.insert((*i)[1]);
  shape.bases = bases.size();
  shape.wide = static_cast<std::size_t>(std::distance(std::sregex_iterator(ptx.begin(), ptx.end(), wide), {}));
  return shape;
}

/// Nine loads around a point.
Shape stencil(const std::string& type, const std::string& index) {
  return shape_of("extern \"C\" __global__ void k(float* out, const float* in, int w, int h) {\n" + type +
                  " x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;\n"
                  "float s = 0;\n#pragma unroll\nfor (int i = 0; i < 3; ++i)\n#pragma unroll\n"
                  "for (int j = 0; j < 3; ++j) s += " +
                  index + ";\nout[y * 4096 + x] = s; }");
}

TEST(Addresses, ConstantsOfASignedIndexAreOffsets) {
  EXPECT_EQ(stencil("int", "in[(y + i) * 4110 + x + j]"), (Shape{9, 1, 2}));
  EXPECT_EQ(stencil("int", "in[(y + i) * 4110 + (x + j)]"), (Shape{9, 1, 2}));
  EXPECT_EQ(stencil("int", "in[(y + i - 1) * 4110 + x + j - 1]"), (Shape{9, 1, 2}));
}

TEST(Addresses, AnUnsignedIndexMayOverflow) {
  EXPECT_EQ(stencil("unsigned", "in[(y + i) * 4110 + x + j]"), (Shape{9, 9, 10}));
  EXPECT_EQ(stencil("int", "in[(y + i) * 4110u + x + j]"), (Shape{9, 9, 10}));
}

TEST(Addresses, OnlyConstantsLeaveTheIndex) {
  EXPECT_EQ(stencil("int", "in[((y + i) % h) * 4110 + x + j]"), (Shape{9, 3, 4}));
  // NVRTC adds the width to the 64-bit base, with one mul.wide less.
  EXPECT_EQ(stencil("int", "in[(y + i) * w + x + j]"), (Shape{9, 3, 4}));
}

TEST(Addresses, TermsThatShareTermsAreVisitedOnce) {
  // 2^48 paths through the sum.
  const std::string text =
      "extern \"C\" __global__ void k(float* out, const float* in) {\nint h = threadIdx.x;\n#pragma unroll\n"
      "for (int i = 0; i < 48; ++i) h = h + (h >> 1) * (h & 3);\nint g = h;\n#pragma unroll\n"
      "for (int i = 0; i < 48; ++i) g = (g + i) * 3 + (g & 7) * (g + 1);\nout[threadIdx.x] = in[g + 1] + in[h + 2]; }";
  EXPECT_EQ(shape_of(text).loads, 2U);
}

std::string guarded(const std::string& read) {
  return "extern \"C\" __global__ void k(float* out, const float* in) {\n"
         "int x = blockIdx.x * 96 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;\n"
         "float s[3] = {0, 0, 0};\n#pragma unroll\nfor (int i = 0; i < 8; ++i)\n#pragma unroll\n"
         "for (int t = 0; t < 3; ++t) { float v = 0; if (y < 4100 && x + t * 32 < 4100) v = " +
         read + "; s[t] += v * (i + 1); }\nout[y * 4096 + x] = s[0] + s[1] * s[2]; }";
}

TEST(Addresses, GuardedLoadsShareTheirBase) {
  EXPECT_EQ(shape_of(guarded("in[(y + i) * 4110 + x + t * 32]")), (Shape{24, 1, 2}));
}

TEST(Addresses, ReadsByAssemblyHaveAnAddressEach) {
  const TargetCode code = code_of(guarded("__ldg(in + (y + i) * 4110 + x + t * 32)"));
  EXPECT_THAT(code.assembly, testing::HasSubstr("ld.global.nc.f32"));
  const Shape shape = shape_of(guarded("__ldg(in + (y + i) * 4110 + x + t * 32)"));
  EXPECT_EQ(shape.loads, 24U);
  EXPECT_EQ(shape.bases, 24U);
}

TEST(Addresses, DisjointBitsStayASum) {
  // LLVM writes j + i as an `or`, and forgets that it was a sum where it adds the constants of unrolled copies. nvcc
  // 13.0: one base for all loads of the unrolled loop.
  const Shape shape = shape_of(
      "extern \"C\" __global__ void k(int* out, const int* in) {\nint s = 0;\n"
      "for (int i = 0; i < 4; ++i) for (int j = 0; j < 4096; j += 4) s ^= in[j + i];\nout[threadIdx.x] = s; }");
  EXPECT_GE(shape.loads, 8U);
  EXPECT_EQ(shape.bases, 1U);
}

TEST(Addresses, TwoIndicesOfAReadByAssemblyAreAddedFirst) {
  const std::string ptx =
      code_of(
          "extern \"C\" __global__ void k(float* out, float* in) {\n"
          "int x = blockIdx.x * 128, y = blockIdx.y * 2, tx = threadIdx.x, ty = threadIdx.y;\nfloat s = 0;\n"
          "#pragma unroll\nfor (int i = 0; i < 3; ++i)\n#pragma unroll\nfor (int j = 0; j < 3; ++j) {\n"
          "int xx = x + tx + j, yy = y + ty + i;\ns += __ldg(in + yy * 4110 + xx) * (i * 3 + j + 1); }\n"
          "out[(y + ty) * 4096 + x + tx] = s; }")
          .assembly;
  const auto count = [&ptx](const char* instruction) {
    const std::regex of(instruction);
    return std::distance(std::sregex_iterator(ptx.begin(), ptx.end(), of), {});
  };
  EXPECT_EQ(count("ld\\.global\\.nc"), 9);
  EXPECT_EQ(count("add\\.s64"), 19);  // nine sums of two indices, nine of that and the pointer, and the store's
  EXPECT_EQ(count("shl\\.b64"), 9);
}

TEST(Addresses, EveryTypeOfReadOnlyLoadHasItsInstruction) {
  struct Case {
    const char* type;
    const char* value;
    const char* instruction;
  };
  for (const Case& c :
       {Case{"signed char", "v", "ld.global.nc.u8"}, Case{"unsigned short", "v", "ld.global.nc.u16"},
        Case{"int", "v", "ld.global.nc.u32"}, Case{"long long", "v", "ld.global.nc.u64"},
        Case{"float", "v", "ld.global.nc.f32"}, Case{"double", "v", "ld.global.nc.f64"},
        Case{"float2", "v.x + v.y", "ld.global.nc.v2.f32"}, Case{"int4", "v.x + v.w", "ld.global.nc.v4.u32"},
        Case{"uchar4", "v.y", "ld.global.nc.v4.u8"}, Case{"double2", "v.y", "ld.global.nc.v2.f64"}}) {
    const std::string text = std::string("extern \"C\" __global__ void k(double* out, const ") + c.type +
                             "* in) { const auto v = __ldg(in + threadIdx.x); out[threadIdx.x] = " + c.value + "; }";
    EXPECT_THAT(code_of(text).assembly, testing::HasSubstr(c.instruction)) << c.type;
  }
}

TEST(Addresses, EqualLoadsThatAreFarApartAreOne) {
  // Rows 8 to 14 are read for the second output and again, a thousand instructions later, for the first. Of 900 loads
  // NVRTC 11.8 leaves 839 in PTX and ptxas 11.8, 12.4 and 13.0 leave 690 in SASS, of plain ones as of those by __ldg.
  const auto tile = [](int rows, const std::string& load) {
    return "extern \"C\" __global__ void k(float* out, const float* in) {\n"
           "int x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;\nfloat s[2][2] = {};\n"
           "#pragma unroll\nfor (int i = 0; i < " +
           std::to_string(rows) +
           "; ++i)\n#pragma unroll\nfor (int j = 0; j < 15; ++j)\n#pragma unroll\nfor (int a = 0; a < 2; ++a)\n"
           "#pragma unroll\nfor (int b = 0; b < 2; ++b) s[a][b] += " +
           load +
           " * (i + 2 * j);\n"
           "out[y * 4096 + x] = s[0][0] + s[0][1] * s[1][0] + s[1][1] * 3; }";
  };
  const std::string plain = "in[(y + a * 8 + i) * 4110 + x + b * 64 + j]";
  const TargetCode code = code_of(tile(15, plain));
  EXPECT_EQ(shape_of(tile(15, plain)).loads, 690U);
  EXPECT_EQ(shape_of(tile(15, "__ldg(in + (y + a * 8 + i) * 4110 + (x + b * 64 + j))")).loads, 690U);
  EXPECT_LE(code.registers.per_thread, 40);  // ptxas 11.8 takes 32 for the kernel that this is modelled on
  EXPECT_EQ(shape_of(tile(2, plain)).bases, 1U);
}

/// Fills a tile of 194 x 14 by 32 x 2 threads: 6 or 7 columns and 7 rows each, which depends on the thread.
std::string filled_tile(const char* pragma) {
  const std::string unroll = pragma;
  return "extern \"C\" __global__ __launch_bounds__(64) void k(float* out, const float* in, int w, int h) {\n"
         "__shared__ float tile[14][194];\n" +
         unroll + "for (int j = threadIdx.y; j < 14; j += 2) {\n" + unroll +
         "for (int i = threadIdx.x; i < 194; i += 32) {\n"
         "int x = 192 * blockIdx.x + i, y = 12 * blockIdx.y + j;\n"
         "tile[j][i] = x < w && y < h ? in[y * 4116 + x] : 0.0f; } }\n__syncthreads();\n"
         "out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x % 14][threadIdx.y]; }";
}

TEST(Addresses, LoopsOfFewTripsThatDependOnTheThreadAreKept) {
  // NVRTC 13.0 has 7 loads with and without the pragma: three of the remainder, four of the loop. Here the remainder is
  // a loop. Unrolled to their bounds the loops would have 49, left alone one.
  for (const char* pragma : {"#pragma unroll\n", ""}) {
    const std::size_t loads = shape_of(filled_tile(pragma)).loads;
    EXPECT_GE(loads, 5U) << pragma;
    EXPECT_LE(loads, 7U) << pragma;
  }
}

// The others lie by the first.
TEST(Addresses, OfBranchesAreChosenOnce) {
  std::string made, chosen, stored;
  for (int k = 0; k < 8; ++k) {
    const std::string n = std::to_string(k);
    for (const std::string way : {"a", "b"}) {
      const std::string address = "%" + way + n;
      made += address + " = getelementptr i8, ptr addrspace(3) %base, i64 " +
              std::to_string((way == "a" ? 0 : 4096) + 132 * k) + "\n%v" + way + n +
              " = load volatile float, ptr addrspace(3) " + address + "\n";
    }
    chosen += "%p" + n + " = phi ptr addrspace(3) [ %a" + n + ", %left ], [ %b" + n + ", %right ]\n";
    stored += "store volatile float %va" + n + ", ptr addrspace(3) %p" + n + "\n";
  }
  Source source;
  source.path = "chosen.ll";
  source.text = R"(target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.membar.cta()
declare void @llvm.nvvm.membar.gl()
@tile = internal addrspace(3) global [2048 x float] undef
define void @k() {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = zext i32 %t to i64
  %base = getelementptr float, ptr addrspace(3) @tile, i64 %w
)" + made + R"(
  %first = icmp ult i32 %t, 64
  br i1 %first, label %left, label %right
left:
  call void @llvm.nvvm.membar.cta()
  br label %both
right:
  call void @llvm.nvvm.membar.gl()
  br label %both
both:
)" + chosen + stored +
                R"(  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @k, !"kernel", i32 1}
)";
  const std::string ptx = code_of_source(source, "k", "sm_90").assembly;
  const std::regex store("st[.a-z]*\\.shared[.a-z0-9]*\\s+\\[(%\\w+)");
  std::set<std::string> bases;
  std::size_t stores = 0;
  for (std::sregex_iterator at(ptx.begin(), ptx.end(), store), end; at != end; ++at, ++stores) bases.insert((*at)[1]);
  EXPECT_EQ(stores, 8U) << ptx;
  EXPECT_EQ(bases.size(), 1U) << ptx;
}

// Their difference has more than 64 bits: two accesses.
TEST(Addresses, FarApartOnOneLineAreTwoAccesses) {
  Source source;
  source.path = "far.ll";
  source.text = R"(target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define void @k(ptr addrspace(1) %p) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = zext i32 %t to i64
  %i = mul i64 %w, 4
  %a = getelementptr i8, ptr addrspace(1) %p, i64 %i
  %b = getelementptr i8, ptr addrspace(1) %a, i64 -9223372036854775808
  %c = getelementptr i8, ptr addrspace(1) %a, i64 12
  %x = load volatile float, ptr addrspace(1) %b
  %y = load volatile float, ptr addrspace(1) %c
  %z = fadd float %x, %y
  store float %z, ptr addrspace(1) %p
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @k, !"kernel", i32 1}
)";
  FrontendOptions options;
  options.target = "sm_80";
  const KernelProfile profile = analyze(source, options).profile;
  std::size_t loads = 0;
  for (const Block& b : profile.blocks)
    for (const Access& a : b.accesses) loads += a.kind == AccessKind::load && a.also.empty() ? 1 : 0;
  EXPECT_EQ(loads, 2U);
}

}  // namespace
}  // namespace kernelcast::frontend
