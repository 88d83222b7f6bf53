// An access of SASS has a signed offset of 24 bits. LLVM writes constants there itself; where the address stands in
// inline assembly (as __ldg does) it cannot, and ptxas does. Seen in the code that ptxas 11.8, 12.4 and 13.0 make of
// guarded and unguarded convolutions for sm_70 to sm_90.
#include "frontend/code/nvidia/ptx_flow.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace kernelcast::frontend {
namespace {

constexpr long furthest = 1L << 23;  // bytes

struct Places {
  std::vector<std::size_t> definitions, uses;  // in the order of the text
};

bool is_offset(std::string_view operand) {
  long value = 0;
  const auto [end, error] = std::from_chars(operand.data(), operand.data() + operand.size(), value);
  return error == std::errc{} && end == operand.data() + operand.size() && value >= -furthest && value < furthest;
}

bool adds_offset(const AsmInstruction& i) {
  const bool adds = i.opcode == "add.s64" || i.opcode == "add.u64" || i.opcode == "add.s32" || i.opcode == "add.u32";
  return adds && i.guard.empty() && i.operands.size() == 3 && i.operands[1].starts_with('%') &&
         is_offset(i.operands[2]);
}

}  // namespace

std::vector<std::string_view> offset_bases(const AsmFunction& kernel, std::span<const PtxAccesses> accesses) {
  std::unordered_map<std::string_view, Places> registers;
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    for (std::string_view w : accesses[k].writes) registers[w].definitions.push_back(k);
    for (std::string_view r : accesses[k].reads) registers[r].uses.push_back(k);
  }
  std::vector<std::string_view> out(accesses.size());
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    const AsmInstruction& i = kernel.instructions[k];
    if (!adds_offset(i)) continue;
    const Places& sum = registers[i.operands[0]];
    if (sum.definitions.size() != 1 || sum.uses.empty()) continue;
    const auto& changes = registers[i.operands[1]].definitions;
    const bool base_changes = changes.size() > 1;
    const bool addresses_only = std::all_of(sum.uses.begin(), sum.uses.end(), [&](std::size_t u) {
      return u > k && (!base_changes || kernel.instructions[u].block == i.block) &&
             only_addresses(kernel.instructions[u], i.operands[0]);
    });
    const bool changes_before_use =
        std::any_of(changes.begin(), changes.end(), [&](std::size_t c) { return c >= k && c < sum.uses.back(); });
    if (addresses_only && !changes_before_use) out[k] = i.operands[1];
  }
  return out;
}

}  // namespace kernelcast::frontend
