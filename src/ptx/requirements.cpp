#include "ptx/requirements.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace kernelcast::ptx {
namespace {

/// The first GPU of each compute capability that brought instructions.
constexpr std::array<std::pair<int, std::string_view>, 9> first_gpus{{{60, "NVIDIA Tesla P100"},
                                                                      {61, "NVIDIA GeForce GTX 1080"},
                                                                      {70, "NVIDIA Tesla V100"},
                                                                      {75, "NVIDIA GeForce RTX 2080 Ti"},
                                                                      {80, "NVIDIA A100"},
                                                                      {89, "NVIDIA GeForce RTX 4090"},
                                                                      {90, "NVIDIA H100"},
                                                                      {100, "NVIDIA B200"},
                                                                      {120, "NVIDIA GeForce RTX 5090"}}};

constexpr Requirement desktop_blackwell{120, 129};

bool has_type(const Instruction& i, std::initializer_list<Type> types) {
  return std::any_of(i.types.begin(), i.types.begin() + i.type_count,
                     [&](Type t) { return std::find(types.begin(), types.end(), t) != types.end(); });
}

bool has_modifier(const Instruction& i, std::string_view begin) {
  return std::any_of(i.modifiers.begin(), i.modifiers.end(), [&](std::string_view m) { return m.starts_with(begin); });
}

bool of_eight_bits(const Instruction& i) {
  return has_type(i, {Type::e4m3, Type::e5m2, Type::e4m3x2, Type::e5m2x2, Type::e4m3x4, Type::e5m2x4});
}

/// Formats of four and six bits, and scales.
bool of_narrow_floats(const Instruction& i) {
  return has_modifier(i, "e2m1") || has_modifier(i, "e2m3") || has_modifier(i, "e3m2") || has_modifier(i, "ue8m0");
}

bool of_bfloat(const Instruction& i) { return has_type(i, {Type::bf16, Type::bf16x2}); }

Requirement of_mma(const Instruction& i) {
  if (has_modifier(i, "kind::")) return desktop_blackwell;
  if (of_eight_bits(i)) return {89};
  const auto [m, n, k] = i.shape;
  const bool fp64 = has_type(i, {Type::f64});
  if (fp64) return {m == 8 ? 80 : 90};
  if (m == 8 && k == 4) return {70};
  if (m == 8) return {has_modifier(i, "and") ? 80 : 75};
  return {k == 8 && i.types[1] == Type::f16 ? 75 : 80};
}

Requirement of_wmma(const Instruction& i) {
  if (has_type(i, {Type::bf16, Type::tf32, Type::f64})) return {80};
  return {has_type(i, {Type::s8, Type::u8, Type::s4, Type::u4, Type::b1}) ? 75 : 70};
}

Requirement of_arithmetic(const Instruction& i) {
  if (has_type(i, {Type::f32x2})) return {100};
  if (!of_bfloat(i)) return {};
  return {i.op == Op::fma || i.op == Op::min || i.op == Op::max || i.op == Op::neg || i.op == Op::abs ? 80 : 90};
}

Requirement of_conversion(const Instruction& i) {
  if (of_narrow_floats(i)) return {100};
  if (of_eight_bits(i)) return {89};
  return {of_bfloat(i) || has_type(i, {Type::tf32}) ? 80 : 0};
}

Requirement of_atomic(const Instruction& i) {
  if (i.vector > 1 || of_bfloat(i) || has_type(i, {Type::b128})) return {90};
  return {has_type(i, {Type::f64, Type::f16x2}) ? 60 : has_type(i, {Type::f16}) ? 70 : 0};
}

Requirement of_barrier(const Instruction& i) { return {has_modifier(i, "expect_tx") ? 90 : 0}; }

Requirement of_special_function(const Instruction& i) {
  if (of_bfloat(i)) return {90};
  return {has_type(i, {Type::f16, Type::f16x2}) ? 75 : 0};
}

Requirement of_form(const Instruction& i) {
  switch (i.op) {
    case Op::mma:
    case Op::mma_sp:
      return of_mma(i);
    case Op::wmma_load:
    case Op::wmma_store:
    case Op::wmma_mma:
      return of_wmma(i);
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::fma:
    case Op::min:
    case Op::max:
    case Op::neg:
    case Op::abs:
      return of_arithmetic(i);
    case Op::cvt:
      return of_conversion(i);
    case Op::atom:
    case Op::red:
      return of_atomic(i);
    case Op::mbarrier_arrive:
    case Op::mbarrier_arrive_drop:
      return of_barrier(i);
    case Op::tanh:
    case Op::ex2:
      return of_special_function(i);
    case Op::redux:
      return {has_type(i, {Type::f32}) ? 100 : 0};
    default:
      return {};
  }
}

}  // namespace

int sm_number(std::string_view architecture) {
  int number = 0;
  if (architecture.starts_with("sm_"))
    std::from_chars(architecture.data() + 3, architecture.data() + architecture.size(), number);
  return number;
}

Requirement requirement_of(const Instruction& i) {
  const Requirement all = requirement_of(i.op), form = of_form(i);
  return {std::max(all.first, form.first), std::min(all.last, form.last)};
}

std::string refusal(const Instruction& i, const std::string& architecture) {
  const Requirement r = requirement_of(i);
  std::string text = "'" + std::string(i.opcode);
  for (const std::string_view m : i.modifiers) text += "." + std::string(m);
  text += "' is no instruction of " + architecture;
  for (const auto& [capability, name] : first_gpus)
    if (r.met_by(capability))
      return text + "; " + std::string(name) + " (sm_" + std::to_string(capability) + ") has it";
  return text;
}

}  // namespace kernelcast::ptx
