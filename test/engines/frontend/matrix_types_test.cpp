// mma.sync of every type that is executed, lane by lane, against plain sums of products. Fragments are loaded as the
// PTX ISA describes them ("Matrix fragments for mma"), written out here for each type.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

struct Place {
  int row, column;
};

struct Product {
  const char* name;
  const char* instruction;
  int m, n, k, bytes;  // of an element of A and B
  int a_registers, b_registers, register_bytes;
  bool integers, doubles;                      // of the sum: otherwise float
  std::function<double(std::uint64_t)> value;  // of an element's bits
  std::function<Place(int, int, int)> a, b;    // by register, element, lane
};

double ieee(std::uint64_t bits, int exponent_bits, int mantissa_bits, int bias) {
  const auto mantissa = static_cast<double>(bits & ((1U << mantissa_bits) - 1U));
  const int exponent = static_cast<int>(bits >> mantissa_bits & ((1U << exponent_bits) - 1U));
  const double size = exponent == 0
                          ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                          : std::ldexp(std::ldexp(1.0, mantissa_bits) + mantissa, exponent - bias - mantissa_bits);
  return (bits >> (exponent_bits + mantissa_bits) & 1U) != 0 ? -size : size;
}

double tf32(std::uint64_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) & 0xffffe000U));
}

// g = lane / 4, t = lane % 4
Place a_of_halves(int r, int e, int lane) { return {lane / 4 + 8 * (r % 2), lane % 4 * 2 + e + 8 * (r / 2)}; }
Place b_of_halves(int r, int e, int lane) { return {lane % 4 * 2 + e + 8 * r, lane / 4}; }
Place a_of_bytes(int r, int e, int lane) { return {lane / 4 + 8 * (r % 2), lane % 4 * 4 + e + 16 * (r / 2)}; }
Place b_of_bytes(int r, int e, int lane) { return {lane % 4 * 4 + e + 16 * r, lane / 4}; }

const Product products[] = {
    {"bf16", "m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, 2, 4, 2, 4, false, false,
     [](std::uint64_t b) { return ieee(b, 8, 7, 127); }, a_of_halves, b_of_halves},
    {"f16", "m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 16, 2, 4, 2, 4, false, false,
     [](std::uint64_t b) { return ieee(b, 5, 10, 15); }, a_of_halves, b_of_halves},
    {"f16_k8", "m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 8, 2, 2, 1, 4, false, false,
     [](std::uint64_t b) { return ieee(b, 5, 10, 15); }, a_of_halves, b_of_halves},
    {"tf32", "m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 8, 4, 4, 2, 4, false, false, tf32,
     [](int r, int, int lane) { return Place{lane / 4 + 8 * (r % 2), lane % 4 + 4 * (r / 2)}; },
     [](int r, int, int lane) { return Place{lane % 4 + 4 * r, lane / 4}; }},
    {"f64", "m8n8k4.row.col.f64.f64.f64.f64", 8, 8, 4, 8, 1, 1, 8, false, true,
     [](std::uint64_t b) { return std::bit_cast<double>(b); },
     [](int, int, int lane) { return Place{lane / 4, lane % 4}; },
     [](int, int, int lane) { return Place{lane % 4, lane / 4}; }},
    {"s8", "m16n8k32.row.col.s32.s8.s8.s32", 16, 8, 32, 1, 4, 2, 4, true, false,
     [](std::uint64_t b) { return static_cast<double>(static_cast<signed char>(b)); }, a_of_bytes, b_of_bytes},
    {"u8", "m16n8k32.row.col.s32.u8.u8.s32", 16, 8, 32, 1, 4, 2, 4, true, false,
     [](std::uint64_t b) { return static_cast<double>(b); }, a_of_bytes, b_of_bytes},
    {"e4m3", "m16n8k32.row.col.f32.e4m3.e4m3.f32", 16, 8, 32, 1, 4, 2, 4, false, false,
     [](std::uint64_t b) { return ieee(b, 4, 3, 7); }, a_of_bytes, b_of_bytes},
    {"e5m2", "m16n8k32.row.col.f32.e5m2.e5m2.f32", 16, 8, 32, 1, 4, 2, 4, false, false,
     [](std::uint64_t b) { return ieee(b, 5, 2, 15); }, a_of_bytes, b_of_bytes},
};

class MatrixTypes : public ::testing::TestWithParam<Product> {};

/// A lane's registers of A, then of B, stand one after another in `in`, its sums in `out`.
std::string kernel_of(const Product& p, int sums) {
  const char* type = p.register_bytes == 8 ? "f64" : "b32";
  const char* sum = p.doubles ? "f64" : p.integers ? "b32" : "f32";
  const int row = (p.a_registers + p.b_registers) * p.register_bytes, sum_bytes = p.doubles ? 8 : 4;
  std::string text =
      ".version 8.4\n.target sm_89\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out) {\n.reg .";
  text += std::string(type) + " %a<8>;\n.reg ." + sum + " %c<4>;\n.reg .b32 %me;\n.reg .b64 %in, %out, %step;\n" +
          "mov.u32 %me, %tid.x;\nld.param.u64 %in, [in];\nld.param.u64 %out, [out];\ncvta.to.global.u64 %in, %in;\n" +
          "cvta.to.global.u64 %out, %out;\nmul.wide.u32 %step, %me, " + std::to_string(row) +
          ";\nadd.s64 %in, %in, %step;\n" + "mul.wide.u32 %step, %me, " + std::to_string(sums * sum_bytes) +
          ";\nadd.s64 %out, %out, %step;\n";
  const auto list = [](const char* name, int from, int count) {
    std::string all = "{";
    for (int k = from; k < from + count; ++k)
      all += (k > from ? ", " : "") + (std::string("%") + name + std::to_string(k));
    return all + "}";
  };
  for (int r = 0; r < p.a_registers + p.b_registers; ++r)
    text += "ld.global." + std::string(type) + " %a" + std::to_string(r) + ", [%in+" +
            std::to_string(r * p.register_bytes) + "];\n";
  for (int k = 0; k < sums; ++k)
    text += "mov." + std::string(sum) + " %c" + std::to_string(k) + ", " +
            (p.doubles    ? "0d0000000000000000"
             : p.integers ? "0"
                          : "0f00000000") +
            ";\n";
  text += "mma.sync.aligned." + std::string(p.instruction) + " " + list("c", 0, sums) + ", " +
          list("a", 0, p.a_registers) + ", " + list("a", p.a_registers, p.b_registers) + ", " + list("c", 0, sums) +
          ";\n";
  for (int k = 0; k < sums; ++k)
    text += "st.global." + std::string(sum) + " [%out+" + std::to_string(k * sum_bytes) + "], %c" + std::to_string(k) +
            ";\n";
  return text + "ret;\n}\n";
}

/// Small numbers of every type, of both signs where it has one.
std::uint64_t element_bits(const Product& p, int n) {
  const int v = n * 7 % 13 - 6;
  const std::string name = p.name;
  if (name == "s8") return static_cast<unsigned char>(v * 9);
  if (name == "u8") return static_cast<unsigned char>(n * 37 % 251);
  if (name == "f64") return std::bit_cast<std::uint64_t>(v * 0.3);
  if (name == "e4m3" || name == "e5m2") return static_cast<unsigned char>(n * 29 % 0x60 | (n % 3 == 0 ? 0x80 : 0));
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(v) * 0.3F);
  if (name == "bf16") return bits >> 16U;
  if (name == "tf32") return bits;
  return static_cast<std::uint64_t>(v < 0 ? 0x8000 : 0) | static_cast<std::uint64_t>(0x3400 + 97 * std::abs(v));
}

TEST_P(MatrixTypes, ProductIsTheSumOfProducts) {
  const Product& p = GetParam();
  const int sums = p.m == 16 ? 4 : 2, registers = p.a_registers + p.b_registers, elements = p.register_bytes / p.bytes;
  Source source;
  source.path = "mma.ptx";
  source.text = kernel_of(p, sums);
  FrontendOptions frontend;
  frontend.target = "sm_89";
  frontend.program = true;
  const Analysis analysis = analyze(source, frontend);
  ASSERT_TRUE(analysis.program) << analysis.no_program;
  EXPECT_TRUE(analysis.profile.unmodeled.empty());
  std::vector<std::vector<double>> a(static_cast<std::size_t>(p.m), std::vector<double>(static_cast<std::size_t>(p.k))),
      b(static_cast<std::size_t>(p.k), std::vector<double>(static_cast<std::size_t>(p.n)));
  std::vector<unsigned char> in(static_cast<std::size_t>(32 * registers * p.register_bytes));
  for (int lane = 0; lane < 32; ++lane)
    for (int r = 0; r < registers; ++r)
      for (int e = 0; e < elements; ++e) {
        const bool of_a = r < p.a_registers;
        const Place at = of_a ? p.a(r, e, lane) : p.b(r - p.a_registers, e, lane);
        const std::uint64_t bits = element_bits(p, at.row * 31 + at.column * 5 + (of_a ? 0 : 3));
        (of_a ? a : b).at(static_cast<std::size_t>(at.row)).at(static_cast<std::size_t>(at.column)) = p.value(bits);
        std::memcpy(in.data() + (lane * registers + r) * p.register_bytes + e * p.bytes, &bits,
                    static_cast<std::size_t>(p.bytes));
      }
  Launch launch;
  launch.grid = {1, 1, 1};
  launch.block = {32, 1, 1};
  ExecuteOptions o;
  o.sample = -1;
  o.jobs = 1;
  o.keep_buffers = true;
  const int sum_bytes = p.doubles ? 8 : 4;
  o.contents["in"] = in;
  o.contents["out"] = std::vector<unsigned char>(static_cast<std::size_t>(32 * sums * sum_bytes));
  const auto buffers = execute(analysis.profile, *analysis.program, launch, MemoryGeometry{}, o).buffers;
  double largest = 0;
  for (int lane = 0; lane < 32; ++lane)
    for (int k = 0; k < sums; ++k) {
      const int row = lane / 4 + 8 * (k / 2), column = lane % 4 * 2 + k % 2;
      double want = 0, sizes = 0;
      for (int inner = 0; inner < p.k; ++inner) {
        const double term = a[static_cast<std::size_t>(row)][static_cast<std::size_t>(inner)] *
                            b[static_cast<std::size_t>(inner)][static_cast<std::size_t>(column)];
        want += term;
        sizes += std::abs(term);
      }
      const unsigned char* at = buffers.at("out").data() + (lane * sums + k) * sum_bytes;
      double got = 0;
      if (p.doubles) {
        std::memcpy(&got, at, 8);
      } else if (p.integers) {
        std::int32_t v = 0;
        std::memcpy(&v, at, 4);
        got = v;
      } else {
        float v = 0;
        std::memcpy(&v, at, 4);
        got = static_cast<double>(v);
      }
      EXPECT_NEAR(got, want, (p.integers ? 0 : 1e-5) * sizes) << row << ", " << column;
      largest = std::max(largest, std::abs(want));
    }
  EXPECT_GT(largest, 0.1);
}

INSTANTIATE_TEST_SUITE_P(All, MatrixTypes, ::testing::ValuesIn(products),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace kernelcast
