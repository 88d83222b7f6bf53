// Names of the operation classes, as JSON and texts write them, and what counts as a floating-point operation.
#include "kernelcast/ops.h"

namespace kernelcast {
namespace {

constexpr std::array<std::string_view, op_class_count> names = {
    "fp16_add",     "fp16_mul",     "fp16_fma",         "fp32_add",    "fp32_mul",     "fp32_fma",
    "fp32_div",     "fp32_special", "fp64_add",         "fp64_mul",    "fp64_fma",     "fp64_div",
    "fp64_special", "fp64_compare", "int_add",          "int_mul",     "int_mad",      "int_div",
    "int64_add",    "int64_mul",    "int64_mad",        "int64_div",   "shift",        "logic",
    "compare",      "select",       "min_max",          "convert",     "convert64",    "convert_alu",
    "bit_special",  "move",         "control",          "vote",        "shuffle",      "tensor",
    "barrier",      "fence",        "special_register", "global_load", "global_store", "global_atomic",
    "shared_load",  "shared_store", "shared_atomic",    "local_load",  "local_store",  "constant_load",
    "texture_load", "async_copy",   "scalar_alu",       "scalar_load", "dual_issued",  "other"};
static_assert(!names.back().empty(), "every operation class has a name");

}  // namespace

std::string_view name_of(OpClass c) {
  const auto i = static_cast<std::size_t>(c);
  return i < names.size() ? names[i] : std::string_view("?");
}

std::optional<OpClass> op_class_from_name(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<OpClass>(i);
  }
  return std::nullopt;
}

double flops32(const OpCounts& c) {
  return c[OpClass::fp32_add] + c[OpClass::fp32_mul] + 2 * c[OpClass::fp32_fma] + c[OpClass::fp32_div];
}

double flops64(const OpCounts& c) {
  return c[OpClass::fp64_add] + c[OpClass::fp64_mul] + 2 * c[OpClass::fp64_fma] + c[OpClass::fp64_div];
}

bool is_memory(OpClass c) {
  switch (c) {
    case OpClass::global_load:
    case OpClass::global_store:
    case OpClass::global_atomic:
    case OpClass::shared_load:
    case OpClass::shared_store:
    case OpClass::shared_atomic:
    case OpClass::local_load:
    case OpClass::local_store:
    case OpClass::constant_load:
    case OpClass::texture_load:
    case OpClass::async_copy:
    case OpClass::scalar_load:
      return true;
    default:
      return false;
  }
}

}  // namespace kernelcast
