// Idea: no kernel is faster than its arithmetic at the peak rate, nor than its compulsory traffic at the peak
// bandwidth.
//
// Source: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for multicore
// architectures", Communications of the ACM 52(4), 65-76, 2009. Their picture is attainable FLOP/s = min(peak,
// bandwidth
// * intensity); the time of W FLOP and Q bytes is then max(W/peak, Q/bandwidth).
//
// Each type of operation has its own roof: FP32, FP64 and FP16 lanes, and each pair of input and accumulator type of
// the matrix units (device file: compute.tensor_*_fma_per_unit, dense; structured sparsity counts what is multiplied).
// The roofs are not added up: units of different types may work side by side.
//
// Limits: a lower bound, not a forecast: no latency, no launch, no integer work, every cache holds everything. FP16
// instructions are taken as packed, two halves each.
#include "model/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "device/describe.h"
#include "machine/occupancy.h"
#include "model/models.h"

namespace kernelcast {
namespace roofline {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// FLOP per core and cycle of a CPU's vector units.
double cpu_flops_per_cycle(const Device& d, double bits_per_value) {
  const double fused = d.get_or(Field::cpu_fma_per_core, 0);
  const double per_cycle = fused > 0 ? 2 * fused : d.get_or(Field::cpu_fp_issue_per_core, unknown);
  return per_cycle * d.get_or(Field::cpu_simd_bits, unknown) / bits_per_value;
}

double flops_per_cycle(const Device& d, Field lanes, double bits_per_value) {
  if (const auto v = d.get(lanes)) return 2 * *v;
  return d.kind == "cpu" ? cpu_flops_per_cycle(d, bits_per_value) : unknown;
}

double flops16(const OpCounts& c) {
  return 2 * (c[OpClass::fp16_add] + c[OpClass::fp16_mul]) + 4 * c[OpClass::fp16_fma];
}

double time_of(double amount, double rate) {
  if (amount <= 0) return 0;
  return rate > 0 ? amount / rate : unknown;
}

}  // namespace

Peaks peaks_of(const Device& d) {
  Peaks p;
  const auto boost = d.get(Field::clock_boost_clock_hz);
  p.clock_hz = boost ? *boost : d.get_or(Field::clock_base_clock_hz, unknown);
  const double cycles = d.get_or(Field::compute_units, unknown) * p.clock_hz;
  p.fp32_flops_per_s = cycles * flops_per_cycle(d, Field::compute_fp32_lanes_per_unit, 32);
  p.fp64_flops_per_s = cycles * flops_per_cycle(d, Field::compute_fp64_lanes_per_unit, 64);
  p.fp16_flops_per_s = cycles * 2 * d.get_or(Field::compute_fp16_lanes_per_unit, unknown);
  for (std::size_t t = 0; t < tensor_type_count; ++t)
    p.tensor_ops_per_s[t] = cycles * 2 * d.get_or(tensor_rate_field(static_cast<TensorType>(t)), unknown);
  p.dram_bytes_per_s = d.get_or(Field::memory_dram_bandwidth_bytes_per_s, unknown);
  return p;
}

Demand demand_of(const Workload& w) {
  // A buffer that is updated in place is fetched and written back: its bytes count twice.
  const double moved = std::max(w.footprint_bytes, w.footprint_read_bytes + w.footprint_write_bytes);
  return {flops32(w.thread_ops), flops64(w.thread_ops), flops16(w.thread_ops), w.warp_ops.tensor, moved};
}

Times times(const Demand& demand, const Peaks& peaks) {
  Times t{time_of(demand.fp32_flops, peaks.fp32_flops_per_s), time_of(demand.fp64_flops, peaks.fp64_flops_per_s),
          time_of(demand.dram_bytes, peaks.dram_bytes_per_s)};
  if (peaks.fp16_flops_per_s > 0) t.fp16_s = time_of(demand.fp16_flops, peaks.fp16_flops_per_s);
  for (std::size_t i = 0; i < tensor_type_count; ++i)
    t.tensor_s[i] = time_of(2 * demand.tensor.of(static_cast<TensorType>(i)), peaks.tensor_ops_per_s[i]);
  return t;
}

double Times::largest() const {
  if (std::isnan(fp32_s) || std::isnan(fp64_s) || std::isnan(dram_s)) return unknown;
  double t = std::max({fp32_s, fp64_s, fp16_s, dram_s});
  for (const double products : tensor_s) {
    if (std::isnan(products)) return unknown;
    t = std::max(t, products);
  }
  return t > 0 ? t : unknown;
}

}  // namespace roofline

namespace {

using describe::si;
using roofline::Demand;
using roofline::Peaks;
using roofline::Times;

std::string reason_unknown(const Demand& demand, const Times& t, const Device& d) {
  const auto set = [&d](const char* what, const char* key) {
    return std::string("roofline needs ") + what + " of " + d.name + "; set " + describe::where_to_set(d, key);
  };
  if (std::isnan(t.dram_s)) return set("the memory bandwidth", "memory.dram_bandwidth_bytes_per_s");
  if (std::isnan(t.fp32_s) || std::isnan(t.fp64_s)) {
    if (!d.get(Field::compute_units)) return set("the number of compute units", "compute.units");
    if (!d.get(Field::clock_boost_clock_hz) && !d.get(Field::clock_base_clock_hz))
      return set("the clock", "clock.base_clock_hz");
  }
  if (std::isnan(t.fp32_s)) return set("the FP32 lanes", "compute.fp32_lanes_per_unit");
  if (std::isnan(t.fp64_s)) {
    if (d.get(Field::compute_fp64_lanes_per_unit)) return "the kernel uses FP64 and " + d.name + " has no FP64 units";
    return set("the FP64 lanes", "compute.fp64_lanes_per_unit");
  }
  if (const std::string lacks = describe::missing_tensor_rate(demand.tensor, d); !lacks.empty()) return lacks;
  return "the kernel has no floating-point operation and no global traffic: roofline bounds nothing";
}

std::string arithmetic(double flops, double peak, const char* kind, const Peaks& p) {
  if (flops <= 0) return std::string("no ") + kind + " operation";
  return si(flops, "FLOP") + " in " + kind + " at " + si(peak, "FLOP/s") + " (" + si(p.clock_hz, "Hz") + ")";
}

class RooflineTimes final : public DeviceTimes {
 public:
  explicit RooflineTimes(const Device& d) : residency_(d), peaks_(roofline::peaks_of(d)) {}
  [[nodiscard]] double seconds(const Workload& w) const override {
    static_cast<void>(residency_.warps(w));  // throws when the launch cannot run
    return roofline::times(roofline::demand_of(w), peaks_).largest();
  }

 private:
  WarpResidency residency_;
  Peaks peaks_;
};

class Roofline final : public Model {
 public:
  [[nodiscard]] std::string_view name() const override { return "roofline"; }
  [[nodiscard]] std::string_view summary() const override {
    return "lower bound: arithmetic at peak or compulsory traffic at peak bandwidth (Williams et al. 2009)";
  }

  [[nodiscard]] double seconds(const Workload& w, const Device& d) const override {
    return RooflineTimes(d).seconds(w);
  }

  [[nodiscard]] std::unique_ptr<DeviceTimes> on(const Device& d) const override {
    return std::make_unique<RooflineTimes>(d);
  }

  [[nodiscard]] Estimate estimate(const KernelProfile&, const Workload& w, const Device& d) const override {
    Estimate e = empty_estimate(name());
    e.interval_reason = "roofline is a lower bound";
    put_occupancy(w, d, e);
    const Peaks peaks = roofline::peaks_of(d);
    const Demand demand = roofline::demand_of(w);
    const Times t = roofline::times(demand, peaks);
    if (std::isnan(t.largest())) {
      e.time_s.reason = reason_unknown(demand, t, d);
      return e;
    }
    e.time_s.value = t.largest();
    e.bounds = {{"fp32_peak", Seconds(t.fp32_s), arithmetic(demand.fp32_flops, peaks.fp32_flops_per_s, "FP32", peaks)},
                {"fp64_peak", Seconds(t.fp64_s), arithmetic(demand.fp64_flops, peaks.fp64_flops_per_s, "FP64", peaks)},
                {"dram_bandwidth", Seconds(t.dram_s),
                 demand.dram_bytes <= 0
                     ? "no traffic to device memory"
                     : si(demand.dram_bytes, "B") + ", each byte once, at " + si(peaks.dram_bytes_per_s, "B/s")}};
    if (t.fp16_s > 0)
      e.bounds.push_back({"fp16_peak", Seconds(t.fp16_s),
                          arithmetic(demand.fp16_flops, peaks.fp16_flops_per_s, "packed FP16", peaks)});
    for (std::size_t i = 0; i < tensor_type_count; ++i) {
      if (t.tensor_s[i] <= 0) continue;
      const auto type = static_cast<TensorType>(i);
      TensorOps only;
      only.warp[i] = demand.tensor.of(type);
      e.bounds.push_back({"tensor_" + std::string(name_of(type)) + "_peak", Seconds(t.tensor_s[i]),
                          describe::products(only, [&](TensorType) { return peaks.tensor_ops_per_s[i]; })});
    }
    sort_stably(e.bounds, [](const Bound& a, const Bound& b) { return a.time > b.time; });
    e.limiter = e.bounds.front().name;
    e.assumptions.push_back({"roofline: the device runs at its boost clock (base clock where none is known)",
                             si(peaks.clock_hz, "Hz"), describe::where_to_set(d, "clock.boost_clock_hz")});
    return e;
  }
};

}  // namespace

std::span<const Model* const> roofline_models() {
  static const Roofline model;
  static const std::array<const Model*, 1> models{&model};
  return models;
}

}  // namespace kernelcast
