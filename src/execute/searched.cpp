// A buffer is searched by halves where one of its elements decides which half a search goes on in:
//
//   mid = (low + high) / 2; if (x[mid] < key) low = mid + 1; else high = mid;
//   r = index | k; if (x[r] <= key) index = r; k >>= 1;
//
// In the program: a comparison of a loaded element chooses whether a register that goes around a loop keeps its value,
// and the element's address is made of this register and of something that is halved. A path up a heap halves too, but
// its index always moves on; a walk along a list is made of the elements themselves. Such a search is for sorted
// elements. Not seen are elements that go through shared memory, and loops that are unrolled as a whole.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "execute/buffer_roles.h"

namespace kernelcast::interpreter {
namespace {

constexpr int most_search_depth = 24;     // of operations followed
constexpr int most_jumps = 4;             // from a branch to where its ways meet
constexpr std::size_t most_choices = 64;  // of choices that lead to each other

bool orders_elements(Opcode op) {
  const auto real = [op](Opcode less, Opcode equal) { return op >= less && op <= equal; };
  return real(Opcode::ult, Opcode::sge) || real(Opcode::folt, Opcode::foge) || real(Opcode::fult, Opcode::fuge);
}

bool converts(Opcode op) { return op >= Opcode::move && op <= Opcode::sign_from_bits; }

/// What an index or an address is made of.
bool makes_addresses(Opcode op) {
  return op <= Opcode::xor_ || (op >= Opcode::umin && op <= Opcode::smax) || op == Opcode::select ||
         op == Opcode::address || converts(op);
}

class Searches {
 public:
  Searches(const Program& program, std::size_t buffers) : program_(program), searched_(buffers, false) {
    for (const ProgramInput& in : program.inputs)
      if (in.kind == ProgramInput::Kind::constant) constants_[in.reg] = in.low;
    for (const SimtInstruction& i : program.code) {
      if (i.dst == no_register) continue;
      for (std::uint32_t k = 0; k < (i.op == Opcode::load ? i.extra : 1U); ++k) defined_by_[i.dst + k] = &i;
    }
    for (const ProgramBlock& b : program.blocks)
      for (const Edge& e : b.edges)
        for (const Copy& c : e.copies) incoming_.emplace(c.dst, c.src);
  }

  std::vector<bool> buffers() {
    for (const SimtInstruction& i : program_.code) {
      if (!orders_elements(i.op)) continue;
      std::set<const SimtInstruction*> loads;
      add_loads(i.a, loads, 0);
      add_loads(i.b, loads, 0);
      for (const SimtInstruction* load : loads) {
        const int buffer = program_.sites[static_cast<std::size_t>(load->site)].buffer;
        if (!searched_[static_cast<std::size_t>(buffer)])
          searched_[static_cast<std::size_t>(buffer)] = is_search(*load, i);
      }
    }
    return searched_;
  }

 private:
  [[nodiscard]] const SimtInstruction* definition(std::uint32_t reg) const {
    const auto found = defined_by_.find(reg);
    return found == defined_by_.end() ? nullptr : found->second;
  }

  [[nodiscard]] bool is_constant(std::uint32_t reg, std::uint64_t value) const {
    const auto found = constants_.find(reg);
    return found != constants_.end() && found->second == value;
  }

  [[nodiscard]] bool halves(const SimtInstruction& i) const {
    if (i.op == Opcode::lshr || i.op == Opcode::ashr) return is_constant(i.b, 1);
    return (i.op == Opcode::udiv || i.op == Opcode::sdiv) && is_constant(i.b, 2);
  }

  /// Elements of buffers that the value is, or differs from by a number.
  void add_loads(std::uint32_t reg, std::set<const SimtInstruction*>& loads, int depth) const {
    const SimtInstruction* i = definition(reg);
    if (i == nullptr || depth > most_search_depth) return;
    if (i->op == Opcode::load && i->site >= 0 && i->pointing == Pointing::generic) {
      const AccessSite& site = program_.sites[static_cast<std::size_t>(i->site)];
      if (site.buffer >= 0 && site.space != MemorySpace::shared && site.space != MemorySpace::local) loads.insert(i);
    } else if (converts(i->op)) {
      add_loads(i->a, loads, depth + 1);
    } else if (i->op == Opcode::sub || i->op == Opcode::fsub) {
      add_loads(i->a, loads, depth + 1);
      add_loads(i->b, loads, depth + 1);
    }
  }

  struct Parts {
    std::set<std::uint32_t> joins, seen;
    bool halved = false;
  };

  /// The registers that ways into a block set, of which a value is made.
  void take_apart(std::uint32_t reg, Parts& parts, int depth) const {
    if (reg == no_register || depth > most_search_depth || !parts.seen.insert(reg).second) return;
    if (incoming_.contains(reg)) {
      parts.joins.insert(reg);
      return;
    }
    const SimtInstruction* i = definition(reg);
    if (i == nullptr || !makes_addresses(i->op)) return;
    parts.halved = parts.halved || halves(*i);
    for (const std::uint32_t operand : {i->a, i->b, i->c}) take_apart(operand, parts, depth + 1);
  }

  /// Whether the register is half of itself the next time.
  [[nodiscard]] bool is_halved_around(std::uint32_t join) const {
    const auto [first, end] = incoming_.equal_range(join);
    return std::any_of(first, end, [&](const auto& in) {
      const SimtInstruction* i = definition(in.second);
      while (i != nullptr && converts(i->op)) i = definition(i->a);
      return i != nullptr && halves(*i) && plain(i->a) == join;
    });
  }

  /// The register of which this one is a copy in another width.
  [[nodiscard]] std::uint32_t plain(std::uint32_t reg) const {
    for (int depth = 0; depth < most_search_depth; ++depth) {
      const SimtInstruction* i = incoming_.contains(reg) ? nullptr : definition(reg);
      if (i == nullptr || !converts(i->op)) return reg;
      reg = i->a;
    }
    return reg;
  }

  [[nodiscard]] bool is_search(const SimtInstruction& load, const SimtInstruction& test) const {
    Parts parts;
    take_apart(load.a, parts, 0);
    const auto& joins = parts.joins;
    if (!parts.halved && std::none_of(joins.begin(), joins.end(), [&](auto r) { return is_halved_around(r); }))
      return false;
    return std::any_of(joins.begin(), joins.end(), [&](std::uint32_t r) { return may_keep(r, test); });
  }

  /// Whether the test chooses, among what the register is next, between its own value and another one.
  [[nodiscard]] bool may_keep(std::uint32_t join, const SimtInstruction& test) const {
    std::set<std::uint32_t> seen;
    std::vector<std::uint32_t> next{join};
    while (!next.empty() && seen.size() < most_choices) {
      const std::uint32_t at = plain(next.back());
      next.pop_back();
      if (!seen.insert(at).second) continue;
      const auto sides = choice(at, test);
      if (sides && leads_to(sides->first, join) != leads_to(sides->second, join)) return true;
      add_alternatives(at, next);
    }
    return false;
  }

  void add_alternatives(std::uint32_t reg, std::vector<std::uint32_t>& to) const {
    const auto [first, end] = incoming_.equal_range(reg);
    for (auto in = first; in != end; ++in) to.push_back(in->second);
    const SimtInstruction* i = first == end ? definition(reg) : nullptr;
    if (i != nullptr && i->op == Opcode::select) to.insert(to.end(), {i->b, i->c});
  }

  /// Whether one value is the other, through further choices.
  [[nodiscard]] bool leads_to(std::uint32_t reg, std::uint32_t join) const {
    std::set<std::uint32_t> seen;
    std::vector<std::uint32_t> next{reg};
    while (!next.empty() && seen.size() < most_choices) {
      const std::uint32_t at = plain(next.back());
      next.pop_back();
      if (at == join) return true;
      if (seen.insert(at).second) add_alternatives(at, next);
    }
    return false;
  }

  /// The two values between which the test chooses, by a select or by a branch; nothing: it does not.
  [[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> choice(std::uint32_t reg,
                                                                              const SimtInstruction& test) const {
    if (!incoming_.contains(reg)) {
      const SimtInstruction* i = definition(reg);
      if (i == nullptr) return std::nullopt;
      if (i->op == Opcode::select && depends(i->a, test, 0)) return std::pair{i->b, i->c};
      for (const auto& [value, step] : {std::pair{i->a, i->b}, std::pair{i->b, i->a}})
        if (i->op == Opcode::add && may_be_zero(step, test)) return std::pair{value, reg};
      return std::nullopt;
    }
    for (const ProgramBlock& b : program_.blocks) {
      if (b.end != ProgramBlock::End::branch || b.edges.size() != 2 || !depends(b.condition, test, 0)) continue;
      const auto first = value_along(b.edges[0], reg), second = value_along(b.edges[1], reg);
      if (first && second && *first != *second) return std::pair{*first, *second};
    }
    return std::nullopt;
  }

  /// Whether the test chooses between zero and another step.
  [[nodiscard]] bool may_be_zero(std::uint32_t step, const SimtInstruction& test) const {
    const SimtInstruction* i = definition(plain(step));
    return i != nullptr && i->op == Opcode::select && depends(i->a, test, 0) &&
           is_constant(i->b, 0) != is_constant(i->c, 0);
  }

  /// What an edge, or the jumps that follow it, copies to a register.
  [[nodiscard]] std::optional<std::uint32_t> value_along(const Edge& edge, std::uint32_t reg) const {
    const Edge* at = &edge;
    for (int jumps = 0; jumps <= most_jumps; ++jumps) {
      for (const Copy& c : at->copies)
        if (c.dst == reg) return c.src;
      const ProgramBlock& next = program_.blocks[static_cast<std::size_t>(at->target)];
      if (next.end != ProgramBlock::End::jump || next.edges.size() != 1) return std::nullopt;
      at = &next.edges.front();
    }
    return std::nullopt;
  }

  [[nodiscard]] bool depends(std::uint32_t condition, const SimtInstruction& test, int depth) const {
    const SimtInstruction* i = definition(condition);
    if (i == nullptr || depth > 4) return false;
    if (i == &test) return true;
    const bool joins = i->op == Opcode::and_ || i->op == Opcode::or_ || i->op == Opcode::xor_ ||
                       i->op == Opcode::select || converts(i->op);
    if (!joins) return false;
    return depends(i->a, test, depth + 1) || depends(i->b, test, depth + 1) || depends(i->c, test, depth + 1);
  }

  const Program& program_;
  std::vector<bool> searched_;
  std::map<std::uint32_t, std::uint64_t> constants_;
  std::map<std::uint32_t, const SimtInstruction*> defined_by_;
  std::multimap<std::uint32_t, std::uint32_t> incoming_;
};

}  // namespace

std::vector<bool> searched_buffers(const Program& program, std::size_t buffers) {
  return Searches(program, buffers).buffers();
}

}  // namespace kernelcast::interpreter
