// Branches hold their distance from the next instruction in units of 4 bytes, signed, in bits 34-81; from sm_90 on the
// lowest eight bits of it are in bits 16-23 and the others in bits 34-81. Read off NVIDIA's disassembly for sm_75,
// sm_80 and sm_90, with which test/unit/sass compares.
#include "machine/sass/code.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace kernelcast::sass {
namespace {

constexpr BitField branch_predicate{"branch predicate", 87, 3};

std::optional<std::size_t> target_of(std::span<const Instruction> code, std::size_t at, int architecture) {
  constexpr std::int64_t instruction_units = 4;
  constexpr int first_split = 90;
  const std::uint64_t upper = code[at].high & 0x3ffff, lower = code[at].low >> 34U;
  const auto field = static_cast<std::int64_t>((upper << 30U | lower) << 16U) >> 16;
  const auto rest = static_cast<std::int64_t>(code[at].low >> 16U & 0xff);
  const std::int64_t distance = architecture >= first_split ? field * 256 + rest : field;
  const std::int64_t to = static_cast<std::int64_t>(at) + 1 + distance / instruction_units;
  if (distance % instruction_units != 0 || to < 0 || to >= static_cast<std::int64_t>(code.size())) return std::nullopt;
  return static_cast<std::size_t>(to);
}

/// How the kernel goes on after an instruction.
struct Next {
  std::optional<std::size_t> target;
  bool falls_through = true, anywhere = false, ends_block = false;
};

Next next_of(std::span<const Instruction> code, std::size_t at, int architecture) {
  const Instruction& i = code[at];
  const std::string_view name = name_of(i);
  const bool conditional = get(i, guard) != unguarded || get(i, branch_predicate) != unguarded;
  Next n;
  if (name == "BRA") {
    n = {target_of(code, at, architecture), conditional, false, true};
  } else if (name == "BRX") {
    n = {std::nullopt, conditional, true, true};
  } else if (name == "EXIT" || name == "RET") {
    n = {std::nullopt, get(i, guard) != unguarded, false, true};
  }
  if (at + 1 >= code.size()) n.falls_through = false;
  return n;
}

}  // namespace

std::vector<Block> blocks_of(std::span<const Instruction> code, int architecture) {
  const std::size_t n = code.size();
  if (n == 0) return {};
  std::vector<bool> starts(n, false), reached(n, false);
  starts[0] = true;
  bool anywhere = false;
  for (std::size_t i = 0; i < n; ++i) {
    const Next next = next_of(code, i, architecture);
    if (next.target) starts[*next.target] = true;
    if (next.ends_block && i + 1 < n) starts[i + 1] = true;
    anywhere = anywhere || next.anywhere;
  }
  std::vector<std::size_t> open{0};
  if (anywhere)
    for (std::size_t i = 0; i < n; ++i)
      if (starts[i]) open.push_back(i);
  while (!open.empty()) {
    std::size_t i = open.back();
    open.pop_back();
    while (!reached[i]) {
      reached[i] = true;
      const Next next = next_of(code, i, architecture);
      if (next.target && !reached[*next.target]) open.push_back(*next.target);
      if (!next.falls_through) break;
      ++i;
    }
  }
  std::vector<Block> blocks;
  std::vector<std::size_t> block_at(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!reached[i]) continue;
    if (starts[i] || blocks.empty() || blocks.back().end != i) {
      block_at[i] = blocks.size();
      blocks.push_back({i, i, {}});
    }
    blocks.back().end = i + 1;
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Next next = next_of(code, blocks[b].end - 1, architecture);
    std::vector<std::size_t>& to = blocks[b].successors;
    if (next.target) to.push_back(block_at[*next.target]);
    if (next.falls_through && b + 1 < blocks.size()) to.push_back(b + 1);
    if (next.anywhere)
      for (std::size_t other = 0; other < blocks.size(); ++other) to.push_back(other);
  }
  return blocks;
}

}  // namespace kernelcast::sass
