// kernelcast advise: what to change, where, and what it gains.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <set>

#include "advise/find_advice.h"
#include "cli/catalog.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/findings.h"
#include "cli/flag_values.h"
#include "cli/forecast.h"
#include "cli/launches.h"
#include "cli/output.h"
#include "cli/quoted_sources.h"
#include "cli/run.h"
#include "cli/sources.h"
#include "io/nearest.h"
#include "io/text_file.h"
#include "kernelcast/error.h"
#include "report/advice_views.h"

namespace kernelcast::cli {
namespace {

constexpr const char* advise_examples = R"(Examples:
  kernelcast advise examples/matmul_naive.cu --device a100 --grid 64,64 --block 16,16 --arg n=1024
  kernelcast advise examples/transpose.cl -D PAD=0 --device a100 --global 2048,2048 --block 16,16 --arg n=2048 \
    --fail-on gain:10% --format sarif -o advice.sarif
  kernelcast advise examples/heat.cu --launch 3 --device a100

Without grid and block the launch is one of the host code (--launch N, where there are several).
Each gain is a forecast: the model estimates the kernel again with the change. -Wno-RULE switches a rule off, the comment
`// kernelcast: ignore RULE` one line.
Exit status: 0 success, 1 analysis failed, 2 usage, 3 a finding that --fail-on names, 130 interrupted.)";

struct AdviseFlags {
  ForecastFlags base;
  bool all = false, diff = false, apply = false;
  std::vector<std::string> warnings, fail_on;
};

void check_rule(const std::string& flag, const std::string& name) {
  std::vector<std::string> names;
  for (const AdviceRule& r : advice::all_rules()) names.emplace_back(r.name);
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  const std::vector<std::string> near = nearest_names(name, names, 1);
  throw UsageError(fmt::format("{}: unknown rule '{}'{}; the rules are {}", flag, name,
                               near.empty() ? "" : fmt::format(", did you mean '{}'?", near.front()),
                               fmt::join(names, ", ")));
}

std::set<std::string> rules_without(const std::vector<std::string>& warnings) {
  std::set<std::string> without;
  for (const std::string& w : warnings) {
    if (!w.starts_with("no-")) throw UsageError(KC_SETTING(W) + w + ": expected -Wno-RULE");
    check_rule(KC_SETTING(W) + w, w.substr(3));
    without.insert(w.substr(3));
  }
  return without;
}

/// What --fail-on names: rules, and the least gain that fails.
struct Gate {
  std::set<std::string> rules;
  std::optional<double> gain;
  [[nodiscard]] bool broken_by(const Advice& a) const { return rules.contains(a.rule) || (gain && a.gain >= *gain); }
};

Gate gate_of(const std::vector<std::string>& texts) {
  Gate gate;
  for (const std::string& text : texts) {
    if (!text.starts_with("gain:")) {
      check_rule(KC_SETTING(fail_on) " " + text, text);
      gate.rules.insert(text);
      continue;
    }
    std::string value = text.substr(5);
    const bool percent = value.ends_with('%');
    if (percent) value.pop_back();
    const double gain = positive_number(KC_SETTING(fail_on), value) / (percent ? 100 : 1);
    if (gain >= 1) throw UsageError(KC_SETTING(fail_on) " " + text + ": expected a gain below 100%, such as gain:10%");
    gate.gain = std::min(gain, gate.gain.value_or(1));
  }
  return gate;
}

/// Writes the change with the largest gain on the first device among those whose rewritten source was executed to equal
/// results, and says so.
void apply_first(const std::vector<Advice>& findings, const std::string& path) {
  const auto found = std::ranges::find_if(
      findings, [](const Advice& a) { return a.verified == Verified::rewrite && !a.rewritten.empty(); });
  if (found == findings.end())
    return message("kernelcast: --apply: no finding has a rewritten source with equal results; " + path +
                   " is as it was");
  write_text_file(path, found->rewritten);
  message(fmt::format("kernelcast: --apply: {} changed for {}; the same command again finds what is left", path,
                      found->rule));
}

int advise_command(const AdviseFlags& flags, const Environment& environment) {
  ForecastFlags base = flags.base;
  const bool sarif = base.format == "sarif";
  if (sarif) base.format = "json";
  if (wants_launches(base)) base = only_launch(base, environment);
  advice::AdviceOptions options;
  options.without = rules_without(flags.warnings);
  options.rewrite = flags.diff || flags.apply;
  if (flags.all) options.limits.least_gain = 1e-6;
  if (flags.all || options.rewrite) options.limits.most_compiled = INT_MAX;
  const Gate gate = gate_of(flags.fail_on);
  Request request = checked(base);
  if (request.models.size() != 1 || request.models.front()->name() != "kernelcast")
    throw UsageError(KC_SETTING(model) " " + base.model +
                     ": only ratios of the model kernelcast have a measured error");
  if (flags.apply && request.source.path == "<stdin>")
    throw UsageError("--apply: the source is standard input: give a file, or --diff to see the change");
  if (flags.apply) check_writable(request.source.path);
  const DeviceCatalog catalog = catalog_of(request.devices_dir, environment.devices_dir, request.point);
  request.source.text = read_source(request.source.path);
  const auto progress = [&](const std::string& text) {
    if (environment.progress) progress_line(text);
  };
  const Frontend frontend = cached_frontend();
  const ForecastRun run = run_forecast(request, frontend, catalog, progress);
  report::AdviceReport report;
  report.head = environment.head;
  report.source = request.source.path;
  report.sources = quoted_sources(request.source, run.forecast);
  report.rules = advice::all_rules();
  report.least_gain = flags.all ? 0 : options.limits.least_gain;
  bool broken = false;
  for (const DeviceResult& d : run.forecast.devices) {
    progress("what-ifs on " + d.device.id);
    report.devices.push_back(advice_on(request, frontend, d, report.sources, options));
    for (const Advice& a : report.devices.back().findings) broken = broken || gate.broken_by(a);
  }
  const report::Style style(environment.colour && request.output.empty());
  write_result(request.output, sarif          ? report::advice_sarif(report)
                               : request.json ? report::advice_json(report)
                                              : report::advice_text(report, style));
  for (const std::string& text : run.messages) message("kernelcast: " + text);
  for (const report::DeviceAdvice& d : report.devices)
    if (d.not_asked > 0)
      message(fmt::format("kernelcast: {}: {} not compiled, to save time; --all compiles every one", d.device,
                          d.not_asked == 1 ? "1 change was" : fmt::format("{} changes were", d.not_asked)));
  if (flags.apply && !report.devices.empty()) apply_first(report.devices.front().findings, request.source.path);
  return broken ? gate_broken : run.complete ? done : could_not_analyse;
}

}  // namespace

Action add_advise(Parser& parser) {
  auto f = std::make_shared<AdviseFlags>();
  Flags c = parser.command("advise", "Find what to change in a kernel, with the gain of each change", advise_examples);
  declare(c, f->base);
  declare_launches(c, f->base);
  c.say_instead("--model", "kernelcast", "Model (default: kernelcast, the one with a measured error of ratios)");
  c.say_instead("--format", "text|json|sarif", "Output format (default: text)");
  c.flag("--all", f->all, "Also findings that gain less than 2 %");
  c.flag("--diff", f->diff,
         "Rewrite what is mechanical; show the patch, forecast it, and execute it against the original");
  c.flag("--apply", f->apply,
         "As --diff, and write the change with the largest gain into the source if its results are equal");
  c.list("-W", "no-RULE", f->warnings, "Rule to leave out, as -Wno-RULE; repeat");
  c.list("--fail-on", "RULE|gain:P%", f->fail_on,
         "Findings that give exit status 3: of a rule, or by their gain; repeat");
  return [f](const Environment& environment) { return advise_command(*f, environment); };
}

}  // namespace kernelcast::cli
