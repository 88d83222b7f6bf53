// The interval is as wide as what bounds the launch is uncertain, and wider where more was assumed. Logarithms of
// factors add in quadrature. Each is what the size of nine in ten errors asks for: kinds of bounds and defaults over
// the three measured sets (tools/validate/interval.py; validation/fit.md, "Interval"), the others over measured rows
// whose kernel had no part in the fit. Numbers of the device that are not known count by what they change.
#include "model/kernelcast_interval.h"

#include <algorithm>
#include <cmath>

#include "device/describe.h"

namespace kernelcast::forecast {
namespace {

// Half widths by what bounds a launch: at least the largest of those that hold with one family of kernels left out
// (0.43, 0.16, 0.49, 0.58, 0.48). Those that are wider hold for programs that no fit has seen (docs/lab/h100.md), and
// few rows are bound by the start of a grid.
constexpr double log_pipes = 0.44;   // instructions, pipes and shared memory
constexpr double log_stream = 0.22;  // DRAM
constexpr double log_cache = 0.58;   // L1 to L3: what they hit
constexpr double log_path = 0.58;    // latency, atomics
constexpr double log_launch = 0.58;  // start and end of a grid

constexpr double log_data = 0.3;       // counts that data decide, executed with the contents that were given
constexpr double log_defaults = 1.12;  // counts that rest on defaults, likewise
/// Of a trip count that nobody knows. The seven kernels of public programs that have such loops are off by 0.3 to 2.1
/// with one, by 0.8 to 4.6 with two or three inside each other.
const double log_trips = std::log(default_trips_factor);
constexpr double fallback_factor = 2;     // between a number of the device and what stands in for it
constexpr double log_cliff = 1.3;         // private arrays, spills
constexpr double least_unreached = 0.25;  // of the instructions that run: less is part of what defaults widen
constexpr double log_no_reuse = 0.4;      // caches without reuse information: by judgement, no row of the fit has it

double half_width(Limit limit) {
  switch (limit) {
    case Limit::dram:
      return log_stream;
    case Limit::l1:
    case Limit::l2:
    case Limit::l3:
      return log_cache;
    case Limit::latency:
    case Limit::atomics:
      return log_path;
    default:
      return log_pipes;
  }
}

/// The mean of the bounds' half widths, each with its part of the time. Bounds far below the largest have none: the
/// eighth power tells them apart.
double base_width(const BoundTimes& f) {
  constexpr double power = 8;
  const double largest = *std::ranges::max_element(f.cycles), launch = std::min(1.0, f.launch_s / f.seconds());
  if (!(largest > 0)) return log_launch;
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < limit_count; ++i) {
    const double weight = std::pow(f.cycles[i] / largest, power);
    sum += weight * half_width(static_cast<Limit>(i));
    weights += weight;
  }
  return launch * log_launch + (1 - launch) * sum / weights;
}

/// Loops around an instruction whose trip counts are assumed, in the mean over instructions.
double assumed_loops(const KernelProfile& p, const Workload& w) {
  std::vector<double> around(p.loops.size());  // of a loop and those that it is in, which come first
  for (std::size_t l = 0; l < p.loops.size(); ++l) {
    const Loop& loop = p.loops[l];
    around[l] = loop.parent >= 0 ? around[static_cast<std::size_t>(loop.parent)] : 0;
    if (loop.unknown < 0) continue;
    const std::string& key = p.unknowns[static_cast<std::size_t>(loop.unknown)].key;
    around[l] += std::ranges::any_of(
        w.assumptions, [&](const Assumption& a) { return a.kind == Assumption::Kind::unknown && a.subject == key; });
  }
  double loops = 0, all = 0;
  for (std::size_t b = 0; b < std::min(p.blocks.size(), w.block_counts.size()); ++b) {
    const double instructions = w.block_counts[b].warps * p.blocks[b].ops.total();
    all += instructions;
    if (p.blocks[b].loop >= 0) loops += instructions * around[static_cast<std::size_t>(p.blocks[b].loop)];
  }
  return all > 0 ? loops / all : 0;
}

}  // namespace

DeviceDoubt doubt_of(const Device& d, const KernelcastDevice& m, double time,
                     const std::function<double(const Device&)>& seconds) {
  constexpr double noticed = 0.01;
  DeviceDoubt doubt;
  Device other = d;
  double largest = noticed, variance = 0;
  for (const auto& [field, fallback] : m.fallbacks) {
    auto& value = other.values[static_cast<std::size_t>(field)].value;
    double change = 0;
    for (const double factor : {fallback_factor, 1 / fallback_factor}) {
      value = fallback * factor;
      const double log_ratio = std::abs(std::log(seconds(other) / time));
      if (std::isfinite(log_ratio)) change = std::max(change, log_ratio);
    }
    value.reset();
    variance += change * change;
    if (change > noticed) ++doubt.numbers;
    if (change > largest) {
      largest = change;
      doubt.most = describe::key_of(field);
    }
  }
  doubt.log_factor = std::sqrt(variance);
  return doubt;
}

Spread spread_of(const KernelProfile& p, const Workload& w, const DeviceDoubt& doubt, const BoundTimes& f,
                 CountsBasis basis) {
  Spread s;
  double variance = std::pow(base_width(f), 2);
  const auto add = [&](double log_factor, const std::string& reason) {
    variance += log_factor * log_factor;
    s.reasons += (s.reasons.empty() ? "" : ", ") + reason;
  };
  if (basis == CountsBasis::executed) add(log_data, "counts that data decide");
  if (basis == CountsBasis::defaults) add(log_defaults, "counts that rest on defaults");
  if (const double loops = assumed_loops(p, w); loops > 0)
    add(log_trips * std::sqrt(loops), "trip counts that nobody gave");
  if (doubt.numbers > 0)
    add(doubt.log_factor, describe::number(doubt.numbers) + " unknown number" + (doubt.numbers == 1 ? "" : "s") +
                              " of the device (" + (doubt.numbers == 1 ? "" : "most of all ") + doubt.most + ")");
  if (w.local_bytes() > 0) add(log_cliff, "local memory");
  if (!w.reuse.known) add(log_no_reuse, "unknown reuse");
  s.factor_below = s.factor_above = std::exp(std::sqrt(variance));
  // Contents that reach more code than the default ones take longer; those that reach less are in `log_defaults`.
  const double times = basis == CountsBasis::defaults ? w.unreached_ops / std::max(1.0, w.warp_ops.total()) : 0;
  if (times > least_unreached) {
    s.factor_above = std::exp(std::sqrt(variance + std::pow(std::log(1 + times), 2)));
    s.reasons += ", code that no executed thread reached (by default " + describe::number(times) +
                 " times the instructions that ran)";
  }
  return s;
}

std::optional<Assumption> what_narrows(const Workload& w, const Spread& s) {
  constexpr double wide = 10;
  if (w.basis() != CountsBasis::defaults || s.factor_below * s.factor_above <= wide) return std::nullopt;
  std::string settings;
  for (const Assumption& a : w.assumptions) {
    if (a.is_default() && !a.replace.empty()) settings += (settings.empty() ? "" : ", ") + a.replace;
  }
  if (settings.empty()) return std::nullopt;
  return Assumption{
      "kernelcast: the interval spans a factor of " + describe::number(std::round(s.factor_below * s.factor_above)),
      "any of these narrows it: " + settings, "", Assumption::Kind::narrows};
}

std::optional<Workload> in_text_order(const KernelProfile& p, const Workload& w, const Device& d) {
  if (w.stalls.text_order_spills <= 0) return std::nullopt;
  Workload spilled = w;
  // Warp instructions of either kind: the model asks for their sum.
  spilled.warp_ops[OpClass::local_load] += w.stalls.text_order_spills / 2;
  spilled.warp_ops[OpClass::local_store] += w.stalls.text_order_spills / 2;
  if (spilled.slowest.instructions > 0) spilled.slowest.instructions += w.slowest.stalls.text_order_spills;
  spilled.spill_bytes = p.registers.text_order_spill_bytes;
  const double most = d.get_or(Field::limits_max_registers_per_thread, p.registers.in_text_order);
  spilled.registers_per_thread = std::min(p.registers.in_text_order, most);
  return spilled;
}

void add_cliffs(const KernelProfile& p, const Workload& w, const Device& d, std::vector<Assumption>& out) {
  if (w.stack_bytes > 0)
    out.push_back({"this configuration probably keeps private arrays in local memory",
                   describe::number(w.stack_bytes) + " bytes a thread", ""});
  if (w.spill_bytes > 0)
    out.push_back({"this configuration probably spills registers: " + describe::number(w.registers_per_thread) +
                       " registers a thread are allowed",
                   describe::number(w.spill_bytes) + " bytes a thread", ""});
  const auto most = d.get(Field::limits_max_registers_per_thread);
  if (most && p.registers.high > *most && w.spill_bytes <= 0)
    out.push_back({"the kernel may need more registers than a thread can have",
                   "up to " + describe::number(p.registers.high) + " of " + describe::number(*most), ""});
}

}  // namespace kernelcast::forecast
