#include "kernelcast/ops.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace kernelcast {
namespace {

TEST(Ops, NamesAreUniqueAndReadBack) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < op_class_count; ++i) {
    const auto c = static_cast<OpClass>(i);
    EXPECT_TRUE(seen.insert(name_of(c)).second) << name_of(c);
    EXPECT_EQ(op_class_from_name(name_of(c)), c);
  }
  EXPECT_EQ(op_class_from_name("fp32"), std::nullopt);
  EXPECT_EQ(op_class_from_name(""), std::nullopt);
  EXPECT_EQ(name_of(OpClass::count_), "?");
}

// The table of names follows the enumeration: some in the middle and at both ends.
TEST(Ops, NamesBelongToTheirClasses) {
  EXPECT_EQ(name_of(OpClass::fp16_add), "fp16_add");
  EXPECT_EQ(name_of(OpClass::fp32_special), "fp32_special");
  EXPECT_EQ(name_of(OpClass::int64_mad), "int64_mad");
  EXPECT_EQ(name_of(OpClass::bit_special), "bit_special");
  EXPECT_EQ(name_of(OpClass::special_register), "special_register");
  EXPECT_EQ(name_of(OpClass::shared_atomic), "shared_atomic");
  EXPECT_EQ(name_of(OpClass::async_copy), "async_copy");
  EXPECT_EQ(name_of(OpClass::other), "other");
}

TEST(Ops, FusedOperationsCountTwice) {
  OpCounts c;
  c[OpClass::fp32_add] = 1;
  c[OpClass::fp32_mul] = 10;
  c[OpClass::fp32_fma] = 100;
  c[OpClass::fp32_div] = 1000;
  c[OpClass::fp32_special] = 10000;
  c[OpClass::fp64_fma] = 5;
  c[OpClass::fp64_special] = 1;
  c[OpClass::int_mad] = 7;
  c[OpClass::fp16_fma] = 9;
  c[OpClass::fp64_compare] = 3;
  EXPECT_EQ(flops32(c), 1211) << "special functions are none";
  EXPECT_EQ(flops64(c), 10) << "nor are comparisons";
  EXPECT_EQ(c.scaled(2)[OpClass::fp64_fma], 10);
  EXPECT_EQ(c.total(), 11111 + 5 + 1 + 3 + 7 + 9);
}

TEST(Ops, MemoryClasses) {
  int memory = 0;
  for (std::size_t i = 0; i < op_class_count; ++i) memory += is_memory(static_cast<OpClass>(i)) ? 1 : 0;
  EXPECT_EQ(memory, 12);
  EXPECT_TRUE(is_memory(OpClass::constant_load));
  EXPECT_TRUE(is_memory(OpClass::scalar_load));
  EXPECT_FALSE(is_memory(OpClass::barrier));
  EXPECT_FALSE(is_memory(OpClass::scalar_alu));
  EXPECT_FALSE(is_memory(OpClass::move));
}

}  // namespace
}  // namespace kernelcast
