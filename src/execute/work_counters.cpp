#include "execute/work_counters.h"

#include <algorithm>
#include <cstring>

namespace kernelcast::interpreter {
namespace {

/// Of all accesses of the profile, in the order of its blocks.
std::vector<const Access*> accesses_of(const KernelProfile& profile) {
  std::vector<const Access*> all;
  for (const Block& b : profile.blocks)
    for (const Access& a : b.accesses) all.push_back(&a);
  return all;
}

bool same_for_all(const Access& a) {
  const auto symbols = a.offset.symbols();
  return a.unknown < 0 &&
         std::all_of(symbols.begin(), symbols.end(), [](const Symbol& s) { return s.name().starts_with("arg:"); });
}

}  // namespace

std::vector<bool> work_counters(const KernelProfile& profile, const Program& program,
                                const std::set<std::uint32_t>& registers_read) {
  std::vector<bool> found(program.code.size(), false);
  const std::vector<const Access*> accesses = accesses_of(profile);
  for (std::size_t k = 0; k < program.code.size(); ++k) {
    const SimtInstruction& i = program.code[k];
    if (i.op != Opcode::atomic || i.site < 0 || is_float(i.type) || size_of(i.type) < 4 ||
        !registers_read.contains(i.dst))
      continue;
    const auto op = static_cast<AtomicOp>(i.imm);
    const AccessSite& site = program.sites[static_cast<std::size_t>(i.site)];
    found[k] = (op == AtomicOp::add || op == AtomicOp::sub || op == AtomicOp::wrap_inc) &&
               site.space == MemorySpace::global && site.pieces.size() == 1 &&
               same_for_all(*accesses[static_cast<std::size_t>(site.pieces.front().access)]);
  }
  return found;
}

std::uint64_t WorkShares::take(unsigned char* counter, int bytes, std::uint64_t amount, std::int64_t block,
                               std::int64_t blocks) {
  Counter& c = counters_[counter];
  if (c.bytes == 0) {
    c.bytes = bytes;
    std::memcpy(&c.start, counter, static_cast<std::size_t>(bytes));
  }
  const auto all = static_cast<std::uint64_t>(blocks);
  const std::uint64_t first = c.start + c.taken * all + amount * static_cast<std::uint64_t>(block);
  c.taken += amount;
  const std::uint64_t now = c.start + c.taken * all;  // what a load of the counter sees
  std::memcpy(counter, &now, static_cast<std::size_t>(bytes));
  return first;
}

void WorkShares::give_back() {
  for (const auto& [counter, c] : counters_) std::memcpy(counter, &c.start, static_cast<std::size_t>(c.bytes));
  counters_.clear();
}

}  // namespace kernelcast::interpreter
