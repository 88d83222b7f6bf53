#include "model/opencl_quantitative_paper.h"

#include <cmath>
#include <cstdint>

namespace kernelcast::opencl_quantitative::paper {

QuantitativeDevice gtx_280() {
  QuantitativeDevice m;
  m.compute_units = 30;
  m.processing_elements = 8;
  m.batch = 32;
  m.banks = 16;
  m.shader_clock = Hertz(1.296e9);
  m.memory_clock = Hertz(1.107e9);
  m.add = Cycles<per::Thread>(24);
  m.mul = Cycles<per::Thread>(35);
  m.div = Cycles<per::Thread>(137);
  m.special = Cycles<per::Thread>(45);
  m.global_latency = Cycles<per::None>(440);
  m.local_latency = Cycles<per::None>(38);
  return m;
}

QuantitativeDevice hd_5870(double instruction, double global_latency, double local_latency) {
  QuantitativeDevice m;
  m.compute_units = 20;
  m.processing_elements = 16;
  m.batch = 64;
  m.banks = 32;
  m.shader_clock = Hertz(0.85e9);
  m.memory_clock = Hertz(1.2e9);
  m.add = m.mul = m.div = m.special = Cycles<per::Thread>(instruction);
  m.global_latency = Cycles<per::None>(global_latency);
  m.local_latency = Cycles<per::None>(local_latency);
  return m;
}

std::vector<QuantitativeDevice> hd_5870_costs() {
  const auto step = [](double from, int k) { return from * std::pow(10, k / 4.0); };
  std::vector<QuantitativeDevice> all;
  for (int i = 0; i < 9; ++i)
    for (int g = 0; g < 9; ++g)
      for (int l = 0; l < 9; ++l) all.push_back(hd_5870(step(1, i), step(10, g), step(1, l)));
  return all;
}

KernelLaunch mm_global(double group, double batch) {
  Kernel k;
  k.instructions = {side, side, 0, 0};
  k.global = {{side, batch}, {side, 1}, {side, batch}};
  return {k, {side * side, side * side / group}};
}

KernelLaunch mm_local(double width, double height, double batch) {
  Kernel k;
  const double steps = side / width, multiply_adds = steps * height;
  k.instructions = {multiply_adds, multiply_adds, 0, 0};
  k.global = {{3 * side, batch}};
  k.local = {{2 * side, 1}};
  k.flat_barriers = steps;
  k.barriers = {{steps, 1 / steps}};
  return {k, {side * side, side * side / (width * height)}};
}

KernelLaunch pps_br(double group, double batch) {
  constexpr double additions = rounds - 1;
  Kernel k;
  k.global = {{1, batch}};
  k.local = {{2 * rounds + 3 * additions + 1, 1}};
  k.branches = {{additions, default_divergence, {{1, 0, 0, 0}, {}}}};
  k.flat_barriers = 1;
  k.barriers = {{1, 1}};
  return {k, {elements, elements / group}};
}

KernelLaunch pps_conf(double group, double /*batch*/) {
  Kernel k;
  k.instructions = {2 * rounds, 0, 0, 0};
  k.global = {{4, 16}};
  k.local = {{4, 2}};
  for (int r = 1; r <= rounds; ++r) k.local.push_back({3 + 4, std::int64_t{1} << r, std::ldexp(elements, -r)});
  k.flat_barriers = 2;
  k.barriers = {{1, 1}};
  return {k, {elements / 2, elements / 2 / group}};
}

const std::vector<Configuration>& configurations() {
  static const std::vector<Configuration> all{
      {"MM_Global", "64", 9, [](double b) { return mm_global(64, b); }},
      {"MM_Global", "128", 9, [](double b) { return mm_global(128, b); }},
      {"MM_Global", "256", 9, [](double b) { return mm_global(256, b); }},
      {"MM_Local", "8x8", 10, [](double b) { return mm_local(8, 8, b); }},
      {"MM_Local", "8x16", 10, [](double b) { return mm_local(8, 16, b); }},
      {"MM_Local", "16x16", 10, [](double b) { return mm_local(16, 16, b); }},
      {"PPS_Br", "64", 11, [](double b) { return pps_br(64, b); }},
      {"PPS_Br", "128", 11, [](double b) { return pps_br(128, b); }},
      {"PPS_Br", "256", 11, [](double b) { return pps_br(256, b); }},
      {"PPS_Conf", "64", 12, [](double b) { return pps_conf(64, b); }},
      {"PPS_Conf", "128", 12, [](double b) { return pps_conf(128, b); }},
      {"PPS_Conf", "256", 12, [](double b) { return pps_conf(256, b); }},
  };
  return all;
}

std::vector<Ordering> hd_5870_orderings() {
  constexpr double batch = 64;
  struct Pair {
    std::string faster;
    KernelLaunch a;
    std::string slower;
    KernelLaunch b;
  };
  std::vector<Pair> pairs{
      {"MM_Local 8x8", mm_local(8, 8, batch), "MM_Local 16x16", mm_local(16, 16, batch)},
      {"MM_Local 16x16", mm_local(16, 16, batch), "MM_Local 8x16", mm_local(8, 16, batch)},
      {"MM_Local 8x8", mm_local(8, 8, batch), "MM_Global 64", mm_global(64, batch)},
      {"MM_Local 8x16", mm_local(8, 16, batch), "MM_Global 128", mm_global(128, batch)},
      {"MM_Local 16x16", mm_local(16, 16, batch), "MM_Global 256", mm_global(256, batch)},
  };
  for (const int group : {64, 128, 256})
    pairs.push_back({"PPS_Br " + std::to_string(group), pps_br(group, batch), "PPS_Conf " + std::to_string(group),
                     pps_conf(group, batch)});
  std::vector<Ordering> out;
  for (const Pair& p : pairs) {
    Ordering o{p.faster, p.slower, {}};
    for (const QuantitativeDevice& m : hd_5870_costs()) {
      const BatchCost a = batch_cost(m, p.a.kernel), b = batch_cost(m, p.b.kernel);
      for (std::size_t v = 0; v < o.holds.size(); ++v) {
        const auto reading = static_cast<Variant>(v);
        o.holds[v] += forecast(m, a, p.a.launch, reading).total() < forecast(m, b, p.b.launch, reading).total() ? 1 : 0;
      }
    }
    out.push_back(o);
  }
  return out;
}

}  // namespace kernelcast::opencl_quantitative::paper
