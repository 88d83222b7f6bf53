// Formulas (20) to (23) of the model of 2017; (19) is src/model/energy.cpp.
#include <cmath>

#include "device/describe.h"
#include "kernelcast/error.h"
#include "kernelcast/offload.h"
#include "kernelcast/setting.h"

namespace kernelcast::offload {

double busy_power_by_instructions(double idle_w, double instructions_per_s, double instruction_j) {
  return idle_w + instructions_per_s * instruction_j;
}

void check(const Weights& w) {
  constexpr double rounding = 1e-9;
  if (w.time >= 0 && w.energy >= 0 && std::abs(w.time + w.energy - 1) <= rounding) return;
  throw UsageError(KC_SETTING(weights) " time=" + describe::number(w.time) + ",energy=" + describe::number(w.energy) +
                   ": both must be 0 or more and add up to 1");
}

double cost(const Weights& w, double transfer_s, double idle_w, double execution_s, double busy_w) {
  return transfer_s * (w.time + w.energy * idle_w) + execution_s * (w.time + w.energy * busy_w);
}

std::string_view name_of(Decision d) {
  switch (d) {
    case Decision::cpu:
      return "cpu";
    case Decision::gpu:
      return "gpu";
    case Decision::too_close:
      break;
  }
  return "too-close";
}

namespace {

/// Probability that a normal quantity is above the bound.
double above(double bound, double mean, double deviation) {
  if (deviation > 0) return 0.5 * std::erfc((bound - mean) / deviation / std::sqrt(2.0));
  return mean > bound ? 1 : mean < bound ? 0 : 0.5;
}

}  // namespace

Verdict decide(const SideTime& cpu, const SideTime& gpu, double confidence) {
  constexpr double quantile_95 = 1.6448536269514722;  // half of a 90 % interval in standard deviations
  const double spread = std::hypot(std::log(cpu.factor), std::log(gpu.factor)) / quantile_95;
  const double ratio = std::log(cpu.time_s / gpu.time_s);
  const double gpu_wins = above(0, ratio, spread);
  Verdict v;
  v.probability = std::max(gpu_wins, 1 - gpu_wins);
  v.tie_probability = above(-std::log(tie_ratio), ratio, spread) - above(std::log(tie_ratio), ratio, spread);
  const bool close = v.tie_probability > v.probability || v.probability < confidence || ratio == 0;
  if (!close) v.decision = ratio > 0 ? Decision::gpu : Decision::cpu;
  return v;
}

}  // namespace kernelcast::offload
