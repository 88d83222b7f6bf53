#include "forecast/narrowing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "count/count.h"
#include "io/text.h"
#include "kernelcast/bind.h"
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
      return {1, 256};
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

}  // namespace

void rank_what_narrows(const Model& model, const std::vector<const Model*>& models, const DeviceResult& result,
                       Estimate& estimate) {
  const auto found = std::ranges::find(estimate.assumptions, Assumption::Kind::narrows, &Assumption::kind);
  if (found == estimate.assumptions.end() || !estimate.time_s.value) return;
  const KernelProfile& profile = *result.profile;
  Binder binder(profile, result.device.geometry());
  binder.set_reuse(any_reads_reuse(models));
  const auto seconds = [&](const Launch& launch) -> std::optional<double> {
    try {
      return model.estimate(profile, bind_asked(binder, launch), result.device).time_s.value;
    } catch (const Error&) {
      return std::nullopt;  // beyond what a launch may have: this end says nothing
    }
  };
  const std::optional<double> closed = seconds(result.launch);
  std::vector<Effect> effects;
  std::string rest;
  for (const Assumption& a : result.workload->assumptions) {
    if (a.replace.empty() || (a.kind != Assumption::Kind::unknown && a.kind != Assumption::Kind::contents)) continue;
    const auto unknown = std::ranges::find(profile.unknowns, a.subject, &Unknown::key);
    std::optional<double> low, high;
    if (a.kind == Assumption::Kind::unknown && unknown != profile.unknowns.end() && closed &&
        effects.size() < most_tried) {
      const Ends ends = ends_of(unknown->kind);
      Launch launch = result.launch;
      launch.assume[a.subject] = ends.low;
      low = seconds(launch);
      launch.assume[a.subject] = ends.high;
      high = seconds(launch);
      if (low && high && *low > 0 && *high > 0) {
        const double of_closed = *estimate.time_s.value / *closed;
        effects.push_back({fmt::format("{} ({} with {:g}, {} with {:g})", a.replace, format_seconds(*low * of_closed),
                                       ends.low, format_seconds(*high * of_closed), ends.high),
                           std::abs(std::log(*high / *low))});
        continue;
      }
    }
    rest += ", " + a.replace;
  }
  if (effects.empty()) return;
  std::ranges::stable_sort(effects, std::ranges::greater{}, &Effect::size);
  std::string ranked;
  for (const Effect& e : effects) ranked += (ranked.empty() ? "" : ", ") + e.text;
  found->value = "these narrow it, most first: " + ranked + rest;
}

}  // namespace kernelcast
