// The model `kernelcast` as a Model: text for people around the numbers of kernelcast.cpp, and the interval.
#include <algorithm>
#include <array>
#include <cmath>

#include "device/describe.h"
#include "kernelcast/setting.h"
#include "machine/occupancy.h"
#include "model/kernelcast.h"
#include "model/kernelcast_interval.h"
#include "model/models.h"

namespace kernelcast {
namespace {

using describe::number;
using describe::si;
using forecast::BoundTimes;
using forecast::KernelcastDevice;
using forecast::Limit;
using forecast::limit_count;

std::string percent(double share) { return number(std::round(share * 100)) + " %"; }

/// Where warps of a block take unequal paths: by how much the slowest one's instructions are more than the mean.
std::string whose_path(const Workload& w) {
  const double mean = w.warp_ops.total() / w.warps_per_block;
  const double more = w.slowest.instructions > 0 && mean > 0 ? w.slowest.instructions / mean : w.warp_imbalance;
  if (std::abs(more - 1) < 0.01) return "";
  return " (the slowest of a block's issues " + number(more) + " times what the mean one does)";
}

std::string instructions_text(double count, const char* of) { return si(count, "") + " warp instructions " + of; }

/// Of copies in bulk; empty: there are none.
std::string stages_text(const BoundTimes& f) {
  if (f.stages <= 0) return "";
  return "; copies in bulk with " + (f.stages == 1 ? std::string("one stage") : number(f.stages) + " stages") +
         " in shared memory";
}

/// Of blocks that are not like the others, or wait for them; empty: there are none.
std::string longest_text(const Workload& w, const BoundTimes& f) {
  std::string text;
  if (f.longest_cycles > 1.01 * f.path_cycles)
    text += "; " + number(f.longest_cycles) + " cycles in the block that takes longest";
  if (w.handovers > 0) text += "; " + si(w.handovers, "") + " waits for others one after another";
  return text;
}

/// "1.5M floating point updates of global memory, 1.5M of one word".
std::string updates_text(const Workload& w) {
  std::string text;
  for (std::size_t k = 0; k < atomic_kind_count; ++k) {
    const AtomicCount& a = w.atomics[k];
    if (a.updates <= 0) continue;
    text += (text.empty() ? "" : "; ") + si(a.updates, "") + " " + std::string(name_of(static_cast<AtomicKind>(k))) +
            " updates of global memory, " + si(a.hottest, "") + " of one word";
  }
  return text;
}

std::string products_text(const OpCounts& n, const KernelcastDevice& m, double shape_factor) {
  std::string text = describe::products(
      n.tensor, [&m](TensorType t) { return 2 * m.units * m.clock_hz * m.tensor_fma[static_cast<std::size_t>(t)]; });
  if (shape_factor > 1.01) text += "; their shapes take " + number(shape_factor) + " times as long";
  return text;
}

std::string wavefronts_text(const Workload& w) {
  double wavefronts = 0, requests = 0;
  for (const AccessKind k : {AccessKind::load, AccessKind::store, AccessKind::atomic}) {
    wavefronts += w.at(MemorySpace::shared, k).bank_passes;
    requests += w.at(MemorySpace::shared, k).requests;
  }
  const double operands = w.warp_ops.tensor.shared_bytes;
  if (wavefronts + operands <= 0) return "no access to shared memory";
  std::string text = si(wavefronts, "") + " passes through the banks";
  if (requests > 0) text += ", " + number(wavefronts / requests) + " a request";
  if (operands > 0) text += ", and " + si(operands, "B") + " of matrix operands";
  return text;
}

std::string why(Limit l, const Workload& w, const KernelcastDevice& m, const BoundTimes& f) {
  const OpCounts& n = w.warp_ops;
  switch (l) {
#define BOUND(id, name, group, cycles, sentence) \
  case Limit::id:                                \
    return sentence;
#include "model/kernelcast_bounds.def"
    case Limit::count_:
      break;
  }
  return {};
}

/// What a kernel needs and a device lacks; empty: nothing.
std::string missing(const Workload& w, const KernelcastDevice& m, const Device& d) {
  const auto set = [&d](const char* what, const char* key) {
    return std::string("kernelcast needs ") + what + " of " + d.name + "; set " + describe::where_to_set(d, key);
  };
  if (std::isnan(m.units)) return set("the number of compute units", "compute.units");
  if (std::isnan(m.clock_hz)) return set("the clock", "clock.boost_clock_hz");
  if (std::isnan(m.issue_per_cycle)) return set("the warp schedulers", "compute.schedulers_per_unit");
  if (std::isnan(m.fp32_lanes)) return set("the FP32 lanes", "compute.fp32_lanes_per_unit");
  if (std::isnan(m.dram_bytes_per_s)) return set("the memory bandwidth", "memory.dram_bandwidth_bytes_per_s");
  if (flops64(w.warp_ops) > 0 && !(m.fp64_lanes > 0)) {
    if (d.get(Field::compute_fp64_lanes_per_unit)) return "the kernel uses FP64 and " + d.name + " has no FP64 units";
    return set("the FP64 lanes", "compute.fp64_lanes_per_unit");
  }
  if (const std::string lacks = describe::missing_tensor_rate(w.warp_ops.tensor, d); !lacks.empty()) return lacks;
  return "a bound has no value";
}

/// `warps` are those resident on a unit.
BoundTimes forecast_with(const Workload& w, const KernelcastDevice& m, double warps) {
  const double blocks =
      std::max(1 / m.units_per_block, warps / std::max(1.0, std::ceil(static_cast<double>(w.block.count()) / m.warp)));
  return forecast::sustained_forecast(w, m, forecast::fitted_constants(), blocks);
}

class KernelcastTimes final : public DeviceTimes {
 public:
  explicit KernelcastTimes(const Device& d)
      : residency_(d), machine_(forecast::machine_of(d, forecast::fitted_constants(), false)) {}
  [[nodiscard]] double seconds(const Workload& w) const override {
    return forecast_with(w, machine_, residency_.warps(w)).seconds();
  }
  /// What all units hold at a time is the least that the L2 is asked about, and each holds one block at least, or its
  /// share of one.
  [[nodiscard]] int first_window() const override {
    return forecast::first_window_of(machine_.units / machine_.units_per_block);
  }

 private:
  WarpResidency residency_;
  KernelcastDevice machine_;
};

class Kernelcast final : public Model {
 public:
  [[nodiscard]] std::string_view name() const override { return "kernelcast"; }
  [[nodiscard]] std::string_view summary() const override {
    return "named bounds of pipes, caches, DRAM and latency for each round of resident blocks, fitted on measured GPUs";
  }

  [[nodiscard]] bool reads_reuse() const override { return true; }
  [[nodiscard]] bool reads_divergence() const override { return false; }

  [[nodiscard]] double seconds(const Workload& w, const Device& d) const override {
    if (d.kind == "cpu") return std::numeric_limits<double>::quiet_NaN();
    const forecast::Constants& c = forecast::fitted_constants();
    return forecast_on(w, d, forecast::machine_of(d, c, false)).seconds();
  }

  [[nodiscard]] std::unique_ptr<DeviceTimes> on(const Device& d) const override {
    return d.kind == "cpu" ? Model::on(d) : std::make_unique<KernelcastTimes>(d);
  }

  [[nodiscard]] Estimate estimate(const KernelProfile& p, const Workload& w, const Device& d) const override {
    Estimate e = empty_estimate(name());
    if (d.kind == "cpu") {
      e.time_s.reason = "kernelcast describes GPUs; " + d.name + " is a CPU";
      put_energy(d, {}, e);
      return e;
    }
    put_occupancy(w, d, e);
    const KernelcastDevice at_boost = forecast::machine_of(d, forecast::fitted_constants(), true);
    const BoundTimes f = forecast_on(w, d, at_boost);
    const KernelcastDevice m = forecast::at_clock(at_boost, f.clock_hz);
    const double total = f.seconds();
    e.assumptions.insert(e.assumptions.end(), m.stand_ins.begin(), m.stand_ins.end());
    add_unlisted_fallbacks(w, m, d, e);
    if (std::isnan(total)) {
      e.time_s.reason = missing(w, m, d);
      put_energy(d, {}, e);
      return e;
    }
    e.time_s.value = total;
    e.interval_reason.clear();
    const auto doubt = forecast::doubt_of(d, at_boost, total, [&](const Device& other) {
      return forecast_on(w, other, forecast::machine_of(other, forecast::fitted_constants(), false)).seconds();
    });
    const forecast::Spread spread = forecast::spread_of(p, w, doubt, f, w.basis());
    e.interval_lo_s = total / spread.factor_below;
    e.interval_hi_s = total * spread.factor_above;
    if (f.clock_hz < at_boost.clock_hz) add_power_limit(w, d, at_boost, f, spread.factor_below, e);
    if (is_asked_for(d, Field::system_tdp_w) && w.warp_ops[OpClass::tensor] <= 0)
      e.assumptions.push_back({"kernelcast: the power limit of " + number(d.get_or(Field::system_tdp_w, 0)) + " W",
                               "does not lower the clock: what other work than matrix products draws is not known",
                               KC_SETTING(clock)});
    add_bounds(w, m, f, total, e);
    if (!spread.reasons.empty())
      e.assumptions.push_back({"kernelcast: the 90 % interval is wider for", spread.reasons, ""});
    if (auto narrows = forecast::what_narrows(w, spread)) e.assumptions.push_back(std::move(*narrows));
    forecast::add_cliffs(p, w, d, e.assumptions);
    add_text_order(p, w, d, at_boost, spread.factor_above, e);
    put_energy(d, {w.thread_ops.total(), f.traffic.dram_moved(w, m) * m.sector_bytes}, e);
    return e;
  }

 private:
  /// Fallback values that machine_of() does not list, where the launch uses them.
  static void add_unlisted_fallbacks(const Workload& w, const KernelcastDevice& m, const Device& d, Estimate& e) {
    const auto add = [&](double used, Field f, double value, const char* why) {
      if (used <= 0 || d.get(f)) return;
      const std::string key = describe::key_of(f);
      e.assumptions.push_back({"kernelcast: " + key + " of " + d.name, number(value) + " (" + why + ")",
                               describe::where_to_set(d, key.c_str())});
    };
    add(w.warp_ops[OpClass::tensor], Field::latency_tensor_cycles, m.latency[static_cast<std::size_t>(Latency::tensor)],
        "as on GA10x");
    add(w.atomics[static_cast<std::size_t>(AtomicKind::real)].updates, Field::latency_atomic_real_cycles,
        m.real_update_cycles, "the mean of six architectures");
    const char* gh100 = "as on GH100";
    add(w.in_cluster.read_bytes, Field::memory_cluster_read_bytes_per_unit, m.cluster_read_bytes, gh100);
    add(w.in_cluster.written_bytes, Field::memory_cluster_write_bytes_per_unit, m.cluster_write_bytes, gh100);
    add(w.in_cluster.read_requests, Field::memory_cluster_latency_cycles, m.cluster_latency, gh100);
    add(w.stalls.cluster_barriers, Field::latency_cluster_barrier_cycles, m.cluster_barrier, gh100);
    add(w.stalls.cluster_barriers, Field::latency_cluster_barrier_warp_cycles, m.cluster_barrier_warp, gh100);
  }

  /// Whether the compiler finds an order that fits cannot be known: the interval reaches to where the other one ends.
  static void add_text_order(const KernelProfile& p, const Workload& w, const Device& d, const KernelcastDevice& m,
                             double factor_above, Estimate& e) {
    const std::optional<Workload> spilled = forecast::in_text_order(p, w, d);
    if (!spilled) return;
    const double seconds = forecast_on(*spilled, d, m).seconds();
    e.interval_hi_s = std::max(e.interval_hi_s.value_or(0), seconds * factor_above);
    e.assumptions.push_back(
        {"the compiler finds an order in which the values fit; in the order of the code it is given they need " +
             number(p.registers.in_text_order) + " registers a thread",
         "else about " + number(p.registers.text_order_spill_bytes) +
             " bytes a thread are spilled: " + si(seconds, "s"),
         ""});
  }

  /// A launch by itself is over before the limit is felt: the interval reaches down to what it takes at the full clock.
  static void add_power_limit(const Workload& w, const Device& d, const KernelcastDevice& at_boost, const BoundTimes& f,
                              double factor_below, Estimate& e) {
    KernelcastDevice unlimited = at_boost;
    unlimited.power_w = 0;
    const double seconds = forecast_on(w, d, unlimited).seconds();
    e.interval_lo_s = std::min(e.interval_lo_s.value_or(seconds), seconds / factor_below);
    e.assumptions.push_back(
        {"kernelcast: such launches follow each other, and matrix work at " + si(at_boost.clock_hz, "Hz") +
             " would draw more than the power limit of " + number(d.get_or(Field::system_tdp_w, 0)) + " W",
         si(f.clock_hz, "Hz") + "; a launch by itself: " + si(seconds, "s"), KC_SETTING(clock) " boost"});
  }

  static BoundTimes forecast_on(const Workload& w, const Device& d, const KernelcastDevice& m) {
    return forecast_with(w, m, resident_warps(w, d));  // throws when the launch cannot run
  }

  static void add_bounds(const Workload& w, const KernelcastDevice& m, const BoundTimes& f, double total, Estimate& e) {
    const auto add = [&](std::string name, double seconds, std::string text, double without) {
      e.bounds.push_back({std::move(name), Seconds(seconds), std::move(text), Seconds(without)});
    };
    for (std::size_t l = 0; l < limit_count; ++l) {
      const auto limit = static_cast<Limit>(l);
      if (f.cycles[l] <= 0) continue;
      add(std::string(name_of(limit)), f.seconds_of(limit), why(limit, w, m, f), f.seconds(limit));
    }
    add("launch", f.launch_s, "start and end of a grid on the GPU", total - f.launch_s);
    e.bounds.back().kind = BoundKind::launch;
    sort_stably(e.bounds, [](const Bound& a, const Bound& b) { return a.time > b.time; });
    e.limiter = e.bounds.front().name;
  }
};

}  // namespace

std::span<const Model* const> kernelcast_models() {
  static const Kernelcast model;
  static const std::array<const Model*, 1> models{&model};
  return models;
}

}  // namespace kernelcast
