// Consistency of a device: rules that follow from what the fields mean, so that no device can break them.
// They catch what a range cannot: numbers of two devices mixed, swapped rows, a per-core count for a per-device one.
#include "device/device_rules.h"

#include <array>
#include <cmath>

#include "device/field_table.h"

namespace kernelcast {
namespace {

enum class Relation { at_most, divides };
struct Rule {
  Field first;
  Relation relation;
  Field second;
};

constexpr std::array<Rule, 14> rules = {{
    {Field::clock_base_clock_hz, Relation::at_most, Field::clock_boost_clock_hz},
    {Field::compute_fp64_lanes_per_unit, Relation::at_most, Field::compute_fp32_lanes_per_unit},
    // A block lives in one unit.
    {Field::limits_max_threads_per_block, Relation::at_most, Field::limits_max_threads_per_unit},
    {Field::limits_shared_bytes_per_block, Relation::at_most, Field::limits_shared_bytes_per_unit},
    {Field::limits_max_registers_per_thread, Relation::at_most, Field::limits_registers_per_unit},
    {Field::limits_register_allocation_unit, Relation::at_most, Field::limits_registers_per_unit},
    // A sector is the smallest transfer, so lines and segments are made of sectors.
    {Field::memory_sector_bytes, Relation::divides, Field::memory_segment_bytes},
    {Field::memory_sector_bytes, Relation::divides, Field::memory_l2_line_bytes},
    {Field::memory_l1_group_lanes, Relation::divides, Field::compute_warp_size},
    {Field::memory_l1_latency_cycles, Relation::at_most, Field::memory_l2_latency_cycles},
    {Field::memory_l2_latency_cycles, Relation::at_most, Field::memory_dram_latency_cycles},
    {Field::memory_l2_bytes, Relation::at_most, Field::memory_dram_bytes},
    {Field::memory_l3_bytes, Relation::at_most, Field::memory_dram_bytes},
    {Field::system_idle_w, Relation::at_most, Field::system_tdp_w},
}};

std::string shown(Field f, double value) { return full_name(f) + " = " + number_text(value); }

}  // namespace

std::optional<Contradiction> find_contradiction(const Device& device) {
  for (const Rule& rule : rules) {
    std::optional<double> a = device.get(rule.first), b = device.get(rule.second);
    if (!a || !b) continue;
    if (rule.relation == Relation::at_most && *a > *b)
      return Contradiction{shown(rule.first, *a) + " is above " + shown(rule.second, *b), rule.first, rule.second};
    if (rule.relation == Relation::divides && std::fmod(*b, *a) != 0)
      return Contradiction{shown(rule.first, *a) + " does not divide " + shown(rule.second, *b), rule.first,
                           rule.second};
  }
  std::optional<double> warp = device.get(Field::compute_warp_size),
                        warps = device.get(Field::limits_max_warps_per_unit),
                        threads = device.get(Field::limits_max_threads_per_unit);
  if (warp && warps && threads && *warp * *warps < *threads)
    return Contradiction{shown(Field::limits_max_threads_per_unit, *threads) + " is more than " +
                             shown(Field::limits_max_warps_per_unit, *warps) + " times " +
                             shown(Field::compute_warp_size, *warp),
                         Field::limits_max_threads_per_unit, Field::limits_max_warps_per_unit};
  if (device.kind == "cpu" && warp && *warp != 1)
    return Contradiction{shown(Field::compute_warp_size, *warp) + ", but on a CPU it is 1: SIMD is not a warp",
                         Field::compute_warp_size, Field::compute_warp_size};
  return std::nullopt;
}

}  // namespace kernelcast
