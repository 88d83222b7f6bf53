// `validate` as JSON: schema/validate.schema.json.
#include <cmath>

#include "report/json_parts.h"
#include "report/validate_views.h"

namespace kernelcast::report {
namespace {

using validate::ErrorScores;
using validate::Report;
using validate::RowForecast;
using validate::RowResult;

constexpr std::string_view no_rows = "no row counts";

Json forecast_json(const RowForecast& f, const std::string& row_failure, const RowResult& r) {
  const std::string& why = row_failure.empty() ? f.failure : row_failure;
  Json j = Json::object();
  put(j, "time_s", f.time_s, why);
  if (f.lo_s && f.hi_s) {
    j["interval_s"] = {number(*f.lo_s), number(*f.hi_s)};
  } else {
    put_unknown(j, "interval_s", f.time_s ? "the model gives none" : why);
  }
  if (f.limiter.empty()) {
    put_unknown(j, "limiter", why);
  } else {
    j["limiter"] = f.limiter;
  }
  j["bounds"] = Json::array();
  for (const auto& [name, seconds] : f.bounds_s) {
    Json bound = {{"name", name}};
    put(bound, "time_s", seconds, "not known");
    j["bounds"].push_back(std::move(bound));
  }
  if (f.time_s && r.row.measured_s) j["ape"] = number(validate::absolute_error({*r.row.measured_s, *f.time_s}));
  return j;
}

Json row_json(const Report& report, const RowResult& r) {
  const validate::Measurement& m = r.row;
  Json j = {{"place", m.place},
            {"dataset", m.dataset},
            {"kernel_id", m.kernel_id},
            {"gpu", m.gpu},
            {"device", nullptr},
            {"problem", m.problem},
            {"defines", m.defines},
            {"flags", m.flags},
            {"excluded", validate::is_excluded(m)},
            {"cache_state", r.cache_state},
            {"status", m.status}};
  if (r.device.empty()) {
    put_unknown(j, "device", r.failure);
  } else {
    j["device"] = r.device;
  }
  put(j, "measured_s", m.measured_s, m.status);
  j["launch"] = {{"grid", dims(m.launch.grid)},
                 {"block", dims(r.facts ? r.facts->workload.block : m.launch.block)},
                 {"dynamic_shared_bytes", m.launch.dynamic_shared_bytes}};
  if (r.facts) {
    const Workload& w = r.facts->workload;
    j["resources"] = {{"registers_per_thread", number(w.registers_per_thread)},
                      {"registers_method", r.facts->registers_method},
                      {"shared_bytes_per_block", number(w.shared_bytes_per_block)},
                      {"stack_bytes", r.facts->stack_bytes},
                      {"spill_bytes", number(r.facts->spill_bytes)}};
    j["counts"] = counts_json(w);
    j["counts_basis"] = name_of(r.facts->basis);
  } else {
    const std::string why = r.failure.empty() ? "not measured, so not forecast" : r.failure;
    put_unknown(j, "resources", why);
    put_unknown(j, "counts", why);
    put_unknown(j, "counts_basis", why);
  }
  j["models"] = Json::object();
  for (std::size_t i = 0; i < report.models.size(); ++i) {
    const std::string why = !r.failure.empty() ? r.failure : m.measured_s ? "" : "not measured, so not forecast";
    j["models"][report.models[i]] = forecast_json(r.models[i], why, r);
  }
  return j;
}

Json pairs_json(const Report& report) {
  Json list = Json::array();
  for (const validate::PairScore& p : report.pairs) {
    const ErrorScores e = p.errors.value_or(ErrorScores{});
    Json j = {{"kernel_id", p.kernel_id}, {"gpu", p.gpu}, {"model", p.model}, {"n", e.n}};
    const auto value = [&](double v) { return p.errors ? std::optional<double>(v) : std::nullopt; };
    put(j, "mape", value(e.mape), no_rows);
    put(j, "median_ape", value(e.median_ape), no_rows);
    put(j, "p90_ape", value(e.p90_ape), no_rows);
    put(j, "bias", value(e.bias), no_rows);
    put(j, "within_2x", value(e.within_2x), no_rows);
    put(j, "mean_log_error", value(e.log_error), no_rows);
    constexpr std::string_view one = "fewer than two rows count";
    put(j, "ratio_median_error", p.ratios ? std::optional<double>(p.ratios->median_error) : std::nullopt, one);
    put(j, "ratio_sign_accuracy", p.ratios ? p.ratios->sign_accuracy : std::nullopt, "no two rows differ by over 5 %");
    put(j, "interval_coverage", p.coverage, "the model gives no intervals");
    j["excluded"] = p.excluded;
    j["failed"] = p.failed;
    list.push_back(std::move(j));
  }
  return list;
}

Json groups_json(const Report& report) {
  Json list = Json::array();
  for (const validate::GroupScore& g : report.groups) {
    Json j = {{"kernel_id", g.kernel_id}, {"gpu", g.gpu}, {"problem", g.problem}, {"model", g.model}, {"n", g.n}};
    put(j, "spearman", g.spearman, "too few configurations are forecast, or all were measured alike");
    put(j, "top1_regret", g.top1_regret, "too few configurations are forecast");
    list.push_back(std::move(j));
  }
  return list;
}

Json flags_json(const Report& report) {
  Json list = Json::array();
  for (const validate::FlagScore& f : report.flags) {
    const ErrorScores e = f.errors.value_or(ErrorScores{});
    Json j = {{"flag", f.flag}, {"model", f.model}, {"n", e.n}};
    const auto value = [&](double v) { return f.errors ? std::optional<double>(v) : std::nullopt; };
    put(j, "mape", value(e.mape), no_rows);
    put(j, "median_ape", value(e.median_ape), no_rows);
    put(j, "bias", value(e.bias), no_rows);
    put(j, "mean_log_error", value(e.log_error), no_rows);
    list.push_back(std::move(j));
  }
  return list;
}

Json pooled_json(const ErrorScores& errors) {
  return {{"n", errors.n},
          {"gmae", number(std::exp(errors.log_error))},
          {"within_2x", number(errors.within_2x)},
          {"mape", number(errors.mape)},
          {"median_ape", number(errors.median_ape)},
          {"p90_ape", number(errors.p90_ape)},
          {"bias", number(errors.bias)}};
}

Json families_json(const Report& report, const std::string& model) {
  Json families = Json::object();
  for (const validate::FamilyScore& f : report.families) {
    if (f.model != model) continue;
    Json j = {{"n", f.n}};
    put(j, "gmae", f.gmae, no_rows);
    families[f.family] = std::move(j);
  }
  return families;
}

Json models_part(const Report& report) {
  Json models = Json::object();
  for (const validate::ModelScore& s : report.scores) {
    Json j = Json::object();
    put(j, "gmae", s.gmae, no_rows);
    put(j, "within_2x", s.within_2x, no_rows);
    put(j, "mape", s.mape, no_rows);
    put(j, "median_ape", s.median_ape, no_rows);
    put(j, "p90_ape", s.p90_ape, no_rows);
    put(j, "bias", s.bias, no_rows);
    put(j, "spearman_median", s.spearman_median, "no group is large enough");
    put(j, "top1_regret_median", s.top1_regret_median, "no group is large enough");
    put(j, "ratio_median_error", s.ratio_median_error, "no kernel and GPU has two rows");
    put(j, "ratio_sign_accuracy", s.ratio_sign_accuracy, "no two rows differ by over 5 %");
    put(j, "interval_coverage", s.interval_coverage, "the model gives no intervals");
    j["rows"] = s.rows;
    j["excluded"] = s.excluded;
    j["failed"] = s.failed;
    j["groups"] = s.groups;
    j["families"] = families_json(report, s.model);
    if (s.pooled) {
      j["pooled"] = pooled_json(*s.pooled);
    } else {
      put_unknown(j, "pooled", no_rows);
    }
    models[s.model] = std::move(j);
  }
  return models;
}

Json reasons_json(const std::vector<validate::FailureGroup>& groups) {
  Json list = Json::array();
  for (const validate::FailureGroup& f : groups) {
    list.push_back(
        {{"n", f.n}, {"first", f.first_place}, {"model", f.model.empty() ? "all" : f.model}, {"why", f.reason}});
  }
  return list;
}

}  // namespace

std::string validate_json(const Head& head, const Report& report) {
  Json j = head_json(head);
  j["rows"] = Json::array();
  for (const RowResult& r : report.rows) j["rows"].push_back(row_json(report, r));
  j["pairs"] = pairs_json(report);
  j["groups"] = groups_json(report);
  j["models"] = models_part(report);
  j["flags"] = flags_json(report);
  j["failures"] = reasons_json(report.failures);
  j["not_assembled"] = reasons_json(report.not_assembled);
  j["not_measured"] = report.not_measured;
  j["analyses"] = report.analyses;
  return dumped(j);
}

}  // namespace kernelcast::report
