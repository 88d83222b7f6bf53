// What whole numbers of a buffer mean to the program that loads them:
//
//   j = index[i]; if (j < n) ... x[j]   indices that n bounds: the number is compared with a scalar and then takes part
//                                       in an address
//   if (i < *n)                         a size: one element for all threads, compared with what numbers the threads
//
// Not seen are numbers that go through shared memory or a shuffle.
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "execute/buffer_roles.h"

namespace kernelcast::interpreter {
namespace {

constexpr int most_followed = 64;  // of operations followed

bool is_order(Opcode op) { return op >= Opcode::ult && op <= Opcode::sge; }

bool keeps_value(Opcode op) {
  return op == Opcode::move || op == Opcode::truncate || op == Opcode::zero_extend || op == Opcode::sign_extend ||
         op == Opcode::low_bits || op == Opcode::sign_from_bits;
}

bool is_of_sums(Opcode op) { return op == Opcode::add || op == Opcode::sub || op == Opcode::mul || op == Opcode::shl; }

/// How a number depends on which thread computes it.
struct Numbering {
  bool thread = false, block = false;
};

class Numbers {
 public:
  Numbers(const Program& program, std::size_t buffers) : program_(program), roles_(buffers) {
    for (const ProgramInput& in : program.inputs) inputs_[in.reg] = &in;
    for (const SimtInstruction& i : program.code) {
      for (const std::uint32_t r : {i.a, i.b, i.c})
        if (r != no_register && i.op != Opcode::store) uses_.emplace(r, &i);
      if (i.dst == no_register) continue;
      for (std::uint32_t k = 0; k < (i.op == Opcode::load ? i.extra : 1U); ++k) defined_by_[i.dst + k] = &i;
    }
    for (const ProgramBlock& b : program.blocks)
      for (const Edge& e : b.edges)
        for (const Copy& c : e.copies) incoming_.emplace(c.dst, c.src);
  }

  std::vector<NumberRole> roles() {
    for (const SimtInstruction& i : program_.code) {
      if (i.op != Opcode::load || i.site < 0 || is_float(i.type) || size_of(i.type) < 4 ||
          i.pointing != Pointing::generic)
        continue;
      const AccessSite& site = program_.sites[static_cast<std::size_t>(i.site)];
      if (site.buffer < 0 || site.space == MemorySpace::shared || site.space == MemorySpace::local) continue;
      NumberRole& role = roles_[static_cast<std::size_t>(site.buffer)];
      const bool same_for_all = is_same_for_all(i.a, 0);
      for (std::uint32_t k = 0; k < i.extra; ++k) look_at(i.dst + k, same_for_all, role);
    }
    return std::move(roles_);
  }

 private:
  void look_at(std::uint32_t reg, bool same_for_all, NumberRole& role) {
    std::set<std::string> below;
    bool is_index = false;
    std::vector<std::uint32_t> next{reg};
    for (int n = 0; !next.empty() && n < most_followed; ++n) {
      const std::uint32_t at = next.back();
      next.pop_back();
      auto [use, end] = uses_.equal_range(at);
      for (; use != end; ++use) {
        const SimtInstruction& i = *use->second;
        if (keeps_value(i.op)) next.push_back(i.dst);
        is_index |= leads_to_address(i, at, 0);
        if (!is_order(i.op)) continue;
        const std::uint32_t other = i.a == at ? i.b : i.a;
        if (const ProgramInput* scalar = scalar_of(other)) below.insert(scalar->name);
        std::set<std::uint32_t> seen;
        const Numbering by = numbering(other, seen, 0);
        role.size_of_launch |= same_for_all && (by.thread || by.block);
      }
    }
    if (is_index) role.below.insert(below.begin(), below.end());
  }

  /// Whether `i`, a use of `reg`, makes an address of it, at once or by sums and products.
  bool leads_to_address(const SimtInstruction& i, std::uint32_t reg, int depth) const {
    if (i.op == Opcode::address) return i.b == reg;
    if (depth > 8 || !(is_of_sums(i.op) || keeps_value(i.op))) return false;
    auto [use, end] = uses_.equal_range(i.dst);
    for (; use != end; ++use)
      if (leads_to_address(*use->second, i.dst, depth + 1)) return true;
    return false;
  }

  const ProgramInput* scalar_of(std::uint32_t reg) const {
    for (int depth = 0; depth < most_followed; ++depth) {
      if (const auto input = inputs_.find(reg); input != inputs_.end())
        return input->second->kind == ProgramInput::Kind::scalar ? input->second : nullptr;
      const auto i = defined_by_.find(reg);
      if (i == defined_by_.end() || !keeps_value(i->second->op)) return nullptr;
      reg = i->second->a;
    }
    return nullptr;
  }

  bool is_same_for_all(std::uint32_t reg, int depth) const {
    if (const auto input = inputs_.find(reg); input != inputs_.end()) {
      using Kind = ProgramInput::Kind;
      return input->second->kind != Kind::local_id && input->second->kind != Kind::group_id;
    }
    const auto i = defined_by_.find(reg);
    if (i == defined_by_.end() || depth > most_followed) return false;
    const Opcode op = i->second->op;
    if (op != Opcode::address && !is_of_sums(op) && !keeps_value(op)) return false;
    return is_same_for_all(i->second->a, depth + 1) &&
           (i->second->b == no_register || is_same_for_all(i->second->b, depth + 1));
  }

  /// What numbers the threads: their positions, in sums and products. Around a loop both positions count: blocks share
  /// its iterations.
  Numbering numbering(std::uint32_t reg, std::set<std::uint32_t>& seen, int depth) const {
    if (reg == no_register || depth > most_followed || !seen.insert(reg).second) return {};
    if (const auto input = inputs_.find(reg); input != inputs_.end())
      return {input->second->kind == ProgramInput::Kind::local_id, input->second->kind == ProgramInput::Kind::group_id};
    const auto join = [](Numbering l, Numbering r) { return Numbering{l.thread || r.thread, l.block || r.block}; };
    Numbering all;
    if (const auto [first, end] = incoming_.equal_range(reg); first != end) {
      for (auto in = first; in != end; ++in) all = join(all, numbering(in->second, seen, depth + 1));
      return all.block ? all : Numbering{};
    }
    const auto i = defined_by_.find(reg);
    if (i == defined_by_.end()) return {};
    const Opcode op = i->second->op;
    if (!is_of_sums(op) && !keeps_value(op) && op != Opcode::or_) return {};
    return join(numbering(i->second->a, seen, depth + 1), numbering(i->second->b, seen, depth + 1));
  }

  const Program& program_;
  std::vector<NumberRole> roles_;
  std::map<std::uint32_t, const ProgramInput*> inputs_;
  std::map<std::uint32_t, const SimtInstruction*> defined_by_;
  std::multimap<std::uint32_t, const SimtInstruction*> uses_;
  std::multimap<std::uint32_t, std::uint32_t> incoming_;
};

}  // namespace

std::vector<NumberRole> number_roles(const Program& program, std::size_t buffers) {
  return Numbers(program, buffers).roles();
}

}  // namespace kernelcast::interpreter
