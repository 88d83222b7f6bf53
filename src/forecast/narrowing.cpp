#include "forecast/narrowing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "count/count.h"
#include "forecast/counter.h"
#include "io/text.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

constexpr std::size_t most_tried = 8;  // defaults of one launch; the others are listed behind

struct Ends {
  double low, high;
};

/// Nine in ten lie between these, by judgement, as in the interval of the model `kernelcast`.
Ends ends_of(Unknown::Kind kind) {
  switch (kind) {
    case Unknown::Kind::trip_count:
      return {default_trips / default_trips_factor, default_trips * default_trips_factor};
    case Unknown::Kind::probability:
      return {0.05, 0.95};
    case Unknown::Kind::address:
      return {4, 128};
  }
  return {1, 1};
}

struct Effect {
  std::string text;
  double size;  // of the logarithm of the forecast
};

/// What the closed forms of one launch forecast where a default is something else.
class OtherDefaults {
 public:
  OtherDefaults(const Model& model, const DeviceResult& result, double time_s)
      : model_(model), result_(result), time_s_(time_s), binder_(binder_for(result, {&model})) {
    // Executed counts are those of contents: the closed forms say what a default changes of them.
    closed_s_ = result.execution ? with(result.launch) : time_s;
  }
  /// Nothing where an end is beyond what a launch may have.
  std::optional<Effect> effect(const Assumption& a, Unknown::Kind kind) {
    if (!closed_s_) return std::nullopt;
    const Ends ends = ends_of(kind);
    Launch launch = result_.launch;
    launch.assume[a.subject] = ends.low;
    const std::optional<double> low = with(launch);
    launch.assume[a.subject] = ends.high;
    const std::optional<double> high = with(launch);
    if (!low || !high || *low <= 0 || *high <= 0) return std::nullopt;
    const double of_closed = time_s_ / *closed_s_;
    return Effect{fmt::format("{} ({} with {:g}, {} with {:g})", a.replace, format_seconds(*low * of_closed), ends.low,
                              format_seconds(*high * of_closed), ends.high),
                  std::abs(std::log(*high / *low))};
  }

 private:
  std::optional<double> with(const Launch& launch) {
    try {
      return model_.estimate(*result_.profile, bind_asked(binder_, launch), result_.device).time_s.value;
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  const Model& model_;
  const DeviceResult& result_;
  double time_s_;
  Binder binder_;
  std::optional<double> closed_s_;
};

}  // namespace

void rank_what_narrows(const Model& model, const DeviceResult& result, Estimate& estimate) {
  const auto found = std::ranges::find(estimate.assumptions, Assumption::Kind::narrows, &Assumption::kind);
  if (found == estimate.assumptions.end() || !estimate.time_s.value) return;
  std::optional<OtherDefaults> others;  // only where something can be: it binds the launch
  std::vector<Effect> effects;
  std::string rest;
  for (const Assumption& a : result.workload->assumptions) {
    if (a.replace.empty() || !a.is_default()) continue;
    const auto unknown = std::ranges::find(result.profile->unknowns, a.subject, &Unknown::key);
    std::optional<Effect> effect;
    if (a.kind == Assumption::Kind::unknown && unknown != result.profile->unknowns.end() &&
        effects.size() < most_tried) {
      if (!others) others.emplace(model, result, *estimate.time_s.value);
      effect = others->effect(a, unknown->kind);
    }
    if (effect)
      effects.push_back(std::move(*effect));
    else
      rest += ", " + a.replace;
  }
  if (effects.empty()) return;
  std::ranges::stable_sort(effects, std::ranges::greater{}, &Effect::size);
  std::string text;
  for (const Effect& e : effects) text += (text.empty() ? "" : ", ") + e.text;
  found->value = "these narrow it, most first: " + text + rest;
}

}  // namespace kernelcast
