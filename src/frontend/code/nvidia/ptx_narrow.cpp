// PTX has generic pointers of 64 bits; SASS addresses shared and local memory with 32 bits, and ptxas drops the upper
// halves that nobody reads. An operation is narrowed when the lower half of its result depends on lower halves alone
// (sums, products, logic, left shifts, copies) and no reader of the result wants the upper half. Readers that do not
// are operations that are narrowed themselves, truncations, and the addresses of shared and local accesses.
#include "frontend/code/nvidia/ptx_fusion.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "frontend/code/nvidia/ptx_flow.h"

namespace kernelcast::frontend {
namespace {

struct Narrowing {
  std::string_view wide, narrow;
};

// The lower half of the result depends on lower halves alone.
constexpr Narrowing narrowings[] = {
    {"add.s64", "add.s32"},         {"add.u64", "add.u32"},         {"sub.s64", "sub.s32"},
    {"sub.u64", "sub.u32"},         {"mul.lo.s64", "mul.lo.s32"},   {"mul.lo.u64", "mul.lo.u32"},
    {"mad.lo.s64", "mad.lo.s32"},   {"mad.lo.u64", "mad.lo.u32"},   {"mul.wide.s32", "mul.lo.s32"},
    {"mul.wide.u32", "mul.lo.u32"}, {"mad.wide.s32", "mad.lo.s32"}, {"mad.wide.u32", "mad.lo.u32"},
    {"and.b64", "and.b32"},         {"or.b64", "or.b32"},           {"xor.b64", "xor.b32"},
    {"not.b64", "not.b32"},         {"neg.s64", "neg.s32"},         {"shl.b64", "shl.b32"},
    {"selp.b64", "selp.b32"},       {"selp.s64", "selp.s32"},       {"selp.u64", "selp.u32"},
    {"mov.u64", "mov.u32"},         {"mov.b64", "mov.b32"},         {"mov.s64", "mov.s32"},
    {"cvt.s64.s32", "mov.b32"},     {"cvt.u64.u32", "mov.b32"},     {"cvt.s64.s16", "cvt.s32.s16"},
    {"cvt.u64.u16", "cvt.u32.u16"}, {"cvt.s64.s8", "cvt.s32.s8"},   {"cvt.u64.u8", "cvt.u32.u8"}};

std::string_view narrow_opcode(const AsmInstruction& i) {
  if (i.operands.empty() || i.operands[0].empty() || i.operands[0][0] == '{') return {};
  for (const Narrowing& n : narrowings)
    if (i.opcode == n.wide) return n.narrow;
  return {};
}

bool truncates(std::string_view opcode) {
  return opcode.starts_with("cvt.") && (opcode.ends_with(".u64") || opcode.ends_with(".s64")) &&
         opcode.find(".f") == std::string_view::npos && opcode.find("64.") == std::string_view::npos;
}

using Names = std::unordered_set<std::string_view>;

// Registers that are read as anything but the address of a shared or local access. Instructions that `passes(i, found)`
// leaves out do not count: they want of what they read no more than is wanted of their result.
template <class Passes>
Names registers_read(const AsmFunction& kernel, const std::vector<PtxAccesses>& accesses, const Passes& passes) {
  Names found;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t k = kernel.instructions.size(); k-- > 0;) {  // readers stand behind what they read
      const AsmInstruction& i = kernel.instructions[k];
      if (passes(i, found)) continue;
      for (std::string_view r : accesses[k].reads)
        if (!only_short_addresses(i, r)) more |= found.insert(r).second;
    }
  }
  return found;
}

}  // namespace

bool is_power_of_two(std::string_view number) {
  unsigned long value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  return error == std::errc{} && end == number.data() + number.size() && std::has_single_bit(value);
}

std::vector<bool> narrowed_instructions(const AsmFunction& kernel, const std::vector<PtxAccesses>& accesses) {
  const Names whole =  // those of which somebody wants the upper half
      registers_read(kernel, accesses, [](const AsmInstruction& i, const Names& found) {
        return truncates(i.opcode) || (!narrow_opcode(i).empty() && !found.contains(i.operands[0]));
      });
  std::vector<bool> narrowed;
  narrowed.reserve(kernel.instructions.size());
  for (const AsmInstruction& i : kernel.instructions)
    narrowed.push_back(!narrow_opcode(i).empty() && !whole.contains(i.operands[0]));
  return narrowed;
}

AsmFunction narrow_ptx(const AsmFunction& kernel) {
  const std::vector<bool> narrowed = narrowed_instructions(kernel, all_accesses(kernel));
  AsmFunction out = kernel;
  for (std::size_t k = 0; k < narrowed.size(); ++k) {
    if (!narrowed[k]) continue;
    AsmInstruction& i = out.instructions[k];
    const bool shift = i.opcode.starts_with("mul") && i.operands.size() == 3 && is_power_of_two(i.operands[2]);
    i.opcode = shift ? "shl.b32" : narrow_opcode(i);
  }
  return out;
}

std::vector<std::string_view> short_addresses(const AsmFunction& kernel) {
  const std::vector<PtxAccesses> accesses = all_accesses(kernel);
  const Names other = registers_read(kernel, accesses, [](const AsmInstruction& i, const Names& found) {
    return i.opcode.starts_with("add.") && !i.operands.empty() && !found.contains(i.operands[0]);
  });
  Names addresses;
  for (const PtxAccesses& a : accesses) addresses.insert(a.reads.begin(), a.reads.end());
  std::vector<std::string_view> found;
  for (std::string_view r : addresses)
    if (!other.contains(r)) found.push_back(r);
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace kernelcast::frontend
