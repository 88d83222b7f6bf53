// Sums over the kernels of a region. Errors of kernels on one device are taken as fully dependent (the same model, the
// same device), those of transfers and execution as independent.
#include "kernelcast/offload_region.h"

#include <algorithm>
#include <cmath>

#include "device/describe.h"
#include "kernelcast/bind.h"
#include "kernelcast/error.h"
#include "kernelcast/model.h"
#include "kernelcast/setting.h"
#include "offload/region_parts.h"
#include "offload/side_costs.h"

namespace kernelcast::offload {

std::string_view name_of(Role r) {
  switch (r) {
    case Role::in:
      return "in";
    case Role::out:
      return "out";
    case Role::inout:
      return "inout";
    case Role::temp:
      break;
  }
  return "temp";
}

std::optional<Role> role_named(std::string_view name) {
  for (const Role r : {Role::in, Role::out, Role::inout, Role::temp})
    if (name == name_of(r)) return r;
  return std::nullopt;
}

void check_kinds(const Device& cpu, const Device& gpu) {
  if (cpu.kind != "cpu")
    throw UsageError(KC_SETTING(cpu) " " + cpu.id + ": " + cpu.name + " is a GPU; give a CPU, or host");
  if (gpu.kind != "gpu") throw UsageError(KC_SETTING(gpu) " " + gpu.id + ": " + gpu.name + " is a CPU; give a GPU");
}

namespace {

// Factors of the 90 % interval of a transfer, by judgement: terms that were measured, and terms of the stated model (a
// link may have half its lanes).
constexpr double measured_link = 1.1, stated_link = 1.6;

/// Of a host that launches an empty kernel and waits for it, where the device file does not know it: fitted on rows
/// that were timed on the host's side (validation/fit.md).
constexpr double host_launch_s = 7.56e-6;

double launch_of(const Estimate& e, const Device& gpu, std::vector<Assumption>& assumptions) {
  if (e.launch_overhead_s.value) return *e.launch_overhead_s.value;
  assumptions.push_back({"system.launch_overhead_s of " + gpu.name,
                         describe::number(host_launch_s) + " (a fitted constant; drivers and hosts differ)",
                         describe::where_to_set(gpu, "system.launch_overhead_s")});
  return host_launch_s;
}

/// The GPU's own start and end of a grid, which is part of the time that the host sees.
double start_of(const Estimate& e) {
  for (const Bound& b : e.bounds)
    if (b.kind == BoundKind::launch) return b.time.value();
  return 0;
}

double factor_of(const Estimate& e) {
  if (!e.interval_lo_s || !e.interval_hi_s || *e.interval_lo_s <= 0) return 2;
  return std::sqrt(*e.interval_hi_s / *e.interval_lo_s);
}

/// Parts with errors of their own: logarithms in quadrature, weighed by time.
double joined(std::initializer_list<std::pair<double, double>> parts) {
  double total = 0, variance = 0;
  for (const auto& [seconds, factor] : parts) {
    total += seconds;
    variance += std::pow(seconds * std::log(factor), 2);
  }
  return total > 0 ? std::exp(std::sqrt(variance) / total) : 1;
}

}  // namespace

Evaluator::Evaluator(const Region& region, const Device& cpu, const Device& gpu)
    : impl_(std::make_unique<Impl>(region, cpu, gpu)) {}
Evaluator::~Evaluator() = default;

OffloadDecision Evaluator::answer(const OffloadRequest& q) {
  Impl& m = *impl_;
  m.check_launch(q.launch);
  if (q.model == DecisionModel::offload_2017) return m.answer_2017(q);
  OffloadDecision a;
  a.buffers = m.buffers(q);
  double cpu_log = 0, gpu_log = 0;
  const Model& model = model_named("kernelcast");
  for (std::size_t k = 0; k < m.region.kernels.size(); ++k) {
    KernelTimes t;
    const RegionKernel& kernel = m.region.kernels[k];
    t.name = kernel.name;
    std::map<std::string, double> trips;
    const Workload on_gpu = m.on_gpu(k, q, trips);
    const Workload on_cpu = m.on_cpu(k, q, trips);
    t.cpu = estimate_cpu(kernel.cpu, on_cpu, m.cpu, q.threads, m.uneven_on_cpu(k, q));
    t.gpu = model.estimate(*kernel.gpu, on_gpu, m.gpu);
    if (!t.gpu.time_s.value) throw LimitError(m.gpu.name + ": " + t.gpu.time_s.reason);
    merge(a.assumptions, kernel.cpu.profile.assumptions);
    merge(a.assumptions, on_cpu.assumptions);
    merge(a.assumptions, t.cpu.assumptions);
    merge(a.assumptions, on_gpu.assumptions);
    merge(a.assumptions, t.gpu.assumptions);
    a.threads = std::max(a.threads, t.cpu.threads);
    a.cpu.time.time_s += t.cpu.time_s;
    a.cpu.launch_s += t.cpu.start_s;
    cpu_log += t.cpu.time_s * std::log(t.cpu.factor);
    std::vector<Assumption> unknown_launch;
    const double launch = launch_of(t.gpu, m.gpu, unknown_launch);
    const double execution = *t.gpu.time_s.value - start_of(t.gpu);
    merge(a.assumptions, unknown_launch);
    a.gpu.launch_s += launch;
    a.gpu.execution_s += execution;
    gpu_log += (launch + execution) * std::log(factor_of(t.gpu));
    a.kernels.push_back(std::move(t));
  }
  const double gpu_once = a.gpu.launch_s + a.gpu.execution_s;
  a.cpu.time.factor = std::exp(cpu_log / a.cpu.time.time_s);
  for (double* s : {&a.cpu.time.time_s, &a.cpu.launch_s, &a.gpu.launch_s, &a.gpu.execution_s}) *s *= q.reps;
  a.cpu.execution_s = a.cpu.time.time_s - a.cpu.launch_s;

  const Link link = link_of(m.gpu, m.cpu, q.memory);
  const auto [in, out] = messages_of(a.buffers);
  a.gpu.transfer_in_s = one_way_s(link.to, in);
  a.gpu.transfer_out_s = one_way_s(link.from, out);
  if (!in.empty() || !out.empty()) merge(a.assumptions, link.assumptions);
  const double transfer = a.gpu.transfer_in_s + a.gpu.transfer_out_s;
  const double busy = a.gpu.launch_s + a.gpu.execution_s;
  a.gpu.time.time_s = q.overlap ? std::max({busy, a.gpu.transfer_in_s, a.gpu.transfer_out_s}) : transfer + busy;
  a.gpu.time.factor = joined(
      {{transfer, link.assumptions.empty() ? measured_link : stated_link}, {busy, std::exp(gpu_log / gpu_once)}});
  set_idle(a.cpu, q.cpu_idle, m.cpu, KC_SETTING(cpu_idle_w));
  set_idle(a.gpu, q.gpu_idle, m.gpu, KC_SETTING(gpu_idle_w));
  energies(a.cpu, m.cpu, q.cpu_busy, 0, a.cpu.time.time_s, q.busy_power, q.weights);
  if (!q.cpu_busy.watts) energy_by_instructions(a.cpu, m.cpu, a.kernels, q.reps, q.weights);
  const BusyWatts by_work = busy_by_instructions(m.gpu, a.kernels);
  energies(a.gpu, m.gpu, {by_work.watts, by_work.how}, transfer, busy, q.busy_power, q.weights);
  if (const auto byte = m.gpu.get(Field::energy_link_byte_j); byte && a.gpu.energy_j.value)
    for (const auto* direction : {&in, &out})
      for (const double bytes : *direction) *a.gpu.energy_j.value += bytes * *byte;
  check_costs(a, q.weights);
  a.verdict = decide({*a.cpu.cost.value, a.cpu.time.factor}, {*a.gpu.cost.value, a.gpu.time.factor}, q.confidence);
  return a;
}

}  // namespace kernelcast::offload
