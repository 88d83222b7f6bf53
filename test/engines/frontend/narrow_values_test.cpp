// Functions of cuda_fp16.h, cuda_bf16.h and the smaller types, executed: the instructions of later devices against the
// arithmetic in C++ that earlier ones take, and against numbers worked out here.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "executed_output.h"

namespace kernelcast {
namespace {

// `body` sees values x and y of the type, pairs p and q, and adds what it finds to the sum by a(bits).
std::string kernel_of(const std::string& header, const std::string& one, const std::string& two,
                      const std::string& body) {
  return "#include <" + header + R"(>
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  unsigned sum = 0;
  auto a = [&](unsigned bits) { sum = sum * 31 + bits; };
  float size = ldexpf(in[i], i % 30 - 20), other = i % 5 == 0 ? size : in[i + 200];
  if (i == 3) size = __int_as_float(0x7fffffff);
  if (i == 4) size = __int_as_float(0x7f800000);
  if (i == 6) size = -0.0f;
  )" + one +
         " x(size), y(other), z(in[i + 400] * 0.1f); " + two + " p(x, y), q(y, y), r(z, x);\n" + body + R"(
  out[i] = __uint_as_float((sum & 0x3fffffff) | 0x3f000000);
})";
}

/// sm_100: code for sm_90, which LLVM knows, with the instructions of sm_100 in the headers.
std::vector<std::uint32_t> output_on(const std::string& text, const std::string& device) {
  const std::string target = device == "sm_100" ? "sm_90" : device;
  Source source;
  source.path = "test.cu";
  source.text = text;
  const std::vector<unsigned char> bytes = executed_output(source, "k", target, device == target ? "" : device);
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

struct ValueCase {
  const char *header, *one, *two, *body, *plain;  // plain: a device that has no such instruction
};
#define HALVES(body) {"cuda_fp16.h", "__half", "__half2", body, "gfx90a"}
#define BFLOATS(body) {"cuda_bf16.h", "__nv_bfloat16", "__nv_bfloat162", body, "sm_75"}

constexpr const char* comparisons =
    "a(__heq2_mask(p, q)); a(__hne2_mask(p, q)); a(__hlt2_mask(p, q)); a(__hgeu2_mask(p, q)); a(__hequ2_mask(p, q));"
    "auto b = [&](auto v) { a(__builtin_bit_cast(unsigned, v)); };"
    "b(__heq2(p, q)); b(__hne2(p, q)); b(__hgt2(p, q)); b(__hltu2(p, q)); b(__hneu2(p, q)); b(__hisnan2(p));"
    "a(__hbleu2(p, q)); a(__hbge2(p, q)); a(__hequ(x, y)); a(__hleu(x, y)); a(__hne(x, y)); a(x != y); a(p == q); a(p "
    "< q);";
constexpr const char* arithmetic =
    "auto b = [&](auto v) { a(__builtin_bit_cast(unsigned, v)); };"
    "auto h = [&](auto v) { a(__builtin_bit_cast(unsigned short, v)); };"
    "if (i != 3 && i != 4) { b(__hadd2_sat(p, r)); b(__hsub2_sat(p, r)); b(__hmul2_sat(p, r)); h(__hadd_sat(x, z)); "
    "h(__hmul_sat(x, z));"
    "b(__hmax2_nan(p, q)); h(__hmin_nan(x, z)); h(x++); h(--y); b(++p); b(__hneg2(p)); b(__habs2(r));"
    "auto t = p; t *= r; t -= q; b(t); }";

TEST(NarrowValues, InstructionsAndArithmeticAgree) {
  const ValueCase cases[] = {HALVES(comparisons), HALVES(arithmetic), BFLOATS(comparisons), BFLOATS(arithmetic)};
  for (const ValueCase& c : cases) {
    const std::string text = kernel_of(c.header, c.one, c.two, c.body);
    EXPECT_EQ(output_on(text, "sm_90"), output_on(text, c.plain)) << c.header << "\n" << c.body;
  }
}

/// Each lane says 1 where all of its conditions hold.
std::vector<float> holds_on(const std::string& header, const std::string& conditions, const char* target) {
  const std::string text = "#include <" + header + R"(>
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  float f = ldexpf(in[i], i % 40 - 24);
  bool good = true;
  auto holds = [&](bool v) { good = good && v; };
  )" + conditions + "\n  out[i] = good;\n}";
  const std::vector<std::uint32_t> words = output_on(text, target);
  std::vector<float> values(words.size());
  std::memcpy(values.data(), words.data(), 4 * words.size());
  return values;
}

TEST(NarrowValues, AreWhatTheirDefinitionsSay) {
  const struct {
    const char *header, *conditions;
  } cases[] = {
      // Neighbours around a number that neither is.
      {"cuda_fp16.h",
       "float d = __half2float(__float2half_rd(f)), u = __half2float(__float2half_ru(f)), z = "
       "__half2float(__float2half_rz(f));"
       "holds(d <= f && f <= u); holds(z == (f < 0 ? u : d));"
       "float m = __half2float(__float2half_rn(f)); holds(m == d || m == u);"
       "holds(d == u || __half_as_ushort(__float2half_ru(f)) - __half_as_ushort(__float2half_rd(f)) == (f < 0 ? -1 : "
       "1) || d == 0 || u == 0);"},
      {"cuda_bf16.h",
       "float d = __bfloat162float(__float2bfloat16_rd(f)), u = __bfloat162float(__float2bfloat16_ru(f));"
       "holds(d <= f && f <= u && u - d <= fabsf(f) / 127); holds(__bfloat162float(__float2bfloat16_rz(f)) == (f < 0 ? "
       "u : d));"},
      {"cuda_fp16.h",
       "__half h(in[i]); float v = __half2float(h);"
       "holds(__half2int_rd(h) == (int)floorf(v)); holds(__half2int_ru(h) == (int)ceilf(v)); holds(__half2int_rn(h) == "
       "(int)rintf(v));"
       "holds(__half2ll_rz(h) == (long long)v); holds(__half2short_rd(h) == (short)floorf(v)); holds((int)h == (int)v);"
       "holds(__half2char_rz(__half(300.0f)) == 127 && __half2uchar_rz(__half(-3.0f)) == 0);"},
      {"cuda_fp16.h",
       "int w = (int)(in[i] * 997); holds(__half2float(__int2half_rd(w)) <= w && w <= __half2float(__int2half_ru(w)));"
       "holds(fabsf(__half2float(__int2half_rz(w))) <= abs(w)); holds(__half2float(__ll2half_rz(w)) == "
       "__half2float(__int2half_rz(w)));"
       "holds(__half2float(__short2half_rn((short)i)) == i); holds(__half_as_ushort(__uint2half_rz(70000u)) == "
       "0x7bff);"},
      {"cuda_bf16.h",
       "long long w = (long long)(in[i] * 1e15f) + 1; holds(__bfloat162float(__ll2bfloat16_rd(w)) <= (float)w);"
       "holds(__bfloat162float(__ull2bfloat16_ru((1ull << 60) + 1)) == 1.1619e18f * 0 + 1161928703861587968.0f);"
       "holds(__bfloat162float(__ull2bfloat16_rz((1ull << 60) + 1)) == 1152921504606846976.0f);"},
      {"cuda_fp16.h",
       "__half2 a(__half(in[i] * 0.1f), __half(in[i + 9] * 0.1f)), b(__half(0.5f), __half(-0.25f)), c(__half(1.0f), "
       "__half(2.0f));"
       "float re = __half2float(a.x), im = __half2float(a.y); __half2 m = __hcmadd(a, b, c);"
       "holds(fabsf(__half2float(m.x) - (1 + re * 0.5f + im * 0.25f)) < 0.02f); holds(fabsf(__half2float(m.y) - (2 - "
       "re * 0.25f + im * 0.5f)) < 0.02f);"
       "holds(fabsf(__half2float(htanh_approx(a.x)) - tanhf(re)) < 0.002f);"
       "float s = __half2float(__hfma_sat(a.x, b.x, b.y)), w = re * 0.5f - 0.25f; holds(fabsf(s - fminf(fmaxf(w, 0), "
       "1)) < 0.002f);"
       "float t = __half2float(__hfma_relu(a.x, b.x, b.y)); holds(fabsf(t - fmaxf(w, 0)) < 0.004f);"}};
  for (const auto& c : cases)
    for (const char* target : {"sm_75", "sm_90"}) {
      const std::vector<float> good = holds_on(c.header, c.conditions, target);
      for (std::size_t lane = 0; lane < good.size(); ++lane)
        EXPECT_EQ(good[lane], 1.0F) << "lane " << lane << " on " << target << ": " << c.conditions;
    }
}

// Numbers of eight, six and four bits: every code widened, and numbers around them narrowed.
constexpr const char* small_floats = R"(
  auto b = [&](auto v) { a(__builtin_bit_cast(unsigned, v)); };
  auto small = [&](auto one, auto two, float f, float g) {
    decltype(one) x(f), y(g);
    decltype(two) p(make_float2(f, g)), q(make_double2(f, g)), r{__half2{__half{f}, __half{g}}};
    a(x.__x); a(y.__x); a(p.__x); a(r.__x);
    decltype(one) d((double)f); if (d.__x != x.__x) a(77); if (q.__x != p.__x) a(78);
    decltype(two) code;
    code.__x = (unsigned short)(2 * i + 512 * i + 256);
    const float2 w = (float2)code; b(w.x); b(w.y);
    decltype(one) c;
    c.__x = (unsigned char)i;
    b((float)c);
    if ((float)c == (float)c) a((int)c), a((signed char)c); a((bool)c);
  };
  if (i == 3 || i == 4) size = 0;
  size = ldexpf(in[i], i % 16 - 12);
  small(T(), T2(), size, other);
)";

TEST(NarrowValues, SmallNumbersConvertAlike) {
  const char* const types[][3] = {{"cuda_fp8.h", "__nv_fp8_e4m3", "__nv_fp8x2_e4m3"},
                                  {"cuda_fp8.h", "__nv_fp8_e5m2", "__nv_fp8x2_e5m2"},
                                  {"cuda_fp6.h", "__nv_fp6_e2m3", "__nv_fp6x2_e2m3"},
                                  {"cuda_fp6.h", "__nv_fp6_e3m2", "__nv_fp6x2_e3m2"},
                                  {"cuda_fp4.h", "__nv_fp4_e2m1", "__nv_fp4x2_e2m1"}};
  for (const auto& t : types) {
    std::string body = small_floats;
    const auto replace = [&](const std::string& what, const std::string& by) {
      body.replace(body.find(what), what.size(), by);
    };
    replace("T2()", std::string(t[2]) + "()");
    replace("T()", std::string(t[1]) + "()");
    const std::string text = kernel_of(t[0], "__half", "__half2", body);
    const auto by_instruction = output_on(text, "sm_100"), by_integers = output_on(text, "sm_75");
    for (std::size_t lane = 0; lane < by_integers.size(); ++lane)
      EXPECT_EQ(by_instruction[lane], by_integers[lane]) << t[1] << " lane " << lane;
  }
}

TEST(NarrowValues, SmallNumbersAreTheNearest) {
  const char* const conditions =
      "auto exact = [&](auto one, float v) { decltype(one) x(v); holds((float)x == v && (float)__half(x) == v && "
      "(double)x == v); };"
      "exact(__nv_fp8_e4m3(), 448); exact(__nv_fp8_e4m3(), -0.001953125f); exact(__nv_fp8_e5m2(), 57344); "
      "exact(__nv_fp6_e2m3(), 7.5f);"
      "exact(__nv_fp6_e2m3(), 0.125f); exact(__nv_fp6_e3m2(), 28); exact(__nv_fp6_e3m2(), -0.0625f); "
      "exact(__nv_fp4_e2m1(), 6); exact(__nv_fp4_e2m1(), -0.5f);"
      "holds((float)__nv_fp8_e4m3(1000.0f) == 448); holds((float)__nv_fp4_e2m1(2.5f) == 2); "
      "holds((float)__nv_fp4_e2m1(3.5f) == 4);"
      "holds((float)__nv_fp4_e2m1(-0.25f) == 0); holds((float)__nv_fp6_e2m3(0.1875f) == 0.25f); "
      "holds((float)__nv_fp4_e2m1(2.5f + 1e-6f) == 3);"
      "holds(__nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E5M2) == 0x7c); holds(__nv_cvt_float_to_fp8(465.0f, "
      "__NV_NOSAT, __NV_E4M3) == 0x7f);"
      "holds(__nv_cvt_double_to_fp8(464.0, __NV_NOSAT, __NV_E4M3) == 0x7e); holds(__nv_cvt_float_to_fp6(0.24f, "
      "__NV_E2M3, cudaRoundZero) == 1);"
      "holds(__nv_cvt_float_to_fp4(5.9f, __NV_E2M1, cudaRoundZero) == 6); holds(__nv_cvt_double_to_fp4(1.25 + 1e-12, "
      "__NV_E2M1, cudaRoundNearest) == 3);"
      "holds((float)__nv_fp8_e8m0(3.0f) == 4); holds((float)__nv_fp8_e8m0(4.0f) == 4); holds((int)__nv_fp8_e8m0(5) == "
      "8);"
      "holds(__nv_cvt_float_to_e8m0(7.9f, __NV_SATFINITE, cudaRoundZero) == 129); holds((float)__nv_fp8_e8m0((1ull << "
      "40) + 1) == 2199023255552.0f);"
      "__nv_fp8_e8m0 least; least.__x = 0; holds((float)least == ldexpf(1.0f, -127)); holds((float)__nv_fp8_e8m0(1.0 + "
      "1e-15) == 2);"
      "float4 v = (float4)__nv_fp4x4_e2m1(make_float4(1, -2, 3, 0.5f)); holds(v.x == 1 && v.y == -2 && v.z == 3 && v.w "
      "== 0.5f);"
      "v = (float4)__nv_fp8x4_e5m2(make_double4_16a(1, -2, 3, 0.5)); holds(v.x == 1 && v.y == -2 && v.z == 3 && v.w == "
      "0.5f);";
  for (const char* target : {"sm_75", "sm_90", "sm_100"})
    for (const float good : holds_on("cuda_fp4.h", conditions, target)) EXPECT_EQ(good, 1.0F) << target;
}

TEST(NarrowValues, IntrinsicsOfThePrelude) {
  const char* const conditions =
      "int four = 0x04fd02ff, ones = 0x01020304; holds(__dp2a_lo(0x00020003, four, 7) == 7 + 3 * -1 + 2 * 2); "
      "holds(__dp2a_hi(0x00020003, four, 7) == 7 + 3 * -3 + 2 * 4);"
      "holds(__dp2a_lo(make_short2(3, -2), make_char4(-1, 2, -3, 4), 7) == 0); holds(__dp2a_hi(0xffff0001u, "
      "0xff020000u, 1u) == 1u + 2 + 65535u * 255);"
      "holds(__dp4a(make_char4(1, 2, 3, -4), make_char4(4, 3, 2, 1), 5) == 5 + 4 + 6 + 6 - 4);"
      "holds(__nv_bswap32(0x01020304u) == 0x04030201u && __nv_bswap16(0x0102) == 0x0201 && __nv_bswap64(1) == 1ull << "
      "56);"
      "holds(__funnelshift_lc(0x80000000u, 5u, 40) == 0x80000000u && __funnelshift_rc(3u, 5u, 32) == 5u && "
      "__funnelshift_lc(0x80000000u, 5u, 1) == 11u);"
      "holds(llmin(-3, 4) == -3 && ullmax(3, ~0ull) == ~0ull); float v[3] = {3 + n * 0.0f, 4, 12}; holds(normf(3, v) "
      "== 13 && fabsf(rnormf(3, v) * 13 - 1) < 1e-5f);"
      "double w[2] = {3e200, 4e200 + n * 0.0}; holds(fabs(norm(2, w) / 5e200 - 1) < 1e-12); float2 m = "
      "__ffma2_rn(make_float2(1, 2), make_float2(3, 4), make_float2(5, 6)); holds(m.x == 8 && m.y == 14);"
      "holds(scalbln(1.5, 4l) == 24); holds(__vabsdiffu4(0x01ff8000u, 0x02018005u) == 0x01fe0005u && "
      "__vsadu4(0x01ff8000u, 0x02018005u) == 260);"
      "holds(__vabsdiffs4(0xff01807fu, 0x0101007fu) == 0x02008000u && __vsads4(0xff01807fu, 0x0101007fu) == 130);"
      "holds(__vmaxs2(0xffff0005u, 0x00010003u) == 0x00010005u && __vminu2(0xffff0005u, 0x00010003u) == 0x00010003u);"
      "holds(__viaddmax_s16x2(0x7fff0001u, 0x00010002u, 0xfffe0009u) == 0xfffe0009u && "
      "__vimax3_s16x2_relu(0xfffe0001u, 0xffff0002u, 0xfff00003u) == 3);"
      "holds(__vimin3_u16x2(0xfffe0001u, 0xffff0002u, 0xfff00003u) == 0xfff00001u);";
  for (const char* target : {"sm_75", "sm_90"})
    for (const float good : holds_on("cuda_runtime.h", conditions, target)) EXPECT_EQ(good, 1.0F) << target;
}

TEST(NarrowValues, AtomicsAddPairs) {
  const char* const body = R"(
__global__ void k(const float* in, float* out, int n) {
  __shared__ __half2 halves; __shared__ __nv_bfloat162 others; __shared__ __nv_bfloat16 one;
  if (threadIdx.x == 0) {
    halves = __half2(__half(0.0f), __half(1.0f));
    others = __nv_bfloat162(__nv_bfloat16(2.0f), __nv_bfloat16(3.0f));
    one = __nv_bfloat16(0.0f);
  }
  __syncthreads();
  atomicAdd(&halves, __half2(__half(1.0f), __half(2.0f)));
  atomicAdd(&others, __nv_bfloat162(__nv_bfloat16(1.0f), __nv_bfloat16(-1.0f)));
  atomicAdd(&one, __nv_bfloat16(0.5f));
  __syncthreads();
  const bool sums = (float)halves.x == 64 && (float)halves.y == 129 && (float)others.x == 66 && (float)others.y == -61;
  out[blockIdx.x * 64 + threadIdx.x] = sums && (float)one == 32;
})";
  for (const std::uint32_t word : output_on(std::string("#include <cuda_bf16.h>\n") + body, "sm_90"))
    EXPECT_EQ(word, 0x3f800000U);
}

}  // namespace
}  // namespace kernelcast
