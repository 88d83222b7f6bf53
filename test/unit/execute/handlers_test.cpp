// Arithmetic of the lanes: the vector version against the plain one on random bits, and the corners by hand.
#include <bit>
#include <cstring>

#include "execute/prepared.h"

namespace kernelcast::interpreter {
namespace base {
Handler find(const SimtInstruction& i);
}
#ifdef KERNELCAST_HAVE_AVX2
namespace avx2 {
Handler find(const SimtInstruction& i);
}
#endif

namespace {

constexpr std::uint32_t row_bytes = 16 * 32;

struct File {
  alignas(64) unsigned char bytes[4 * row_bytes] = {};
  template <class T>
  T* row(int n) {
    return reinterpret_cast<T*>(bytes + static_cast<std::size_t>(n) * row_bytes);
  }
};

PreparedOp op_for(const SimtInstruction& i, Handler h) {
  PreparedOp op;
  op.handler = h;
  op.dst = 0;
  op.a = row_bytes;
  op.b = 2 * row_bytes;
  op.c = 3 * row_bytes;
  op.imm = i.imm;
  return op;
}

template <class D, class A>
D computed(Opcode o, ValueType type, A a, A b, A c = {}, ValueType to = ValueType::i1, std::int64_t imm = 0) {
  SimtInstruction i;
  i.op = o;
  i.type = type;
  i.to = to;
  i.imm = imm;
  const Handler h = handler_for(i);
  EXPECT_NE(h, nullptr);
  File f;
  for (int l = 0; l < 32; ++l) {
    f.row<A>(1)[l] = a;
    f.row<A>(2)[l] = b;
    f.row<A>(3)[l] = c;
  }
  const PreparedOp op = op_for(i, h);
  h(f.bytes, op);
  for (int l = 1; l < 32; ++l) EXPECT_EQ(std::memcmp(f.row<D>(0), f.row<D>(0) + l, sizeof(D)), 0);
  return f.row<D>(0)[0];
}

std::uint32_t i32(Opcode o, std::uint32_t a, std::uint32_t b, std::uint32_t c = 0) {
  return computed<std::uint32_t>(o, ValueType::i32, a, b, c);
}

TEST(Handlers, CornersOfIntegers) {
  constexpr std::uint32_t least = 0x80000000U;
  EXPECT_EQ(i32(Opcode::sdiv, least, ~0U), least);
  EXPECT_EQ(i32(Opcode::srem, least, ~0U), 0U);
  EXPECT_EQ(i32(Opcode::udiv, 7, 0), ~0U);
  EXPECT_EQ(i32(Opcode::urem, 7, 0), 7U);
  EXPECT_EQ(i32(Opcode::ashr, least, 31), ~0U);
  EXPECT_EQ(i32(Opcode::mulhi_u, ~0U, ~0U), 0xfffffffeU);
  EXPECT_EQ(i32(Opcode::mulhi_s, ~0U, ~0U), 0U);
  EXPECT_EQ(i32(Opcode::sadd_sat, 0x7fffffffU, 1), 0x7fffffffU);
  EXPECT_EQ(i32(Opcode::ssub_sat, least, 1), least);
  EXPECT_EQ(i32(Opcode::uadd_sat, ~0U, 1), ~0U);
  EXPECT_EQ(i32(Opcode::shift_left_double, 0x12345678U, 0x9abcdef0U, 8), 0x3456789aU);
  EXPECT_EQ(i32(Opcode::shift_right_double, 0x12345678U, 0x9abcdef0U, 8), 0x789abcdeU);
  EXPECT_EQ(i32(Opcode::bit_extract_u, 0xabcd1234U, 8, 8), 0x12U);
  EXPECT_EQ(i32(Opcode::bit_extract_s, 0x0000f000U, 12, 4), ~0U);
  EXPECT_EQ(i32(Opcode::permute_bytes, 0x33221100U, 0x77665544U, 0x7530), 0x77553300U);
  EXPECT_EQ(i32(Opcode::count_leading_zeros, 0, 0), 32U);
  EXPECT_EQ(i32(Opcode::reverse_bits, 1, 0), least);
  EXPECT_EQ(i32(Opcode::swap_bytes, 0x01020304U, 0), 0x04030201U);
  EXPECT_EQ(computed<std::uint8_t>(Opcode::add, ValueType::i8, std::uint8_t{200}, std::uint8_t{100}), 44);
}

TEST(Handlers, ConversionsClampAndRound) {
  const auto to_i32 = [](float v) {
    return static_cast<std::int32_t>(
        computed<std::uint32_t>(Opcode::float_to_signed, ValueType::f32, v, v, v, ValueType::i32));
  };
  EXPECT_EQ(to_i32(3.9F), 3);
  EXPECT_EQ(to_i32(-3.9F), -3);
  EXPECT_EQ(to_i32(1e20F), 0x7fffffff);
  EXPECT_EQ(to_i32(-1e20F), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(to_i32(std::nanf("")), 0);
  const auto narrow = [](double v) {
    return computed<float>(Opcode::float_to_float, ValueType::f64, v, v, v, ValueType::f32);
  };
  EXPECT_EQ(narrow(0.1), 0.1F);
  const std::uint32_t minus = ~0U;
  EXPECT_EQ(computed<std::uint64_t>(Opcode::sign_extend, ValueType::i32, minus, minus, minus, ValueType::i64),
            ~std::uint64_t{0});
  EXPECT_EQ(computed<std::uint64_t>(Opcode::zero_extend, ValueType::i32, minus, minus, minus, ValueType::i64),
            0xffffffffU);
  EXPECT_EQ(computed<std::uint32_t>(Opcode::sign_extend, ValueType::i1, std::uint8_t{1}, std::uint8_t{1},
                                    std::uint8_t{1}, ValueType::i32),
            ~0U);
}

TEST(Handlers, ComparisonsWithNan) {
  const float nan = std::nanf("");
  const auto test = [&](Opcode o, float a, float b) { return computed<std::uint8_t>(o, ValueType::f32, a, b); };
  EXPECT_EQ(test(Opcode::folt, nan, 1), 0);
  EXPECT_EQ(test(Opcode::fult, nan, 1), 1);
  EXPECT_EQ(test(Opcode::fone, nan, 1), 0);
  EXPECT_EQ(test(Opcode::fune, nan, 1), 1);
  EXPECT_EQ(test(Opcode::funo, nan, 1), 1);
  EXPECT_EQ(test(Opcode::ford, 2, 1), 1);
  const auto math = [&](MathFunction f, float a, float b) {
    return computed<float>(Opcode::math, ValueType::f32, a, b, 0.0F, ValueType::f32, static_cast<std::int64_t>(f));
  };
  EXPECT_EQ(math(MathFunction::fmin, nan, 1), 1);
  EXPECT_EQ(math(MathFunction::fmax, 1, nan), 1);
  EXPECT_NE(math(MathFunction::minimum, 1, nan), math(MathFunction::minimum, 1, nan));
}

#ifdef KERNELCAST_HAVE_AVX2
bool is_nan_pair(ValueType t, const unsigned char* a, const unsigned char* b) {
  if (t == ValueType::f32) {
    float x, y;
    std::memcpy(&x, a, 4);
    std::memcpy(&y, b, 4);
    return x != x && y != y;
  }
  if (t == ValueType::f64) {
    double x, y;
    std::memcpy(&x, a, 8);
    std::memcpy(&y, b, 8);
    return x != x && y != y;
  }
  if (t == ValueType::f16) return (a[1] & 0x7cU) == 0x7cU && (b[1] & 0x7cU) == 0x7cU;
  return false;
}

// Every operation on every type, on random bits: both versions give the same bits (any NaN equals any NaN). Functions
// that are calls of the library stand in the plain version alone.
void expect_same(SimtInstruction i, std::uint64_t& x, int& compared) {
  const Handler plain = base::find(i), vectors = avx2::find(i);
  const auto what = [&] {
    return "operation " + std::to_string(static_cast<int>(i.op)) + ", type " +
           std::to_string(static_cast<int>(i.type)) + " to " + std::to_string(static_cast<int>(i.to)) + ", immediate " +
           std::to_string(i.imm);
  };
  if (i.op == Opcode::math)
    EXPECT_TRUE(plain != nullptr || vectors == nullptr) << what();
  else
    EXPECT_EQ(plain == nullptr, vectors == nullptr) << what();
  if (plain == nullptr || vectors == nullptr) return;
  const bool converts = i.op > Opcode::move && i.op <= Opcode::signed_to_float;
  const bool tests = (i.op >= Opcode::eq && i.op <= Opcode::smul_overflow) || i.op == Opcode::classify;
  const ValueType result = i.op == Opcode::address ? ValueType::i64 : tests ? ValueType::i1 : converts ? i.to : i.type;
  File f;
  for (unsigned char& b : f.bytes) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    b = static_cast<unsigned char>(x >> 56);
  }
  if (i.type == ValueType::i1 || i.op == Opcode::select)
    for (std::size_t k = row_bytes; k < 2 * row_bytes; ++k) f.bytes[k] &= 1U;
  File g = f;
  plain(f.bytes, op_for(i, plain));
  vectors(g.bytes, op_for(i, vectors));
  const auto size = static_cast<std::size_t>(size_of(result));
  for (std::size_t l = 0; l < 32; ++l) {
    const unsigned char *a = f.bytes + l * size, *b = g.bytes + l * size;
    ASSERT_TRUE(std::memcmp(a, b, size) == 0 || is_nan_pair(result, a, b)) << what() << ", lane " << l;
  }
  ++compared;
}

TEST(Handlers, VersionsAgree) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP() << "no AVX2 here";
  std::uint64_t x = 20261126;
  int compared = 0;
  for (int o = 0; o < static_cast<int>(Opcode::load); ++o)
    for (int type = 0; type < 9; ++type)
      for (int to = 0; to < 9; ++to) {
        SimtInstruction i;
        i.op = static_cast<Opcode>(o);
        i.type = static_cast<ValueType>(type);
        i.to = static_cast<ValueType>(to);
        const bool bits = i.op == Opcode::low_bits || i.op == Opcode::sign_from_bits;
        const int first = bits ? 1 : i.op == Opcode::math ? 0 : -2;
        const int last = bits ? size_of(i.type) * 8 : i.op == Opcode::math ? static_cast<int>(MathFunction::count_) : 3;
        for (int imm = first; imm < last; ++imm) {
          i.imm = imm;
          expect_same(i, x, compared);
        }
      }
  EXPECT_GT(compared, 10000);
}
#endif

}  // namespace
}  // namespace kernelcast::interpreter
