// The paper gives costs for GeForce GTX 280 only. For other devices the costs come from the latencies in the device
// file, because that is what the paper measured: its ADD of 24 cycles is GT200's dependent-issue latency, GM_L and LM_L
// are the latencies of global and of shared memory. Where a device file has no division or special-function latency,
// GT200's ratios to ADD (137/24 and 45/24) are kept, and where it has no memory latency, GT200's 440 and 38 cycles
// (Wong et al., ISPASS 2010; the paper prints neither). Without an arithmetic latency (HD 5870) the model has no
// answer. Every derivation is listed as an assumption.
//
// Classes that the paper does not name: comparisons, logic, shifts, conversions, moves, votes, branches and cached
// constant loads cost an ADD; a fused multiply-add costs MUL + ADD, as the paper counts the matrix product at source
// level; 64-bit integers cost two ADDs or four MULs; FP64 costs as many times its FP32 class as there are FP32 lanes
// for one FP64 lane.
#include "model/opencl_quantitative_device.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/describe.h"
#include "model/models.h"

namespace kernelcast::opencl_quantitative {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double gt200_div_per_add = 137.0 / 24.0;
constexpr double gt200_special_per_add = 45.0 / 24.0;

constexpr double gt200_global_latency = 440;
constexpr double gt200_local_latency = 38;

double first_of(const Device& d, Field own, Field derived, double otherwise = unknown) {
  if (const auto v = d.get(own)) return *v;
  return d.get_or(derived, otherwise);
}

struct Derivation {
  Field own;
  const char* key;
  const char* what;
  const char* from;
  double QuantitativeDevice::* plain = nullptr;
  Cycles<per::Thread> QuantitativeDevice::* cost = nullptr;
  Cycles<per::None> QuantitativeDevice::* latency = nullptr;
};

double value_of(const QuantitativeDevice& m, const Derivation& d) {
  if (d.plain) return m.*d.plain;
  return d.cost ? (m.*d.cost).value() : (m.*d.latency).value();
}

std::vector<Derivation> derivations(const Device& device) {
  const bool special = device.get(Field::latency_special_cycles).has_value();
  return {
      {Field::opencl_quantitative_lanes_per_unit, "lanes_per_unit", "processing elements per unit (N_PE)",
       "compute.fp32_lanes_per_unit", &QuantitativeDevice::processing_elements, nullptr, nullptr},
      {Field::opencl_quantitative_add_cycles, "add_cycles", "cost of ADD", "latency.fp32_cycles", nullptr,
       &QuantitativeDevice::add, nullptr},
      {Field::opencl_quantitative_mul_cycles, "mul_cycles", "cost of MUL", "latency.fp32_cycles", nullptr,
       &QuantitativeDevice::mul, nullptr},
      {Field::opencl_quantitative_div_cycles, "div_cycles", "cost of DIV", "GT200's ratio 137/24 to ADD", nullptr,
       &QuantitativeDevice::div, nullptr},
      {Field::opencl_quantitative_special_cycles, "special_cycles", "cost of special functions",
       special ? "latency.special_cycles" : "GT200's ratio 45/24 to ADD", nullptr, &QuantitativeDevice::special,
       nullptr},
      {Field::opencl_quantitative_global_latency_cycles, "global_latency_cycles", "cost of a global transaction (GM_L)",
       device.get(Field::memory_dram_latency_cycles) ? "memory.dram_latency_cycles" : "GTX 280 (Wong et al. 2010)",
       nullptr, nullptr, &QuantitativeDevice::global_latency},
      {Field::opencl_quantitative_local_latency_cycles, "local_latency_cycles", "cost of a local transfer (LM_L)",
       device.get(Field::memory_shared_latency_cycles) ? "memory.shared_latency_cycles" : "GTX 280 (Wong et al. 2010)",
       nullptr, nullptr, &QuantitativeDevice::local_latency},
  };
}

double global_segments(const Workload& w) {
  double segments = 0;
  for (const MemorySpace space : {MemorySpace::global, MemorySpace::local, MemorySpace::texture}) {
    for (const AccessKind kind : {AccessKind::load, AccessKind::store, AccessKind::atomic}) {
      segments += w.at(space, kind).segments;
    }
  }
  return segments;
}

/// Ways of the conflict, summed over accesses: a conflict-free access of a whole warp is one, in however many parts a
/// warp that is wider than the banks goes (half-warps on GT200: two passes).
double local_ways(const Workload& w) {
  double passes = 0;
  for (const AccessKind kind : {AccessKind::load, AccessKind::store, AccessKind::atomic}) {
    passes += w.at(MemorySpace::shared, kind).bank_passes;
  }
  return passes / parts_of_warp(w.geometry);
}

bool any_fp64(const OpCounts& n) {
  return n[OpClass::fp64_add] + n[OpClass::fp64_mul] + n[OpClass::fp64_fma] + n[OpClass::fp64_div] +
             n[OpClass::fp64_special] + n[OpClass::fp64_compare] >
         0;
}

bool unusable(double count, double cost) { return count > 0 && std::isnan(cost); }

/// count * cost, where nothing costs nothing even at an unknown price.
template <class Q>
Q priced(double count, Q cost) {
  return count == 0 ? Q() : count * cost;
}

/// (1) with unknown costs of unused classes left out.
Cycles<per::Warp> compute_of(const QuantitativeDevice& m, const Instructions& n) {
  const Cycles<per::Thread> c =
      priced(n.add, m.add) + priced(n.mul, m.mul) + priced(n.div, m.div) + priced(n.special, m.special);
  return c * Ratio<per::Thread, per::Warp>(m.batch / m.processing_elements);
}

}  // namespace

QuantitativeDevice machine_of(const Device& d) {
  QuantitativeDevice m;
  m.compute_units = d.get_or(Field::compute_units, unknown);
  m.batch = d.get_or(Field::compute_warp_size, 32);
  m.banks = d.get_or(Field::memory_shared_banks, 32);
  m.shader_clock = Hertz(first_of(d, Field::clock_boost_clock_hz, Field::clock_base_clock_hz));
  m.memory_clock = Hertz(d.get_or(Field::clock_memory_clock_hz, unknown));
  m.processing_elements = first_of(d, Field::opencl_quantitative_lanes_per_unit, Field::compute_fp32_lanes_per_unit);
  const double add = first_of(d, Field::opencl_quantitative_add_cycles, Field::latency_fp32_cycles);
  m.add = Cycles<per::Thread>(add);
  m.mul = Cycles<per::Thread>(first_of(d, Field::opencl_quantitative_mul_cycles, Field::latency_fp32_cycles));
  m.div = Cycles<per::Thread>(d.get_or(Field::opencl_quantitative_div_cycles, add * gt200_div_per_add));
  const auto special = d.get(Field::opencl_quantitative_special_cycles);
  m.special =
      Cycles<per::Thread>(special ? *special : d.get_or(Field::latency_special_cycles, add * gt200_special_per_add));
  m.global_latency = Cycles<per::None>(first_of(d, Field::opencl_quantitative_global_latency_cycles,
                                                Field::memory_dram_latency_cycles, gt200_global_latency));
  m.local_latency = Cycles<per::None>(first_of(d, Field::opencl_quantitative_local_latency_cycles,
                                               Field::memory_shared_latency_cycles, gt200_local_latency));
  return m;
}

std::vector<Assumption> machine_assumptions(const Device& device) {
  const QuantitativeDevice m = machine_of(device);
  std::vector<Assumption> out;
  for (const Derivation& d : derivations(device)) {
    const double value = value_of(m, d);
    if (device.get(d.own) || std::isnan(value)) continue;
    out.push_back({std::string("opencl-quantitative: ") + d.what + " on " + device.name,
                   describe::number(value) + " (from " + d.from + ")",
                   describe::where_to_set(device, (std::string("opencl_quantitative.") + d.key).c_str())});
  }
  return out;
}

double fp64_factor(const Device& d) {
  const double lanes = d.get_or(Field::compute_fp64_lanes_per_unit, 0);
  return lanes > 0 ? d.get_or(Field::compute_fp32_lanes_per_unit, unknown) / lanes : unknown;
}

Instructions instructions_of(const OpCounts& n, double warps, double factor) {
  using C = OpClass;
  Instructions i;
  const double fused = n[C::fp16_fma] + n[C::fp32_fma] + n[C::int_mad];
  i.add = fused + n[C::fp16_add] + n[C::fp32_add] + n[C::int_add] + n[C::shift] + n[C::logic] + n[C::compare] +
          n[C::select] + n[C::min_max] + n[C::convert] + n[C::convert64] + n[C::convert_alu] + n[C::bit_special] +
          n[C::move] + n[C::control] + n[C::vote] + n[C::shuffle] + n[C::fence] + n[C::special_register] +
          n[C::constant_load] + n[C::scalar_alu] + n[C::scalar_load] + n[C::other] +
          2 * (n[C::int64_add] + n[C::int64_mad]);
  i.mul =
      fused + n[C::fp16_mul] + n[C::fp32_mul] + n[C::int_mul] + n[C::tensor] + 4 * (n[C::int64_mul] + n[C::int64_mad]);
  i.div = n[C::fp32_div] + n[C::int_div] + 2 * n[C::int64_div];
  i.special = n[C::fp32_special];
  if (any_fp64(n)) {
    i.add += factor * (n[C::fp64_add] + n[C::fp64_fma] + n[C::fp64_compare]);
    i.mul += factor * (n[C::fp64_mul] + n[C::fp64_fma]);
    i.div += factor * n[C::fp64_div];
    i.special += factor * n[C::fp64_special];
  }
  return {i.add / warps, i.mul / warps, i.div / warps, i.special / warps};
}

BatchCost batch_cost_of(const QuantitativeDevice& m, const Workload& w, double factor) {
  BatchCost cost;
  cost.compute = compute_of(m, instructions_of(w.warp_ops, w.warps, factor));
  // (7): what data decide costs all of its paths for a share D of the batches, half of them (b = 2) for the others.
  const Cycles<per::Warp> serial = compute_of(m, instructions_of(w.data_branch_ops, w.warps, factor));
  cost.compute -= serial;
  cost.branch = serial_share(default_divergence, 2) * serial;
  cost.global = Cycles<per::Warp>(priced(global_segments(w) / w.warps, m.global_latency).value());
  cost.local = Cycles<per::Warp>(transfers_per_access * priced(local_ways(w) / w.warps, m.local_latency).value());
  // Which computation lies between which barriers is not in a workload: k barriers of kind (12) make k + 1 phases,
  // over which computation is spread evenly.
  cost.flat_barriers = Cycles<per::Block>(w.flat_barriers / w.blocks * flat_barrier_cycles);
  const double waiting = std::max(0.0, w.barriers - w.flat_barriers) / w.blocks;
  cost.synchronised = waiting / (waiting + 1);
  return cost;
}

std::string missing(const QuantitativeDevice& m, const Workload& w, const Device& device) {
  const auto set = [&device](const char* what, const char* key) {
    return std::string("opencl-quantitative needs ") + what + "; set " + describe::where_to_set(device, key);
  };
  const double factor = fp64_factor(device);
  const Instructions n = instructions_of(w.warp_ops, 1, std::isnan(factor) ? 1 : factor);
  if (std::isnan(m.compute_units)) return set("the number of compute units", "compute.units");
  if (std::isnan(m.shader_clock.value())) return set("the clock of the compute units", "clock.base_clock_hz");
  if (unusable(global_segments(w), m.memory_clock.value())) return set("the memory clock", "clock.memory_clock_hz");
  if (std::isnan(m.processing_elements)) return set("the lanes of a unit", "opencl_quantitative.lanes_per_unit");
  if (unusable(n.add, m.add.value())) return set("the cost of an addition", "opencl_quantitative.add_cycles");
  if (unusable(n.mul, m.mul.value())) return set("the cost of a multiplication", "opencl_quantitative.mul_cycles");
  if (unusable(n.div, m.div.value())) return set("the cost of a division", "opencl_quantitative.div_cycles");
  if (unusable(n.special, m.special.value())) {
    return set("the cost of a special function", "opencl_quantitative.special_cycles");
  }
  if (any_fp64(w.warp_ops) && std::isnan(factor)) {
    return set("the FP64 lanes of a unit for this kernel's FP64 operations", "compute.fp64_lanes_per_unit");
  }
  if (unusable(global_segments(w), m.global_latency.value())) {
    return set("the cost of a global transaction", "opencl_quantitative.global_latency_cycles");
  }
  if (unusable(local_ways(w), m.local_latency.value())) {
    return set("the cost of a local transfer", "opencl_quantitative.local_latency_cycles");
  }
  return {};
}

}  // namespace kernelcast::opencl_quantitative
