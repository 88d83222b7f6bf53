// The interval is wider where more was assumed. Logarithms of factors add in quadrature. Each is what the size of nine
// in ten errors asks for: base and defaults over public programs (validation/programs.md), the others over measured
// rows whose kernel had no part in the fit (validation/fit.md, "Interval"). Numbers of one device that are not known
// err together, so their logarithms add before they are squared.
#include "model/kernelcast_interval.h"

#include <algorithm>
#include <cmath>

#include "device/describe.h"

namespace kernelcast::forecast {
namespace {

// Nine in ten launches of programs that nobody chose, counts in closed form, every program weighing alike (of all
// launches at equal weight 0.59 would hold as many).
constexpr double log_base = 0.69;
constexpr double log_data = 0.3;  // counts that data decide, executed with the contents that were given
// Counts that rest on defaults; with the base in quadrature 1.34 (validation/programs.md, "Interval").
constexpr double log_defaults = 1.15;
constexpr double log_stand_in = 0.1;  // each number of the device that is not known
constexpr double log_cliff = 1.3;     // private arrays, spills
constexpr double log_no_reuse = 0.4;  // caches without reuse information: by judgement, no row of the fit has it

}  // namespace

Spread spread_of(const Workload& w, const KernelcastDevice& m, CountsBasis basis) {
  Spread s;
  double variance = log_base * log_base;
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
