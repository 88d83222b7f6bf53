// kernelcast converge FILE: find and judge the loops, learn about them, advise, rewrite and check.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>

#include "cli/converge_run.h"
#include "cli/flag_values.h"
#include "cli/output.h"
#include "cli/run.h"
#include "cli/sources.h"
#include "io/unified_diff.h"
#include "kernelcast/error.h"
#include "report/converge_views.h"

namespace kernelcast::cli {
namespace {

/// `--loop [FILE:]LINE`.
struct LoopChoice {
  std::string file;
  std::int64_t line = 0;  // 0: all loops
};

LoopChoice loop_choice(const std::string& text) {
  if (text.empty()) return {};
  const std::size_t colon = text.rfind(':');
  const bool named = colon != std::string::npos;
  return {named ? text.substr(0, colon) : "", whole_number("--loop", named ? text.substr(colon + 1) : text, 1)};
}

/// Without a file those of the source itself, or where it has none at that line those of its headers.
std::vector<DivergentLoop> chosen(const std::vector<DivergentLoop>& all, const LoopChoice& choice,
                                  const std::string& source) {
  if (choice.line == 0) return all;
  std::vector<DivergentLoop> own, others;
  for (const DivergentLoop& l : all) {
    if (l.loop.first != choice.line) continue;
    if (choice.file.empty()) {
      (l.file == source ? own : others).push_back(l);
    } else if (l.file == choice.file || l.file.ends_with("/" + choice.file)) {
      own.push_back(l);
    }
  }
  return own.empty() ? others : own;
}

/// Kernel templates that nothing instantiates; of a header, which may be a library, in one line.
void tell_of(const std::vector<IdleTemplate>& templates, const std::string& source) {
  std::map<std::string, std::vector<std::string>> of_headers;
  for (const IdleTemplate& t : templates) {
    if (t.file == source) {
      message(fmt::format("{}: kernel template '{}' is not instantiated in this file; --kernel '{}<...>' does it",
                          t.file, t.name, t.name));
    } else {
      of_headers[t.file].push_back(t.name);
    }
  }
  for (const auto& [file, names] : of_headers) {
    message(fmt::format("{}: {} kernel template{} not instantiated in {}, such as '{}'; --kernel '{}<...>' does it",
                        file, names.size(), names.size() == 1 ? " is" : "s are", source, names[0], names[0]));
  }
}

void tell_of(const std::vector<report::FindingReport>& findings) {
  for (const report::FindingReport& f : findings) message("kernelcast: " + f.text());
}

/// One launch may not fit all kernels of a source: those that it does not fit are still looked at.
template <class Ask>
auto without_launch_if_need_be(const ConvergeRequest& r, const std::string& place, bool several, Ask ask) {
  try {
    return ask(r);
  } catch (const Error& e) {
    if (!several || !r.launched) throw;
    message(fmt::format("{}: not executed: {}; --kernel chooses one of the kernels", place, message_of(e)));
    ConvergeRequest assumed = r;
    assumed.launched = false;
    return ask(assumed);
  }
}

bool of_several_kernels(const LoopSurvey& survey) {
  std::set<std::string> names;
  for (const DivergentLoop& l : survey.divergent) names.insert(l.runs_as());
  for (const UnevenLoop& l : survey.uneven) names.insert(l.runs_as());
  return names.size() > 1;
}

/// The loop to rewrite: the first that is worth it, or with a policy that is named the first.
const LoopAdvice& chosen_loop(const std::vector<LoopAdvice>& all, const std::string& path, bool any) {
  for (const LoopAdvice& a : all)
    if (any || (a.recommended && a.loop.no_rewrite.empty())) return a;
  throw UserError(path + ": no loop is worth it; --loop and --policy choose one in spite of that");
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

/// A line alone may mean loops of several headers.
void refuse_several_files(const std::vector<LoopAdvice>& all, const std::string& choice) {
  for (const LoopAdvice& a : all)
    if (!choice.empty() && a.loop.file != all[0].loop.file)
      throw UsageError(
          fmt::format("--loop {0}: loops begin at that line of {1} and of {2}; say which, as in --loop {1}:{3}", choice,
                      all[0].loop.file, a.loop.file, all[0].loop.loop.first));
}

/// The text of a header would be taken for that of the file that was named.
void refuse_text_of_header(const DivergentLoop& loop, const ConvergeFlags& flags, const std::string& source) {
  if (loop.file == source || flags.diff || is_same_file(loop.file, flags.forecast.output)) return;
  throw UserError(fmt::format(
      "{0}:{1}: the loop stands in a header of {2}: add --diff for a patch of {0}, or -o {0} to write to that file",
      loop.file, loop.loop.first, source));
}

/// The text of the loop's file with the loop transformed, or the difference, once both give the same results.
std::string rewritten_text(const ConvergeRequest& r, const std::vector<LoopAdvice>& all, const ConvergeFlags& flags) {
  const std::string& policy_name = flags.policy;
  if (!r.launched) throw UsageError("--rewrite checks results by execution: give --block and --grid or --global");
  refuse_several_files(all, flags.loop);
  const LoopAdvice& a = chosen_loop(all, r.request.source.path, !policy_name.empty());
  Policy policy = Policy::round_robin;
  if (!policy_name.empty()) {
    policy = policy_named(policy_name);
  } else if (a.recommended != Policy::majority) {
    policy = *a.recommended;
  }
  const Source& source = r.request.source;
  const std::string text = rewritten(source, r.options, a.loop, policy);
  refuse_text_of_header(a.loop, flags, source.path);
  const double gain = check_same_results(r, with_text(source, a.loop.file, text), a.loop);
  const bool in_header = a.loop.file != source.path;
  message(fmt::format("{}:{}: {}: the same results; the kernel's warp instructions before over after: {:.2f}{}",
                      a.loop.file, a.loop.loop.first, name_of(policy), gain,
                      in_header ? "; as " + source.path + " includes it, which others may do as well" : ""));
  if (!flags.diff) return text;
  return unified_diff(in_header ? read_source(a.loop.file) : source.text, text, a.loop.file);
}

}  // namespace

int converge_loops(const ConvergeFlags& flags, const Environment& environment) {
  if (flags.diff && !flags.rewrite) throw UsageError("--diff shows what --rewrite changes: give both");
  if (!flags.policy.empty() && !flags.rewrite) throw UsageError("--policy belongs to --rewrite or --replay");
  if (!flags.policy.empty()) policy_named(flags.policy);
  const LoopChoice choice = loop_choice(flags.loop);
  const ConvergeRequest r = converge_request(flags, environment);
  report::ConvergeReport report;
  report.head = environment.head;
  report.source = r.request.source.path;
  const LoopSurvey survey = survey_loops(r.request.source, r.options);
  const bool several = r.options.kernel.empty() && of_several_kernels(survey);
  const auto ask = [&](const auto& loop, auto what) {
    return without_launch_if_need_be(r, fmt::format("{}:{}", loop.file, loop.loop.first), several, what);
  };
  for (const DivergentLoop& loop : chosen(survey.divergent, choice, report.source)) {
    report.loops.push_back(
        advise(loop, ask(loop, [&](const ConvergeRequest& asked) { return facts_of(asked, loop, report); })));
  }
  tell_of(survey.without_instance, report.source);
  if (choice.line != 0 && report.loops.empty())
    throw UsageError(fmt::format("--loop {}: no divergent loop begins at that line", flags.loop));
  const std::string& output = flags.forecast.output;
  if (flags.rewrite) {
    write_source(output, rewritten_text(r, report.loops, flags));
    tell_of(report.findings);
    return done;
  }
  if (choice.line == 0) {
    for (const UnevenLoop& loop : survey.uneven) {
      report.uneven.push_back(
          advise(loop, ask(loop, [&](const ConvergeRequest& asked) { return active_lanes(asked, loop, report); })));
    }
  }
  const report::Style style(environment.colour && output.empty());
  write_result(output,
               flags.forecast.format == "json" ? report::converge_json(report) : report::converge_text(report, style));
  tell_of(report.findings);
  return done;
}

}  // namespace kernelcast::cli
