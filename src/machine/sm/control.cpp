// Control codes. Kepler GK110: eight bits an instruction, whose meaning a spec gives as ranges (a linear law each,
// found by the published sweep of all 256 codes). Maxwell and later: 21 bits of fields that do not depend on each
// other.
#include <algorithm>

#include "kernelcast/sm.h"

namespace kernelcast::sm {
namespace {

Control eight_bit(const Spec& spec, std::uint32_t code) {
  Control out;
  if (code == spec.suspend_code) {
    out.stall = spec.suspend_cycles;
  } else if (code == spec.dual_code) {
    out.dual = true;
  } else {
    for (const ControlRange& range : spec.control_ranges) {
      if (code < range.first || code > range.last) continue;
      const int field = static_cast<int>(code & range.mask);
      out.stall = field >= range.cap_from ? range.cap : range.scale * field + range.offset;
    }
  }
  return out;
}

}  // namespace

Control decode_control(const Spec& spec, std::uint32_t code) {
  if (spec.control == ControlKind::none) return {};
  if (spec.control == ControlKind::eight_bit) return eight_bit(spec, code);
  Control out;
  out.stall = static_cast<int>(code & 15U);
  out.yield = ((code >> 4U) & 1U) == 0;
  const auto barrier = [&](unsigned shift) {
    const int index = static_cast<int>((code >> shift) & 7U);
    return index == 7 ? -1 : index;
  };
  out.write_barrier = barrier(5);
  out.read_barrier = barrier(8);
  out.wait_mask = static_cast<std::uint8_t>((code >> 11U) & 63U);
  out.reuse = static_cast<std::uint8_t>((code >> 17U) & 15U);
  // Maxwell: a stall of zero means issue with the next; architectures with one dispatch port take it as one.
  out.dual = spec.dual == DualIssue::by_control_code && out.stall == 0;
  out.stall = std::max(out.stall, 1);
  return out;
}

std::uint32_t encode_control(const Control& control) {
  const auto barrier = [](int index) { return static_cast<std::uint32_t>(index < 0 ? 7 : index); };
  return static_cast<std::uint32_t>(control.dual ? 0 : control.stall) | (control.yield ? 0U : 16U) |
         barrier(control.write_barrier) << 5U | barrier(control.read_barrier) << 8U |
         static_cast<std::uint32_t>(control.wait_mask) << 11U | static_cast<std::uint32_t>(control.reuse) << 17U;
}

}  // namespace kernelcast::sm
