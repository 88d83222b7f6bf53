// Facts of a loop. With a launch: an instrumented copy is executed for the branch's pattern, the kernel itself for the
// instructions of the paths, by line and column and with what the paths call, and each legal rewrite for what it saves.
// Without: assumed, with instructions of the target's code.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cli/converge_run.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

constexpr double assumed_trips = 16;        // of loops inside the paths whose trip count is no constant
constexpr double assumed_iterations = 256;  // of the loop itself
constexpr const char* macro_reason = "the paths are written by one macro and cannot be told apart; --assume rho=N";

void add(std::vector<Assumption>& to, const Assumption& a) {
  if (std::find(to.begin(), to.end(), a) == to.end()) to.push_back(a);
}

void set_costs(LoopFacts& facts, double taken, double other, double rest) {
  if (taken + other <= 0) {
    if (facts.code == BranchCode::branch) facts.code = BranchCode::selections;
    facts.costs_reason = "no instruction of the target's code stands in the paths; --assume rho=N";
    return;
  }
  facts.costs = LoopCosts{taken, other, std::max(rest, 1.0), 0};
}

/// The part that a line of a profile with regions belongs to; without value: it is no code of the loop.
std::optional<LoopPart> part_of(SourceLine line) {
  const int region = region_of(line.line);
  if (region < 0) return std::nullopt;
  return static_cast<LoopPart>(region);
}

struct PartOps {
  double taken = 0, other = 0, rest = 0;
  void add(SourceLine line, double ops) {
    const std::optional<LoopPart> part = part_of(line);
    if (part) (part == LoopPart::taken ? taken : part == LoopPart::other ? other : rest) += ops;
  }
  [[nodiscard]] double whole() const { return taken + other + rest; }
};

/// What became of the branch: from the conditional branches of its condition.
BranchCode branch_code(const KernelProfile& profile, const DivergentLoop& loop) {
  std::size_t branches = 0, predicated = 0;
  for (const bool uniform : {false, true}) {  // that of an unrolled loop's rest may stand in the same place
    for (const Branch& b : profile.branches) {
      if ((b.verdict == Branch::Verdict::uniform) != uniform || part_of(b.line) != LoopPart::condition) continue;
      ++branches;
      predicated += b.predicated ? 1 : 0;
    }
    if (branches > 0) break;
  }
  if (branches > 0) return predicated == branches ? BranchCode::predicated : BranchCode::branch;
  return loop.regions.empty() ? BranchCode::branch : BranchCode::selections;
}

/// False: the loop was not reached.
bool record_pattern(const ConvergeRequest& r, const DivergentLoop& loop, LoopFacts& facts) {
  ExecuteOptions options = r.request.execute;
  options.keep_buffers = true;
  const std::size_t words = 1 + static_cast<std::size_t>(pattern_rows) * pattern_row_words;
  options.contents["kernelcast_pattern"].assign(words * sizeof(std::uint32_t), 0);
  const KernelRun k = run_kernel(r, instrumented(r.request.source, r.options, loop), loop.runs_as(), options);
  const auto recording = k.execution.buffers.find("kernelcast_pattern");
  if (recording == k.execution.buffers.end())
    throw LimitError("the branch cannot be recorded: " + loop.runs_as() + " with one more parameter is another kernel");
  const std::vector<unsigned char>& bytes = recording->second;
  std::vector<std::uint32_t> recorded(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(recorded.data(), bytes.data(), recorded.size() * sizeof(std::uint32_t));
  const int width = r.device.geometry().warp_size;
  facts.warps = recorded_patterns(recorded, k.launch.block.count(), width);
  if (facts.warps.empty()) return false;
  BranchPattern joined;
  for (const BranchPattern& w : facts.warps) joined.lanes.insert(joined.lanes.end(), w.lanes.begin(), w.lanes.end());
  facts.statistics = statistics_of(joined);
  facts.statistics.width = width;
  return true;
}

void count_instructions(const DivergentLoop& loop, const KernelRun& ran, LoopFacts& facts) {
  PartOps ops;
  for (const LineExecution& l : ran.execution.lines) ops.add(l.line, l.warp_ops.total());
  const double all = warp_instructions(ran.execution);
  if (all > 0) facts.share_of_kernel = std::min(1.0, ops.whole() / all);
  facts.code = branch_code(ran.analysis.profile, loop);
  if (loop.regions.empty()) facts.costs_reason = macro_reason;
  if (!facts.costs_reason.empty()) return;
  StepCounts plain;
  for (const BranchPattern& w : facts.warps) {
    const StepCounts c = replay(w, Policy::plain);
    plain.taken += c.taken;
    plain.other += c.other;
    plain.trips += c.trips;
  }
  // Lines are of the whole launch, patterns of the warps recorded.
  const double width = facts.statistics.width;
  const double warps =
      static_cast<double>(ran.launch.grid.count()) * std::ceil(static_cast<double>(ran.launch.block.count()) / width);
  const double scale = warps / static_cast<double>(facts.warps.size());
  const auto each = [scale](double sum, std::int64_t times) {
    return times > 0 ? sum / (static_cast<double>(times) * scale) : 0;
  };
  const bool passes = facts.code == BranchCode::branch;  // else every trip has all of it
  set_costs(facts, each(ops.taken, passes ? plain.taken : plain.trips),
            each(ops.other, passes ? plain.other : plain.trips), each(ops.rest, plain.trips));
}

/// Rewrites that are legal and possible, executed.
void try_rewrites(const ConvergeRequest& r, const DivergentLoop& loop, const KernelRun& plain, LoopFacts& facts) {
  if (!loop.no_rewrite.empty()) return;
  for (const Policy p : {Policy::round_robin, Policy::advance, Policy::advance_in_order}) {
    const LegalityVerdict& v = p == Policy::advance ? loop.advance : loop.postpone;
    if (v.legal != Legality::yes) continue;
    try {
      const Source changed = with_text(r.request.source, loop.file, rewritten(r.request.source, r.options, loop, p));
      const KernelRun after = run_kernel(r, changed, loop.runs_as(), r.request.execute);
      if (plain.execution.complete && after.execution.complete)
        facts.executed[p] = warp_instructions(plain.execution) / warp_instructions(after.execution);
    } catch (const Error&) {  // then it is not known; --rewrite says why
    }
  }
}

/// Loops inside the paths with their trips where these are constant.
void from_profile(const ConvergeRequest& r, const DivergentLoop& loop, LoopFacts& facts,
                  std::vector<Assumption>& assumptions) {
  FrontendOptions o = r.options;
  o.regions = loop.regions;
  o.kernel = loop.runs_as();
  Analysis analysis;
  try {
    analysis = analyze(r.request.source, o);
  } catch (const Error& e) {  // the verdict stands without the target's code
    const std::string why = message_of(e);
    facts.costs_reason = "the target's code is not known: " + why.substr(0, why.find('\n'));
    return;
  }
  facts.code = branch_code(analysis.profile, loop);
  if (loop.regions.empty()) facts.costs_reason = macro_reason;
  if (!facts.costs_reason.empty()) return;
  const std::vector<Loop>& loops = analysis.profile.loops;
  PartOps ops;
  for (const Block& b : analysis.profile.blocks) {
    double times = 1;
    for (int k = b.loop; k >= 0; k = loops[static_cast<std::size_t>(k)].parent) {
      const Loop& inner = loops[static_cast<std::size_t>(k)];
      const std::optional<LoopPart> part = part_of(inner.line);
      if (!part || part == LoopPart::beginning) break;  // the loop itself
      const auto trips = inner.trips.constant();
      if (!trips) {
        add(assumptions, {"trips of the loop at " + line_text(r, loop.file, line_in_region(inner.line.line)),
                          fmt::format("{}", assumed_trips), "--grid and --block execute it"});
      }
      times *= trips ? static_cast<double>(*trips) : assumed_trips;
    }
    for (const LineOps& l : b.lines) ops.add(l.line, l.ops.total() * times);
  }
  set_costs(facts, ops.taken, ops.other, ops.rest);
}

}  // namespace

LoopFacts facts_of(const ConvergeRequest& r, const DivergentLoop& loop, report::ConvergeReport& report) {
  LoopFacts facts;
  PatternStatistics& s = facts.statistics;
  s.width = r.device.geometry().warp_size;
  s.iterations = r.iterations.value_or(assumed_iterations);
  s.p = r.p.value_or(0.5);
  s.f = std::min(r.f.value_or(2 * s.p * (1 - s.p)), 2 * std::min(s.p, 1 - s.p));
  if (r.launched && loop.can_record) {
    const KernelRun plain = run_kernel(r, r.request.source, loop.runs_as(), r.request.execute, loop.regions);
    add_findings(report.findings, plain.analysis.profile, plain.execution);
    if (!record_pattern(r, loop, facts)) {
      facts.costs_reason = "the loop was not reached in the blocks that were executed";
      return facts;
    }
    count_instructions(loop, plain, facts);
    try_rewrites(r, loop, plain, facts);
  } else {
    add(report.assumptions, {"pattern of the branch at " + line_text(r, loop.branch_file, loop.branch_line),
                             fmt::format("p {}, f {}, {} iterations", s.p, s.f, s.iterations),
                             loop.can_record ? "--grid and --block execute it; --assume p=, f=, iterations="
                                             : "--assume p=, f=, iterations="});
    from_profile(r, loop, facts, report.assumptions);
  }
  if (r.rho) facts.costs = LoopCosts{*r.rho / 2 * 100, *r.rho / 2 * 100, 100, 0};
  return facts;
}

std::optional<double> active_lanes(const ConvergeRequest& r, const UnevenLoop& loop, report::ConvergeReport& report) {
  if (!r.launched) return std::nullopt;
  const KernelRun k = run_kernel(r, r.request.source, loop.runs_as(), r.request.execute, loop.regions);
  add_findings(report.findings, k.analysis.profile, k.execution);
  double lanes = 0, slots = 0;
  for (const LineExecution& l : k.execution.lines) {
    if (region_of(l.line.line) < 0) continue;
    lanes += l.lanes;
    slots += l.warp_ops.total() * r.device.geometry().warp_size;
  }
  if (slots <= 0) return std::nullopt;
  return lanes / slots;
}

}  // namespace kernelcast::cli
