#include "advise/find_advice.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>

#include "advise/place.h"
#include "advise/rules.h"
#include "io/unified_diff.h"
#include "model/ratio_error.h"

namespace kernelcast::advice {
namespace {

/// Rules after "kernelcast: ignore"; nothing: no such comment. An empty list means all.
std::optional<std::vector<std::string>> ignored_in(const std::string& text) {
  constexpr std::string_view mark = "kernelcast: ignore";
  const auto at = text.find(mark);
  if (at == std::string::npos || text.rfind("//", at) == std::string::npos) return std::nullopt;
  std::vector<std::string> names;
  std::string name;
  for (const char c : text.substr(at + mark.size()) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-') {
      name += c;
    } else if (!name.empty()) {
      names.push_back(std::exchange(name, {}));
    }
  }
  return names;
}

bool only_comment(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  return first != std::string::npos && text.compare(first, 2, "//") == 0;
}

bool ignored(const Subject& s, SourceLine line, std::string_view rule) {
  const auto says = [&](const std::string& text) {
    const auto names = ignored_in(text);
    return names && (names->empty() || std::find(names->begin(), names->end(), rule) != names->end());
  };
  if (says(s.text(line))) return true;
  const std::string above = s.text({line.file, line.line - 1});
  return only_comment(above) && says(above);
}

/// The base added up in the same way, so that what adding up leaves out is in neither side of the ratio.
struct Base {
  double seconds = 0, added_up = 0;
};

std::vector<std::string> lines_of_text(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

/// What the draft says of itself, the launch that was forecast, and lines of a source with as many lines.
AdviceEdit edit_of(const Subject& s, const Draft& d) {
  AdviceEdit e = d.edit;
  if (d.forecast && d.forecast->workload) {
    const Workload& now = *d.forecast->workload;
    if (!(now.grid == s.workload().grid)) e.grid = now.grid;
    if (!(now.block == s.workload().block)) e.block = now.block;
  }
  if (d.rewritten.empty()) return e;
  const auto before = lines_of_text(s.question().source.text), after = lines_of_text(d.rewritten);
  if (before.size() != after.size()) return e;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i]) e.lines.push_back({static_cast<int>(i) + 1, before[i], after[i]});
  return e;
}

std::optional<Advice> judged(const Subject& s, const Rule& rule, const Draft& d, const Base& base) {
  Advice a;
  double changed = 0;
  bool local = s.workload().local_bytes() > 0;
  const Estimate* after = nullptr;
  if (d.seconds) {
    changed = *d.seconds;
    a.changed_limiter = d.limiter;
  } else if (d.forecast) {
    const Estimate& e = *d.forecast->models.front().estimate;
    changed = *e.time_s.value;
    a.changed_limiter = e.limiter;
    after = &e;
    local = local || d.forecast->workload->local_bytes() > 0;
  } else {
    const std::optional<VariantForecast> now = forecast_variant(s, d.what_if);
    if (!now) return std::nullopt;
    changed = base.seconds * now->seconds / base.added_up;
    a.changed_limiter = now->limiter;
    local = local || now->local_memory;
  }
  const double before = d.before.value_or(base.seconds);
  if (!(changed > 0) || !(changed < before)) return std::nullopt;
  const double share = changed / before;
  const RatioError error = after   ? kernelcast_ratio_error_of(s.estimate(), *after, local)
                           : local ? kernelcast_local_memory_ratio_error
                                   : kernelcast_ratio_error;
  const double factor = std::exp(error.half_width());
  a.rule = rule.is.name;
  a.where = place_of(s, d.line, d.token);
  a.message = d.message;
  a.change = d.change;
  a.edit = edit_of(s, d);
  a.time_s = before;
  a.changed_time_s = changed;
  a.gain = 1 - share;
  a.gain_low = 1 - share * factor;
  a.gain_high = 1 - share / factor;
  a.probability = 1 - error.above(share, 1);
  a.limiter = s.estimate().limiter;
  a.assumptions = d.assumptions;
  return a;
}

Advice as_defect(const Subject& s, const Rule& rule, const Draft& d) {
  Advice a;
  a.rule = rule.is.name;
  a.where = place_of(s, d.line, d.token);
  a.message = d.message;
  a.change = d.change;
  a.time_s = a.changed_time_s = *s.estimate().time_s.value;
  a.limiter = a.changed_limiter = s.estimate().limiter;
  a.assumptions = d.assumptions;
  a.defect = true;
  return a;
}

/// Compiles and forecasts the rewritten source, whose forecast takes the place of the what-if; with `shown` also
/// executes it and keeps the difference.
void rewrite(const Subject& s, const Rule& rule, Draft& d, const Base& base, bool shown, std::optional<Advice>& a) {
  ForecastQuestion q = s.question();
  q.source.text = d.rewritten;
  if (d.grid) {
    q.grid = d.grid;
    q.global.reset();
  }
  std::optional<DeviceResult> now = s.ask(q);
  if (!now) return;
  d.forecast = std::move(now);
  a = judged(s, rule, d, base);
  if (!a || !shown) return;
  a->diff = unified_diff(s.question().source.text, d.rewritten, s.question().source.path);
  a->rewritten = d.rewritten;
  if (s.same_results(q)) a->verified = Verified::rewrite;
}

}  // namespace

std::vector<AdviceRule> all_rules() {
  std::vector<AdviceRule> names;
  for (const Rule& r : rules()) names.push_back(r.is);
  return names;
}

std::vector<Advice> findings(const Subject& s, const AdviceOptions& options) {
  std::vector<Advice> found;
  const std::optional<VariantForecast> same = forecast_variant(s, [](Variant&) {});
  if (!same) return found;
  const Base base{*s.estimate().time_s.value, same->seconds};
  const double least_gain = s.limits().least_gain;
  std::set<std::string> rewritten;  // one source is one change, whatever rules it follows
  for (const Rule& rule : rules()) {
    if (options.without.contains(std::string(rule.is.name))) continue;
    for (Draft& d : rule.drafts(s)) {
      if (d.line.file >= 0 && ignored(s, d.line, rule.is.name)) continue;
      if (d.defect) {
        found.push_back(as_defect(s, rule, d));
        continue;
      }
      std::optional<Advice> a = judged(s, rule, d, base);
      if (!a || a->gain < least_gain) continue;
      if (!d.rewritten.empty() && !rewritten.insert(d.rewritten).second) continue;
      if (!d.rewritten.empty()) rewrite(s, rule, d, base, options.rewrite, a);
      if (a && a->gain >= least_gain) found.push_back(std::move(*a));
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Advice& a, const Advice& b) { return a.defect != b.defect ? a.defect : a.gain > b.gain; });
  return found;
}

std::span<const Rule> rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> list;
    for (const auto& group : {global_memory_rules(), reuse_rules(), shared_memory_rules(), register_rules(),
                              launch_rules(), control_rules(), arithmetic_rules(), loop_rules(), pipeline_rules(),
                              tensor_rules(), cache_rules(), host_rules(), buffer_rules()})
      list.insert(list.end(), group.begin(), group.end());
    return list;
  }();
  return all;
}

}  // namespace kernelcast::advice
