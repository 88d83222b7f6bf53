// The interval is wider where more was assumed. Each reason multiplies the logarithm of the factor; base and
// multipliers are set by eye and not yet calibrated on held-out rows (validation/fit.md).
#include "model/kernelcast_interval.h"

#include <algorithm>
#include <cmath>

#include "model/describe.h"

namespace kernelcast::forecast {
namespace {

constexpr double log_base = 0.55;      // rows of well-known launches
constexpr double log_data = 0.5;       // counts that data decide
constexpr double log_stand_in = 0.04;  // each number of the device that is not known
constexpr double log_cliff = 0.6;      // private arrays, spills
constexpr double log_no_reuse = 0.4;   // caches without reuse information
constexpr double log_short = 0.3;      // launches of which the overhead is a good part

}  // namespace

Spread spread_of(const Workload& w, const Machine& m, const Forecast& f, bool data) {
  Spread s;
  double variance = log_base * log_base;
  const auto add = [&](double log_factor, const std::string& reason) {
    variance += log_factor * log_factor;
    s.reasons += (s.reasons.empty() ? "" : ", ") + reason;
  };
  if (data) add(log_data, "counts that data decide");
  if (!m.stand_ins.empty())
    add(log_stand_in * static_cast<double>(m.stand_ins.size()),
        describe::number(static_cast<double>(m.stand_ins.size())) + " unknown numbers of the device");
  if (w.stack_bytes + w.spill_bytes > 0) add(log_cliff, "local memory");
  if (!w.reuse.known) add(log_no_reuse, "unknown reuse");
  if (f.launch_s > 0.2 * f.seconds()) add(log_short, "a short launch");
  if (s.reasons.empty()) s.reasons = "nothing";
  s.factor_below = s.factor_above = std::exp(std::sqrt(variance));
  return s;
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
