// A loaded element whose every use is a mask, a shift, a field or the low part, at two different places at least, is
// several numbers: bytes of an image or of a text that is read word by word. A hash or an index has other uses.
#include "execute/buffer_roles.h"

#include <bit>
#include <map>
#include <set>
#include <utility>

namespace kernelcast::interpreter {
namespace {

constexpr int widest_part = 16;  // bits: a mask of more is not a part

class Uses {
 public:
  explicit Uses(const Program& program) {
    for (const ProgramInput& in : program.inputs)
      if (in.kind == ProgramInput::Kind::constant) constants_[in.reg] = in.low;
    for (const SimtInstruction& i : program.code) {
      const bool store = i.op == Opcode::store;
      for (const std::uint32_t r : {i.a, store ? no_register : i.b, i.c})
        if (r != no_register) uses_.emplace(r, &i);
      for (std::uint32_t k = 0; store && k < i.extra; ++k) uses_.emplace(i.b + k, &i);
    }
    for (const ProgramBlock& b : program.blocks) {
      if (b.condition != no_register) elsewhere_.insert(b.condition);
      for (const Edge& e : b.edges)
        for (const Copy& c : e.copies) elsewhere_.insert(c.src);
    }
  }

  /// Whether all uses of the register take a part of it; adds where the parts begin.
  bool only_parts(std::uint32_t reg, std::set<std::uint64_t>& places) const {
    if (elsewhere_.contains(reg)) return false;
    auto [use, end] = uses_.equal_range(reg);
    for (; use != end; ++use) {
      const auto place = part(*use->second, reg);
      if (!place.first) return false;
      places.insert(place.second);
    }
    return true;
  }

 private:
  /// Whether the instruction takes a part of `reg`, and the part's first bit.
  [[nodiscard]] std::pair<bool, std::uint64_t> part(const SimtInstruction& i, std::uint32_t reg) const {
    switch (i.op) {
      case Opcode::truncate:
      case Opcode::low_bits:
      case Opcode::sign_from_bits:
        return {true, 0};
      case Opcode::lshr:
      case Opcode::ashr:
      case Opcode::bit_extract_u:
      case Opcode::bit_extract_s:
        return i.a == reg && i.b != reg && constants_.contains(i.b) ? std::pair(true, constants_.at(i.b))
                                                                    : std::pair(false, std::uint64_t{0});
      case Opcode::and_: {
        const auto mask = constants_.find(i.a == reg ? i.b : i.a);
        if (mask == constants_.end() || mask->second == 0) return {false, 0};
        const int low = std::countr_zero(mask->second);
        const std::uint64_t part = mask->second >> low;
        return {(part & (part + 1)) == 0 && std::bit_width(part) <= widest_part, static_cast<std::uint64_t>(low)};
      }
      default:
        return {false, 0};
    }
  }

  std::map<std::uint32_t, std::uint64_t> constants_;
  std::multimap<std::uint32_t, const SimtInstruction*> uses_;
  std::set<std::uint32_t> elsewhere_;  // conditions, and what goes along edges
};

}  // namespace

std::vector<bool> packed_buffers(const Program& program, std::size_t buffers) {
  std::vector<bool> packed(buffers, false), mixed(buffers, false);
  const Uses uses(program);
  for (const SimtInstruction& i : program.code) {
    if (i.op != Opcode::load || i.site < 0 || is_float(i.type) || size_of(i.type) < 2) continue;
    const AccessSite& site = program.sites[static_cast<std::size_t>(i.site)];
    if (site.buffer < 0 || site.space == MemorySpace::shared || site.space == MemorySpace::local) continue;
    const auto b = static_cast<std::size_t>(site.buffer);
    for (std::uint32_t k = 0; k < i.extra; ++k) {
      std::set<std::uint64_t> places;
      const bool parts = uses.only_parts(i.dst + k, places);
      (parts && places.size() >= 2 ? packed : mixed)[b] = true;
    }
  }
  for (std::size_t b = 0; b < buffers; ++b) packed[b] = packed[b] && !mixed[b];
  return packed;
}

}  // namespace kernelcast::interpreter
