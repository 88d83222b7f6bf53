// The model `opencl-quantitative` and its two other readings, over the paper's core.
#include <array>
#include <cmath>
#include <limits>

#include "device/describe.h"
#include "kernelcast/setting.h"
#include "machine/occupancy.h"
#include "model/models.h"
#include "model/opencl_quantitative_device.h"

namespace kernelcast {
namespace {

namespace oq = opencl_quantitative;
using describe::number;
using describe::si;

/// Everything that both estimate() and seconds() compute; plain numbers.
struct QuantitativeEstimate {
  oq::QuantitativeDevice machine;
  oq::BatchCost cost;
  oq::QuantitativeTimes forecast;
};

/// What answer() knows of a device.
struct OnDevice {
  explicit OnDevice(const Device& d) : residency(d), machine(oq::machine_of(d)), fp64_factor(oq::fp64_factor(d)) {}
  WarpResidency residency;
  oq::QuantitativeDevice machine;
  double fp64_factor;
};

QuantitativeEstimate answer(const Workload& w, const OnDevice& d, oq::Variant variant) {
  QuantitativeEstimate a;
  a.machine = d.machine;
  a.cost = oq::batch_cost_of(a.machine, w, d.fp64_factor);
  const double threads = w.blocks * static_cast<double>(w.block.count());
  a.forecast = oq::forecast(a.machine, a.cost, {threads, w.blocks, d.residency.warps(w)}, variant);
  // A batch whose global time is nothing costs nothing, whatever the memory clock.
  if (a.cost.global.value() == 0) a.forecast.global_memory = Seconds();
  return a;
}

std::string computing(const QuantitativeEstimate& a, oq::Variant variant) {
  const oq::QuantitativeTimes& f = a.forecast;
  if (f.serial)
    return "one batch at a time on a unit (limit case: nothing overlaps), " + number(f.batches_per_unit) +
           " batches a unit";
  return number(f.batches_per_unit) + " batches a unit" +
         (variant == oq::Variant::printed ? ", counted twice as printed" : "");
}

std::string waiting(const QuantitativeEstimate& a, oq::Variant variant) {
  if (a.forecast.serial) return "nothing hides it: one batch at a time on a unit";
  switch (variant) {
    case oq::Variant::settled:
      return "hidden behind computation for all batches of a unit but one (9)";
    case oq::Variant::printed:
      return "(14) as printed counts it once for every batch of a unit";
    case oq::Variant::no_overlap:
      return "counted for every batch of a unit, without overlap";
  }
  return {};
}

std::vector<Bound> bounds_of(const QuantitativeEstimate& a, const Workload& w, oq::Variant variant) {
  const oq::QuantitativeTimes& f = a.forecast;
  const std::string shader = " at " + si(a.machine.shader_clock.value(), "Hz");
  std::vector<Bound> bounds;
  bounds.push_back(
      {"compute", f.compute,
       number(a.cost.compute.value()) + " cycles a batch" + shader + ", " + computing(a, variant) + " (1, 2, 9)"});
  bounds.push_back({"branch", f.branch,
                    a.cost.branch.value() == 0
                        ? "no branch is left to the default share of divergent batches; known branches are in compute"
                        : number(a.cost.branch.value()) + " cycles a batch" + shader +
                              " with 20 % of the batches divergent, " + computing(a, variant) + " (7-9)"});
  bounds.push_back({"global_memory", f.global_memory,
                    a.cost.global.value() == 0
                        ? "no access to global memory"
                        : number(a.cost.global.value() / a.machine.global_latency.value()) +
                              " transactions a batch of " + number(a.machine.global_latency.value()) + " cycles at " +
                              si(a.machine.memory_clock.value(), "Hz") + "; " + waiting(a, variant) + " (3, 4)"});
  bounds.push_back({"local_memory", f.local_memory,
                    a.cost.local.value() == 0 ? "no access to local memory"
                                              : number(a.cost.local.value()) + " cycles a batch" + shader + "; " +
                                                    waiting(a, variant) + " (5, 6)"});
  bounds.push_back({"barriers", f.barriers,
                    w.barriers == 0
                        ? "no barrier"
                        : number(w.barriers / w.blocks) + " barriers a work-group of " + number(f.batches_per_group) +
                              " batches, of which " + number(w.flat_barriers / w.blocks) +
                              " cost a flat 50 cycles; at the others a batch waits for the computation of all "
                              "batches of its group (12-14)"});
  sort_stably(bounds, [](const Bound& x, const Bound& y) { return x.time > y.time; });
  return bounds;
}

class OpenclQuantitativeTimes final : public DeviceTimes {
 public:
  OpenclQuantitativeTimes(const Device& d, oq::Variant variant) : device_(d), variant_(variant) {}
  [[nodiscard]] double seconds(const Workload& w) const override {
    return answer(w, device_, variant_).forecast.total().value();
  }

 private:
  OnDevice device_;
  oq::Variant variant_;
};

class OpenclQuantitative final : public Model {
 public:
  OpenclQuantitative(std::string_view name, std::string_view summary, oq::Variant variant)
      : name_(name), summary_(summary), variant_(variant) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view summary() const override { return summary_; }

  [[nodiscard]] double seconds(const Workload& w, const Device& d) const override {
    if (d.kind == "cpu") return std::numeric_limits<double>::quiet_NaN();
    return OpenclQuantitativeTimes(d, variant_).seconds(w);
  }

  [[nodiscard]] std::unique_ptr<DeviceTimes> on(const Device& d) const override {
    return d.kind == "cpu" ? Model::on(d) : std::make_unique<OpenclQuantitativeTimes>(d, variant_);
  }

  [[nodiscard]] Estimate estimate(const KernelProfile&, const Workload& w, const Device& d) const override {
    Estimate e = empty_estimate(name_);
    if (d.kind == "cpu") {
      e.time_s.reason = "opencl-quantitative describes GPUs; " + d.name + " is a CPU";
      return e;
    }
    put_occupancy(w, d, e);
    const QuantitativeEstimate a = answer(w, OnDevice(d), variant_);
    const double total = a.forecast.total().value();
    if (std::isnan(total)) {
      e.time_s.reason = oq::missing(a.machine, w, d);
      return e;
    }
    e.time_s.value = total;
    e.bounds = bounds_of(a, w, variant_);
    e.limiter = e.bounds.front().name;
    for (Assumption& assumed : oq::machine_assumptions(d)) e.assumptions.push_back(std::move(assumed));
    if (a.cost.branch.value() > 0) {
      e.assumptions.push_back({"share of batches that diverge at branches that data decide (D)", "20 %",
                               KC_SETTING(assume) " branch:LINE=P, or " KC_SETTING(counts) " executed"});
    }
    if (a.cost.synchronised > 0) {
      e.assumptions.push_back({"computation is spread evenly over the phases between barriers", "yes", ""});
    }
    if (w.warp_ops[OpClass::tensor] > 0) {
      e.assumptions.push_back({"a matrix instruction costs one MUL: the paper has no class for it", "yes", ""});
    }
    return e;
  }

 private:
  std::string_view name_, summary_;
  oq::Variant variant_;
};

}  // namespace

std::span<const Model* const> opencl_quantitative_models() {
  static const OpenclQuantitative settled("opencl-quantitative",
                                          "time from static analysis of a data-parallel program (Zhu et al. 2013)",
                                          oq::Variant::settled);
  static const OpenclQuantitative printed("opencl-quantitative:printed",
                                          "the same with formula (14) as printed: batches per unit counted twice",
                                          oq::Variant::printed);
  static const OpenclQuantitative no_overlap("opencl-quantitative:no-overlap",
                                             "the same with the memory time of every batch counted",
                                             oq::Variant::no_overlap);
  static const std::array<const Model*, 3> models{&settled, &printed, &no_overlap};
  return models;
}

}  // namespace kernelcast
