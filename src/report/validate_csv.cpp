// The rows as a flat table, for fits and plots. Column names are those of the JSON with dots.
#include <fmt/format.h>

#include <functional>
#include <utility>
#include <vector>

#include "report/validate_views.h"

namespace kernelcast::report {
namespace {

using validate::Facts;
using validate::Report;
using validate::RowForecast;
using validate::RowResult;

std::string csv_quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

/// The file's, or what the kernel requires where the file gives none.
const Dim3& block_of(const RowResult& r) { return r.facts ? r.facts->workload.block : r.row.launch.block; }

struct Column {
  std::string name;
  std::function<std::string(const RowResult&)> cell;
};

void add_row_columns(std::vector<Column>& columns) {
  const auto add = [&](const char* name, std::function<std::string(const RowResult&)> f) {
    columns.push_back({name, std::move(f)});
  };
  add("place", [](const RowResult& r) { return r.row.place; });
  add("dataset", [](const RowResult& r) { return r.row.dataset; });
  add("kernel_id", [](const RowResult& r) { return r.row.kernel_id; });
  add("gpu", [](const RowResult& r) { return r.row.gpu; });
  add("device", [](const RowResult& r) { return r.device; });
  add("problem", [](const RowResult& r) { return r.row.problem; });
  add("defines", [](const RowResult& r) { return fmt::format("{}", fmt::join(r.row.defines, ";")); });
  add("flags", [](const RowResult& r) { return fmt::format("{}", fmt::join(r.row.flags, ";")); });
  add("excluded", [](const RowResult& r) { return std::string(validate::is_excluded(r.row) ? "1" : "0"); });
  add("cache_state", [](const RowResult& r) { return r.cache_state; });
  add("note", [](const RowResult& r) { return r.row.note; });
  add("status", [](const RowResult& r) { return r.row.status; });
  add("measured_s", [](const RowResult& r) { return cell(r.row.measured_s); });
  add("failure", [](const RowResult& r) { return r.failure; });
  add("analysis_s", [](const RowResult& r) { return fmt::format("{:.6f}", r.analysis_s); });
  add("bind_s", [](const RowResult& r) { return fmt::format("{:.6f}", r.bind_s); });
  add("grid_x", [](const RowResult& r) { return fmt::format("{}", r.row.launch.grid.x); });
  add("grid_y", [](const RowResult& r) { return fmt::format("{}", r.row.launch.grid.y); });
  add("grid_z", [](const RowResult& r) { return fmt::format("{}", r.row.launch.grid.z); });
  add("block_x", [](const RowResult& r) { return fmt::format("{}", block_of(r).x); });
  add("block_y", [](const RowResult& r) { return fmt::format("{}", block_of(r).y); });
  add("block_z", [](const RowResult& r) { return fmt::format("{}", block_of(r).z); });
}

void add_model_columns(std::vector<Column>& columns, const Report& report) {
  for (std::size_t m = 0; m < report.models.size(); ++m) {
    const auto add = [&](const char* name, const std::function<std::string(const RowForecast&)>& f) {
      columns.push_back({report.models[m] + "." + name, [m, f](const RowResult& r) { return f(r.models[m]); }});
    };
    add("time_s", [](const RowForecast& f) { return cell(f.time_s); });
    add("lo_s", [](const RowForecast& f) { return cell(f.lo_s); });
    add("hi_s", [](const RowForecast& f) { return cell(f.hi_s); });
    add("limiter", [](const RowForecast& f) { return f.limiter; });
    add("bounds", [](const RowForecast& f) {
      std::string text;
      for (const auto& [name, seconds] : f.bounds_s) {
        text += fmt::format("{}{}={:.6g}", text.empty() ? "" : ";", name, seconds);
      }
      return text;
    });
    add("failure", [](const RowForecast& f) { return f.failure; });
  }
}

void add_fact_columns(std::vector<Column>& columns) {
  const auto add = [&](std::string name, const std::function<double(const Facts&)>& f) {
    columns.push_back(
        {std::move(name), [f](const RowResult& r) { return r.facts ? fmt::format("{}", f(*r.facts)) : ""; }});
  };
  columns.push_back({"target", [](const RowResult& r) { return r.facts ? r.facts->target : ""; }});
  columns.push_back({"registers_method", [](const RowResult& r) { return r.facts ? r.facts->registers_method : ""; }});
  add("registers_per_thread", [](const Facts& f) { return f.workload.registers_per_thread; });
  add("shared_bytes_per_block", [](const Facts& f) { return f.workload.shared_bytes_per_block; });
  add("static_shared_bytes", [](const Facts& f) { return static_cast<double>(f.static_shared_bytes); });
  add("stack_bytes", [](const Facts& f) { return static_cast<double>(f.stack_bytes); });
  add("spill_bytes", [](const Facts& f) { return f.spill_bytes; });
  add("assumptions", [](const Facts& f) { return static_cast<double>(f.assumptions); });
  add("blocks", [](const Facts& f) { return f.workload.blocks; });
  add("threads", [](const Facts& f) { return f.workload.threads; });
  add("warps", [](const Facts& f) { return f.workload.warps; });
  add("warps_per_block", [](const Facts& f) { return f.workload.warps_per_block; });
  add("warp_size", [](const Facts& f) { return static_cast<double>(f.workload.geometry.warp_size); });
  add("barriers", [](const Facts& f) { return f.workload.barriers; });
  add("divergent_branches", [](const Facts& f) { return f.divergent_branches; });
  add("footprint_bytes", [](const Facts& f) { return f.workload.footprint_bytes; });
  add("footprint_read_bytes", [](const Facts& f) { return f.workload.footprint_read_bytes; });
  add("footprint_write_bytes", [](const Facts& f) { return f.workload.footprint_write_bytes; });
  add("flops_fp32", [](const Facts& f) { return flops32(f.workload.thread_ops); });
  add("flops_fp64", [](const Facts& f) { return flops64(f.workload.thread_ops); });
}

void add_count_columns(std::vector<Column>& columns) {
  const auto add = [&](std::string name, const std::function<double(const Workload&)>& f) {
    columns.push_back(
        {std::move(name), [f](const RowResult& r) { return r.facts ? fmt::format("{}", f(r.facts->workload)) : ""; }});
  };
  for (std::size_t i = 0; i < op_class_count; ++i) {
    const std::string name(name_of(static_cast<OpClass>(i)));
    add("warp_ops." + name, [i](const Workload& w) { return w.warp_ops.n[i]; });
    add("thread_ops." + name, [i](const Workload& w) { return w.thread_ops.n[i]; });
  }
  for (int space = 0; space < 5; ++space) {
    for (int kind = 0; kind < 3; ++kind) {
      const std::string name =
          fmt::format("{}_{}.", name_of(static_cast<MemorySpace>(space)), name_of(static_cast<AccessKind>(kind)));
      const auto count = [&](const char* what, double AccessCount::* member) {
        add(name + what, [=](const Workload& w) { return w.by_space[space][kind].*member; });
      };
      count("requests", &AccessCount::requests);
      count("lanes", &AccessCount::lanes);
      count("bytes", &AccessCount::bytes);
      count("sectors", &AccessCount::sectors);
      count("segments", &AccessCount::segments);
      count("bank_passes", &AccessCount::bank_passes);
    }
  }
}

}  // namespace

std::string validate_rows_csv(const Report& report) {
  std::vector<Column> columns;
  add_row_columns(columns);
  add_model_columns(columns, report);
  add_fact_columns(columns);
  add_count_columns(columns);
  std::string out;
  for (std::size_t i = 0; i < columns.size(); ++i) out += (i > 0 ? "," : "") + csv_quoted(columns[i].name);
  out += '\n';
  for (const RowResult& r : report.rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) out += (i > 0 ? "," : "") + csv_quoted(columns[i].cell(r));
    out += '\n';
  }
  return out;
}

}  // namespace kernelcast::report
