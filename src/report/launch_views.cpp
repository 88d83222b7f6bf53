// Totals add a launch's time times its repetitions. They are sums of kernel times: copies, the host's own time and gaps
// between launches are not in them.
#include "report/launch_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "io/text.h"
#include "report/execution_views.h"
#include "report/json_parts.h"

namespace kernelcast::report {
namespace {

std::string number_text(const HostNumber& n) {
  if (const auto* v = std::get_if<std::int64_t>(&n)) return std::to_string(*v);
  const HostUnknown& u = std::get<HostUnknown>(n);
  return "?" + (u.name.empty() ? "" : "(" + u.name + ")");
}

std::optional<double> time_of(const ForecastReport& f, const std::string& device, const std::string& model) {
  for (const DeviceResult& d : f.devices)
    for (const ModelResult& m : d.models)
      if (d.device.id == device && m.model == model && m.estimate) return m.estimate->time_s.value;
  return std::nullopt;
}

struct Total {
  std::string device, model;
  double seconds = 0;
  std::int64_t launches = 0;
  bool complete = true;  // every launch that was found is in it
  std::string longest;   // kernel
  double share = 0;      // of it
};

std::vector<Total> totals(const ProgramForecast& program) {
  std::vector<Total> all;
  for (const LaunchForecast& l : program.launches) {
    if (!l.forecast) continue;
    for (const DeviceResult& d : l.forecast->devices)
      for (const ModelResult& m : d.models)
        if (std::none_of(all.begin(), all.end(),
                         [&](const Total& t) { return t.device == d.device.id && t.model == m.model; }))
          all.push_back({d.device.id, m.model, 0, 0, true, "", 0});
  }
  for (Total& t : all) {
    std::map<std::string, double> kernels;
    for (const LaunchForecast& l : program.launches) {
      const auto time = l.forecast ? time_of(*l.forecast, t.device, t.model) : std::nullopt;
      if (!time) {
        t.complete = false;
        continue;
      }
      if (l.launch.more || !l.launch.conditions.empty()) t.complete = false;
      const double seconds = *time * static_cast<double>(l.launch.repetitions);
      t.seconds += seconds;
      t.launches += l.launch.repetitions;
      kernels[l.launch.kernel] += seconds;
    }
    for (const auto& [kernel, seconds] : kernels) {
      if (t.seconds <= 0 || seconds / t.seconds <= t.share) continue;
      t.share = seconds / t.seconds;
      t.longest = kernel;
    }
  }
  if (!program.notes.empty())
    for (Total& t : all) t.complete = false;
  return all;
}

Json number_json(const HostNumber& n) {
  if (const auto* v = std::get_if<std::int64_t>(&n)) return *v;
  return nullptr;
}

Json launch_json(const LaunchForecast& l) {
  Json j{{"number", l.number}, {"kernel", l.launch.kernel}, {"file", l.launch.file}, {"line", l.launch.line}};
  j["grid"] = Json::array();
  j["block"] = Json::array();
  for (const HostNumber& n : l.launch.grid) j["grid"].push_back(number_json(n));
  for (const HostNumber& n : l.launch.block) j["block"].push_back(number_json(n));
  j["shared_bytes"] = number_json(l.launch.shared);
  j["cluster"] = nullptr;
  if (const auto* x = std::get_if<std::int64_t>(&l.launch.cluster[0]); x == nullptr || *x > 0) {
    j["cluster"] = Json::array();
    for (const HostNumber& n : l.launch.cluster) j["cluster"].push_back(number_json(n));
  }
  j["repetitions"] = l.launch.repetitions;
  j["repetitions_exact"] = !l.launch.more;
  j["args"] = Json::array();
  for (const HostArgument& a : l.launch.args) {
    Json argument{{"name", a.name}, {"value", nullptr}, {"elements", nullptr}, {"kind", "unknown"}};
    if (const auto* i = std::get_if<std::int64_t>(&a.value)) argument["value"] = *i;
    if (const auto* d = std::get_if<double>(&a.value)) argument["value"] = number(*d);
    if (a.value.index() < 2) argument["kind"] = "value";
    if (const auto* b = std::get_if<HostBuffer>(&a.value)) {
      argument["kind"] = "buffer";
      if (b->elements) argument["elements"] = *b->elements;
      argument["contents_known"] = !b->contents.empty() || !b->fill.empty();
    }
    if (const auto* m = std::get_if<HostTensorMap>(&a.value)) {
      argument["kind"] = "tensor_map";
      argument["value"] = m->text();
    }
    if (std::holds_alternative<HostOther>(a.value) || std::holds_alternative<HostStructure>(a.value))
      argument["kind"] = "other";
    j["args"].push_back(argument);
  }
  j["unknown"] = Json::array();
  for (const HostUnknown& u : l.launch.unknowns())
    j["unknown"].push_back({{"name", u.name}, {"why", u.why}, {"line", u.line}});
  j["conditions"] = l.launch.conditions;
  j["failure"] = l.failure;
  j["findings"] = Json::array();
  for (const BufferFinding& f : l.findings)
    j["findings"].push_back({{"rule", f.rule}, {"buffer", f.buffer}, {"text", f.text}});
  return j;
}

/// Template arguments of libraries fill pages. JSON has all of them.
std::string short_name(const std::string& kernel) {
  constexpr std::size_t most = 80;
  return kernel.size() <= most ? kernel : kernel.substr(0, most - 3) + "...";
}

/// Launches that stand in one row of the table; at least one.
using Row = std::vector<const LaunchForecast*>;

/// Where there are more than a page of them, those of one line of source and of the same sizes share a row.
std::vector<Row> rows_of(const ProgramForecast& program) {
  constexpr std::size_t page = 64;
  std::vector<Row> rows;
  std::map<std::string, std::size_t> known;
  for (const LaunchForecast& l : program.launches) {
    std::string key = std::to_string(l.number);
    if (program.launches.size() > page)
      key = fmt::format("{}|{}|{}|{}|{}|{}", l.launch.line, l.launch.kernel, launch_sizes(l.launch.grid),
                        launch_sizes(l.launch.block), launch_sizes(l.launch.cluster), number_text(l.launch.shared));
    const auto [at, is_new] = known.emplace(key, rows.size());
    if (is_new) rows.emplace_back();
    rows[at->second].push_back(&l);
  }
  return rows;
}

std::size_t shared_rows(const std::vector<Row>& rows) {
  return static_cast<std::size_t>(std::ranges::count_if(rows, [](const Row& r) { return r.size() > 1; }));
}

/// The shortest and the longest.
std::string time_text(const Row& row, const Total& t) {
  std::optional<double> least, most;
  for (const LaunchForecast* l : row) {
    const auto time = l->forecast ? time_of(*l->forecast, t.device, t.model) : std::nullopt;
    if (!time) continue;
    least = std::min(least.value_or(*time), *time);
    most = std::max(most.value_or(*time), *time);
  }
  if (!least) return "-";
  const std::string from = format_seconds(*least), to = format_seconds(*most);
  return from == to ? from : from + " to " + to;
}

/// A blank line in front of them, if there are any.
std::string findings_text(const ProgramForecast& program) {
  std::string text;
  for (const LaunchForecast& l : program.launches)
    for (const BufferFinding& f : l.findings)
      text += fmt::format("{}launch {} (line {}, {}): {} [{}]\n", text.empty() ? "\n" : "", l.number, l.launch.line,
                          short_name(l.launch.kernel), f.text, f.rule);
  return text;
}

}  // namespace

std::string launch_sizes(const std::array<HostNumber, 3>& sizes) {
  std::string text = number_text(sizes[0]);
  const auto is_one = [](const HostNumber& n) {
    return std::holds_alternative<std::int64_t>(n) && std::get<std::int64_t>(n) == 1;
  };
  if (!is_one(sizes[1]) || !is_one(sizes[2])) text += "," + number_text(sizes[1]);
  if (!is_one(sizes[2])) text += "," + number_text(sizes[2]);
  return text;
}

std::string launches_text(const ProgramForecast& program, const Style& style) {
  std::set<std::string> kernels;
  std::int64_t launches = 0;
  for (const LaunchForecast& l : program.launches) {
    kernels.insert(l.launch.kernel);
    launches += l.launch.repetitions;
  }
  std::string text = fmt::format("{}: {} {} of {} in the host code\n\n", program.source, launches,
                                 launches == 1 ? "launch" : "launches",
                                 format_count_of(static_cast<double>(kernels.size()), "kernel"));
  const std::vector<Total> sums = totals(program);
  std::vector<Table::Align> columns{Table::Align::right, Table::Align::right, Table::Align::left, Table::Align::left,
                                    Table::Align::left,  Table::Align::right, Table::Align::right};
  std::vector<std::string> heading{"launch", "line", "kernel", "grid", "block", "shared", "times"};
  for (const Total& t : sums) {
    heading.push_back(sums.size() == 1 ? t.device : t.device + " " + t.model);
    columns.push_back(Table::Align::right);
  }
  Table table(columns);
  table.row(heading);
  const std::vector<Row> rows = rows_of(program);
  for (const Row& row : rows) {
    const LaunchForecast& l = *row.front();
    std::int64_t times = 0;
    bool more = false;
    for (const LaunchForecast* one : row) {
      times += one->launch.repetitions;
      more = more || one->launch.more;
    }
    std::vector<std::string> cells{
        row.size() == 1 ? std::to_string(l.number) : fmt::format("{}...{}", l.number, row.back()->number),
        std::to_string(l.launch.line),
        short_name(l.launch.kernel),
        launch_sizes(l.launch.grid),
        launch_sizes(l.launch.block),
        number_text(l.launch.shared),
        std::to_string(times) + (more ? "+" : "")};
    for (const Total& t : sums) cells.push_back(time_text(row, t));
    table.row(cells);
  }
  text += table.str(style, true);
  if (rows.size() < program.launches.size())
    text += fmt::format("{} launches differ in their arguments alone and share rows; `--launch N` shows one\n",
                        program.launches.size() - rows.size() + shared_rows(rows));
  if (!sums.empty()) text += "\n";
  for (const Total& t : sums)
    text +=
        fmt::format("{}: {} in {} kernel runs{}{} (model {}; without copies, host code and gaps)\n", t.device,
                    style.bold(format_seconds(t.seconds)), t.launches,
                    t.longest.empty() ? "" : fmt::format(", {} in {}", format_percent(t.share), short_name(t.longest)),
                    t.complete ? "" : ", a lower bound: see the messages", t.model);
  return text + findings_text(program);
}

std::string launches_json(const ProgramForecast& program) {
  Json j = head_json(program.head);
  j["predictions"] = Json::array();
  Json findings = Json::array();
  for (const LaunchForecast& l : program.launches) {
    if (!l.forecast) continue;
    for (const DeviceResult& d : l.forecast->devices) {
      for (const ModelResult& m : d.models) {
        Json prediction = prediction_json(*l.forecast, d, m);
        prediction["launch_number"] = l.number;
        j["predictions"].push_back(std::move(prediction));
      }
    }
    for (Json& f : findings_json(l.forecast->findings))
      if (std::find(findings.begin(), findings.end(), f) == findings.end()) findings.push_back(f);
  }
  j["findings"] = findings;
  j["launches"] = Json::array();
  for (const LaunchForecast& l : program.launches) j["launches"].push_back(launch_json(l));
  j["program"] = Json::array();
  for (const Total& t : totals(program))
    j["program"].push_back({{"device", t.device},
                            {"model", t.model},
                            {"time_s", number(t.seconds)},
                            {"launches", t.launches},
                            {"complete", t.complete}});
  j["notes"] = program.notes;
  for (const std::string& line : program.assumed) j["notes"].push_back(line);
  return dumped(j);
}

}  // namespace kernelcast::report
