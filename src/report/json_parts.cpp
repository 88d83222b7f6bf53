// The JSON contract: unknown is null with a reason beside it, never NaN. See docs/reference/formats.md.
#include "report/json_parts.h"

#include <cmath>

#include "io/printable.h"
#include "report/execution_views.h"
#include "report/settings.h"

namespace kernelcast::report {
namespace {

constexpr int schema_version = 1;
constexpr double largest_exact_integer = 9007199254740992.0;  // 2^53

Json op_counts_json(const OpCounts& counts) {
  Json j = Json::object();
  for (std::size_t i = 0; i < op_class_count; ++i) {
    if (counts.n[i] != 0) j[std::string(name_of(static_cast<OpClass>(i)))] = number(counts.n[i]);
  }
  return j;
}

/// Multiply-adds of matrix instructions by type; those that do not occur left out.
Json tensor_json(const TensorOps& ops) {
  Json j = Json::object();
  for (std::size_t i = 0; i < tensor_type_count; ++i) {
    const auto t = static_cast<TensorType>(i);
    if (ops.of(t) != 0) j[std::string(name_of(t))] = number(ops.of(t));
  }
  return j;
}

Json achieved_json(const Estimate& e) {
  Json j = Json::object();
  const Achieved& a = e.achieved;
  const std::string unknown = e.time_s.value ? e.floor_s.reason : e.time_s.reason;
  put(j, "flop_per_s", a.flop_per_s, unknown);
  put(j, "tensor_flop_per_s", a.tensor_flop_per_s, unknown);
  put(j, "dram_bytes_per_s", a.dram_bytes_per_s, unknown);
  put(j, "fraction_of_peak", a.fraction_of_peak, unknown);
  return j;
}

Json memory_json(const Workload& w) {
  Json rows = Json::array();
  for (int space = 0; space < 5; ++space) {
    for (int kind = 0; kind < 3; ++kind) {
      const AccessCount& c = w.by_space[space][kind];
      if (c.requests == 0 && c.bytes == 0) continue;  // copies in bulk are no requests
      rows.push_back({{"space", name_of(static_cast<MemorySpace>(space))},
                      {"kind", name_of(static_cast<AccessKind>(kind))},
                      {"requests", number(c.requests)},
                      {"lanes", number(c.lanes)},
                      {"bytes", number(c.bytes)},
                      {"sectors", number(c.sectors)},
                      {"segments", number(c.segments)},
                      {"bank_passes", number(c.bank_passes)}});
    }
  }
  return rows;
}

Json bounds_json(const Estimate& e) {
  Json bounds = Json::array();
  for (const Bound& b : e.bounds) {
    Json j = {{"name", b.name}};
    put(j, "time_s", b.time.value(), b.why);
    j["why"] = b.why;
    if (b.without) j["without_s"] = number(b.without->value());
    bounds.push_back(std::move(j));
  }
  return bounds;
}

void put_estimate(Json& j, const Estimate& e) {
  put(j, "time_s", e.time_s.value, e.time_s.reason);
  put(j, "launch_overhead_s", e.launch_overhead_s.value, e.launch_overhead_s.reason);
  if (e.interval_lo_s && e.interval_hi_s) {
    j["interval_s"] = {number(*e.interval_lo_s), number(*e.interval_hi_s)};
  } else {
    put_unknown(j, "interval_s", e.interval_reason);
  }
  if (e.limiter.empty()) {
    put_unknown(j, "limiter", e.time_s.reason);
  } else {
    j["limiter"] = e.limiter;
  }
  put(j, "floor_s", e.floor_s.value, e.floor_s.reason);
  j["achieved"] = achieved_json(e);
  j["bounds"] = bounds_json(e);
  j["occupancy"] = {{"blocks_per_sm", number(e.occupancy.blocks_per_unit)},
                    {"warps_per_sm", number(e.occupancy.warps_per_unit)},
                    {"fraction", number(e.occupancy.fraction)},
                    {"limiter", e.occupancy.limiter}};
}

}  // namespace

Json head_json(const Head& head) {
  return {{"schema_version", schema_version}, {"tool_version", head.tool_version}, {"command", head.command}};
}

Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < largest_exact_integer) return static_cast<std::int64_t>(value);
  return value;
}

Json dims(const Dim3& d) { return {d.x, d.y, d.z}; }

Json counts_json(const Workload& w) {
  return {{"blocks", number(w.blocks)},
          {"threads", number(w.threads)},
          {"warps", number(w.warps)},
          {"warp_size", w.geometry.warp_size},
          {"warp_instructions", op_counts_json(w.warp_ops)},
          {"thread_operations", op_counts_json(w.thread_ops)},
          {"tensor_multiply_adds", tensor_json(w.warp_ops.tensor)},
          {"flops_fp32", number(flops32(w.thread_ops))},
          {"flops_fp64", number(flops64(w.thread_ops))},
          {"memory", memory_json(w)},
          {"barriers", number(w.barriers)},
          {"footprint_bytes", number(w.footprint_bytes)},
          {"footprint_read_bytes", number(w.footprint_read_bytes)},
          {"footprint_write_bytes", number(w.footprint_write_bytes)}};
}

Json unmodeled_json(const KernelProfile* profile) {
  Json list = Json::array();
  if (!profile) return list;
  for (const Unmodeled& u : profile->unmodeled) {
    const bool known = u.line.file >= 0;  // else the code has no lines
    list.push_back({{"what", u.what},
                    {"count", u.count},
                    {"file", known ? profile->files[static_cast<std::size_t>(u.line.file)] : std::string()},
                    {"line", known ? u.line.line : 0}});
  }
  return list;
}

Json assumptions_json(const std::vector<Assumption>& assumptions) {
  Json list = Json::array();
  for (const Assumption& a : assumptions) list.push_back({{"what", a.what}, {"value", a.value}, {"flag", a.replace}});
  return list;
}

void put_unknown(Json& object, std::string_view key, std::string_view why) {
  object[std::string(key)] = nullptr;
  std::string reason = object.contains("reason") ? object["reason"].get<std::string>() + "; " : "";
  reason += std::string(key) + ": " + std::string(why.empty() ? "not known" : why);
  object["reason"] = reason;
}

void put(Json& object, std::string_view key, const std::optional<double>& value, std::string_view why) {
  if (value && std::isfinite(*value)) {
    object[std::string(key)] = number(*value);
  } else {
    put_unknown(object, key, why);
  }
}

Json prediction_json(const ForecastReport& forecast, const DeviceResult& d, const ModelResult& result) {
  const std::string kernel = d.profile ? d.profile->kernel : forecast.kernel;
  Json j = {{"kernel", kernel}, {"device", d.device.id}, {"model", result.model}};
  if (kernel.empty()) put_unknown(j, "kernel", d.failure);
  const std::string failure = d.failure.empty() ? result.failure : d.failure;
  if (result.estimate) {
    put_estimate(j, *result.estimate);
  } else {
    for (const char* key : {"time_s", "launch_overhead_s", "interval_s", "limiter", "occupancy", "floor_s", "achieved"})
      put_unknown(j, key, failure);
    j["bounds"] = Json::array();
  }
  if (d.workload) {
    j["resources"] = {{"registers_per_thread", number(d.workload->registers_per_thread)},
                      {"shared_bytes_per_block", number(d.workload->shared_bytes_per_block)}};
  } else {
    put_unknown(j, "resources", failure);
  }
  if (result.estimate) {
    const Estimate& e = *result.estimate;
    put(j, "energy_j", e.energy_j.value, e.energy_j.reason);
    if (e.energy_lo_j && e.energy_hi_j) j["energy_interval_j"] = {number(*e.energy_lo_j), number(*e.energy_hi_j)};
  } else {
    put_unknown(j, "energy_j", failure);
  }
  if (d.workload) {
    j["launch"] = {{"grid", dims(d.workload->grid)},
                   {"block", dims(d.workload->block)},
                   {"dynamic_shared_bytes", d.launch.dynamic_shared_bytes}};
    j["counts"] = counts_json(*d.workload);
    j["counts_method"] = name_of(d.workload->counts_method);
    if (d.execution) j["counts"]["execution"] = execution_json(*d.workload);
  } else {
    for (const char* key : {"launch", "counts", "counts_method"}) put_unknown(j, key, failure);
  }
  j["unmodeled"] = unmodeled_json(d.profile.get());
  static const std::vector<Assumption> none;
  j["assumptions"] =
      assumptions_json(merged({&d.assumptions, result.estimate ? &result.estimate->assumptions : &none}));
  return j;
}

Json with_flags_in(const Json& json) {
  if (json.is_string()) return with_flags(json.get_ref<const std::string&>());
  if (!json.is_structured()) return json;
  Json out = json;
  for (Json& part : out) part = with_flags_in(part);
  return out;
}

std::string dumped(const Json& json) {
  return printable_json(with_flags_in(json).dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace kernelcast::report
