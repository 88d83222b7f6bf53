// Pages of `tune`, `offload` and `validate`: the data are those of their JSON.
#include "report/json_parts.h"
#include "report/offload_views.h"
#include "report/page_fill.h"
#include "report/tune_views.h"
#include "report/validate_views.h"

namespace kernelcast::report {
namespace {

/// Of a row what its point needs; `validate_json` has all of it, in some kilobytes a row.
Json plotted_row_json(const validate::Report& report, const validate::RowResult& r) {
  Json j = {{"kernel_id", r.row.kernel_id},
            {"gpu", r.row.gpu},
            {"problem", r.row.problem},
            {"excluded", validate::is_excluded(r.row)}};
  put(j, "measured_s", r.row.measured_s, r.row.status);
  j["times"] = Json::object();
  for (std::size_t i = 0; i < report.models.size() && i < r.models.size(); ++i) {
    Json one = Json::object();
    put(one, "time_s", r.models[i].time_s, r.models[i].failure.empty() ? r.failure : r.models[i].failure);
    j["times"][report.models[i]] = std::move(one);
  }
  return j;
}

}  // namespace

std::string tune_html(const TuneReport& report) {
  return html_page({report.head, nullptr, "tune.js", "Tuning " + report.result.kernel, tune_json(report)});
}

std::string offload_html(const OffloadReport& report) {
  return html_page({report.head, nullptr, "offload.js", "CPU or GPU: " + report.source, offload_json(report)});
}

std::string validate_html(const Head& head, const validate::Report& report) {
  Json j = head_json(head);
  j["models"] = Json::parse(validate_json(head, {report.models,
                                                 {},
                                                 report.not_measured,
                                                 report.pairs,
                                                 report.groups,
                                                 report.flags,
                                                 report.families,
                                                 report.scores,
                                                 {},
                                                 {},
                                                 report.analyses,
                                                 report.seconds}))["models"];
  j["rows"] = Json::array();
  for (const validate::RowResult& r : report.rows) j["rows"].push_back(plotted_row_json(report, r));
  return html_page({head, nullptr, "validate.js", "Forecast against measured", dumped(j)});
}

}  // namespace kernelcast::report
