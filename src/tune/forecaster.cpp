#include "tune/forecaster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "count/count.h"
#include "io/text.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "machine/occupancy.h"
#include "model/ske.h"
#include "model/ske_device.h"

namespace kernelcast::tune {
namespace {

constexpr std::size_t few_launches = 64;     // a variant's own few need no table
constexpr std::size_t known_launches = 256;  // stays in the first cache: repeats follow each other closely

}  // namespace

LaunchShape completed(LaunchShape shape, const KernelProfile& profile, const Launch& launch) {
  if (!shape.block_known) {
    if (profile.required_block.x == 0) {
      throw UsageError(
          "no block is given, and the kernel requires none (reqd_work_group_size): give " KC_SETTING(block));
    }
    shape.block = profile.required_block;
    shape.block_known = true;
  }
  if (!shape.grid_known) {
    shape.grid = grid_over(mapped_extents(profile, launch), shape.block);
    shape.grid_known = true;
  }
  return shape;
}

LaunchCounts::LaunchCounts(std::shared_ptr<const KernelProfile> profile, const MemoryGeometry& geometry,
                           const Model& model, Launch base, int first_window)
    : profile_(std::move(profile)), launch_(std::move(base)), binder_(*profile_, geometry) {
  binder_.set_reuse(model.reads_reuse());
  binder_.set_divergence(model.reads_divergence());
  binder_.set_memo(false);  // LaunchForecaster::known_ is nearer to the answer
  binder_.skip_windows(first_window);
}

Workload& LaunchCounts::of(const LaunchShape& shape) {
  if (counted_ != shape) {
    counted_.reset();
    launch_.grid = shape.grid;
    launch_.block = shape.block;
    launch_.dynamic_shared_bytes = shape.dynamic_shared_bytes;
    binder_.bind(launch_, work_);
    counted_ = shape;
  }
  work_.registers_per_thread = profile_->registers.per_thread;
  return work_;
}

LaunchForecaster::LaunchForecaster(std::shared_ptr<LaunchCounts> counts, const Device& device,
                                   const LaunchLimits& limits, const Model& model, double risk, bool ske_as_printed)
    : counts_(std::move(counts)),
      profile_(counts_->profile()),
      device_(device),
      limits_(limits),
      model_(model),
      times_(model.on(device)),
      risk_(risk),
      ske_as_printed_(ske_as_printed) {
  // What even the largest block has room for needs no second look.
  const double most_threads = device.get_or(Field::limits_max_threads_per_block, 1024);
  registers_matter_ = std::max(profile_->registers.high, profile_->registers.per_thread) * 1.5 + 8 >
                      most_registers(device, most_threads);
}

/// The largest number of registers a thread of such a block may have.
double LaunchForecaster::most_for(const LaunchShape& shape) {
  if (!registers_matter_) return UnitLimits::none;
  const double threads = static_cast<double>(shape.block.count());
  if (threads != last_threads_) {
    last_threads_ = threads;
    last_most_ = most_registers(device_, threads);
  }
  return last_most_;
}

/// With no more registers than fit.
Workload& LaunchForecaster::workload(const LaunchShape& shape) {
  Workload& work = counts_->of(shape);
  work.registers_per_thread = std::min(work.registers_per_thread, most_for(shape));
  return work;
}

/// SKE's nonlinear programme: formula (9) is the objective, (10)-(16) decide what is feasible, nothing else does.
TrialTime LaunchForecaster::time_as_printed(const LaunchShape& shape) {
  TrialTime a;
  try {
    const Workload& work = counts_->of(shape);
    const ske::SkeDevice machine = ske::machine_of(device_);
    const ske::Kernel kernel = ske::kernel_of(work, device_);
    const ske::SkeTimes f = ske::forecast(machine, kernel);
    for (const ske::Constraint& c : ske::constraints(machine, kernel, f.active_blocks)) {
      const bool none = c.number == 14 && f.active_blocks < 1;
      if (c.status != ske::Status::violated && !none) continue;
      a.refusal = Refusal::constraint;
      a.reason = none ? "(14) active blocks per SM: not one fits"
                      : fmt::format("({}) {}: {} of {}", c.number, c.name, c.left, c.right);
      return a;
    }
    a.time_s = f.total().value();
    if (std::isfinite(a.time_s) && a.time_s > 0) return a;
    a.reason = ske::missing(work, device_);
  } catch (const ArgumentError& e) {
    a.reason = first_line(message_of(e));
    a.argument = e.name();
  } catch (const Error& e) {
    a.reason = first_line(message_of(e));
  }
  a.time_s = 0;
  a.refusal = Refusal::forecast;
  return a;
}

TrialTime LaunchForecaster::time(const LaunchShape& shape) {
  if (known_.empty()) {
    if (++asked_ <= few_launches) return forecast(shape);
    known_.resize(known_launches);
  }
  Known& known = known_[ShapeHash{}(shape) % known_launches];
  if (known.time_s > 0 && known.shape == shape) return {known.time_s, known.cannot_run, Refusal::none, {}};
  TrialTime a = forecast(shape);
  if (a.refusal == Refusal::none) known = {shape, a.time_s, a.cannot_run};
  return a;
}

TrialTime LaunchForecaster::forecast(const LaunchShape& shape) {
  if (ske_as_printed_) return time_as_printed(shape);
  TrialTime a;
  const double shared = static_cast<double>(profile_->static_shared_bytes + shape.dynamic_shared_bytes);
  a.refusal = limits_.check(*profile_, shape.block, shared);
  if (a.refusal != Refusal::none) {
    a.reason = limits_.why(a.refusal, *profile_, shape.block, shared);
    return a;
  }
  if (registers_matter_) {
    const double most = most_for(shape);
    a.cannot_run = probability_above(profile_->registers, most);
    if (a.cannot_run > risk_) {
      const Registers& r = profile_->registers;
      a.refusal = Refusal::registers;
      a.reason = fmt::format("{} threads may have {} registers each, the kernel needs ", shape.block.count(), most);
      a.reason += r.low == r.high
                      ? fmt::format("{:.0f} by {}", r.per_thread, r.method)
                      : fmt::format("about {:.0f} ({:.0f} to {:.0f}): it cannot run with probability {:.2f}",
                                    r.per_thread, r.low, r.high, a.cannot_run);
      return a;
    }
  }
  try {
    const Workload& work = workload(shape);
    const double seconds = times_->seconds(work);
    if (std::isfinite(seconds) && seconds > 0) {
      a.time_s = seconds;
      return a;
    }
    const Estimate e = model_.estimate(*profile_, work, device_);
    a.reason = e.time_s.reason.empty() ? fmt::format("the model gives a time of {} s", seconds) : e.time_s.reason;
  } catch (const ArgumentError& e) {
    a.reason = first_line(message_of(e));
    a.argument = e.name();
  } catch (const Error& e) {
    a.reason = first_line(message_of(e));
  }
  a.refusal = Refusal::forecast;
  return a;
}

void LaunchForecaster::describe_as_printed(const Workload& work, Candidate& out) const {
  const ske::SkeDevice machine = ske::machine_of(device_);
  const ske::Kernel kernel = ske::kernel_of(work, device_);
  const ske::SkeTimes f = ske::forecast(machine, kernel);
  std::string active;
  for (const ske::Constraint& c : ske::constraints(machine, kernel, f.active_blocks)) {
    out.constraints.push_back({c.number, std::string(c.name), std::string(ske::name_of(c.status)), c.left, c.right});
    if (c.status == ske::Status::active && c.number != 14)
      active += fmt::format("{}({}) {}", active.empty() ? "" : ", ", c.number, c.name);
  }
  Estimate& e = out.estimate;
  e.model = "ske";
  e.time_s.value = f.total().value();
  e.interval_reason = "the paper gives none";
  const std::string hidden =
      fmt::format("hidden to {:.3g} by {} active blocks, {} active warps", f.hiding, f.active_blocks, f.active_warps);
  e.bounds = {{"memory", f.memory * f.hiding, hidden, {}},
              {"compute", f.compute * f.hiding, hidden, {}},
              {"barriers", f.barriers, "not hidden", {}}};
  std::sort(e.bounds.begin(), e.bounds.end(), [](const Bound& a, const Bound& b) { return a.time > b.time; });
  e.limiter = e.bounds.front().name;
  const double warps = std::ceil(kernel.threads / machine.warp);
  e.occupancy.blocks_per_unit = f.active_blocks;
  e.occupancy.warps_per_unit = f.active_blocks * warps;
  if (std::isfinite(machine.max_warps_per_sm))
    e.occupancy.fraction = e.occupancy.warps_per_unit / machine.max_warps_per_sm;
  e.occupancy.limiter = active.empty() ? "no active constraint" : active;
}

void LaunchForecaster::describe(const LaunchShape& shape, Candidate& out, const Recount& recount) {
  TrialTime a = forecast(shape);
  if (recount && a.refusal != Refusal::none) throw UserError(a.reason);
  Workload work = ske_as_printed_ ? counts_->of(shape) : workload(shape);
  if (recount) {
    work = recount(counts_->launch(), std::move(work));
    a.time_s = model_.seconds(work, device_);
    if (!std::isfinite(a.time_s) || a.time_s <= 0) {
      throw LimitError(fmt::format("with executed counts the model gives a time of {} s", a.time_s));
    }
  }
  out.shape = shape;
  out.launch = counts_->launch();
  out.profile = profile_;
  out.time_s = a.time_s;
  out.cannot_run = a.cannot_run;
  if (ske_as_printed_) {
    describe_as_printed(work, out);
  } else {
    out.estimate = model_.estimate(*profile_, work, device_);
  }
  out.counts_method = work.counts_method;
  out.registers = work.registers_per_thread;
  out.shared_bytes = work.shared_bytes_per_block;
  const auto idle = note_on_idle_launch(*profile_, work);
  if (idle && recount) throw UserError(idle->what);  // it is fast because it does nothing
  assumptions_ = std::move(work.assumptions);
  if (idle) assumptions_.push_back(*idle);
}

}  // namespace kernelcast::tune
