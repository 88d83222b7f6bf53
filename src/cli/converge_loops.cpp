// kernelcast converge FILE: find and judge the loops, learn about them, advise, rewrite and check.
#include <fmt/format.h>

#include "cli/converge_run.h"
#include "cli/output.h"
#include "cli/run.h"
#include "cli/sources.h"
#include "cli/values.h"
#include "io/unified_diff.h"
#include "kernelcast/error.h"
#include "report/converge_views.h"

namespace kernelcast::cli {
namespace {

/// The loop to rewrite: the first that is worth it, or with a policy that is named the first.
const LoopAdvice& chosen_loop(const std::vector<LoopAdvice>& all, const std::string& path, bool any) {
  for (const LoopAdvice& a : all)
    if (any || (a.recommended && a.loop.no_rewrite.empty())) return a;
  throw UserError(path + ": no loop is worth it; --loop and --policy choose one in spite of that");
}

/// The source with the loop transformed, once both give the same results.
std::string rewritten_source(const ConvergeRequest& r, const std::vector<LoopAdvice>& all,
                             const std::string& policy_name) {
  if (!r.launched) throw UsageError("--rewrite checks results by execution: give --block and --grid or --global");
  const LoopAdvice& a = chosen_loop(all, r.request.source.path, !policy_name.empty());
  Policy policy = Policy::round_robin;
  if (!policy_name.empty()) {
    policy = policy_named(policy_name);
  } else if (a.recommended != Policy::majority) {
    policy = *a.recommended;
  }
  std::string text = rewritten(r.request.source, r.options, a.loop, policy);
  const double gain = check_same_results(r, text, a.loop);
  message(fmt::format("{}:{}: {}: the same results; the kernel's warp instructions before over after: {:.2f}",
                      r.request.source.path, a.loop.loop.first, name_of(policy), gain));
  return text;
}

}  // namespace

int converge_loops(const ConvergeFlags& flags, const Environment& environment) {
  if (flags.diff && !flags.rewrite) throw UsageError("--diff shows what --rewrite changes: give both");
  if (!flags.policy.empty() && !flags.rewrite) throw UsageError("--policy belongs to --rewrite or --replay");
  if (!flags.policy.empty()) policy_named(flags.policy);
  const std::int64_t line = flags.loop.empty() ? 0 : whole_number("--loop", flags.loop, 1);
  const ConvergeRequest r = converge_request(flags, environment);
  report::ConvergeReport report;
  report.head = environment.head;
  report.source = r.request.source.path;
  const LoopSurvey survey = survey_loops(r.request.source, r.options);
  for (const DivergentLoop& loop : survey.divergent)
    if (line == 0 || loop.loop.first == line)
      report.loops.push_back(advise(loop, facts_of(r, loop, report.assumptions)));
  for (const std::string& name : survey.without_instance) {
    message(fmt::format("{}: kernel template '{}' is not instantiated in this file; --kernel '{}<...>' does it",
                        report.source, name, name));
  }
  if (line != 0 && report.loops.empty())
    throw UsageError(fmt::format("--loop {}: no divergent loop begins at that line", line));
  const std::string& output = flags.forecast.output;
  if (flags.rewrite) {
    const std::string text = rewritten_source(r, report.loops, flags.policy);
    write_result(output, flags.diff ? unified_diff(r.request.source.text, text, report.source) : text);
    return done;
  }
  if (line == 0)
    for (const UnevenLoop& loop : survey.uneven) report.uneven.push_back(advise(loop, active_lanes(r, loop)));
  const report::Style style(environment.colour && output.empty());
  write_result(output,
               flags.forecast.format == "json" ? report::converge_json(report) : report::converge_text(report, style));
  return done;
}

}  // namespace kernelcast::cli
