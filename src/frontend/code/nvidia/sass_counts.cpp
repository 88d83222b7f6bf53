// ptxas moves instructions between blocks (out of loops, to where their results are needed) and merges short guarded
// paths into the block before them. What counts is how often the machine's block runs, so all of a block counts for one
// PTX block: the one that most of its instructions come from, leaving those under a predicate aside, because they may
// come from a path behind the block's branch. Of two equal ones the first in the text.
//
// ptxas also unrolls loops: a block then holds several copies of a PTX block and runs as much less often, and another
// copy does what is left over. Where instructions of memory (one for one in PTX) occur k times in a block, it counts
// for a k-th of an execution, and smaller copies of the same PTX block for nothing.
//
// Stops: the machine has the schedule written into it. An instruction that waits for a barrier (bits 116-121) waits for
// the one that set it (110-112); a stall count of n leaves n - 1 cycles empty, which are written as waits for
// arithmetic of four cycles with one slot filled (Jia et al. 2018, chapter 2).
#include "frontend/code/nvidia/sass_counts.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "frontend/code/stalls.h"
#include "machine/sass/code.h"

namespace kernelcast::frontend {
namespace {

constexpr int none = -1;
constexpr double arithmetic_cycles = 4;
constexpr int barriers = 6;  // a write barrier of 6 or 7 sets none: 7 is what assemblers write, 6 is a damaged file's

bool is_conditional_branch(const AsmInstruction& i) { return !i.guard.empty() && i.opcode.starts_with("bra"); }

std::size_t line_start(std::string_view text, std::string_view part) {
  const auto at = static_cast<std::size_t>(part.data() - text.data());
  const std::size_t before = text.rfind('\n', at);
  return before == std::string_view::npos ? 0 : before + 1;
}

/// The PTX instruction that a machine instruction came from; none: the line table does not say.
int origin(const std::vector<int>& lines, std::size_t i, std::size_t instructions) {
  const int line = i < lines.size() ? lines[i] : 0;
  return line >= 1 && static_cast<std::size_t>(line) <= instructions ? line - 1 : none;
}

/// The largest number that a .file directive of the text gives; 0: there is none.
int last_file(std::string_view ptx) {
  constexpr std::string_view directive = ".file";
  int last = 0;
  for (auto at = ptx.find(directive); at != std::string_view::npos; at = ptx.find(directive, at + 1)) {
    std::size_t digits = at + directive.size();
    while (digits < ptx.size() && (ptx[digits] == ' ' || ptx[digits] == '\t')) ++digits;
    int number = 0;
    std::from_chars(ptx.data() + digits, ptx.data() + ptx.size(), number);
    last = std::max(last, std::min(number, max_file_index));
  }
  return last;
}

class Attribution {
 public:
  Attribution(const AsmFunction& kernel, std::span<const sass::Instruction> code, int architecture,
              const std::vector<int>& lines)
      : kernel_(kernel), code_(code), lines_(lines), blocks_(sass::blocks_of(code, architecture)) {}

  SassCounts counts() {
    SassCounts out;
    out.costs.resize(kernel_.instructions.size());
    out.walk.stalls.resize(kernel_.blocks.size());
    out.walk.phases.resize(kernel_.blocks.size());
    out.removed.assign(kernel_.instructions.size(), false);
    for (std::size_t i = 0; i < kernel_.instructions.size(); ++i)
      out.removed[i] = is_conditional_branch(kernel_.instructions[i]);
    find_owners();
    find_weights();
    for (std::size_t b = 0; b < blocks_.size(); ++b) add_block(b, out);
    add_stalls(out);
    return out;
  }

 private:
  int block_of(std::size_t instruction) const {
    const int from = origin(lines_, instruction, kernel_.instructions.size());
    return from == none ? none : kernel_.instructions[static_cast<std::size_t>(from)].block;
  }

  int most_common(const sass::Block& b, bool guarded_too) const {
    std::map<int, int> votes;
    for (std::size_t i = b.first; i < b.end; ++i)
      if (guarded_too || sass::get(code_[i], sass::guard) == sass::unguarded)
        if (const int from = block_of(i); from != none) ++votes[from];
    const auto best = std::ranges::max_element(votes, [](const auto& x, const auto& y) { return x.second < y.second; });
    return best == votes.end() ? none : best->first;
  }

  /// A block that says nothing of where it comes from goes on as the one before it.
  void find_owners() {
    int before = 0;
    for (const sass::Block& b : blocks_) {
      int owner = most_common(b, false);
      if (owner == none) owner = most_common(b, true);
      owners_.push_back(before = owner == none ? before : owner);
    }
    last_of_.assign(kernel_.blocks.size(), none);
    for (std::size_t i = 0; i < kernel_.instructions.size(); ++i)
      last_of_[static_cast<std::size_t>(kernel_.instructions[i].block)] = static_cast<int>(i);
  }

  /// How often each PTX instruction occurs in a machine block that counts for the block it is of; only of those that
  /// one machine instruction stands for, where there are any.
  std::map<int, int> occurrences(std::size_t b) const {
    std::map<int, int> all, plain;
    for (std::size_t i = blocks_[b].first; i < blocks_[b].end; ++i) {
      const int from = origin(lines_, i, kernel_.instructions.size());
      if (from == none || kernel_.instructions[static_cast<std::size_t>(from)].block != owners_[b]) continue;
      ++all[from];
      if (is_memory(sass::class_of(code_[i]))) ++plain[from];
    }
    return plain.empty() ? all : plain;
  }

  static double copies(const std::map<int, int>& times) {
    std::vector<int> sorted;
    for (const auto& [from, n] : times) sorted.push_back(n);
    if (sorted.empty()) return 1;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
  }

  static bool mostly_in(const std::map<int, int>& small, const std::map<int, int>& large) {
    std::size_t shared = 0;
    for (const auto& [from, n] : small) shared += large.count(from);
    return 2 * shared > small.size();
  }

  void find_weights() {
    std::vector<std::map<int, int>> times;
    for (std::size_t b = 0; b < blocks_.size(); ++b) times.push_back(occurrences(b));
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const double own = copies(times[b]);
      double weight = 1 / own;
      for (std::size_t other = 0; other < blocks_.size(); ++other) {
        if (other == b || owners_[other] != owners_[b] || times[b].empty() || !mostly_in(times[b], times[other]))
          continue;
        const double theirs = copies(times[other]);
        if (theirs > own || (theirs == own && other < b)) weight = 0;
      }
      weights_.push_back(weight);
    }
  }

  void add_block(std::size_t b, SassCounts& out) {
    for (std::size_t i = blocks_[b].first; i < blocks_[b].end; ++i) {
      const OpClass c = sass::class_of(code_[i]);
      const int from = origin(lines_, i, kernel_.instructions.size());
      if (from != none && sass::name_of(code_[i]) == "BRA") out.removed[static_cast<std::size_t>(from)] = false;
      if (from != none && sass::name_of(code_[i]) == "EXIT") out.removed[static_cast<std::size_t>(from)] = false;
      if (c == OpClass::count_) continue;
      if (sass::name_of(code_[i]).empty()) out.unknown.push_back(std::to_string(sass::get(code_[i], sass::operation)));
      const int owner = owners_[b];
      const bool at_home = from != none && kernel_.instructions[static_cast<std::size_t>(from)].block == owner;
      const int to = at_home ? from : last_of_[static_cast<std::size_t>(owner)];
      if (to != none) out.costs[static_cast<std::size_t>(to)][c] += weights_[b];
    }
  }

  void add_stalls(SassCounts& out) const {
    std::vector<TimedBlock> timed;
    for (const sass::Block& b : blocks_) {
      TimedBlock t;
      for (std::size_t i = b.first; i < b.end; ++i) {
        const OpClass c = sass::class_of(code_[i]);
        TimedInstruction one;
        if (c != OpClass::count_) one.ops[c] = 1;
        const std::uint32_t mask = sass::get(code_[i], sass::wait_mask);
        for (int barrier = 0; barrier < barriers; ++barrier)
          if ((mask >> static_cast<unsigned>(barrier) & 1U) != 0) one.uses.push_back(barrier);
        if (const auto sets = static_cast<int>(sass::get(code_[i], sass::write_barrier)); sets < barriers)
          one.defs.push_back(sets);
        t.code.push_back(std::move(one));
      }
      for (const std::size_t s : b.successors) t.successors.push_back(static_cast<int>(s));
      timed.push_back(std::move(t));
    }
    Timing timing = nvidia_timing(75);
    timing.reschedule = false;
    const Walk found = walk(timed, barriers, timing);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const auto owner = static_cast<std::size_t>(owners_[b]);
      Stalls& to = out.walk.stalls[owner];
      to.add(found.stalls[b], weights_[b]);
      Stalls fixed;
      for (std::size_t i = blocks_[b].first; i < blocks_[b].end; ++i) {
        const double stall = sass::get(code_[i], sass::stall);
        const OpClass c = sass::class_of(code_[i]);
        if (stall <= 1 || c == OpClass::count_ || c == OpClass::control) continue;  // walk() has the branches
        fixed.waits[static_cast<std::size_t>(Latency::alu)] += stall / arithmetic_cycles;
        fixed.hidden[static_cast<std::size_t>(Latency::alu)] += 1;
      }
      to.add(fixed, weights_[b]);
      std::vector<BarrierPhase> phases = found.phases[b];
      spread(fixed, phases);
      add_phases(out.walk.phases[owner], phases, weights_[b]);
    }
  }

  /// What the code of a block waits for by its control fields, over its phases by their instructions.
  static void spread(const Stalls& fixed, std::vector<BarrierPhase>& phases) {
    double all = 0;
    for (const BarrierPhase& p : phases) all += p.instructions;
    if (all <= 0) return;
    for (BarrierPhase& p : phases)
      for (std::size_t c = 0; c < latency_count; ++c) {
        p.waits[c] += fixed.waits[c] * p.instructions / all;
        p.hidden[c] += fixed.hidden[c] * p.instructions / all;
      }
  }

  const AsmFunction& kernel_;
  std::span<const sass::Instruction> code_;
  const std::vector<int>& lines_;
  std::vector<sass::Block> blocks_;
  std::vector<int> owners_;      // PTX block of each machine block
  std::vector<double> weights_;  // of one execution of that PTX block
  std::vector<int> last_of_;     // last PTX instruction of each PTX block
};

}  // namespace

MarkedPtx marked_ptx(std::string_view ptx, const AsmFunction& kernel) {
  MarkedPtx out;
  out.file = last_file(ptx) + 1;
  std::map<std::size_t, std::string> insertions;  // before this place of the text
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i)
    insertions[line_start(ptx, kernel.instructions[i].opcode)] +=
        "\t.loc " + std::to_string(out.file) + " " + std::to_string(i + 1) + " 1\n";
  std::size_t from = 0;
  for (const auto& [at, text] : insertions) {
    out.text.append(ptx.substr(from, at - from)).append(text);
    from = at;
  }
  out.text.append(ptx.substr(from)).append("\n.file " + std::to_string(out.file) + " \"instructions\"\n");
  return out;
}

SassCounts count_sass(const AsmFunction& kernel, std::span<const sass::Instruction> code, int architecture,
                      const std::vector<int>& lines) {
  return Attribution(kernel, code, architecture, lines).counts();
}

}  // namespace kernelcast::frontend
