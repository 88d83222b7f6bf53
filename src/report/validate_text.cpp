// `validate` for people: the models side by side in every table; what was left out stands below what counts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "io/text.h"
#include "report/validate_views.h"

namespace kernelcast::report {
namespace {

using validate::ErrorScores;
using validate::ModelScore;
using validate::Report;

std::string percent(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }
std::string percent_or_dash(const std::optional<double>& v) { return v ? percent(*v) : "-"; }
std::string factor(double v) { return v < 1e4 ? fmt::format("{:.2f}", v) : fmt::format("{:.1e}", v); }

Table table_of(std::size_t left, std::size_t right) {
  std::vector<Table::Align> columns(left, Table::Align::left);
  columns.insert(columns.end(), right, Table::Align::right);
  return Table(columns, 2);
}

std::vector<std::string> with_models(std::vector<std::string> cells, const Report& report) {
  cells.insert(cells.end(), report.models.begin(), report.models.end());
  return cells;
}

std::string headline(const Report& report, const Style& style) {
  Table table = table_of(1, report.models.size());
  table.row(with_models({"score"}, report));
  const auto add = [&](const char* name, const std::function<std::string(const ModelScore&)>& cell) {
    std::vector<std::string> cells{name};
    for (const ModelScore& s : report.scores) cells.push_back(cell(s));
    table.row(std::move(cells));
  };
  add("gMAE", [](const ModelScore& s) { return s.gmae ? factor(*s.gmae) : "-"; });
  add("within a factor of 2", [](const ModelScore& s) { return percent_or_dash(s.within_2x); });
  add("MAPE", [](const ModelScore& s) { return percent_or_dash(s.mape); });
  add("median APE", [](const ModelScore& s) { return percent_or_dash(s.median_ape); });
  add("90th percentile of APE", [](const ModelScore& s) { return percent_or_dash(s.p90_ape); });
  add("bias", [](const ModelScore& s) { return percent_or_dash(s.bias); });
  add("median Spearman",
      [](const ModelScore& s) { return s.spearman_median ? fmt::format("{:.3f}", *s.spearman_median) : "-"; });
  add("median top-1 regret", [](const ModelScore& s) { return percent_or_dash(s.top1_regret_median); });
  add("ratios: median error", [](const ModelScore& s) { return percent_or_dash(s.ratio_median_error); });
  add("ratios: sign right", [](const ModelScore& s) { return percent_or_dash(s.ratio_sign_accuracy); });
  add("inside the interval", [](const ModelScore& s) { return percent_or_dash(s.interval_coverage); });
  add("rows that count", [](const ModelScore& s) { return fmt::format("{}", s.rows); });
  add("rows left out by a flag", [](const ModelScore& s) { return fmt::format("{}", s.excluded); });
  add("rows that failed", [](const ModelScore& s) { return fmt::format("{}", s.failed); });
  return style.bold("Headline: averages over kernels and GPUs") + "\n" + table.str(style, true);
}

std::string families(const Report& report, const Style& style) {
  Table table = table_of(1, report.models.size());
  table.row(with_models({"family"}, report));
  for (std::size_t i = 0; i + report.models.size() <= report.families.size(); i += report.models.size()) {
    std::vector<std::string> cells{report.families[i].family};
    for (std::size_t m = 0; m < report.models.size(); ++m) {
      const auto& gmae = report.families[i + m].gmae;
      cells.push_back(gmae ? factor(*gmae) : "-");
    }
    table.row(std::move(cells));
  }
  return style.bold("gMAE of each family of kernels") + "\n" + table.str(style, true);
}

/// "70 / 65 / -12": MAPE, median APE and bias in percent.
std::string three(const std::optional<ErrorScores>& e) {
  if (!e) return "-";
  return fmt::format("{:.0f} / {:.0f} / {:+.0f}", e->mape * 100, e->median_ape * 100, e->bias * 100);
}

std::string pairs(const Report& report, const Style& style) {
  Table table = table_of(2, 1 + report.models.size());
  table.row(with_models({"kernel", "GPU", "n"}, report));
  const std::size_t models = report.models.size();
  for (std::size_t i = 0; i + models <= report.pairs.size(); i += models) {
    std::size_t n = 0;
    for (std::size_t m = 0; m < models; ++m) {
      if (report.pairs[i + m].errors) n = std::max(n, report.pairs[i + m].errors->n);
    }
    std::vector<std::string> cells{report.pairs[i].kernel_id, report.pairs[i].gpu, fmt::format("{}", n)};
    for (std::size_t m = 0; m < models; ++m) cells.push_back(three(report.pairs[i + m].errors));
    table.row(std::move(cells));
  }
  return style.bold("MAPE / median APE / bias in % of each kernel and GPU") + "\n" + table.str(style, true);
}

std::string groups(const Report& report, const Style& style) {
  Table table = table_of(2, 1 + report.models.size());
  table.row(with_models({"kernel", "GPU", "n"}, report));
  const std::size_t models = report.models.size();
  for (std::size_t i = 0; i + models <= report.groups.size(); i += models) {
    std::size_t n = 0;
    for (std::size_t m = 0; m < models; ++m) n = std::max(n, report.groups[i + m].n);
    std::vector<std::string> cells{report.groups[i].kernel_id, report.groups[i].gpu, fmt::format("{}", n)};
    for (std::size_t m = 0; m < models; ++m) {
      const validate::GroupScore& g = report.groups[i + m];
      cells.push_back(fmt::format("{} / {}", g.spearman ? fmt::format("{:.2f}", *g.spearman) : "-",
                                  g.top1_regret ? fmt::format("{:.0f}", *g.top1_regret * 100) : "-"));
    }
    table.row(std::move(cells));
  }
  if (report.groups.empty()) return "";
  return style.bold("Spearman / top-1 regret in % of each group of configurations") + "\n" + table.str(style, true);
}

std::string flags(const Report& report, const Style& style) {
  Table table = table_of(1, 1 + report.models.size());
  table.row(with_models({"flag", "n"}, report));
  const std::size_t models = report.models.size();
  for (std::size_t i = 0; i + models <= report.flags.size(); i += models) {
    std::size_t n = 0;
    for (std::size_t m = 0; m < models; ++m) {
      if (report.flags[i + m].errors) n = std::max(n, report.flags[i + m].errors->n);
    }
    std::vector<std::string> cells{report.flags[i].flag, fmt::format("{}", n)};
    for (std::size_t m = 0; m < models; ++m) cells.push_back(three(report.flags[i + m].errors));
    table.row(std::move(cells));
  }
  if (report.flags.empty()) return "";
  return style.bold("Left out of all of the above: MAPE / median APE / bias in % by flag") + "\n" +
         table.str(style, true);
}

std::string reasons(const std::string& heading, const std::vector<validate::FailureGroup>& groups, const Style& style) {
  std::string out;
  for (const validate::FailureGroup& f : groups) {
    out += fmt::format("  {} {}{}, first {}: {}\n", f.n, plural(static_cast<double>(f.n), "row"),
                       f.model.empty() ? "" : " by " + f.model, f.first_place, style.red(f.reason));
  }
  return out.empty() ? "" : style.bold(heading) + "\n" + out;
}

}  // namespace

std::string validate_text(const Report& report, const Style& style) {
  std::string out = headline(report, style);
  for (const std::string& part : {families(report, style), pairs(report, style), groups(report, style),
                                  flags(report, style), reasons("Rows without a forecast", report.failures, style),
                                  reasons("Counted as PTX, although --ptxas was given", report.not_assembled, style)}) {
    if (!part.empty()) out += "\n" + part;
  }
  if (report.not_measured > 0) {
    out += fmt::format("\nFailed on the hardware, so not forecast: {} of {} {}\n", report.not_measured,
                       report.rows.size(), plural(static_cast<double>(report.rows.size()), "row"));
  }
  return out;
}

}  // namespace kernelcast::report
