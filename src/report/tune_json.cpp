// `tune` as JSON; the contract is schema/tune.schema.json. Configurations of several devices stand in one list, each
// with its device, so that a reader of one device need not know of others.
#include "io/text.h"
#include "report/json_parts.h"
#include "report/tune_views.h"

namespace kernelcast::report {
namespace {

using tune::Candidate;
using tune::DeviceTuning;
using tune::LaunchShape;
using tune::Refused;
using tune::Value;

Json value_json(const Value& v) {
  if (v.kind == Value::Kind::integer) return static_cast<std::int64_t>(v.number);
  if (v.kind == Value::Kind::real) return v.number;
  return tune::text_of(v);
}

Json params_json(const std::vector<std::pair<std::string, Value>>& parameters) {
  Json j = Json::object();
  for (const auto& [name, value] : parameters) j[name] = value_json(value);
  return j;
}

void put_shape(Json& j, const LaunchShape& s) {
  if (s.grid_known) j["grid"] = dims(s.grid);
  if (s.block_known) j["block"] = dims(s.block);
  j["dynamic_shared_bytes"] = s.dynamic_shared_bytes;
}

Json candidate_json(const Candidate& c, const std::string& device, std::size_t rank) {
  Json j = {{"device", device}, {"rank", rank + 1}, {"params", params_json(c.parameters)}};
  put_shape(j, c.shape);
  j["defines"] = c.defines;
  put(j, "time_s", c.time_s, c.estimate.time_s.reason);
  if (c.estimate.interval_lo_s && c.estimate.interval_hi_s) {
    j["interval_s"] = {number(*c.estimate.interval_lo_s), number(*c.estimate.interval_hi_s)};
  } else {
    put_unknown(j, "interval_s", c.estimate.interval_reason);
  }
  put(j, "energy_j", c.estimate.energy_j.value, c.estimate.energy_j.reason);
  if (c.estimate.energy_lo_j && c.estimate.energy_hi_j)
    j["energy_interval_j"] = {number(*c.estimate.energy_lo_j), number(*c.estimate.energy_hi_j)};
  j["limiter"] = c.estimate.limiter;
  j["bounds"] = Json::array();
  for (const Bound& b : c.estimate.bounds) {
    Json bound = {{"name", b.name}};
    put(bound, "time_s", b.time.value(), b.why);
    bound["why"] = b.why;
    j["bounds"].push_back(std::move(bound));
  }
  j["occupancy"] = {{"blocks_per_sm", number(c.estimate.occupancy.blocks_per_unit)},
                    {"warps_per_sm", number(c.estimate.occupancy.warps_per_unit)},
                    {"fraction", number(c.estimate.occupancy.fraction)},
                    {"limiter", c.estimate.occupancy.limiter}};
  j["resources"] = {{"registers_per_thread", number(c.registers)}, {"shared_bytes_per_block", number(c.shared_bytes)}};
  if (!c.constraints.empty()) {
    j["constraints"] = Json::array();
    for (const tune::SkeConstraint& k : c.constraints) {
      Json one = {{"number", k.number}, {"name", k.name}};
      put(one, "left", k.left, "not known");
      put(one, "right", k.right, "the device file knows no limit");
      one["status"] = k.status;
      j["constraints"].push_back(std::move(one));
    }
  }
  j["counts_method"] = name_of(c.counts_method);
  j["tied_with_best"] = c.tied;
  j["probability_as_fast_as_best"] = c.chance;
  j["probability_cannot_run"] = c.cannot_run;
  return j;
}

Json refused_json(const Refused& r, const std::string& device) {
  Json j = {{"device", device}, {"params", params_json(r.parameters)}};
  put_shape(j, r.shape);
  j["kind"] = tune::name_of(r.kind);
  j["reason"] = r.reason;
  return j;
}

Json device_json(const DeviceTuning& d) {
  Json j = {
      {"device", d.device.id}, {"evaluated", d.evaluated}, {"tied_with_best", d.tied}, {"recounted", d.recounted}};
  j["infeasible"] = Json::object();
  for (const tune::RefusalCount& c : d.refusals) j["infeasible"][std::string(tune::name_of(c.kind))] = c.count;
  if (!d.failure.empty()) j["failure"] = d.failure;
  j["assumptions"] = assumptions_json(d.assumptions);
  return j;
}

Json portable_json(const TuneReport& report) {
  Json list = Json::array();
  for (const tune::PortableChoice& p : report.result.portable) {
    Json j = {{"params", params_json(p.candidate.parameters)}};
    put_shape(j, p.candidate.shape);
    j["worst_loss"] = p.worst_loss;
    j["devices"] = Json::array();
    for (std::size_t d = 0; d < p.time_s.size(); ++d) {
      Json of_device = {{"device", report.result.devices[d].device.id}};
      if (p.time_s[d] > 0) {
        of_device["time_s"] = p.time_s[d];
        of_device["loss"] = p.loss[d];
      } else {
        put_unknown(of_device, "time_s", report.result.devices[d].failure);
        put_unknown(of_device, "loss", report.result.devices[d].failure);
      }
      j["devices"].push_back(std::move(of_device));
    }
    list.push_back(std::move(j));
  }
  return list;
}

Json measured_json(const TuneReport& report) {
  Json list = Json::array();
  for (const Measured& m : report.measured) {
    Json j = {{"rank", m.rank + 1}};
    if (m.failure.empty()) {
      j["time_s"] = m.time_s;
      j["spread"] = m.spread;
    } else {
      put_unknown(j, "time_s", m.failure);
      put_unknown(j, "spread", m.failure);
    }
    list.push_back(std::move(j));
  }
  return list;
}

}  // namespace

std::string tune_json(const TuneReport& report) {
  const tune::TuneResult& r = report.result;
  Json j = head_json(report.head);
  j["kernel"] = r.kernel;
  j["model"] = r.model;
  j["best"] = Json::array();
  j["infeasible"] = Json::array();
  j["devices"] = Json::array();
  std::uint64_t evaluated = 0;
  for (const DeviceTuning& d : r.devices) {
    for (std::size_t i = 0; i < d.best.size(); ++i) j["best"].push_back(candidate_json(d.best[i], d.device.id, i));
    for (const Refused& x : d.refused) j["infeasible"].push_back(refused_json(x, d.device.id));
    j["devices"].push_back(device_json(d));
    evaluated += d.evaluated;
  }
  j["evaluated"] = evaluated;
  j["seconds"] = r.seconds;
  j["space"] = {{"combinations", r.combinations}, {"configurations", r.configurations}, {"variants", r.variants}};
  j["analyses"] = {{"compiled", r.compiled},
                   {"of_known_modules", r.shared},
                   {"from_cache", r.found},
                   {"same_after_preprocessing", r.alike}};
  j["search"] = r.optimised ? "optimise" : "enumerate";
  j["complete"] = r.complete;
  j["interrupted"] = r.interrupted;
  if (!r.portable.empty()) j["portable"] = portable_json(report);
  if (!report.measured_on.empty()) j["measured"] = {{"device", report.measured_on}, {"runs", measured_json(report)}};
  return dumped(j);
}

std::string tune_t4(const TuneReport& report) {
  Json results = Json::array();
  const DeviceTuning& d = report.result.devices.front();
  const auto entry = [](const std::vector<std::pair<std::string, Value>>& parameters, const char* invalidity) {
    return Json{{"timestamp", ""},
                {"configuration", params_json(parameters)},
                {"objectives", {"time"}},
                {"times",
                 {{"compilation_time", 0},
                  {"framework", 0},
                  {"search_algorithm", 0},
                  {"validation", 0},
                  {"runtimes", Json::array()}}},
                {"invalidity", invalidity},
                {"correctness", 1},
                {"measurements", Json::array()}};
  };
  for (const Candidate& c : d.best) {
    Json j = entry(c.parameters, "correct");
    j["times"]["runtimes"] = {c.time_s * 1e3};
    j["measurements"] = {{{"name", "time"}, {"value", c.time_s * 1e3}, {"unit", "ms"}}};
    results.push_back(std::move(j));
  }
  for (const Refused& r : d.refused) {
    const char* invalidity = r.kind == tune::Refusal::constraint ? "constraints"
                             : r.kind == tune::Refusal::source   ? "compile"
                                                                 : "runtime";
    results.push_back(entry(r.parameters, invalidity));
  }
  return dumped({{"schema_version", "1.0.0"}, {"results", results}});
}

}  // namespace kernelcast::report
