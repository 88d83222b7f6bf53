// Loops: how far they are unrolled, and what their iterations convert. Pragmas are changed in the source and compiled
// again, so that the answer holds the registers and the loads in flight that the compiler makes of it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>

#include "advise/place.h"
#include "advise/rules.h"
#include "io/text.h"

namespace kernelcast::advice {
namespace {

/// A line of the source that asks for unrolling: without a factor, or with one above the limit.
struct Pragma {
  int line = 0;
  std::size_t at = 0, length = 0;  // in the whole text
  int factor = 0;                  // 0: as far as it goes
};

std::vector<Pragma> pragmas_of(const std::string& text) {
  static const std::regex unroll(R"(^[ \t]*#[ \t]*pragma[ \t]+unroll[ \t]*(\(?[ \t]*(\d{1,4})[ \t]*\)?)?[ \t]*$)");
  std::vector<Pragma> found;
  int number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    std::smatch m;
    if (line.size() <= longest_read && std::regex_match(line, m, unroll))
      found.push_back({number, begin, line.size(), m[2].matched ? std::stoi(m[2].str()) : 0});
    begin = end + 1;
  }
  return found;
}

std::string indent_of(const std::string& line) { return line.substr(0, line.find_first_not_of(" \t")); }

/// The text with another factor in one pragma.
std::string with_factor(const std::string& text, const Pragma& p, int factor) {
  const std::string line = text.substr(p.at, p.length);
  return text.substr(0, p.at) + indent_of(line) + fmt::format("#pragma unroll {}", factor) +
         text.substr(p.at + p.length);
}

bool runs_through(const Subject& s, int line) {
  return std::any_of(s.profile().blocks.begin(), s.profile().blocks.end(), [&](const Block& b) {
    return std::any_of(b.lines.begin(), b.lines.end(), [&](const LineOps& l) {
      return s.in_source(l.line) && l.line.line > line && l.line.line <= line + 3;
    });
  });
}

constexpr int most_asked = 3;         // pragmas whose change is drafted
constexpr int most_unrolled = 2;      // of unrolled loops, each compiled
constexpr double few_registers = 32;  // of a thread: no device's occupancy is limited by so many

/// What fewer copies of a body can gain at most: every warp that fits, and nothing spilled.
void with_few_registers(Variant& v) {
  for (Block& b : v.profile.blocks) {
    b.ops[OpClass::local_load] = b.ops[OpClass::local_store] = 0;
    b.stalls.waits[static_cast<std::size_t>(Latency::local)] = 0;
  }
  v.workload.spill_bytes = 0;
  v.workload.registers_per_thread = std::min(v.workload.registers_per_thread, few_registers);
}

/// Unrolled loops of kernels whose registers limit the occupancy or are spilled.
std::vector<Draft> unrolled_too_far(const Subject& s) {
  const Workload& w = s.workload();
  const bool full = s.estimate().occupancy.limiter == "registers" && s.estimate().occupancy.fraction < 0.5;
  if ((w.spill_bytes <= 0 && !full) || !could_gain(s, with_few_registers)) return {};
  std::optional<DeviceResult> best;
  std::string text;
  Pragma at;
  int factor = 0, asked = 0;
  double best_s = *s.estimate().time_s.value;
  for (const Pragma& p : pragmas_of(s.question().source.text)) {
    if ((p.factor > 0 && p.factor <= 4) || !runs_through(s, p.line) || asked == most_unrolled) continue;
    ++asked;
    for (const int f : {4, 1}) {
      ForecastQuestion q = s.question();
      q.source.text = with_factor(s.question().source.text, p, f);
      auto now = s.ask(q);
      if (!now || *now->models.front().estimate->time_s.value >= best_s) continue;
      // A private array that lost its constant indices is no gain that would be kept.
      if (now->workload->stack_bytes > w.stack_bytes) continue;
      best_s = *now->models.front().estimate->time_s.value;
      text = q.source.text;
      at = p;
      factor = f;
      best = std::move(now);
    }
  }
  if (!best) return {};
  SourceLine line;
  for (const SourceLine l : s.lines())
    if (s.in_source(l) && l.line == at.line) line = l;
  Draft d{line, "unroll", "", "", {}, std::move(best), {}};
  d.message = fmt::format(
      "unrolled {}: {:.0f} registers a thread{}",
      at.factor > 0 ? fmt::format("{} times", at.factor) : std::string("in full"), w.registers_per_thread,
      w.spill_bytes > 0 ? fmt::format(", and {} are spilled", format_bytes(w.spill_bytes))
                        : fmt::format(" leave {} occupancy", format_percent(s.estimate().occupancy.fraction)));
  d.change = fmt::format("#pragma unroll {}", factor);
  d.rewritten = text;
  return {std::move(d)};
}

/// Instructions that only count: of one iteration, an addition, a comparison and a branch.
double overhead_of(const OpCounts& ops) {
  const double control = std::min(1.0, ops[OpClass::control]);
  return control + std::min(control, ops[OpClass::compare]) + std::min(control, ops[OpClass::int_add]);
}

/// Short loops that a pragma keeps from being unrolled.
std::vector<Draft> not_unrolled(const Subject& s) {
  std::vector<Draft> drafts;
  const std::string& text = s.question().source.text;
  for (const Pragma& p : pragmas_of(text)) {
    if (p.factor != 1 || static_cast<int>(drafts.size()) == most_asked) continue;
    const auto& loops = s.profile().loops;
    for (std::size_t l = 0; l < loops.size(); ++l) {
      if (!s.in_source(loops[l].line) || loops[l].line.line <= p.line || loops[l].line.line > p.line + 3) continue;
      const auto trips = s.trips(static_cast<int>(l));
      if (!trips || *trips < 4) continue;
      double all = 0, counting = 0;
      for (const Block& b : s.profile().blocks)
        if (b.loop == static_cast<int>(l)) {
          all += b.ops.total();
          counting += overhead_of(b.ops);
        }
      if (all <= 0 || counting < 0.05 * all) continue;
      Draft d{loops[l].line, "for", "", "", {}, {}, {}};
      d.message = fmt::format("{:.3g} iterations of {:.3g} instructions, {:.3g} of which count and branch", *trips, all,
                              counting);
      d.change = "#pragma unroll 4";
      d.what_if = [at = static_cast<int>(l)](Variant& v) {
        for (Block& b : v.profile.blocks) {
          if (b.loop != at) continue;
          const double control = std::min(1.0, b.ops[OpClass::control]);
          for (const OpClass c : {OpClass::compare, OpClass::int_add, OpClass::control})
            b.ops[c] -= 0.75 * std::min(control, b.ops[c]);
        }
      };
      d.rewritten = with_factor(text, p, 4);
      drafts.push_back(std::move(d));
      break;
    }
  }
  return drafts;
}

constexpr double much = 0.08;  // of a kernel's instructions, from which conversions are a finding

/// Values that each iteration converts to another type.
std::vector<Draft> conversions(const Subject& s) {
  const KernelProfile& p = s.profile();
  std::map<std::pair<int, SourceLine>, double> lines;  // loop, line
  for (std::size_t b = 0; b < p.blocks.size(); ++b) {
    if (p.blocks[b].loop < 0) continue;
    for (const LineOps& l : p.blocks[b].lines)
      if (l.line.file >= 0)
        lines[{p.blocks[b].loop, l.line}] +=
            (l.ops[OpClass::convert] + l.ops[OpClass::convert64] + l.ops[OpClass::convert_alu]) *
            s.workload().block_counts.at(b).warps;
  }
  double all = 0;
  const std::pair<const std::pair<int, SourceLine>, double>* worst = nullptr;
  for (const auto& line : lines) {
    all += line.second;
    if (worst == nullptr || line.second > worst->second) worst = &line;
  }
  const double total = s.workload().warp_ops.total();
  if (worst == nullptr || all < much * total) return {};
  const auto what_if = [](Variant& v) {
    for (Block& b : v.profile.blocks) {
      if (b.loop < 0) continue;
      b.ops[OpClass::convert] = b.ops[OpClass::convert64] = b.ops[OpClass::convert_alu] = 0;
    }
  };
  return {{worst->first.second,
           "",
           fmt::format("{} of the warp instructions convert between types, in a loop", format_percent(all / total)),
           "keep one type in the loop: a counter of the type that is computed with, arithmetic in half2 on half data, "
           "or values converted once before the loop",
           what_if,
           {},
           {"the values can be had in the type that is computed with"}}};
}

}  // namespace

std::span<const Rule> loop_rules() {
  static const Rule list[] = {
      {{"unrolled-too-far", "an unrolled loop takes registers that occupancy needs"}, unrolled_too_far},
      {{"not-unrolled", "a short loop that a pragma keeps from being unrolled"}, not_unrolled},
      {{"conversion-in-loop", "iterations convert values between types"}, conversions},
  };
  return list;
}

}  // namespace kernelcast::advice
