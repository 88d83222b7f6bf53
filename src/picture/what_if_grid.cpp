// Every point is the model's answer in full to changed numbers of the device file and changed counts: nothing is
// interpolated and nothing scaled afterwards.
//   clock      SMs, their L1 and shared memory, and the L2, whose bandwidth is given in bytes a second; DRAM keeps its
//   own
//              bandwidth and its latency in nanoseconds;
//   bandwidth  DRAM's;
//   units      SMs; the L2 and DRAM stay;
//   l2, l1     sizes;
//   registers  residency alone: fewer than the compiler needs would be spilled, which is not in the answer;
//   block      the same threads in blocks of another size, counted again.
#include "picture/what_if_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernelcast/bind.h"
#include "kernelcast/error.h"
#include "machine/occupancy.h"
#include "model/kernelcast.h"

namespace kernelcast::picture {
namespace {

enum AxisIndex : std::size_t { block_axis, register_axis, clock_axis, bandwidth_axis, units_axis, l2_axis, l1_axis };

void scale(Device& d, Field f, double factor) {
  auto& value = d.values[static_cast<std::size_t>(f)].value;
  if (value) *value *= factor;
}

/// The device with other numbers, from the same start for each point.
class Changed {
 public:
  explicit Changed(const Device& d) : start_(d), device_(d) {}
  const Device& with(double clock, double bandwidth, double units, double l2, double l1) {
    for (std::size_t i = 0; i < field_count; ++i) device_.values[i].value = start_.values[i].value;
    Device& d = device_;
    scale_clock(clock, d);
    scale(d, Field::memory_dram_bandwidth_bytes_per_s, bandwidth);
    scale(d, Field::memory_sustained_dram_bandwidth_bytes_per_s, bandwidth);
    auto& count = d.values[static_cast<std::size_t>(Field::compute_units)].value;
    if (count) *count = std::max(1.0, std::round(*count * units));
    scale(d, Field::memory_l2_bytes, l2);
    scale(d, Field::memory_l1_bytes, l1);
    scale(d, Field::memory_l1_and_shared_bytes, l1);
    return device_;
  }

 private:
  const Device& start_;
  Device device_;
};

/// The largest term, as Forecast has them: the bound that binds. Past the limits: the launch itself.
std::size_t binding(const forecast::BoundTimes& f) {
  std::size_t most = 0;
  for (std::size_t i = 1; i < forecast::limit_count; ++i)
    if (f.cycles[i] > f.cycles[most]) most = i;
  return f.launch_s > f.cycles[most] / f.clock_hz ? forecast::limit_count : most;
}

Axis factors(const char* name, const char* label, std::vector<double> values, const char* note) {
  const auto one = std::find(values.begin(), values.end(), 1.0);
  return {name, label, "x", values, static_cast<std::size_t>(one - values.begin()), note};
}

/// `base` among others, sorted.
Axis sizes(const char* name, const char* label, const char* unit, double base, std::vector<double> values,
           std::string note) {
  values.push_back(base);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const auto here = std::find(values.begin(), values.end(), base);
  return {name, label, unit, values, static_cast<std::size_t>(here - values.begin()), std::move(note)};
}

std::vector<double> block_sizes(const KernelProfile& p, const Workload& w, const Device& d) {
  std::vector<double> sizes;
  const double most = std::min(d.get_or(Field::limits_max_threads_per_block, 1024),
                               p.max_threads_per_block > 0 ? static_cast<double>(p.max_threads_per_block) : 1e9);
  for (const std::int64_t x : {64, 128, 256, 512, 1024})
    if (static_cast<double>(x) <= most && w.grid.x * w.block.x % x == 0) sizes.push_back(static_cast<double>(x));
  return sizes;
}

std::vector<double> register_counts(const Workload& w, const Device& d) {
  std::vector<double> counts;
  const double most = d.get_or(Field::limits_max_registers_per_thread, 255);
  for (const double share : {0.5, 0.75, 1.5, 2.0}) {
    const double n = std::min(most, std::max(16.0, std::round(w.registers_per_thread * share / 8) * 8));
    counts.push_back(n);
  }
  return counts;
}

std::vector<Axis> axes_of(const KernelProfile& p, const Workload& w, const Device& d, bool free_blocks,
                          const std::string& why_not) {
  std::vector<Axis> axes(7);
  axes[block_axis] = sizes("block", "threads per block", "threads", static_cast<double>(w.block.x),
                           free_blocks ? block_sizes(p, w, d) : std::vector<double>(),
                           free_blocks ? "as many threads in all" : why_not);
  if (!free_blocks) axes[block_axis].values = {static_cast<double>(w.block.count())};
  axes[register_axis] = sizes("registers", "registers per thread", "registers", w.registers_per_thread,
                              w.spill_bytes > 0 ? std::vector<double>() : register_counts(w, d),
                              w.spill_bytes > 0 ? "the kernel spills: another number is another code"
                                                : "residency only: spills of fewer registers are not in the answer");
  axes[clock_axis] = factors("clock", "clock of SMs and L2", {0.5, 0.75, 1, 1.25, 1.5}, "DRAM keeps its own clock");
  axes[bandwidth_axis] = factors("bandwidth", "DRAM bandwidth", {0.5, 0.75, 1, 1.5, 2}, "");
  axes[units_axis] = factors("units", "number of SMs", {0.5, 0.75, 1, 1.5, 2}, "L2 and DRAM stay as they are");
  axes[l2_axis] = factors("l2", "size of the L2", {0.5, 1, 2}, "");
  axes[l1_axis] = factors("l1", "size of the L1", {0.5, 1, 2}, "with the shared memory that it divides storage with");
  if (!d.get(Field::memory_l2_bytes)) axes[l2_axis] = factors("l2", "size of the L2", {1}, "the device file has none");
  if (!d.get(Field::memory_l1_bytes)) axes[l1_axis] = factors("l1", "size of the L1", {1}, "the device file has none");
  return axes;
}

class Grid {
 public:
  Grid(WhatIfGrid& out, const Device& d, const Model& model) : out_(out), model_(model), changed_(d) {}

  /// All points of one block size and one register count.
  void add(const Workload& w) {
    const auto& a = out_.axes;
    for (const double clock : a[clock_axis].values)
      for (const double bandwidth : a[bandwidth_axis].values)
        for (const double units : a[units_axis].values)
          for (const double l2 : a[l2_axis].values)
            for (const double l1 : a[l1_axis].values) point(w, changed_.with(clock, bandwidth, units, l2, l1));
  }

  void none() {
    std::size_t points = 1;
    for (std::size_t i = clock_axis; i < out_.axes.size(); ++i) points *= out_.axes[i].values.size();
    out_.seconds.insert(out_.seconds.end(), points, std::numeric_limits<float>::quiet_NaN());
    out_.limiter.insert(out_.limiter.end(), points, 0);
  }

 private:
  void point(const Workload& w, const Device& d) {
    const forecast::Constants& c = forecast::fitted_constants();
    const forecast::KernelcastDevice m = forecast::machine_of(d, c, false);
    const double warps = std::max(1.0, std::ceil(static_cast<double>(w.block.count()) / m.warp));
    const double blocks = std::max(1 / m.units_per_block, resident_warps(w, d) / warps);
    out_.seconds.push_back(static_cast<float>(model_.seconds(w, d)));
    out_.limiter.push_back(static_cast<std::uint8_t>(binding(forecast::sustained_forecast(w, m, c, blocks))));
  }

  WhatIfGrid& out_;
  const Model& model_;
  Changed changed_;
};

}  // namespace

WhatIfGrid what_if_grid(const KernelProfile& p, const Workload& w, const Launch& launch, const Device& d,
                        const Model& model, bool free_blocks, const std::string& why_not) {
  WhatIfGrid out;
  out.axes = axes_of(p, w, d, free_blocks, why_not);
  for (std::size_t i = 0; i < forecast::limit_count; ++i)
    out.limiters.emplace_back(name_of(static_cast<forecast::Limit>(i)));
  out.limiters.emplace_back("launch");
  Binder binder(p, d.geometry());
  Grid grid(out, d, model);
  for (const double block : out.axes[block_axis].values) {
    Workload counted = w;
    bool fits = true;
    if (out.axes[block_axis].values.size() > 1 && static_cast<std::int64_t>(block) != w.block.x) {
      Launch other = launch;
      other.block.x = static_cast<std::int64_t>(block);
      other.grid.x = launch.grid.x * launch.block.x / other.block.x;
      try {
        counted = binder.bind(other);
      } catch (const Error&) {
        fits = false;
      }
    }
    for (const double registers : out.axes[register_axis].values) {
      counted.registers_per_thread = registers;
      const std::size_t before = out.seconds.size();
      try {
        if (fits) grid.add(counted);
      } catch (const Error&) {
        fits = false;
      }
      if (fits) continue;
      out.seconds.resize(before);
      out.limiter.resize(before);
      grid.none();
    }
  }
  return out;
}

}  // namespace kernelcast::picture
