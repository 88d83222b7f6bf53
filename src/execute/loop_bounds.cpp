// A loop `for (k = first[i]; k < first[i + 1]; ++k)` has, after optimisation, a register k that grows around the loop
// and an exit test that compares it with something. Each register is written as a sum of loads and of registers that
// grow (what else is added does not matter here); test minus first value then says which loaded elements the number of
// iterations is made of:
//
//   + first[i + 1] - first[i]   offsets
//   + last[i] - first[i]        offsets in two buffers
//   + length[i]                 a length, also where the loop begins at a loaded place: begin[i] + length[i] - begin[i]
//
// Not seen are bounds that go through shared memory or a shuffle, and products.
#include "execute/buffer_roles.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace kernelcast::interpreter {
namespace {

constexpr int most_depth = 256;         // of operations followed
constexpr std::size_t most_terms = 8;   // of a sum
constexpr std::size_t most_joins = 64;  // that lead to each other

/// An element of a buffer as loaded (buffer >= 0), or a register that grows around a loop.
struct Term {
  int buffer = -1;
  std::uint32_t reg = no_register;  // of the address, or that grows
  std::int64_t place = 0;           // bytes from the address
  friend auto operator<=>(const Term&, const Term&) = default;
};

struct Sum {
  std::map<Term, int> terms;
  std::int64_t constant = 0;
  void add(const Sum& o, int times) {
    constant = static_cast<std::int64_t>(static_cast<std::uint64_t>(constant) +
                                         static_cast<std::uint64_t>(o.constant) * static_cast<std::uint64_t>(times));
    for (const auto& [term, n] : o.terms)
      if (int& here = terms[term]; (here = wrapped_sum(here, n, times)) == 0) terms.erase(term);
    if (terms.size() > most_terms) terms.clear();
  }
  friend bool operator==(const Sum&, const Sum&) = default;

 private:
  /// As the registers wrap: sums of sums double with each operation.
  static int wrapped_sum(int a, int b, int times) {
    return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b) * static_cast<unsigned>(times));
  }
};

bool is_integer_load(const SimtInstruction& i, const Program& program) {
  if (i.op != Opcode::load || i.pointing != Pointing::generic || i.site < 0 || is_float(i.type)) return false;
  const AccessSite& site = program.sites[static_cast<std::size_t>(i.site)];
  return site.buffer >= 0 && site.space != MemorySpace::shared && site.space != MemorySpace::local;
}

bool is_comparison(Opcode op) { return op >= Opcode::eq && op <= Opcode::sge; }

struct Incoming {
  std::uint32_t src;
  int from;           // block
  const Edge* along;  // into the block of the register
};

class Bounds {
 public:
  Bounds(const Program& program, std::size_t buffers)
      : program_(program), roles_(buffers, BoundRole::none), defined_by_(program.registers.size(), -1) {
    for (std::size_t n = 0; n < program.code.size(); ++n) {
      const SimtInstruction& i = program.code[n];
      if (i.dst == no_register) continue;
      const std::uint32_t results = i.op == Opcode::load ? i.extra : 1;
      for (std::uint32_t k = 0; k < results; ++k) defined_by_[i.dst + k] = static_cast<std::int64_t>(n);
    }
    for (const ProgramInput& in : program.inputs)
      if (in.kind == ProgramInput::Kind::constant) constants_[in.reg] = in;
    for (std::size_t b = 0; b < program.blocks.size(); ++b)
      for (const Edge& e : program.blocks[b].edges)
        for (const Copy& c : e.copies) incoming_[c.dst].push_back({c.src, static_cast<int>(b), &e});
  }

  std::vector<BoundRole> roles() {
    for (std::size_t b = 0; b < program_.blocks.size(); ++b) {
      const ProgramBlock& block = program_.blocks[b];
      if (block.end == ProgramBlock::End::branch) look_at_condition(static_cast<int>(b), block.condition, 0);
    }
    return roles_;
  }

 private:
  [[nodiscard]] const SimtInstruction* definition(std::uint32_t reg) const {
    const std::int64_t at = reg == no_register ? -1 : defined_by_[reg];
    return at < 0 ? nullptr : &program_.code[static_cast<std::size_t>(at)];
  }

  void look_at_condition(int block, std::uint32_t condition, int depth) {
    const SimtInstruction* i = definition(condition);
    if (i == nullptr || depth > 4) return;
    if (i->op == Opcode::and_ || i->op == Opcode::or_ || i->op == Opcode::xor_ || i->op == Opcode::select) {
      for (const std::uint32_t operand : {i->a, i->b, i->c})
        if (operand != no_register) look_at_condition(block, operand, depth + 1);
    } else if (is_comparison(i->op)) {
      look_at_test(block, *i);
    }
  }

  void look_at_test(int block, const SimtInstruction& test) {
    Sum difference = sum_of(test.a, 0);
    difference.add(sum_of(test.b, 0), -1);
    std::optional<std::pair<Term, int>> grows;
    for (const auto& [term, n] : difference.terms) {
      if (term.buffer >= 0) continue;
      if (grows) return;
      grows = {term, n};
    }
    if (!grows || std::abs(grows->second) != 1) return;
    const Sum itself{{{grows->first, 1}}, 0};
    Sum bound;  // the value at which the register that grows meets the other side
    bound.add(difference, -grows->second);
    bound.add(itself, 1);
    const std::uint32_t reg = grows->first.reg;
    if (!leaves_loop(block, reg)) return;
    for (const Incoming& in : incoming_.at(reg)) {
      const Sum first = sum_of(in.src, 0);
      if (first.terms.contains(grows->first)) continue;
      Sum trips = bound;
      trips.add(first, -1);
      note(trips, step_of(reg));
    }
  }

  /// Roles of the buffers of which the number of iterations is made.
  void note(const Sum& trips, int direction) {
    std::vector<int> plus, minus;
    for (const auto& [term, n] : trips.terms) {
      if (term.buffer < 0 || std::abs(n) != 1) return;
      (n * direction > 0 ? plus : minus).push_back(term.buffer);
    }
    if (plus.size() != 1 || minus.size() > 1) return;
    if (minus.empty()) {
      give(plus[0], BoundRole::length);
    } else {
      give(minus[0], BoundRole::offsets);
      give(plus[0], BoundRole::next_offsets);
    }
  }

  void give(int buffer, BoundRole role) {
    BoundRole& known = roles_[static_cast<std::size_t>(buffer)];
    if (known == BoundRole::none) known = role;
  }

  /// 1 where the register grows around its loop, or by what is not known; -1 where it shrinks.
  int step_of(std::uint32_t reg) {
    for (const Incoming& in : incoming_.at(reg)) {
      const Sum next = sum_of(in.src, 0);
      if (next.terms.contains(Term{-1, reg, 0}) && next.constant < 0) return -1;
    }
    return 1;
  }

  /// Whether the branch at the end of `block` decides about another iteration of the loop around which `reg` grows: one
  /// of its ways comes to the loop's end without entering the loop anew, the other does not.
  bool leaves_loop(int block, std::uint32_t reg) {
    std::set<int> ends;
    std::set<const Edge*> entries;
    for (const Incoming& in : incoming_.at(reg)) {
      if (sum_of(in.src, 0).terms.contains(Term{-1, reg, 0}))
        ends.insert(in.from);
      else
        entries.insert(in.along);
    }
    int stay = 0;
    for (const Edge& e : program_.blocks[static_cast<std::size_t>(block)].edges)
      stay += goes_on(block, e, ends, entries) ? 1 : 0;
    return stay == 1;
  }

  [[nodiscard]] bool goes_on(int block, const Edge& along, const std::set<int>& ends,
                             const std::set<const Edge*>& entries) const {
    if (entries.contains(&along)) return false;
    // The edge back to the loop's start.
    if (ends.contains(block) && is_start(along.target, entries)) return true;
    std::set<int> seen;
    std::vector<int> next{along.target};
    while (!next.empty()) {
      const int at = next.back();
      next.pop_back();
      if (ends.contains(at)) return true;
      if (!seen.insert(at).second) continue;
      for (const Edge& e : program_.blocks[static_cast<std::size_t>(at)].edges)
        if (!entries.contains(&e)) next.push_back(e.target);
    }
    return false;
  }

  [[nodiscard]] static bool is_start(int block, const std::set<const Edge*>& entries) {
    return std::any_of(entries.begin(), entries.end(), [&](const Edge* e) { return e->target == block; });
  }

  Sum sum_of(std::uint32_t reg, int depth) {
    if (reg == no_register || depth > most_depth) return {};
    if (const auto found = sums_.find(reg); found != sums_.end()) return found->second;
    Sum s;
    if (const auto constant = constants_.find(reg); constant != constants_.end()) {
      s.constant = value_of(constant->second);
    } else if (incoming_.contains(reg)) {
      s = sum_of_join(reg, depth);
    } else if (const SimtInstruction* i = definition(reg)) {
      s = sum_of_instruction(*i, reg, depth);
    }
    sums_[reg] = s;
    return s;
  }

  /// The largest integer takes the sign away and leaves the value.
  static bool is_remainder(std::int64_t mask) {
    return mask > 0 && mask < std::numeric_limits<std::int64_t>::max() && (mask & (mask + 1)) == 0;
  }

  static std::int64_t value_of(const ProgramInput& in) {
    const int bits = 8 * std::min(size_of(in.type), 8);
    const auto v = static_cast<std::int64_t>(in.low << (64 - bits));
    return v >> (64 - bits);
  }

  /// A register that the ways into a block set: one that grows around a loop, or one value by all of them. Joins of
  /// joins are looked through: a bound that a loop may load again is the same element however it was reached.
  Sum sum_of_join(std::uint32_t reg, int depth) {
    const Sum itself{{{Term{-1, reg, 0}, 1}}, 0};
    sums_[reg] = itself;
    std::set<std::uint32_t> joins{reg}, values;
    std::vector<std::uint32_t> next{reg};
    while (!next.empty() && joins.size() <= most_joins) {
      const std::uint32_t join = next.back();
      next.pop_back();
      for (const Incoming& in : incoming_[join]) {
        if (!incoming_.contains(in.src))
          values.insert(in.src);
        else if (joins.insert(in.src).second)
          next.push_back(in.src);
      }
    }
    if (joins.size() > most_joins || values.empty()) return itself;
    std::optional<Sum> same;
    for (const std::uint32_t v : values) {
      Sum s = sum_of(v, depth + 1);
      const bool turns = std::any_of(s.terms.begin(), s.terms.end(),
                                     [&](const auto& t) { return t.first.buffer < 0 && joins.contains(t.first.reg); });
      if (turns || (same && *same != s)) return itself;
      same = std::move(s);
    }
    return *same;
  }

  Sum sum_of_instruction(const SimtInstruction& i, std::uint32_t reg, int depth) {
    Sum s;
    switch (i.op) {
      case Opcode::add:
      case Opcode::sub:
        s = sum_of(i.a, depth + 1);
        s.add(sum_of(i.b, depth + 1), i.op == Opcode::add ? 1 : -1);
        return s;
      case Opcode::and_:  // a multiple of a power of two, or what is over it: a loop that is unrolled
        if (const auto mask = constants_.find(i.b); mask != constants_.end() && is_remainder(value_of(mask->second)))
          return s;
        return sum_of(i.a, depth + 1);
      case Opcode::move:
      case Opcode::truncate:
      case Opcode::zero_extend:
      case Opcode::sign_extend:
      case Opcode::low_bits:
      case Opcode::sign_from_bits:
        return sum_of(i.a, depth + 1);
      case Opcode::load:
        if (!is_integer_load(i, program_)) return s;
        s.terms[{program_.sites[static_cast<std::size_t>(i.site)].buffer, i.a,
                 i.imm + static_cast<std::int64_t>(reg - i.dst) * size_of(i.type)}] = 1;
        return s;
      default:
        return s;
    }
  }

  const Program& program_;
  std::vector<BoundRole> roles_;
  std::vector<std::int64_t> defined_by_;  // instruction, by register; -1: none
  std::map<std::uint32_t, ProgramInput> constants_;
  std::map<std::uint32_t, std::vector<Incoming>> incoming_;
  std::map<std::uint32_t, Sum> sums_;
};

}  // namespace

std::vector<BoundRole> bound_roles(const Program& program, std::size_t buffers) {
  return Bounds(program, buffers).roles();
}

}  // namespace kernelcast::interpreter
