// From device files to the numbers of the model. Nothing here asks for the name of an architecture; a number that a
// file does not have gets a stand-in that is listed as an assumption:
//   integer, shift and multiply lanes: the FP32 lanes, half of them, a quarter;
//   lanes that do FP32 and integers: all integer lanes (the more cautious reading);
//   special functions: an eighth of the FP32 lanes (the ratio of most NVIDIA architectures); conversions likewise;
//   load/store: as many lanes as shared memory has banks;
//   L2: the medians of the 42 device files that have its bandwidth, 24 bytes a cycle and unit and 2.8 times DRAM's;
//   latencies: the medians of the devices that have been measured; of matrix instructions GA10x's;
//   floating-point updates of a word: the mean of the architectures that have been measured;
//   other blocks of a cluster: what was measured on GH100, the one architecture that was.
#include <cmath>
#include <limits>

#include "device/describe.h"
#include "kernelcast/busy_power.h"
#include "model/kernelcast.h"

namespace kernelcast::forecast {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double real_update = 3.57;  // cycles, mean of six architectures (validation/atomics.md), likewise
// GH100's, the one architecture with clusters that was measured (docs/lab/h100.md).
constexpr double cluster_read_bytes = 16, cluster_write_bytes = 19.2, cluster_latency = 205;
constexpr double cluster_barrier = 790, cluster_barrier_warp = 20.3;
constexpr double tensor_latency = 32;  // cycles, GA10x's (accel-sim), where the device file has none

class Reader {
 public:
  Reader(const Device& d, KernelcastDevice& m, bool with_text) : d_(d), m_(m), text_(with_text) {}
  double operator()(Field f) const { return d_.get_or(f, unknown); }
  double operator()(Field f, double stand_in, const char* reason) {
    if (const auto v = d_.get(f)) return *v;
    if (text_ && !std::isnan(stand_in)) {
      m_.fallbacks.emplace_back(f, stand_in);
      const std::string key = describe::key_of(f);
      m_.stand_ins.push_back({"kernelcast: " + key + " of " + d_.name, describe::number(stand_in) + " (" + reason + ")",
                              describe::where_to_set(d_, key.c_str())});
    }
    return stand_in;
  }
  /// Likewise, of a number that few launches read: who reads it lists it.
  double unlisted(Field f, double stand_in) {
    if (const auto v = d_.get(f)) return *v;
    if (text_) m_.fallbacks.emplace_back(f, stand_in);
    return stand_in;
  }

 private:
  const Device& d_;
  KernelcastDevice& m_;
  bool text_;
};

void compute_lanes(KernelcastDevice& m, Reader& read, const Device& d) {
  m.fp32_lanes = read(Field::compute_fp32_lanes_per_unit);
  if (const auto single = d.get(Field::compute_fp32_single_issue_lanes_per_unit)) m.fp32_lanes = *single;
  m.int_lanes = read(Field::compute_int_add_lanes_per_unit, m.fp32_lanes, "as many as for FP32");
  m.shared_lanes = std::min(read(Field::compute_fp32_int_shared_lanes_per_unit, std::min(m.int_lanes, m.fp32_lanes),
                                 "all integer lanes do FP32 too"),
                            m.fp32_lanes);
  m.int_mul_lanes = read(Field::compute_int_mul_lanes_per_unit, m.fp32_lanes / 4, "a quarter of the FP32 lanes");
  m.shift_lanes = read(Field::compute_shift_lanes_per_unit, m.int_lanes / 2, "half of the integer lanes");
  m.fp64_lanes = read(Field::compute_fp64_lanes_per_unit);
  m.fp16_lanes = d.get_or(Field::compute_fp16_lanes_per_unit, 0);
  if (m.fp16_lanes <= 0) m.fp16_lanes = 2 * m.fp32_lanes;  // one instruction a lane, as of FP32
  m.special_lanes = read(Field::compute_special_lanes_per_unit, m.fp32_lanes / 8, "an eighth of the FP32 lanes");
  m.convert_lanes = read(Field::compute_convert_lanes_per_unit, m.special_lanes, "as special functions");
  m.convert64_lanes = read(Field::compute_convert64_lanes_per_unit, m.fp64_lanes, "as FP64");
  for (std::size_t t = 0; t < tensor_type_count; ++t)
    m.tensor_fma[t] = d.get_or(tensor_rate_field(static_cast<TensorType>(t)), unknown);
  m.tensor_warp_share = d.get_or(Field::compute_tensor_warp_share, 1);
  m.tensor_warp_f8_share = d.get_or(Field::compute_tensor_warp_f8_share, m.tensor_warp_share);
}

void memory(KernelcastDevice& m, Reader& read, const Device& d, const Constants& c) {
  const double banks = d.get_or(Field::memory_shared_banks, 32), bank = d.get_or(Field::memory_shared_bank_bytes, 4);
  m.shared_bytes_per_cycle =
      read(Field::memory_shared_bandwidth_bytes_per_unit, banks * bank, "banks times their width");
  // A pass of the workload is a cycle of all banks; a unit of less bandwidth takes longer for it.
  m.shared_passes_per_cycle = std::min(1.0, m.shared_bytes_per_cycle / (banks * bank));
  m.load_store_lanes = read(Field::compute_load_store_lanes_per_unit, banks, "as many as shared memory has banks");
  m.l1_bytes = d.get_or(Field::memory_l1_bytes, 0);
  m.l1_bytes_per_cycle = read(Field::memory_l1_bandwidth_bytes_per_unit, std::min(m.shared_bytes_per_cycle, 128.0),
                              "the bandwidth of shared memory");
  m.l1_caches_loads = m.l1_bytes > 0 && d.get_or(Field::memory_l1_caches_global_loads, 1) != 0;
  m.read_only_bytes = d.get_or(Field::memory_read_only_bytes, 0);
  m.read_only_bytes_per_cycle = d.get_or(Field::memory_read_only_bandwidth_bytes_per_unit, m.l1_bytes_per_cycle);
  m.l1_and_shared_bytes = d.get_or(Field::memory_l1_and_shared_bytes, 0);
  m.sector_bytes = d.get_or(Field::memory_sector_bytes, 32);
  m.l2_parts = d.get_or(Field::memory_l2_partitions, 1);
  m.dram_bytes_per_s = read(Field::memory_dram_bandwidth_bytes_per_s) * d.get_or(Field::memory_ecc_bandwidth_share, 1);
  if (const auto measured = d.get(Field::memory_sustained_dram_bandwidth_bytes_per_s))
    m.dram_bytes_per_s = *measured / c.dram_efficiency;
  m.l2_bytes = d.get_or(Field::memory_l2_bytes, 0);
  m.l3_bytes = d.get_or(Field::memory_l3_bytes, 0);
  const double by_units = m.units * m.clock_hz * 24;
  m.l2_bytes_per_s = m.l2_bytes > 0
                         ? read(Field::memory_l2_bandwidth_bytes_per_s, std::max(by_units, 2.8 * m.dram_bytes_per_s),
                                "24 bytes a cycle and unit, at least 2.8 times DRAM")
                         : m.dram_bytes_per_s;
  if (m.l3_bytes > 0)
    m.l3_bytes_per_s = read(Field::memory_l3_bandwidth_bytes_per_s, m.l2_bytes_per_s, "as much as the L2's");
}

void power(KernelcastDevice& m, const Device& d) {
  const auto clock = d.get(Field::energy_tensor_clock_hz), limit = d.get(Field::system_tdp_w);
  if (!clock || !limit) return;
  const IdleWatts idle = idle_watts(d);
  if (!idle.watts || *limit <= *idle.watts) return;
  m.power_w = *limit - *idle.watts;
  for (std::size_t t = 0; t < tensor_type_count; ++t)
    if (const auto field = tensor_energy_field(static_cast<TensorType>(t)))
      m.tensor_energy[t] = d.get_or(*field, 0) / (*clock * *clock);
}

void latencies(KernelcastDevice& m, Reader& read, const Device& d) {
  const auto at = [&m](Latency l) -> double& { return m.latency[static_cast<std::size_t>(l)]; };
  at(Latency::alu) = read(Field::latency_fp32_cycles, 5, "the median of what has been measured");
  at(Latency::fp64) =
      read(Field::latency_fp64_cycles, std::max(8.0, 2 * m.warp / m.fp64_lanes), "8 or twice the time in the lanes");
  at(Latency::special) = read(Field::latency_special_cycles, 18 + at(Latency::alu), "18 more than arithmetic");
  at(Latency::shared) = read(Field::memory_shared_latency_cycles, 26, "the median of what has been measured");
  at(Latency::constant) = at(Latency::shared);
  at(Latency::global) = read(Field::memory_l1_latency_cycles, 36, "the median of what has been measured");
  at(Latency::local) = at(Latency::global);
  at(Latency::tensor) = read.unlisted(Field::latency_tensor_cycles, tensor_latency);
  m.async_product_latency = d.get_or(Field::latency_tensor_async_cycles, at(Latency::tensor));
  m.l2_latency = read(Field::memory_l2_latency_cycles, 220, "the median of what has been measured");
  if (m.l3_bytes > 0) m.l3_latency = read(Field::memory_l3_latency_cycles, m.l2_latency, "as long as the L2's");
  m.real_update_cycles = read.unlisted(Field::latency_atomic_real_cycles, real_update);
  m.dram_latency =
      read(Field::memory_dram_latency_cycles, m.l2_latency + 2.3e-7 * m.clock_hz, "230 ns more than the L2");
}

void clusters(KernelcastDevice& m, Reader& read, const Device& d) {
  const bool any = d.get_or(Field::limits_max_blocks_per_cluster, 1) > 1;
  const auto number = [&](Field f, double stand_in) { return any ? read.unlisted(f, stand_in) : stand_in; };
  m.cluster_read_bytes = number(Field::memory_cluster_read_bytes_per_unit, cluster_read_bytes);
  m.cluster_write_bytes = number(Field::memory_cluster_write_bytes_per_unit, cluster_write_bytes);
  m.cluster_latency = number(Field::memory_cluster_latency_cycles, cluster_latency);
  m.cluster_barrier = number(Field::latency_cluster_barrier_cycles, cluster_barrier);
  m.cluster_barrier_warp = number(Field::latency_cluster_barrier_warp_cycles, cluster_barrier_warp);
}

}  // namespace

KernelcastDevice machine_of(const Device& d, const Constants& c, bool with_text) {
  KernelcastDevice m;
  Reader read(d, m, with_text);
  m.units = read(Field::compute_units);
  m.units_per_block = d.get_or(Field::limits_units_per_block, 1);
  m.warp = d.get_or(Field::compute_warp_size, 32);
  const auto sustained = d.get(Field::clock_sustained_clock_hz), boost = d.get(Field::clock_boost_clock_hz);
  const double over_rating = d.get_or(Field::clock_boosts_beyond_rating, 1) != 0 ? c.clock : 1;
  m.clock_hz = sustained ? *sustained : boost ? *boost * over_rating : d.get_or(Field::clock_base_clock_hz, unknown);
  const double per_scheduler = d.get_or(Field::compute_issue_per_scheduler, 1);
  m.issue_per_cycle = d.get_or(Field::compute_schedulers_per_unit, unknown) * per_scheduler;
  m.issue_interval = std::max(1.0, 1 / per_scheduler);
  compute_lanes(m, read, d);
  memory(m, read, d, c);
  latencies(m, read, d);
  clusters(m, read, d);
  m.launch_s = c.launch_s;
  power(m, d);
  return m;
}

KernelcastDevice at_clock(const KernelcastDevice& machine, double clock_hz) {
  KernelcastDevice m = machine;
  const double factor = clock_hz / machine.clock_hz;
  m.clock_hz = clock_hz;
  m.l2_bytes_per_s *= factor;
  if (m.dram_latency > m.l2_latency) m.dram_latency = m.l2_latency + (m.dram_latency - m.l2_latency) * factor;
  return m;
}

}  // namespace kernelcast::forecast
