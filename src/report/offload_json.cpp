// schema/offload.schema.json.
#include "report/json_parts.h"
#include "report/offload_views.h"

namespace kernelcast::report {
namespace {

using namespace offload;

constexpr const char* no_margin = "offload-2017 knows no error of its forecast";

void put_probability(Json& j, const Verdict& v) {
  put(j, "probability", v.has_margin ? std::optional(v.probability) : std::nullopt, no_margin);
}

Json side_json(const Side& s, bool gpu, const Device& d, bool margin) {
  Json j;
  j["device"] = d.id;
  j["time_s"] = number(s.time.time_s);
  if (margin)
    j["interval_s"] = {number(s.time.time_s / s.time.factor), number(s.time.time_s * s.time.factor)};
  else
    put_unknown(j, "interval_s", no_margin);
  if (!s.limiter.empty()) j["limiter"] = s.limiter;
  if (gpu) {
    j["transfer_s"] = number(s.transfer_in_s + s.transfer_out_s);
    j["transfer_in_s"] = number(s.transfer_in_s);
    j["transfer_out_s"] = number(s.transfer_out_s);
  }
  j["launch_s"] = number(s.launch_s);
  j["execution_s"] = number(s.execution_s);
  put(j, "idle_w", s.idle_w.value, s.idle_w.reason);
  put(j, "busy_w", s.busy_w.value, s.busy_w.reason);
  put(j, "energy_j", s.energy_j.value, s.energy_j.reason);
  put(j, "cost", s.cost.value, s.cost.reason);
  if (!s.idle_method.empty()) j["idle_method"] = s.idle_method;
  if (!s.busy_method.empty()) j["power_method"] = s.busy_method;
  return j;
}

Json break_even_json(const BreakEven& b) {
  Json j;
  put(j, "repetitions", b.reps, b.reps_reason);
  if (!b.size_reason.empty()) {
    put_unknown(j, "size", b.size_reason);
    return j;
  }
  Json crossings = Json::array();
  for (const auto& c : b.crossings) crossings.push_back({{"from", c.value}, {"faster", name_of(c.faster)}});
  j["size"] = {{"argument", b.parameter},
               {"lowest", b.lowest},
               {"highest", b.highest},
               {"highest_bytes", number(b.highest_bytes)},
               {"highest_reason", b.highest_reason},
               {"at_lowest", name_of(b.at_smallest)},
               {"crossings", crossings}};
  return j;
}

Json beside_json(const OffloadRow::Beside& b) {
  Json j;
  j["model"] = name_of(b.model);
  if (b.model == DecisionModel::offload_2017) j["faults"] = b.faults;
  if (!b.answer) {
    put_unknown(j, "decision", b.reason);
    return j;
  }
  j["decision"] = name_of(b.answer->verdict.decision);
  put_probability(j, b.answer->verdict);
  j["cpu_time_s"] = number(b.answer->cpu.time.time_s);
  j["gpu_time_s"] = number(b.answer->gpu.time.time_s);
  return j;
}

Json row_json(const OffloadRow& r) {
  const OffloadDecision& a = r.answer;
  const bool margin = a.verdict.has_margin;
  Json j;
  j["decision"] = name_of(a.verdict.decision);
  put_probability(j, a.verdict);
  put(j, "tie_probability", margin ? std::optional(a.verdict.tie_probability) : std::nullopt, no_margin);
  j["cpu"] = side_json(a.cpu, false, r.cpu, margin);
  j["cpu"]["threads"] = a.threads;
  j["gpu"] = side_json(a.gpu, true, r.gpu, margin);
  j["break_even"] = break_even_json(r.break_even);
  j["kernels"] = Json::array();
  for (const KernelTimes& k : a.kernels)
    j["kernels"].push_back({{"kernel", k.name},
                            {"cpu_time_s", number(k.cpu.time_s)},
                            {"cpu_limiter", k.cpu.limiter},
                            {"gpu_time_s", number(*k.gpu.time_s.value)},
                            {"gpu_limiter", k.gpu.limiter}});
  j["buffers"] = Json::array();
  for (const BufferUse& b : a.buffers)
    j["buffers"].push_back(
        {{"name", b.name}, {"role", name_of(b.role)}, {"bytes", number(b.bytes)}, {"resident", b.resident}});
  j["loops"] = Json::array();
  for (const auto& l : r.loops) {
    Json loop{{"kernel", l.kernel},
              {"line", l.loop.line.line},
              {"vector_width", l.loop.width},
              {"interleave", l.loop.interleave}};
    if (l.loop.width == 1 && !l.loop.reason.empty()) loop["reason"] = l.loop.reason;
    j["loops"].push_back(loop);
  }
  j["changes"] = Json::array();
  for (const Change& c : r.changes) {
    Json change{{"what", c.what}, {"gpu_time_s", number(c.gpu_s)}, {"decision", name_of(c.verdict.decision)}};
    put_probability(change, c.verdict);
    j["changes"].push_back(change);
  }
  if (!r.beside.empty()) {
    j["beside"] = Json::array();
    for (const auto& other : r.beside) j["beside"].push_back(beside_json(other));
  }
  j["assumptions"] = assumptions_json(a.assumptions);
  return j;
}

}  // namespace

std::string offload_json(const OffloadReport& report) {
  Json j = head_json(report.head);
  j["source"] = report.source;
  j["model"] = name_of(report.question.model);
  if (report.question.model == DecisionModel::offload_2017) j["faults"] = names_of(report.question.faults);
  j["repetitions"] = number(report.question.reps);
  j["busy_power"] = name_of(report.question.busy_power);
  j["weights"] = {{"time", number(report.question.weights.time)}, {"energy", number(report.question.weights.energy)}};
  if (!report.ranking) {
    const Json row = row_json(report.rows.front());
    for (const auto& [key, value] : row.items()) j[key] = value;
    return dumped(j);
  }
  j["ranking"] = Json::array();
  for (const OffloadRow& r : report.rows) j["ranking"].push_back(row_json(r));
  return dumped(j);
}

}  // namespace kernelcast::report
