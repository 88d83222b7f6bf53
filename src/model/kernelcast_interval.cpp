// The interval is as wide as what bounds the launch is uncertain, and wider where more was assumed. Logarithms of
// factors add in quadrature. Each is what the size of nine in ten errors asks for: kinds of bounds and defaults over
// the three measured sets (tools/validate/interval.py; validation/fit.md, "Interval"), the others over measured rows
// whose kernel had no part in the fit. Numbers of one device that are not known err together, so their logarithms add
// before they are squared.
#include "model/kernelcast_interval.h"

#include <algorithm>
#include <cmath>

#include "device/describe.h"

namespace kernelcast::forecast {
namespace {

// Half widths by what bounds a launch: the largest of those that hold with one family of kernels left out.
constexpr double log_pipes = 0.42;   // instructions, pipes and shared memory
constexpr double log_stream = 0.20;  // DRAM
constexpr double log_cache = 0.54;   // L1 to L3: what they hit
constexpr double log_path = 0.58;    // latency, atomics
constexpr double log_launch = 0.84;  // start and end of a grid

constexpr double log_data = 0.3;       // counts that data decide, executed with the contents that were given
constexpr double log_defaults = 1.27;  // counts that rest on defaults, likewise
constexpr double log_stand_in = 0.1;   // each number of the device that is not known
constexpr double log_cliff = 1.3;      // private arrays, spills
constexpr double log_no_reuse = 0.4;   // caches without reuse information: by judgement, no row of the fit has it

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

}  // namespace

Spread spread_of(const Workload& w, const KernelcastDevice& m, const BoundTimes& f, CountsBasis basis) {
  Spread s;
  double variance = std::pow(base_width(f), 2);
  const auto add = [&](double log_factor, const std::string& reason) {
    variance += log_factor * log_factor;
    s.reasons += (s.reasons.empty() ? "" : ", ") + reason;
  };
  if (basis == CountsBasis::executed) add(log_data, "counts that data decide");
  if (basis == CountsBasis::defaults) add(log_defaults, "counts that rest on defaults");
  if (!m.stand_ins.empty())
    add(log_stand_in * static_cast<double>(m.stand_ins.size()),
        describe::number(static_cast<double>(m.stand_ins.size())) + " unknown numbers of the device");
  if (w.local_bytes() > 0) add(log_cliff, "local memory");
  if (!w.reuse.known) add(log_no_reuse, "unknown reuse");
  s.factor_below = s.factor_above = std::exp(std::sqrt(variance));
  return s;
}

std::optional<Assumption> what_narrows(const Workload& w, const Spread& s) {
  constexpr double wide = 10;
  if (w.basis() != CountsBasis::defaults || s.factor_below * s.factor_above <= wide) return std::nullopt;
  std::string settings;
  for (const Assumption& a : w.assumptions) {
    const bool is_default = a.kind == Assumption::Kind::unknown || a.kind == Assumption::Kind::contents;
    if (is_default && !a.replace.empty()) settings += (settings.empty() ? "" : ", ") + a.replace;
  }
  if (settings.empty()) return std::nullopt;
  return Assumption{
      "kernelcast: the interval spans a factor of " + describe::number(std::round(s.factor_below * s.factor_above)),
      "any of these narrows it: " + settings, ""};
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
