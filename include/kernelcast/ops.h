// The classes of operation that are counted, one table for the profile, the models and the reports.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernelcast/tensor.h"

namespace kernelcast {

/// What a lane executes, by the hardware resource it needs. Memory operations are one class a space and direction;
/// their width and pattern are in the accesses.
enum class OpClass : std::uint8_t {
  fp16_add, fp16_mul, fp16_fma,           // packed (two halves) counts once: one lane operation
  fp32_add, fp32_mul, fp32_fma,
  fp32_div, fp32_special,                 // special: reciprocal, square roots, sine, cosine, exp2, log2
  fp64_add, fp64_mul, fp64_fma, fp64_div, fp64_special, fp64_compare,
  int_add, int_mul, int_mad, int_div,     // 32 bits and narrower; division includes modulo
  int64_add, int64_mul, int64_mad, int64_div,
  shift, logic, compare, select, min_max, // compare: to a predicate, fp64_compare: by the FP64 lanes; select: by one
  convert, convert64, convert_alu,        // convert64: one side is 64 bits wide; convert_alu: by the integer lanes
  bit_special,                            // popcount, find leading bit, byte permute
  move,                                   // register moves and constants that cost an issue slot
  control,                                // branches, calls, returns
  vote, shuffle, tensor, barrier, fence, special_register,
  global_load, global_store, global_atomic,
  shared_load, shared_store, shared_atomic,
  local_load, local_store, constant_load, texture_load, async_copy,
  scalar_alu, scalar_load,                // one operation a warp, on devices with a scalar unit
  dual_issued,                            // second operation of an instruction that has two (VOPD); counted in its own class, too
  other,
  count_
};

inline constexpr std::size_t op_class_count = static_cast<std::size_t>(OpClass::count_);

/// "fp32_fma" and so on: the names used in JSON and in text.
std::string_view name_of(OpClass c);
std::optional<OpClass> op_class_from_name(std::string_view name);

/// A count for each class; plain data. A matrix instruction is one of class `tensor`, an issue slot; what it multiplies
/// stands in `tensor`, for a whole warp: sums over warps add up, sums over lanes do not (scaled_lanes() leaves it out).
struct OpCounts {
  std::array<double, op_class_count> n{};
  TensorOps tensor;
  double& operator[](OpClass c) { return n[static_cast<std::size_t>(c)]; }
  double operator[](OpClass c) const { return n[static_cast<std::size_t>(c)]; }
  OpCounts& operator+=(const OpCounts& o) {
    for (std::size_t i = 0; i < op_class_count; ++i) n[i] += o.n[i];
    if (o.n[static_cast<std::size_t>(OpClass::tensor)] != 0) tensor.add(o.tensor, 1);
    return *this;
  }
  /// k executions by a warp.
  [[nodiscard]] OpCounts scaled(double k) const {
    OpCounts r = scaled_lanes(k);
    if (n[static_cast<std::size_t>(OpClass::tensor)] != 0) r.tensor.add(tensor, k);
    return r;
  }
  /// k executions by a lane.
  [[nodiscard]] OpCounts scaled_lanes(double k) const {
    OpCounts r;
    for (std::size_t i = 0; i < op_class_count; ++i) r.n[i] = n[i] * k;
    return r;
  }
  /// Instructions, those of two operations once.
  [[nodiscard]] double total() const {
    double t = 0;
    for (double v : n) t += v;
    return t - 2 * (*this)[OpClass::dual_issued];
  }
  friend bool operator==(const OpCounts&, const OpCounts&) = default;
};

/// Floating-point operations of a set of counts, as Nsight Compute's roofline counts them: an addition or multiplication
/// is one, an FMA two, special functions none. A division that the target's code does not spell out is one.
double flops32(const OpCounts& c);
double flops64(const OpCounts& c);
bool is_memory(OpClass c);

}  // namespace kernelcast
