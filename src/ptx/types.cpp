#include "ptx/types.h"

#include <array>
#include <unordered_map>

namespace kernelcast::ptx {
namespace {

enum class Family : std::uint8_t { none, bits, unsigned_, signed_, real, narrow_real };

struct TypeRow {
  Type type = Type::none;
  std::string_view name;
  int bits = 0;
  Family family = Family::none;
};

using T = Type;
using F = Family;

// PTX ISA 9.0, 5.2 "Types", tables 8 to 10, and the alternate formats of 5.2.3 and 5.2.5.
constexpr TypeRow type_rows[] = {
    {T::none, "", 0, F::none},
    {T::pred, "pred", 0, F::none},
    {T::b1, "b1", 1, F::bits},
    {T::b4, "b4", 4, F::bits},
    {T::b8, "b8", 8, F::bits},
    {T::b16, "b16", 16, F::bits},
    {T::b32, "b32", 32, F::bits},
    {T::b64, "b64", 64, F::bits},
    {T::b128, "b128", 128, F::bits},
    {T::u2, "u2", 2, F::unsigned_},
    {T::u4, "u4", 4, F::unsigned_},
    {T::u8, "u8", 8, F::unsigned_},
    {T::u16, "u16", 16, F::unsigned_},
    {T::u32, "u32", 32, F::unsigned_},
    {T::u64, "u64", 64, F::unsigned_},
    {T::s2, "s2", 2, F::signed_},
    {T::s4, "s4", 4, F::signed_},
    {T::s8, "s8", 8, F::signed_},
    {T::s16, "s16", 16, F::signed_},
    {T::s32, "s32", 32, F::signed_},
    {T::s64, "s64", 64, F::signed_},
    {T::f16, "f16", 16, F::real},
    {T::bf16, "bf16", 16, F::real},
    {T::tf32, "tf32", 32, F::real},
    {T::f32, "f32", 32, F::real},
    {T::f64, "f64", 64, F::real},
    {T::e4m3, "e4m3", 8, F::narrow_real},
    {T::e5m2, "e5m2", 8, F::narrow_real},
    {T::e2m1, "e2m1", 4, F::narrow_real},
    {T::e3m2, "e3m2", 6, F::narrow_real},
    {T::e2m3, "e2m3", 6, F::narrow_real},
    {T::ue8m0, "ue8m0", 8, F::narrow_real},
    {T::ue4m3, "ue4m3", 8, F::narrow_real},
    {T::f16x2, "f16x2", 32, F::real},
    {T::bf16x2, "bf16x2", 32, F::real},
    {T::f32x2, "f32x2", 64, F::real},
    {T::u16x2, "u16x2", 32, F::unsigned_},
    {T::s16x2, "s16x2", 32, F::signed_},
    {T::u8x4, "u8x4", 32, F::unsigned_},
    {T::s8x4, "s8x4", 32, F::signed_},
    {T::b8x16, "b8x16", 128, F::bits},
    {T::b6x16_p32, "b6x16_p32", 128, F::bits},
    {T::b4x16_p64, "b4x16_p64", 128, F::bits},
    {T::b6p2x16, "b6p2x16", 128, F::bits},
    {T::e4m3x2, "e4m3x2", 16, F::narrow_real},
    {T::e5m2x2, "e5m2x2", 16, F::narrow_real},
    {T::e4m3x4, "e4m3x4", 32, F::narrow_real},
    {T::e5m2x4, "e5m2x4", 32, F::narrow_real},
    {T::e2m1x2, "e2m1x2", 8, F::narrow_real},
    {T::e2m1x4, "e2m1x4", 16, F::narrow_real},
    {T::e3m2x2, "e3m2x2", 16, F::narrow_real},
    {T::e3m2x4, "e3m2x4", 32, F::narrow_real},
    {T::e2m3x2, "e2m3x2", 16, F::narrow_real},
    {T::e2m3x4, "e2m3x4", 32, F::narrow_real},
    {T::ue8m0x2, "ue8m0x2", 16, F::narrow_real},
    {T::s2f6x2, "s2f6x2", 16, F::narrow_real},
    {T::texref, "texref", 0, F::none},
    {T::samplerref, "samplerref", 0, F::none},
    {T::surfref, "surfref", 0, F::none},
    {T::tensormap, "tensormap", 0, F::none},
};
static_assert(std::size(type_rows) == static_cast<std::size_t>(Type::count_));

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(type_rows); ++i)
    if (static_cast<std::size_t>(type_rows[i].type) != i) return false;
  return true;
}
static_assert(in_order());

constexpr std::array<std::string_view, 13> space_names{
    "",      "reg",          "sreg",        "const",  "global",          "local",
    "param", "param::entry", "param::func", "shared", "shared::cluster", "tex",
    "tmem",
};

const TypeRow& row(Type type) { return type_rows[static_cast<std::size_t>(type)]; }

}  // namespace

int bits_of(Type type) { return row(type).bits; }
std::string_view name_of(Type type) { return row(type).name; }
std::string_view name_of(Space space) { return space_names[static_cast<std::size_t>(space)]; }

Type type_named(std::string_view word) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, Type> all;
    for (const TypeRow& entry : type_rows)
      if (!entry.name.empty()) all.emplace(entry.name, entry.type);
    return all;
  }();
  const auto found = by_name.find(word);
  return found == by_name.end() ? Type::none : found->second;
}

bool is_signed(Type type) { return row(type).family == F::signed_; }
bool is_unsigned(Type type) { return row(type).family == F::unsigned_; }
bool is_float(Type type) { return row(type).family == F::real; }

}  // namespace kernelcast::ptx
