// A region by the model of 2017: our counts, its equations. The source has no repetitions: execution is taken so many
// times and the transfers once. Both power models are its own (19, 20); the second where the device file has the energy
// of an instruction.
#include <algorithm>

#include "device/describe.h"
#include "kernelcast/bind.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "offload/region_parts.h"
#include "offload/side_costs.h"

namespace kernelcast::offload {
namespace {

constexpr double bytes_of_double = 8;

void set_power(Side& side, const Device& d, double performance, double transfer_s, double execution_s,
               BusyPower reading, const Weights& weights) {
  const auto each = d.get(Field::energy_instruction_j);
  if (!each || !side.idle_w.value) return energies(side, d, {}, transfer_s, execution_s, reading, weights);
  side.busy_w.value = busy_power_by_instructions(*side.idle_w.value, performance, *each);
  side.busy_method = "idle + performance * energy of an instruction";
  side.energy_j.value = transfer_s * *side.idle_w.value + execution_s * *side.busy_w.value;
  side.cost.value = cost(weights, transfer_s, *side.idle_w.value, execution_s, *side.busy_w.value);
}

std::string roof_of(const Node2017& node, double performance) {
  return performance == node.clock_hz * node.units ? "computation roof" : "memory roof";
}

}  // namespace

std::string_view name_of(DecisionModel m) { return m == DecisionModel::kernelcast ? "kernelcast" : "offload-2017"; }

OffloadDecision Evaluator::Impl::answer_2017(const OffloadRequest& q) {
  OffloadDecision a;
  a.buffers = buffers(q);
  Workload2017 work;
  double bytes = 0;
  for (std::size_t k = 0; k < region.kernels.size(); ++k) {
    const Workload counts = on_cpu(k, q, {});
    work.operations += flops32(counts.thread_ops) + flops64(counts.thread_ops);
    for (const AccessCount& c : counts.access_counts) {
      work.memory_instructions += c.requests;
      bytes += c.bytes;
    }
    merge(a.assumptions, region.kernels[k].cpu.profile.assumptions);
    merge(a.assumptions, counts.assumptions);
  }
  if (work.operations <= 0)
    throw UserError(KC_SETTING(model) " offload-2017 counts floating-point operations, and this region has none");
  work.access_bytes = work.memory_instructions > 0 ? bytes / work.memory_instructions : bytes_of_double;
  const auto [in, out] = messages_of(a.buffers);
  work.in = in;
  work.out = out;
  Link link = link_of(gpu, cpu, q.memory);
  link.to.eager_bytes = link.from.eager_bytes = 0;  // its LogGP has one protocol
  if (!in.empty() || !out.empty()) merge(a.assumptions, link.assumptions);
  const Node2017 host = node_2017(cpu), device = node_2017(gpu);
  const Times2017 times = offload_2017(host, device, link, work, q.faults);

  a.threads = static_cast<int>(host.units);  // it credits all cores
  a.cpu.execution_s = a.cpu.time.time_s = times.cpu_s * q.reps;
  a.gpu.execution_s = times.execution_s * q.reps;
  a.gpu.transfer_out_s = one_way_s(link.from, out);
  a.gpu.transfer_in_s = times.transfer_s - a.gpu.transfer_out_s;
  a.gpu.time.time_s = times.transfer_s + a.gpu.execution_s;
  a.cpu.limiter = roof_of(host, times.cpu_performance);
  a.gpu.limiter = roof_of(device, times.gpu_performance);
  set_idle(a.cpu, q.cpu_idle, cpu, KC_SETTING(cpu_idle_w));
  set_idle(a.gpu, q.gpu_idle, gpu, KC_SETTING(gpu_idle_w));
  set_power(a.cpu, cpu, times.cpu_performance, 0, a.cpu.execution_s, q.busy_power, q.weights);
  set_power(a.gpu, gpu, times.gpu_performance, times.transfer_s, a.gpu.execution_s, q.busy_power, q.weights);
  check_costs(a, q.weights);
  a.verdict.has_margin = false;
  a.verdict.decision = *a.gpu.cost.value < *a.cpu.cost.value ? Decision::gpu : Decision::cpu;
  return a;
}

}  // namespace kernelcast::offload
