// From above: each register begins with the largest value of its width; an instruction's bound follows from those of
// what it reads, so every round leaves bounds that hold. A register has the largest bound of its definitions.
#include "frontend/code/nvidia/ptx_ranges.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <optional>

namespace kernelcast::frontend {
namespace {

using Bounds = std::unordered_map<std::string_view, std::uint64_t>;

constexpr std::uint64_t all64 = std::numeric_limits<std::uint64_t>::max(), all32 = 0xffffffffU, all16 = 0xffffU;
constexpr int most_rounds = 8;  // chains in the order of the text need one; each round holds by itself

/// ".u64" of "mul.wide.u32" is 8 bytes wide.
std::uint64_t largest_of_type(std::string_view type) {
  if (type.ends_with("64")) return all64;
  if (type.ends_with("32")) return all32;
  if (type.ends_with("16")) return all16;
  return type.ends_with("8") ? 0xffU : all64;
}

std::string_view last_type(std::string_view opcode) { return opcode.substr(opcode.rfind('.') + 1); }

std::optional<std::uint64_t> special(std::string_view name) {
  struct Limit {
    std::string_view name;
    std::uint64_t most;
  };
  static constexpr Limit limits[] = {
      {"%tid.z", 63},  {"%tid", 1023},           {"%ntid.z", 64},   {"%ntid", 1024},           {"%laneid", 31},
      {"%warpid", 63}, {"%ctaid.x", 0x7ffffffe}, {"%ctaid", 65534}, {"%nctaid.x", 0x7fffffff}, {"%nctaid", 65535}};
  for (const Limit& l : limits)
    if (name.starts_with(l.name)) return l.most;
  return std::nullopt;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a > all64 - b ? all64 : a + b; }
std::uint64_t product(std::uint64_t a, std::uint64_t b) { return b != 0 && a > all64 / b ? all64 : a * b; }
std::uint64_t ones_up_to(std::uint64_t a) { return a == 0 ? 0 : all64 >> static_cast<unsigned>(std::countl_zero(a)); }

class Instruction {
 public:
  Instruction(const AsmInstruction& i, const Bounds& known) : i_(i), known_(known) {}

  /// Of the result; what goes around is anything.
  [[nodiscard]] std::uint64_t largest() const {
    const std::string_view type = last_type(i_.opcode);
    const bool wide = i_.opcode.find(".wide.") != std::string_view::npos;
    const std::uint64_t most = wide ? all64 : largest_of_type(i_.opcode.starts_with("cvt.") ? result_type() : type);
    return std::min(most, computed(type, most).value_or(all64));
  }

 private:
  /// cvt.u64.u32: u64.
  [[nodiscard]] std::string_view result_type() const {
    const std::string_view front = i_.opcode.substr(0, i_.opcode.rfind('.'));
    return last_type(front);
  }

  [[nodiscard]] std::optional<std::uint64_t> constant(std::size_t k) const {
    if (k >= i_.operands.size()) return std::nullopt;
    const std::string_view text = i_.operands[k];
    const bool hex = text.starts_with("0x");
    std::uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(text.data() + (hex ? 2 : 0), text.data() + text.size(), value, hex ? 16 : 10);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
  }

  [[nodiscard]] std::uint64_t of(std::size_t k) const {
    if (const auto value = constant(k)) return *value;
    if (k >= i_.operands.size()) return all64;
    if (const auto most = special(i_.operands[k])) return *most;
    const auto at = known_.find(i_.operands[k]);
    return at == known_.end() ? all64 : at->second;
  }

  [[nodiscard]] std::optional<std::uint64_t> computed(std::string_view type, std::uint64_t most) const {
    const std::string_view op = i_.opcode.substr(0, i_.opcode.find('.'));
    const std::uint64_t a = of(1), b = of(2), c = of(3);
    const bool is_signed = type.starts_with('s');
    const std::uint64_t signed_most = largest_of_type(type) >> 1U;
    const bool positive = !is_signed || (a <= signed_most && (i_.operands.size() < 3 || b <= signed_most));
    if (op == "mov") return a;
    if (op == "ld") return largest_of_type(type);
    if (op == "cvt") return type.starts_with('f') || type.starts_with('b') || !positive ? most : a;
    if (op == "and") return std::min(a, b);
    if (op == "or" || op == "xor") return ones_up_to(std::max(a, b));
    if (op == "selp") return std::max(a, b);
    if (op == "shl") return constant(2) && b < 64 && a <= most >> b ? a << b : most;
    if (op == "bfe") return constant(3) && c < 64 && !is_signed ? (std::uint64_t{1} << c) - 1 : most;
    if (op == "popc" || op == "clz") return 64;
    if (!positive) return most;
    if (op == "add") return sum(a, b);
    if (op == "mul" && i_.opcode.find(".hi") == std::string_view::npos) return product(a, b);
    if (op == "mad" && i_.opcode.find(".hi") == std::string_view::npos) return sum(product(a, b), c);
    if (op == "shr") return constant(2) && b < 64 ? a >> b : a;
    if (op == "min") return std::min(a, b);
    if (op == "max") return std::max(a, b);
    if (op == "div") return constant(2) && b > 0 ? a / b : a;
    if (op == "rem") return constant(2) && b > 0 ? std::min(a, b - 1) : a;
    return std::nullopt;
  }

  const AsmInstruction& i_;
  const Bounds& known_;
};

}  // namespace

std::unordered_map<std::string_view, std::uint64_t> largest_values(const AsmFunction& kernel,
                                                                   std::span<const PtxAccesses> accesses) {
  Bounds known;
  for (int round = 0; round < most_rounds; ++round) {
    Bounds next;
    for (std::size_t k = 0; k < kernel.instructions.size(); ++k) {
      const bool one = accesses[k].writes.size() == 1 && kernel.instructions[k].operands[0] == accesses[k].writes[0];
      const std::uint64_t most = one ? Instruction(kernel.instructions[k], known).largest() : all64;
      for (std::string_view w : accesses[k].writes) {
        std::uint64_t& bound = next.try_emplace(w, 0).first->second;
        bound = std::max(bound, most);
      }
    }
    if (next == known) break;
    known = std::move(next);
  }
  return known;
}

}  // namespace kernelcast::frontend
