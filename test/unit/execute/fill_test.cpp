#include "execute/fill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "execute/fill_value.h"
#include "kernelcast/error.h"

namespace kernelcast::interpreter {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Lt;
using Sign = ElementType::Sign;

FillTarget target(ValueType type, std::int64_t elements, Sign sign = Sign::signed_) {
  return {"a", elements, size_of(type), {type, sign, true}, 100, 1};
}

std::vector<unsigned char> bytes_of(const std::string& fill, const FillTarget& t) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(t.elements * t.element_bytes));
  make_fill(fill, t)->write(0, bytes);
  return bytes;
}

template <class T>
std::vector<T> values(const std::string& fill, const FillTarget& t) {
  const auto bytes = bytes_of(fill, t);
  std::vector<T> v(bytes.size() / sizeof(T));
  std::memcpy(v.data(), bytes.data(), v.size() * sizeof(T));
  return v;
}

std::vector<float> floats(const std::string& fill, std::int64_t n) {
  return values<float>(fill, target(ValueType::f32, n));
}
std::vector<std::int32_t> ints(const std::string& fill, std::int64_t n) {
  return values<std::int32_t>(fill, target(ValueType::i32, n));
}

std::string error_of(const std::string& fill, const FillTarget& t) {
  try {
    make_fill(fill, t);
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

struct Moments {
  double mean = 0, deviation = 0;
};
template <class T>
Moments moments(const std::vector<T>& v) {
  Moments m;
  for (const T x : v) m.mean += static_cast<double>(x) / static_cast<double>(v.size());
  for (const T x : v) m.deviation += std::pow(static_cast<double>(x) - m.mean, 2) / static_cast<double>(v.size());
  m.deviation = std::sqrt(m.deviation);
  return m;
}

/// 1 where the value is farther from 0 than `limit`.
std::vector<int> above(const std::vector<float>& v, float limit) {
  std::vector<int> flags;
  for (const float x : v) flags.push_back(std::fabs(x) > limit ? 1 : 0);
  return flags;
}

TEST(Fill, ZeroNoneIotaConstant) {
  EXPECT_THAT(ints("zero", 5), Each(0));
  EXPECT_THAT(ints("none", 5), Each(0));
  EXPECT_TRUE(make_fill("none", target(ValueType::i32, 5))->uninitialised());
  EXPECT_FALSE(make_fill("zero", target(ValueType::i32, 5))->uninitialised());
  EXPECT_THAT(ints("iota", 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(floats("iota", 4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ints("constant(-7)", 3), Each(-7));
  EXPECT_THAT(ints("42", 3), Each(42));
  EXPECT_THAT(floats("1.5", 3), Each(1.5F));
  EXPECT_THAT(floats("constant( 1e3 )", 3), Each(1000.0F));
  EXPECT_THAT(values<std::uint64_t>("18446744073709551615", target(ValueType::i64, 2, Sign::unsigned_)),
              Each(18446744073709551615U));
  EXPECT_THAT(values<std::int64_t>("9007199254740993", target(ValueType::i64, 2)), Each(9007199254740993));
}

TEST(Fill, IotaFromAnyNumberByAnyStep) {
  EXPECT_THAT(ints("iota(7,3)", 4), ElementsAre(7, 10, 13, 16));
  EXPECT_THAT(ints("iota(2,-2)", 4), ElementsAre(2, 0, -2, -4));
  EXPECT_THAT(ints("iota(0,0.0625)", 33)[15], 0);
  EXPECT_THAT(ints("iota(0,0.0625)", 33)[16], 1);
  EXPECT_THAT(ints("iota(0,0.3333333333333333)", 7), ElementsAre(0, 0, 0, 1, 1, 1, 2));
  EXPECT_THAT(floats("iota(1,0.5)", 4), ElementsAre(1, 1.5F, 2, 2.5F));
  EXPECT_THAT(floats("iota(1,2)", 3), ElementsAre(1, 3, 5));
  EXPECT_THAT(values<std::int64_t>("iota(9007199254740993,1)", target(ValueType::i64, 2)),
              ElementsAre(9007199254740993, 9007199254740994));
}

TEST(Fill, IotaWrapsInNarrowTypes) {
  const auto v = values<std::uint8_t>("iota", target(ValueType::i8, 300, Sign::unsigned_));
  EXPECT_EQ(v[255], 255);
  EXPECT_EQ(v[256], 0);
}

TEST(Fill, VectorsCountAsTheirComponents) {
  FillTarget t = target(ValueType::f32, 2);
  t.element_bytes = 16;
  EXPECT_THAT(values<float>("iota", t), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Fill, UniformStatistics) {
  constexpr std::int64_t n = 100000;
  const auto f = floats("uniform", n);
  EXPECT_THAT(f, Each(AllOf(Ge(0.0F), Lt(1.0F))));
  EXPECT_NEAR(moments(f).mean, 0.5, 0.005);
  EXPECT_NEAR(moments(f).deviation, std::sqrt(1.0 / 12), 0.003);
  const auto shifted = floats("uniform(-3,5)", n);
  EXPECT_THAT(shifted, Each(AllOf(Ge(-3.0F), Lt(5.0F))));
  EXPECT_NEAR(moments(shifted).mean, 1, 0.04);
  const auto dice = ints("uniform(1,7)", n);
  std::vector<int> counts(7);
  for (const int d : dice) ++counts.at(static_cast<std::size_t>(d));
  EXPECT_EQ(counts[0], 0);
  double chi = 0;
  for (int d = 1; d <= 6; ++d) chi += std::pow(counts[d] - n / 6.0, 2) / (n / 6.0);
  EXPECT_LT(chi, 20.5);  // 5 degrees of freedom: one in a thousand
}

// Rounding to the type never reaches the upper end.
TEST(Fill, UniformStaysBelowItsEnd) {
  for (const auto type : {ValueType::f16, ValueType::f32, ValueType::f64}) {
    EXPECT_LT(rounded_below(type, 1 - 0x1p-53, 1), 1);
    EXPECT_LT(rounded_below(type, 5 - 1e-15, 5), 5);
    EXPECT_GE(rounded_below(type, 5 - 1e-15, 5), 4.99);
    EXPECT_EQ(rounded_below(type, 0.5, 1), 0.5);
    EXPECT_EQ(rounded_below(type, 0, 1), 0);
  }
}

TEST(Fill, IntegersWithoutARangeStayWithinTheBuffers) {
  EXPECT_THAT(ints("uniform", 5000), Each(AllOf(Ge(0), Lt(100))));  // the index range
  EXPECT_THAT(ints("", 5000), Each(AllOf(Ge(0), Lt(100))));
  EXPECT_EQ(default_fill(target(ValueType::i32, 5000)), "uniform(0,100)");
  EXPECT_EQ(default_fill(target(ValueType::f32, 5000)), "uniform(0,1)");
  FillTarget narrow = target(ValueType::i8, 5000, Sign::unknown);
  narrow.index_range = 100000;
  EXPECT_EQ(default_fill(narrow), "uniform(0,128)");  // as a signed char none is negative
  narrow.type.sign = Sign::unsigned_;
  EXPECT_EQ(default_fill(narrow), "uniform(0,256)");
  narrow.type.scalar = ValueType::i1;
  EXPECT_EQ(default_fill(narrow), "uniform(0,2)");
  FillTarget wide = target(ValueType::i64, 5000, Sign::unsigned_);
  wide.index_range = 0;
  EXPECT_EQ(default_fill(wide), "uniform(0,1)");  // zero: always inside
}

// What default_fill says is what make_fill does, for every type.
TEST(Fill, TheDefaultCanBeWrittenOut) {
  for (const auto type : {ValueType::i1, ValueType::i8, ValueType::i16, ValueType::i32, ValueType::i64, ValueType::i128,
                          ValueType::f16, ValueType::f32, ValueType::f64})
    for (const auto sign : {Sign::unknown, Sign::signed_, Sign::unsigned_})
      for (const std::int64_t range : {1, 100, 100000}) {
        FillTarget t = target(type, 200, sign);
        t.index_range = range;
        t.bound_trips = 16;
        for (const auto role : {BoundRole::none, BoundRole::offsets, BoundRole::next_offsets, BoundRole::length}) {
          t.role = role;
          EXPECT_EQ(bytes_of("", t), bytes_of(default_fill(t), t));
        }
      }
}

TEST(Fill, OffsetsAscendByTheirMean) {
  const auto v = ints("offsets(16)", 5000);
  for (std::size_t k = 0; k + 1 < v.size(); ++k) {
    ASSERT_GE(v[k], 16 * static_cast<int>(k));
    ASSERT_LT(v[k], 16 * static_cast<int>(k + 1));
  }
  EXPECT_NE(v[1] - v[0], v[2] - v[1]);
  const auto ahead = ints("offsets(16,1)", 5000);  // of the same stream: each is exactly one step further
  for (std::size_t k = 0; k < v.size(); ++k) ASSERT_EQ(ahead[k], v[k] + 16);
  EXPECT_EQ(ints("offsets(0.5)", 100).back(), 49);
  EXPECT_EQ(ints("offsets(1e9)", 5000).back(), 2147483647);  // as far as the type goes
  EXPECT_EQ(floats("offsets(1)", 100)[99], 99);
}

TEST(Fill, BoundsOfLoopsAreSmallOrFit) {
  FillTarget t = target(ValueType::i32, 5000);
  t.bound_trips = 16;
  t.bound_count = 5000;
  t.role = BoundRole::length;
  EXPECT_EQ(default_fill(t), "uniform(0,33)");  // 16 on average
  t.index_range = 10;
  EXPECT_EQ(default_fill(t), "uniform(0,10)");
  t.role = BoundRole::offsets;
  EXPECT_EQ(default_fill(t), "offsets(16)");
  t.role = BoundRole::next_offsets;
  EXPECT_EQ(default_fill(t), "offsets(16,1)");
  t.bound_range = 20000;  // the elements that they bound
  EXPECT_EQ(default_fill(t), "offsets(4,1)");
  t.type.scalar = ValueType::f32;
  EXPECT_EQ(default_fill(t), "uniform(0,1)");
}

TEST(Fill, NormalStatistics) {
  const auto v = floats("normal", 100000);
  EXPECT_NEAR(moments(v).mean, 0, 0.015);
  EXPECT_NEAR(moments(v).deviation, 1, 0.01);
  const double within = moments(above(v, 1)).mean;
  EXPECT_NEAR(within, 1 - 0.6827, 0.006);
  const double tail = moments(above(v, 2.5758F)).mean;
  EXPECT_NEAR(tail, 0.01, 0.0015);
  double product = 0;  // neighbours are independent
  for (std::size_t i = 0; i + 1 < v.size(); i += 2) product += v[i] * v[i + 1] / 50000;
  EXPECT_NEAR(product, 0, 0.02);
  EXPECT_NEAR(moments(floats("normal(10,0.5)", 100000)).mean, 10, 0.01);
  EXPECT_NEAR(moments(ints("normal(100,20)", 100000)).deviation, 20, 0.2);
  EXPECT_THAT(values<std::uint8_t>("normal(250,20)", target(ValueType::i8, 1000, Sign::unsigned_)), Each(Ge(150)));
}

RC_GTEST_PROP(FillProperty, PermutationsAreOnes, ()) {
  FillTarget t = target(ValueType::i32, *rc::gen::inRange(1, 5000));
  t.seed = *rc::gen::arbitrary<std::uint64_t>();
  auto v = values<std::int32_t>("permutation", t);
  std::sort(v.begin(), v.end());
  std::vector<std::int32_t> all(v.size());
  std::iota(all.begin(), all.end(), 0);
  RC_ASSERT(v == all);
}

TEST(Fill, PermutationsMix) {
  const auto v = ints("permutation", 100000);
  double fixed = 0, neighbours = 0, product = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    fixed += v[i] == static_cast<int>(i) ? 1 : 0;
    if (i > 0) neighbours += std::abs(v[i] - v[i - 1]) == 1 ? 1 : 0;
    product += (v[i] - 49999.5) * (static_cast<double>(i) - 49999.5) / 100000 / (1e10 / 12);
  }
  EXPECT_LE(fixed, 10);
  EXPECT_LE(neighbours, 20);
  EXPECT_NEAR(product, 0, 0.02);
}

TEST(Fill, SortedIsAscendingAndUniform) {
  const auto v = ints("sorted(10,2000)", 5000);
  EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
  EXPECT_GE(v.front(), 10);
  EXPECT_LT(v.back(), 2000);
  EXPECT_NEAR(moments(v).mean, 1005, 10);
  const auto f = floats("sorted", 100000);
  EXPECT_TRUE(std::is_sorted(f.begin(), f.end()));
  EXPECT_LT(f.back(), 1.0F);
  EXPECT_GT(f.back(), 0.999F);
  for (const auto type : {ValueType::f16, ValueType::f64}) {
    const auto bits = bytes_of("sorted(1,2)", target(type, 3000));
    EXPECT_EQ(bits.size(), 3000U * size_of(type));
  }
  const auto halves = values<std::uint16_t>("sorted(1,2)", target(ValueType::f16, 3000));
  EXPECT_TRUE(std::is_sorted(halves.begin(), halves.end()));  // positive: bits are in the order of values
  EXPECT_EQ(halves.front(), 0x3c00);
  EXPECT_EQ(halves.back(), 0x3fff);
}

// Any page by itself is the same as in one piece; seeds and names make different ones.
RC_GTEST_PROP(FillProperty, PagesDoNotDependOnEachOther, ()) {
  const auto fill = *rc::gen::element<std::string>("iota", "uniform", "normal", "sorted", "permutation", "3");
  const auto type = *rc::gen::element(ValueType::i32, ValueType::i64, ValueType::f16, ValueType::f32, ValueType::f64);
  FillTarget t = target(type, 1500);  // exact in half precision
  const auto whole = bytes_of(fill, t);
  const auto first = static_cast<std::size_t>(*rc::gen::inRange(0, 100)) * 16;
  std::vector<unsigned char> part(static_cast<std::size_t>(*rc::gen::inRange(1, 80)) * 16);
  if (first + part.size() > whole.size()) return;
  make_fill(fill, t)->write(static_cast<std::int64_t>(first), part);
  RC_ASSERT(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)));
}

TEST(Fill, SeedsAndNamesDiffer) {
  FillTarget t = target(ValueType::f32, 100), seed = t, name = t;
  seed.seed = 2;
  name.buffer = "b";
  EXPECT_EQ(bytes_of("uniform", t), bytes_of("uniform", t));
  EXPECT_NE(bytes_of("uniform", t), bytes_of("uniform", seed));
  EXPECT_NE(bytes_of("uniform", t), bytes_of("uniform", name));
}

TEST(Fill, HalfBits) {
  const auto half_bits = [](double v) { return Half(v).bits; };
  EXPECT_EQ(half_bits(0), 0);
  EXPECT_EQ(half_bits(-0.0), 0x8000);
  EXPECT_EQ(half_bits(1), 0x3c00);
  EXPECT_EQ(half_bits(-2), 0xc000);
  EXPECT_EQ(half_bits(65504), 0x7bff);
  EXPECT_EQ(half_bits(65519.9), 0x7bff);
  EXPECT_EQ(half_bits(65520), 0x7c00);
  EXPECT_EQ(half_bits(0x1p-24), 1);
  EXPECT_EQ(half_bits(0x1p-25), 0);  // to even
  EXPECT_EQ(half_bits(0x1p-14), 0x400);
  EXPECT_EQ(half_bits(0x1p-14 - 0x1p-25), 0x400);
  EXPECT_EQ(half_bits(1 + 0x1p-11), 0x3c00);
  EXPECT_EQ(half_bits(1 + 0x1.8p-10), 0x3c02);
  EXPECT_EQ(half_bits(2047.6), 0x6800);
  EXPECT_EQ(half_bits(std::nan("")) & 0x7fff, 0x7e00);
}

TEST(Fill, BytesAreAsGivenAndZeroBehindThem) {
  const auto t = target(ValueType::i32, 6);
  EXPECT_THAT(ints("bytes:05000000fAFFffff07", 4), ElementsAre(5, -6, 7, 0));
  EXPECT_THAT(ints("bytes:05000000faffffff*", 4), ElementsAre(5, -6, 5, -6));
  EXPECT_EQ(bytes_given("bytes:05000000*", 100), 400);
  EXPECT_THAT(ints("bytes:05000000faffffff*2", 5), ElementsAre(5, -6, 5, -6, 5));
  EXPECT_EQ(bytes_given("bytes:05000000faffffff*2", 100), 400) << "the digits are those of two elements";
  std::vector<unsigned char> second(16, 0);
  make_fill("bytes:000102030405060708090a0b0c0d0e0f1011", t)->write(16, second);
  EXPECT_EQ(second[0], 0x10);
  EXPECT_EQ(second[1], 0x11);
  EXPECT_EQ(second[2], 0);
}

TEST(FillErrors, Bytes) {
  const auto t = target(ValueType::i32, 1);
  EXPECT_THAT(error_of("bytes:", t), HasSubstr("no digits after"));
  EXPECT_THAT(error_of("bytes:123", t), HasSubstr("their number is odd"));
  EXPECT_THAT(error_of("bytes:12g4", t), HasSubstr("\"g4\" is no byte"));
  EXPECT_THAT(error_of("bytes:-1", t), HasSubstr("is no byte"));
  for (const char* text : {"bytes:01020304*0", "bytes:01020304*x", "bytes:01020304*-1"})
    EXPECT_THAT(error_of(text, t), HasSubstr("the number of elements behind \"*\"")) << text;
  EXPECT_EQ(error_of("bytes:01020304", t), "no error");
  EXPECT_THAT(error_of("bytes:0102030405", t), HasSubstr("they are 5 bytes, the buffer has 4 (1 elements of 4 bytes)"));
}

TEST(FillErrors, UnknownNames) {
  const auto t = target(ValueType::f32, 8);
  EXPECT_EQ(
      error_of("unifrom", t),
      "buffer a=8:unifrom: there is no such fill; did you mean \"uniform\"? known are zero, iota, uniform, normal, "
      "sorted, offsets, permutation, constant, none, file:PATH, bytes:HEX and a plain number");
  EXPECT_THAT(error_of("Uniform(0,1)", t), HasSubstr("did you mean \"uniform\""));
  EXPECT_THAT(error_of("flie:x.npy", t), HasSubstr("did you mean \"file\""));
  EXPECT_THAT(error_of("qqq", t), HasSubstr("there is no such fill; known are zero"));
  EXPECT_THAT(error_of("1.5x", t), HasSubstr("there is no such fill"));
  EXPECT_THAT(error_of("inf", t), HasSubstr("there is no such fill"));
}

TEST(FillErrors, BadArguments) {
  const auto f = target(ValueType::f32, 8), i = target(ValueType::i32, 8);
  EXPECT_THAT(error_of("uniform(0,1", f), HasSubstr("buffer a=8:uniform(0,1: the parenthesis is not closed"));
  EXPECT_THAT(error_of("uniform(1)", f), HasSubstr("(LO,HI)"));
  EXPECT_THAT(error_of("iota(1)", i), HasSubstr("iota takes a first element and a step: (FIRST,STEP)"));
  EXPECT_THAT(error_of("iota(0,x)", i), HasSubstr("\"x\" is not a number"));
  EXPECT_THAT(error_of("uniform(1,1)", f), HasSubstr("the second number must be larger"));
  EXPECT_THAT(error_of("uniform(a,1)", f), HasSubstr("\"a\" is not a number"));
  EXPECT_THAT(error_of("uniform()", f), HasSubstr("(LO,HI)"));
  EXPECT_THAT(error_of("uniform(0.5,3)", i), HasSubstr("the range needs whole numbers"));
  EXPECT_THAT(error_of("uniform(0,4294967297)", i), HasSubstr("do not fit elements of 4 bytes"));
  EXPECT_THAT(error_of("zero(1)", f), HasSubstr("zero takes no arguments"));
  EXPECT_THAT(error_of("normal(1)", f), HasSubstr("normal takes (MEAN,SD)"));
  EXPECT_THAT(error_of("normal(0,-1)", f), HasSubstr("negative"));
  EXPECT_THAT(error_of("constant", f), HasSubstr("constant takes one number"));
  EXPECT_THAT(error_of("1.5", i), HasSubstr("the elements are integers"));
  EXPECT_THAT(error_of("-1", target(ValueType::i32, 8, Sign::unsigned_)), HasSubstr("do not fit"));
  EXPECT_EQ(error_of("-1", target(ValueType::i32, 8, Sign::unknown)), "no error");
  EXPECT_EQ(error_of("4294967295", target(ValueType::i32, 8, Sign::unknown)), "no error");
  EXPECT_THAT(error_of("permutation", target(ValueType::i8, 300)), HasSubstr("do not fit elements of 1 byte"));
  EXPECT_THAT(error_of("permutation", target(ValueType::f16, 3000)),
              HasSubstr("not exact in floating point of 2 bytes"));
  EXPECT_THAT(error_of("permutation", target(ValueType::i32, 0)),
              HasSubstr("buffer a=COUNT:permutation: permutation needs"));
  EXPECT_THAT(error_of("sorted", target(ValueType::f32, 0)), HasSubstr("needs the number of elements"));
}

RC_GTEST_PROP(FillProperty, AnyTextIsAFillOrAUserError, (const std::string& text)) {
  if (text.starts_with("file:")) return;
  try {
    make_fill(text, target(ValueType::i32, 8));
  } catch (const UserError& e) {
    RC_ASSERT(std::string(e.what()).starts_with("buffer a=8:"));
  }
}

}  // namespace
}  // namespace kernelcast::interpreter
