#include <array>

#include "kernelcast/sm.h"

namespace kernelcast::sm {
namespace {

constexpr std::array<OpInfo, op_count> table = {{
#define KC_SM_OP(op, name, sources, memory, meaning) {name, sources, memory, meaning},
#include "kernelcast/sm_ops.def"
#undef KC_SM_OP
}};

}  // namespace

const OpInfo& info(Op op) { return table[static_cast<std::size_t>(op)]; }

std::optional<Op> op_named(std::string_view name) {
  for (std::size_t i = 0; i < op_count; ++i)
    if (table[i].name == name) return static_cast<Op>(i);
  return std::nullopt;
}

std::string_view name_of(Stall stall) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(Stall::count_)> names = {
      "issued", "fetch", "control", "dependency", "unit",     "arbitration",
      "memory", "copy",  "product", "barrier",    "mbarrier", "not_selected"};
  return names[static_cast<std::size_t>(stall)];
}

}  // namespace kernelcast::sm
