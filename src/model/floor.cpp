// Idea: whatever a model says, the device cannot execute operations faster than its peak of their type, nor fetch the
// bytes that the kernel must touch faster than its DRAM's peak. This is the roofline of docs/model/roofline.md
// (Williams et al., CACM 52(4), 2009) with one difference: of the footprint only what is known counts
// (Workload::compulsory_bytes, and no more sectors than the reuse analysis finds distinct), so that it stays a lower
// bound where data decide addresses.
//
// Peaks are the data sheet's, at the rated boost clock. A board that runs beyond its rating can pass them by as much.
#include "model/models.h"

#include <algorithm>
#include <cmath>

#include "device/describe.h"
#include "kernelcast/setting.h"

namespace kernelcast {
namespace {

using describe::si;

double compulsory_bytes(const Workload& w) {
  if (!w.reuse.known) return w.compulsory_bytes;
  const auto touched = [&w](Reuse::Direction d) {
    return w.reuse.at(d, Reuse::depths - 1, Reuse::windows - 1).footprint;
  };
  return std::min(w.compulsory_bytes, (touched(Reuse::read) + touched(Reuse::write)) * w.geometry.sector_bytes);
}

roofline::Times floor_times(const Workload& w, const roofline::Peaks& peaks) {
  roofline::Demand demand = roofline::demand_of(w);
  demand.dram_bytes = w.cache == CacheState::warm ? 0 : compulsory_bytes(w);  // warm caches may hold all of it
  return roofline::times(demand, peaks);
}

/// NaN counts as nothing: what is not known bounds nothing.
double larger(double a, double b) { return b > a ? b : a; }

double largest_known(const roofline::Times& t) {
  double most = 0;
  for (const double s : {t.fp32_s, t.fp64_s, t.fp16_s, t.dram_s}) most = larger(most, s);
  for (const double s : t.tensor_s) most = larger(most, s);
  return most;
}

std::string why_of(const Workload& w, const roofline::Peaks& p, const roofline::Times& t, double floor) {
  const roofline::Demand demand = roofline::demand_of(w);
  if (t.dram_s == floor) return si(compulsory_bytes(w), "B") + ", each byte once, at " + si(p.dram_bytes_per_s, "B/s");
  for (std::size_t i = 0; i < tensor_type_count; ++i) {
    if (t.tensor_s[i] != floor) continue;
    TensorOps only;
    only.warp[i] = demand.tensor.of(static_cast<TensorType>(i));
    return describe::products(only, [&](TensorType) { return p.tensor_ops_per_s[i]; });
  }
  if (t.fp64_s == floor) return si(demand.fp64_flops, "FLOP") + " in FP64 at " + si(p.fp64_flops_per_s, "FLOP/s");
  if (t.fp32_s == floor) return si(demand.fp32_flops, "FLOP") + " in FP32 at " + si(p.fp32_flops_per_s, "FLOP/s");
  return si(demand.fp16_flops, "FLOP") + " in packed FP16 at " + si(p.fp16_flops_per_s, "FLOP/s");
}

void raise_to(double floor, Estimate& e) {
  e.time_s.value = floor;
  if (e.interval_lo_s) e.interval_lo_s = std::max(*e.interval_lo_s, floor);
  if (e.interval_hi_s) e.interval_hi_s = std::max(*e.interval_hi_s, floor);
  e.bounds.insert(e.bounds.begin(), {"floor", Seconds(floor), e.floor_why, std::nullopt, BoundKind::floor});
  e.limiter = "floor";
}

/// Nothing is added unless the launch says so: the time of an estimate is the GPU's.
void add_launch_overhead(const Workload& w, const Device& d, Estimate& e) {
  const double given = w.launch_overhead_s;
  if (given > 0) {
    e.launch_overhead_s.value = given;
  } else if (const auto known = d.get(Field::system_launch_overhead_s)) {
    e.launch_overhead_s.value = *known;
  } else {
    e.launch_overhead_s.reason = "depends on driver and host; give " KC_SETTING(launch_overhead) " or set " +
                                 describe::where_to_set(d, "system.launch_overhead_s");
  }
  if (!(given > 0) || !e.time_s.value) return;
  for (std::optional<double>* s : {&e.time_s.value, &e.interval_lo_s, &e.interval_hi_s})
    if (*s) **s += given;
  for (Bound& b : e.bounds)
    if (b.without) b.without = Seconds(b.without->value() + given);
  const Bound host{"launch_overhead", Seconds(given), "of the host, as given", Seconds(*e.time_s.value - given),
                   BoundKind::launch};
  const auto shorter = [&](const Bound& b) { return b.time < host.time; };
  if (e.bounds.empty() || shorter(e.bounds.front())) e.limiter = host.name;
  e.bounds.insert(std::find_if(e.bounds.begin(), e.bounds.end(), shorter), host);
}

class FlooredTimes final : public DeviceTimes {
 public:
  FlooredTimes(std::unique_ptr<DeviceTimes> inner, const Device& d)
      : inner_(std::move(inner)), peaks_(roofline::peaks_of(d)) {}
  [[nodiscard]] double seconds(const Workload& w) const override {
    const double inner = inner_->seconds(w), floor = floor_seconds(w, peaks_);
    return (inner < floor ? floor : inner) + w.launch_overhead_s;
  }
  [[nodiscard]] int first_window() const override { return inner_->first_window(); }

 private:
  std::unique_ptr<DeviceTimes> inner_;
  roofline::Peaks peaks_;
};

class Floored final : public Model {
 public:
  explicit Floored(const Model& inner) : inner_(inner) {}
  [[nodiscard]] std::string_view name() const override { return inner_.name(); }
  [[nodiscard]] std::string_view summary() const override { return inner_.summary(); }
  [[nodiscard]] bool reads_reuse() const override { return inner_.reads_reuse(); }
  [[nodiscard]] bool reads_divergence() const override { return inner_.reads_divergence(); }
  [[nodiscard]] double seconds(const Workload& w, const Device& d) const override {
    const double inner = inner_.seconds(w, d), floor = floor_seconds(w, roofline::peaks_of(d));
    return (inner < floor ? floor : inner) + w.launch_overhead_s;
  }
  [[nodiscard]] std::unique_ptr<DeviceTimes> on(const Device& d) const override {
    return std::make_unique<FlooredTimes>(inner_.on(d), d);
  }
  [[nodiscard]] Estimate estimate(const KernelProfile& p, const Workload& w, const Device& d) const override {
    return estimate_within(p, w, d, 0);
  }
  [[nodiscard]] Estimate estimate_within(const KernelProfile& p, const Workload& w, const Device& d,
                                         double seconds) const override {
    Estimate e = inner_.estimate_within(p, w, d, seconds);
    apply_floor(w, d, e);
    add_launch_overhead(w, d, e);
    return e;
  }

 private:
  const Model& inner_;
};

}  // namespace

double floor_seconds(const Workload& w, const roofline::Peaks& peaks) { return largest_known(floor_times(w, peaks)); }

void apply_floor(const Workload& w, const Device& d, Estimate& e) {
  const roofline::Peaks peaks = roofline::peaks_of(d);
  const roofline::Times t = floor_times(w, peaks);
  const double floor = largest_known(t);
  if (floor > 0) {
    e.floor_s.value = floor;
    e.floor_why = why_of(w, peaks, t, floor);
  } else {
    e.floor_s.reason = "no floating-point operation, no matrix product and no global access with a known address";
  }
  if (!e.time_s.value || !(*e.time_s.value > 0)) return;
  if (*e.time_s.value < floor) raise_to(floor, e);
  const double time = *e.time_s.value;
  const roofline::Demand demand = roofline::demand_of(w);
  e.achieved.tensor_flop_per_s = tensor_flops(demand.tensor) / time;
  e.achieved.flop_per_s =
      (demand.fp32_flops + demand.fp64_flops + demand.fp16_flops) / time + *e.achieved.tensor_flop_per_s;
  e.achieved.dram_bytes_per_s = compulsory_bytes(w) / time;
  if (floor > 0) e.achieved.fraction_of_peak = floor / time;
}

std::unique_ptr<Model> floored(const Model& inner) { return std::make_unique<Floored>(inner); }

}  // namespace kernelcast
