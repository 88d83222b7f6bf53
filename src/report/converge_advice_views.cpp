// `converge`: verdicts and predicted gains of each divergent loop.
#include <fmt/format.h>

#include <cmath>

#include "io/text.h"
#include "report/converge_views.h"
#include "report/execution_views.h"
#include "report/json_parts.h"

namespace kernelcast::report {
namespace {

/// "line 7", with its file where that is not the one that was named just before.
std::string spot_text(int line, const std::string& file, const std::string& here) {
  return file == here ? fmt::format("line {}", line) : fmt::format("{}:{}", file, line);
}

std::string verdict_text(const LegalityVerdict& v, const std::string& here) {
  if (v.legal == Legality::yes) return "legal";
  std::string text = v.legal == Legality::no ? "not legal" : "cannot tell";
  text += ": " + v.reason;
  if (v.line > 0) text += " (" + spot_text(v.line, v.file, here) + ")";
  return text;
}

/// Why there is no speedup.
std::string no_gain_reason(const LoopAdvice& a) {
  return a.facts.code == BranchCode::branch ? a.facts.costs_reason : "no branch is left in the target's code";
}

std::string gain_text(const LoopAdvice& a, const StrategyAdvice& s) {
  if (!s.speedup) return a.facts.code == BranchCode::branch ? "?" : "-";
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", *s.speedup, s.low, s.high);
}

std::string facts_text(const LoopAdvice& a) {
  const PatternStatistics& s = a.facts.statistics;
  std::string text = fmt::format(
      "taken {}, path changes in {} of iterations ({})", format_percent(s.p), format_percent(s.f),
      a.facts.warps.empty() ? "assumed"
                            : "executed, " + format_count_of(static_cast<double>(a.facts.warps.size()), "warp"));
  if (a.facts.costs) {
    text += fmt::format("; rho {:.2f}", a.facts.costs->rho());
  } else {
    text += "; rho not known: " + a.facts.costs_reason;
  }
  if (a.facts.code == BranchCode::predicated && a.facts.costs && !a.facts.warps.empty()) {
    text += fmt::format("; predicated: an iteration issues {:.1f} instructions of both paths",
                        a.facts.costs->taken + a.facts.costs->other);
  }
  return text;
}

std::string kernel_text(const DivergentLoop& loop) {
  if (loop.instances.size() < 2) return loop.runs_as();
  return fmt::format("{} (one of {} instances, which are all judged)", loop.runs_as(), loop.instances.size());
}

std::string place_text(const std::string& kernel, const std::string& function) {
  return function.empty() ? kernel : function + ", which " + kernel + " calls";
}

}  // namespace

std::string converge_text(const ConvergeReport& r, const Style& style) {
  if (r.loops.empty() && r.uneven.empty()) return r.source + ": no loop with a branch that lanes take differently\n";
  std::string text;
  for (const LoopAdvice& a : r.loops) {
    const DivergentLoop& loop = a.loop;
    text += style.bold(fmt::format("{}:{}", loop.file, loop.loop.first)) +
            fmt::format("  loop in {}, branch at {}, {}\n", place_text(kernel_text(loop), loop.function),
                        spot_text(loop.branch_line, loop.branch_file, loop.file), loop.divergence);
    text += "  " + facts_text(a) + "\n";
    Table table({Table::Align::left, Table::Align::left, Table::Align::right, Table::Align::right, Table::Align::left},
                2);
    const bool tried = !a.facts.executed.empty();
    table.row({"strategy", "speedup of the loop", "from rho", tried ? "kernel, executed" : "", "verdict"});
    for (const StrategyAdvice& s : a.strategies) {
      table.row({std::string(name_of(s.policy)), gain_text(a, s),
                 s.break_even_rho ? fmt::format("{:.2f}", *s.break_even_rho) : "-",
                 s.executed ? fmt::format("{:.2f}", *s.executed) : std::string(tried ? "-" : ""),
                 verdict_text(s.verdict, loop.file)});
    }
    text += table.str(style, true);
    text += "  recommended: " + a.recommendation;
    if (a.kernel_speedup) text += fmt::format("; the kernel gains {:.2f}", *a.kernel_speedup);
    text += "\n";
    if (!loop.no_rewrite.empty()) text += "  no rewrite: " + loop.no_rewrite + "\n";
    if (loop.nested) text += "  more divergent branches are nested inside; they are not counted\n";
  }
  for (const UnevenAdvice& u : r.uneven) {
    text += style.bold(fmt::format("{}:{}", u.loop.file, u.loop.loop.first)) +
            fmt::format("  loop in {}: lanes leave it at different times, {}{}\n  {}\n",
                        place_text(u.loop.runs_as(), u.loop.function), u.loop.divergence,
                        u.active ? "; " + format_percent(*u.active) + " of the lanes are active in it" : "",
                        u.recommendation);
  }
  for (const Assumption& x : r.assumptions) {
    text += fmt::format("  assumed: {} = {}{}\n", x.what, x.value, x.replace.empty() ? "" : "  [" + x.replace + "]");
  }
  return text;
}

namespace {

Json strategy_json(const LoopAdvice& a, const StrategyAdvice& s) {
  Json j;
  j["name"] = name_of(s.policy);
  j["legal"] = name_of(s.verdict.legal);
  j["condition"] = name_of(s.verdict.condition);
  std::string reason = s.verdict.legal == Legality::yes ? "" : s.verdict.reason;
  const auto because = [&reason](const std::string& why) { reason += (reason.empty() ? "" : "; ") + why; };
  j["reason_line"] = s.verdict.line;
  if (s.verdict.line > 0) j["reason_file"] = s.verdict.file;
  const auto none = [&](const char* key, const std::string& why) {
    j[key] = nullptr;
    because(std::string(key) + ": " + why);
  };
  if (s.speedup) {
    j["speedup"] = number(*s.speedup);
    j["interval"] = {number(s.low), number(s.high)};
  } else {
    none("speedup", no_gain_reason(a));
    none("interval", no_gain_reason(a));
  }
  if (s.break_even_rho) {
    j["break_even_rho"] = number(*s.break_even_rho);
  } else {
    none("break_even_rho", s.speedup ? "it never gains on this pattern" : no_gain_reason(a));
  }
  if (s.executed) j["executed"] = number(*s.executed);
  j["reason"] = reason;
  return j;
}

Json loop_json(const LoopAdvice& a) {
  Json j;
  j["kernel"] = a.loop.kernel;
  if (!a.loop.instances.empty()) j["instances"] = a.loop.instances;
  if (!a.loop.function.empty()) j["function"] = a.loop.function;
  j["file"] = a.loop.file;
  j["line"] = a.loop.loop.first;
  j["branch_file"] = a.loop.branch_file;
  j["branch_line"] = a.loop.branch_line;
  j["divergence"] = a.loop.divergence;
  j["p_taken"] = number(a.facts.statistics.p);
  j["flip_rate"] = number(a.facts.statistics.f);
  j["pattern"] = a.facts.warps.empty() ? "assumed" : "executed";
  if (a.facts.costs) {
    j["rho"] = number(a.facts.costs->rho());
  } else {
    put_unknown(j, "rho", a.facts.costs_reason);
  }
  j["strategies"] = Json::array();
  for (const StrategyAdvice& s : a.strategies) j["strategies"].push_back(strategy_json(a, s));
  j["branch_code"] = name_of(a.facts.code);
  j["recommendation"] = a.recommendation;
  j["rewrite"] = a.loop.no_rewrite.empty();
  if (!a.loop.no_rewrite.empty()) j["no_rewrite"] = a.loop.no_rewrite;
  if (a.kernel_speedup) j["kernel_speedup"] = number(*a.kernel_speedup);
  return j;
}

Json uneven_json(const UnevenAdvice& u) {
  Json j;
  j["kernel"] = u.loop.kernel;
  if (!u.loop.function.empty()) j["function"] = u.loop.function;
  j["file"] = u.loop.file;
  j["line"] = u.loop.loop.first;
  j["divergence"] = u.loop.divergence;
  if (u.active) {
    j["active_lanes"] = number(*u.active);
  } else {
    put_unknown(j, "active_lanes", "not executed: --grid and --block do it");
  }
  j["recommendation"] = u.recommendation;
  return j;
}

}  // namespace

std::string converge_json(const ConvergeReport& r) {
  Json j = head_json(r.head);
  j["source"] = r.source;
  j["loops"] = Json::array();
  for (const LoopAdvice& a : r.loops) j["loops"].push_back(loop_json(a));
  j["uneven_loops"] = Json::array();
  for (const UnevenAdvice& u : r.uneven) j["uneven_loops"].push_back(uneven_json(u));
  j["assumptions"] = assumptions_json(r.assumptions);
  j["findings"] = findings_json(r.findings);
  return dumped(j);
}

}  // namespace kernelcast::report
