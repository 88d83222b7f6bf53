// The model `ske` and its two corrections, over the paper's core.
#include <array>
#include <cmath>

#include "device/describe.h"
#include "machine/occupancy.h"
#include "model/models.h"
#include "model/ske_device.h"

namespace kernelcast {
namespace {

using describe::number;
using describe::si;

/// "16 active blocks of 4 warps (active: (11) threads per SM 2048 of 2048; ...)".
std::string residency(const ske::SkeDevice& m, const ske::Kernel& k, const ske::SkeTimes& f) {
  std::string text = number(f.active_blocks) + " active blocks and " + number(f.active_warps) + " active warps an SM";
  for (const ske::Constraint& c : ske::constraints(m, k, f.active_blocks)) {
    if (c.status == ske::Status::satisfied || c.number == 14) continue;
    text += ", (" + std::to_string(c.number) + ") " + std::string(c.name) + " " + std::string(ske::name_of(c.status)) +
            ": " + number(c.left) + " of " + number(c.right);
  }
  return text;
}

std::vector<Bound> bounds_of(const ske::SkeDevice& m, const ske::Kernel& k, const ske::SkeTimes& f) {
  const std::string hidden = "hidden to " + number(f.hiding) + " of ";
  const std::string rounds = " in " + number(std::ceil(k.blocks / m.multiprocessors)) + " rounds of blocks";
  std::vector<Bound> bounds;
  bounds.push_back({"compute", f.compute * f.hiding,
                    number(k.instruction_cycles.value()) + " cycles a thread" + rounds + ", " + number(m.cores) +
                        " cores an SM: " + hidden + si(f.compute.value(), "s") + " by " + residency(m, k, f) +
                        " (2, 3, 8)"});
  bounds.push_back({"memory", f.memory * f.hiding,
                    number(k.memory_cycles.value()) + " cycles a thread" + rounds + ", " + number(m.load_store_units) +
                        " load/store units an SM: " + hidden + si(f.memory.value(), "s") +
                        " by the same blocks (4-6, 8)"});
  bounds.push_back({"barriers", f.barriers,
                    k.barriers == 0
                        ? "no barrier"
                        : number(k.barriers) + " barriers a block of 4 cycles a warp" + rounds + ", not hidden (7)"});
  sort_stably(bounds, [](const Bound& x, const Bound& y) { return x.time > y.time; });
  return bounds;
}

class SkeTimes final : public DeviceTimes {
 public:
  SkeTimes(const Device& d, ske::Correction correction)
      : device_(d), residency_(d), machine_(ske::machine_of(d)), correction_(correction) {}
  [[nodiscard]] double seconds(const Workload& w) const override {
    static_cast<void>(residency_.warps(w));  // throws when the launch cannot run
    return ske::forecast(machine_, ske::kernel_of(w, device_), correction_).total().value();
  }

 private:
  const Device& device_;
  WarpResidency residency_;
  ske::SkeDevice machine_;
  ske::Correction correction_;
};

class Ske final : public Model {
 public:
  Ske(std::string_view name, std::string_view summary, ske::Correction correction)
      : name_(name), summary_(summary), correction_(correction) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string_view summary() const override { return summary_; }

  [[nodiscard]] double seconds(const Workload& w, const Device& d) const override {
    if (d.kind == "cpu") return std::numeric_limits<double>::quiet_NaN();
    return SkeTimes(d, correction_).seconds(w);
  }

  [[nodiscard]] std::unique_ptr<DeviceTimes> on(const Device& d) const override {
    return d.kind == "cpu" ? Model::on(d) : std::make_unique<SkeTimes>(d, correction_);
  }

  [[nodiscard]] Estimate estimate(const KernelProfile&, const Workload& w, const Device& d) const override {
    Estimate e = empty_estimate(name_);
    if (d.kind == "cpu") {
      e.time_s.reason = "ske describes GPUs; " + d.name + " is a CPU";
      return e;
    }
    put_occupancy(w, d, e);
    const ske::SkeDevice m = ske::machine_of(d);
    const ske::Kernel k = ske::kernel_of(w, d);
    const ske::SkeTimes f = ske::forecast(m, k, correction_);
    const double total = f.total().value();
    if (std::isnan(total)) {
      e.time_s.reason = ske::missing(w, d);
      return e;
    }
    e.time_s.value = total;
    e.bounds = bounds_of(m, k, f);
    e.limiter = e.bounds.front().name;
    for (Assumption& a : ske::assumptions(w, d)) e.assumptions.push_back(std::move(a));
    if (correction_ != ske::Correction::none && !f.corrected) {
      e.assumptions.push_back(
          {"ske: the correction is for blocks of fewer than P/2 threads and does not apply here", "none", ""});
    }
    return e;
  }

 private:
  std::string_view name_, summary_;
  ske::Correction correction_;
};

}  // namespace

std::span<const Model* const> ske_models() {
  static const Ske plain("ske", "single-kernel estimate for CUDA: compute and memory hidden by active warps and blocks",
                         ske::Correction::none);
  static const Ske a("ske:corrected-a", "the same; for small blocks both hiding factors are 0.92", ske::Correction::a);
  static const Ske b("ske:corrected-b", "the same; small blocks share an SM's cores, hiding factors 0.99",
                     ske::Correction::b);
  static const std::array<const Model*, 3> models{&plain, &a, &b};
  return models;
}

}  // namespace kernelcast
