// Backwards from what counts depend on: conditions of branches and switches, addresses, and what barriers, votes and
// shuffles ask for, to the operands of whatever made them, over copies on edges. A relevant value that was loaded makes
// everything relevant that is stored in the same buffer; shared and private memory are one place each, and a load or
// store of which the buffer is not known is in all of them.
#include "execute/relevant.h"

#include <algorithm>
#include <map>

namespace kernelcast::interpreter {
namespace {

/// Places in memory: the profile's buffers, then these.
enum Place : int { anywhere = 0, in_shared = 1, on_stack = 2, first_buffer = 3 };

bool moves(Opcode op) { return op == Opcode::load || op == Opcode::store || op == Opcode::atomic; }

/// Operations on which counts depend whatever becomes of their results.
bool always_relevant(Opcode op) {
  switch (op) {
    case Opcode::barrier:
    case Opcode::barrier_arrive:
    case Opcode::warp_barrier:
    case Opcode::finding:
    case Opcode::mbarrier:
    case Opcode::bulk_read:
    case Opcode::bulk_write:
      return true;
    default:
      return false;
  }
}

}  // namespace

Relevance::Relevance(const Program& program) : program_(program), relevant_(program.registers.size(), 0) {
  read_.assign(program.element_types.size() + first_buffer, 0);
  std::multimap<std::uint32_t, std::uint32_t> copied;  // into a register, from
  for (const ProgramBlock& b : program.blocks) {
    mark(b.condition);
    for (const Edge& e : b.edges)
      for (const Copy& c : e.copies) copied.emplace(c.dst, c.src);
  }
  std::multimap<std::uint32_t, const SimtInstruction*> made;
  for (const SimtInstruction& i : program.code) {
    if (moves(i.op)) mark(i.a);
    if (always_relevant(i.op)) mark_operands(i);
    if (i.dst2 != no_register) made.emplace(i.dst2, &i);
    const std::uint32_t results = i.op == Opcode::load ? i.extra : 1;
    for (std::uint32_t k = 0; i.dst != no_register && k < results; ++k) made.emplace(i.dst + k, &i);
  }
  while (!waiting_.empty()) {
    const std::uint32_t reg = waiting_.back();
    waiting_.pop_back();
    for (auto [c, end] = copied.equal_range(reg); c != end; ++c) mark(c->second);
    for (auto [m, end] = made.equal_range(reg); m != end; ++m) {
      const SimtInstruction& i = *m->second;
      mark_operands(i);
      if (i.op == Opcode::load && i.site < 0 && i.pointing == Pointing::generic)
        note_parameter(i);
      else if (i.op == Opcode::load || i.op == Opcode::atomic)
        mark_stores_to(place_of(i));
    }
  }
}

void Relevance::mark(std::uint32_t reg) {
  if (reg == no_register || relevant_[reg] != 0) return;
  relevant_[reg] = 1;
  waiting_.push_back(reg);
}

void Relevance::mark_operands(const SimtInstruction& i) {
  mark(i.a);
  mark(i.c);
  if (i.op != Opcode::store) mark(i.b);
}

int Relevance::place_of(const SimtInstruction& i) const {
  if (i.pointing == Pointing::shared) return in_shared;
  if (i.pointing == Pointing::stack) return on_stack;
  if (i.site < 0) return anywhere;
  const AccessSite& site = program_.sites[static_cast<std::size_t>(i.site)];
  if (site.space == MemorySpace::shared) return in_shared;
  if (site.space == MemorySpace::local) return on_stack;
  return site.buffer < 0 ? anywhere : first_buffer + site.buffer;
}

void Relevance::mark_stores_to(int where) {
  if (read_[static_cast<std::size_t>(where)] != 0) return;
  read_[static_cast<std::size_t>(where)] = 1;
  for (std::size_t n = 0; n < program_.code.size(); ++n) {
    const SimtInstruction& i = program_.code[n];
    if (i.op == Opcode::bulk_read) {  // what it moves was elsewhere before
      const int to = place_of(program_.code[n + 1]);
      if (where == anywhere || to == anywhere || to == where) mark_stores_to(place_of(i));
    }
    if (i.op != Opcode::store && i.op != Opcode::atomic) continue;
    const int place = place_of(i);
    if (where != anywhere && place != anywhere && place != where) continue;
    const std::uint32_t words = i.op == Opcode::store ? i.extra : 1;
    for (std::uint32_t k = 0; i.b != no_register && k < words; ++k) mark(i.b + k);
    mark(i.c);
  }
}

void Relevance::note_parameter(const SimtInstruction& load) {
  const auto in = std::find_if(program_.inputs.begin(), program_.inputs.end(), [&load](const ProgramInput& x) {
    return x.reg == load.a && x.kind == ProgramInput::Kind::parameter_block;
  });
  if (in == program_.inputs.end()) {
    any_part_ = true;
    return;
  }
  const std::int64_t bytes = std::int64_t{size_of(load.type)} * load.extra;
  parts_.push_back({static_cast<int>(in->low), load.imm, load.imm + bytes});
}

bool Relevance::of_buffer(int buffer) const {
  return read_[anywhere] != 0 || read_[static_cast<std::size_t>(first_buffer + buffer)] != 0;
}

bool Relevance::of_field(const ParameterField& f) const {
  if (any_part_) return true;
  return std::any_of(parts_.begin(), parts_.end(), [&f](const Part& p) {
    return p.parameter == f.parameter && p.first < f.at + size_of(f.type) && f.at < p.past;
  });
}

}  // namespace kernelcast::interpreter
