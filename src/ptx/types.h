// Words of PTX as enumerations: types, state spaces, orders, roundings, comparisons.
#pragma once

#include <cstdint>
#include <string_view>

namespace kernelcast::ptx {

/// Fundamental, packed and matrix element types. `none`: no type is written.
enum class Type : std::uint8_t {
  none,
  pred,
  b1,
  b4,
  b8,
  b16,
  b32,
  b64,
  b128,
  u2,
  u4,
  u8,
  u16,
  u32,
  u64,
  s2,
  s4,
  s8,
  s16,
  s32,
  s64,
  f16,
  bf16,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  e2m1,
  e3m2,
  e2m3,
  ue8m0,
  ue4m3,
  f16x2,
  bf16x2,
  f32x2,
  u16x2,
  s16x2,
  u8x4,
  s8x4,
  b8x16,
  b6x16_p32,
  b4x16_p64,
  b6p2x16,
  e4m3x2,
  e5m2x2,
  e4m3x4,
  e5m2x4,
  e2m1x2,
  e2m1x4,
  e3m2x2,
  e3m2x4,
  e2m3x2,
  e2m3x4,
  ue8m0x2,
  s2f6x2,
  texref,
  samplerref,
  surfref,
  tensormap,
  count_,
};

/// State spaces; `generic` also stands for "none is written". `shared` is `.shared` and `.shared::cta`.
enum class Space : std::uint8_t {
  generic,
  reg,
  special_reg,
  constant,
  global,
  local,
  param,
  param_entry,
  param_func,
  shared,
  shared_cluster,
  tex,
  tensor_memory,
};

enum class CacheOperator : std::uint8_t { none, ca, cg, cs, lu, cv, wb, wt };
enum class Order : std::uint8_t { none, weak, relaxed, acquire, release, acq_rel, sc, volatile_, mmio };
enum class Scope : std::uint8_t { none, cta, cluster, gpu, sys };
/// rn..rp to floating point, rni..rpi to an integer in floating point; rna: ties away from zero, rs: stochastic.
enum class Rounding : std::uint8_t { none, rn, rz, rm, rp, rna, rs, rni, rzi, rmi, rpi };
/// lo, ls, hi, hs compare unsigned; equ..geu are true for NaN; num and nan are tests of both operands.
enum class Comparison : std::uint8_t {
  none,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  lo,
  ls,
  hi,
  hs,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan,
};
/// Of atom, red, redux, cp.reduce, and the Boolean one of setp and set; `popc` and `or_pred` of barrier.red: and_, or_,
/// popc.
enum class Combine : std::uint8_t { none, add, min, max, inc, dec, cas, exch, and_, or_, xor_, popc };
/// Of mul, mad, mul24, mad24.
enum class Half : std::uint8_t { none, lo, hi, wide };

/// Bits of one value of the type; a packed type counts as a whole (f16x2: 32). 0: none, pred, texref and such.
int bits_of(Type type);
/// Without the dot; empty for `none`.
std::string_view name_of(Type type);
std::string_view name_of(Space space);
/// `none` where the word (without its dot) names no type.
Type type_named(std::string_view word);

bool is_signed(Type type);    // s2..s64
bool is_unsigned(Type type);  // u2..u64
bool is_float(Type type);     // f16..f64, bf16, tf32 and packed ones of them; not the 8-bit ones and narrower

}  // namespace kernelcast::ptx
