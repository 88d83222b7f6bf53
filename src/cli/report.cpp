// kernelcast report: everything that is known of a kernel, as one HTML file.
#include <fmt/format.h>

#include <memory>

#include "advise/cut.h"
#include "cli/catalog.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/findings.h"
#include "cli/forecast.h"
#include "cli/launches.h"
#include "cli/output.h"
#include "cli/quoted_sources.h"
#include "cli/run.h"
#include "cli/sources.h"
#include "forecast/code_target.h"
#include "io/text_file.h"
#include "io/unified_diff.h"
#include "kernelcast/error.h"
#include "kernelcast/sm_views.h"
#include "model/kernelcast.h"
#include "report/page_views.h"

namespace kernelcast::cli {
namespace {

constexpr const char* report_examples = R"(Examples:
  kernelcast report examples/matmul_tiled.cu --device a100 --grid 64,64 --block 16,16 --arg n=1024 -o report.html
  kernelcast report old.cu --compare new.cu --device a100,h100 --grid 4096 --block 256 --arg n=1048576 -o report.html

The file opens from disk and loads nothing. A source that does not compile gives no file.
Exit status: 0 success, 1 analysis failed, 2 usage, 130 interrupted.)";

/// Devices beyond these stand side by side only: a grid of what-ifs takes some 300 kB.
constexpr std::size_t most_details = 6;

struct ReportFlags {
  ForecastFlags base;
  std::string compare, trace;
};

class Report {
 public:
  Report(const Request& request, const Frontend& frontend, const report::ForecastReport& forecast)
      : request_(request), frontend_(frontend), forecast_(forecast) {}

  [[nodiscard]] report::PageDetail on(const DeviceResult& d) const {
    report::PageDetail p;
    p.advice = advice_on(request_, frontend_, d, forecast_.sources, {});
    const Estimate& e = *d.models.front().estimate;
    p.roofline = picture::roofline_of(*d.workload, d.device, e.occupancy.blocks_per_unit);
    p.residency = picture::residency_of(*d.workload, d.device);
    p.lanes = picture::lane_pictures(*d.profile, *d.workload, d.launch);
    p.lines = picture::line_costs(*d.profile, *d.workload, d.device, e.occupancy.blocks_per_unit);
    add_listing(d, p);
    add_what_ifs(d, p);
    add_timeline(d, p);
    return p;
  }

 private:
  void add_what_ifs(const DeviceResult& d, report::PageDetail& p) const {
    const advice::Subject subject(request_, frontend_, d, forecast_.sources);
    const std::string fixed = advice::why_blocks_are_fixed(subject);
    try {
      p.what_if = picture::what_if_grid(*d.profile, *d.workload, d.launch, d.device, *request_.models.front(),
                                        fixed.empty(), fixed);
    } catch (const Error& e) {
      p.no_what_if = message_of(e);
    }
  }

  void add_listing(const DeviceResult& d, report::PageDetail& p) const {
    FrontendOptions options;
    options.kernel = request_.kernel;
    generate_for(d.device, options);
    options.map = request_.map;
    options.block = d.launch.block;
    options.cluster = d.launch.cluster;
    options.program = request_.counts != Counting::symbolic;
    options.time_limit_s = request_.compile_seconds;
    try {
      p.listing = frontend_.analyze(request_.source, options).listing;  // which has been analyzed: nothing is compiled
    } catch (const Error& e) {
      p.no_listing = message_of(e);
    }
  }

  static void add_timeline(const DeviceResult& d, report::PageDetail& p) {
    sm::ViewOptions options;
    options.most_spans = 16000;
    try {
      p.timeline = sm::watch_kernel(*d.profile, *d.workload, d.device, options);
    } catch (const Error& e) {
      p.no_timeline = message_of(e);
    }
  }

  const Request& request_;
  const Frontend& frontend_;
  const report::ForecastReport& forecast_;
};

bool has_time(const DeviceResult& d) {
  return d.workload && !d.models.empty() && d.models.front().estimate && d.models.front().estimate->time_s.value;
}

report::ComparedForecast compared(const Request& old, const std::string& path, const Frontend& frontend,
                                  const DeviceCatalog& catalog, std::vector<std::string>& messages) {
  Request request = old;
  request.source.path = path;
  request.source.text = read_source(path);
  ForecastRun run = run_forecast(request, frontend, catalog, [](const std::string&) {});
  for (const std::string& m : run.messages) messages.push_back(path + ": " + m);
  return {std::move(run.forecast), unified_diff(old.source.text, request.source.text, path)};
}

void write_trace(const std::string& path, const report::Page& page) {
  for (std::size_t i = 0; i < page.details.size(); ++i)
    if (page.details[i] && page.details[i]->timeline)
      return write_bytes(path, report::trace_json(page.forecast.devices[i].device, *page.details[i]->timeline));
  for (const auto& detail : page.details)
    if (detail) throw LimitError(KC_SETTING(trace) " " + path + ": " + detail->no_timeline);
}

int report_command(const ReportFlags& flags, const Environment& environment) {
  ForecastFlags base = flags.base;
  if (base.format != "html" && base.format != "json")
    throw UsageError(KC_SETTING(format) " " + base.format + ": expected html or json");
  const bool html = base.format == "html";
  base.format = "json";
  if (wants_launches(base)) base = only_launch(base, environment);
  Request request = checked(base);
  if (request.models.front()->name() != "kernelcast")
    throw UsageError(KC_SETTING(model) " " + base.model + ": the report is of the model kernelcast; name it first");
  keep_inputs(KC_SETTING(o), request.output, {flags.compare});
  keep_inputs(KC_SETTING(trace), flags.trace, {base.file, flags.compare});
  if (!request.output.empty()) check_writable(request.output);
  if (!flags.trace.empty()) check_writable(flags.trace);
  const DeviceCatalog catalog = catalog_of(request.devices_dir, environment.devices_dir, request.point);
  request.source.text = read_source(request.source.path);
  const auto progress = [&](const std::string& text) {
    if (environment.progress) progress_line(text);
  };
  const Frontend frontend = cached_frontend(true);
  ForecastRun run = run_forecast(request, frontend, catalog, progress);
  report::Page page;
  page.forecast = std::move(run.forecast);
  page.forecast.head = environment.head;
  page.forecast.sources = quoted_sources(request.source, page.forecast);
  const Report report(request, frontend, page.forecast);
  std::size_t detailed = 0;
  for (const DeviceResult& d : page.forecast.devices) {
    page.details.emplace_back();
    if (!has_time(d) || detailed++ >= most_details) continue;
    progress("plots of " + d.device.id);
    page.details.back() = report.on(d);
  }
  if (!flags.compare.empty()) page.compared = compared(request, flags.compare, frontend, catalog, run.messages);
  if (!flags.trace.empty()) write_trace(flags.trace, page);
  const std::string text = html ? report::report_html(page) : report::report_json(page);
  write_page(request.output, text);
  for (const std::string& m : run.messages) message("kernelcast: " + m);
  return run.complete ? done : could_not_analyse;
}

}  // namespace

Action add_report(Parser& parser) {
  auto f = std::make_shared<ReportFlags>();
  f->base.format = "html";
  Flags c = parser.command("report", "Write everything that is known of a kernel into one HTML file with plots",
                           report_examples);
  declare(c, f->base);
  declare_launches(c, f->base);
  c.say_instead("--format", "html|json", "Output format; json: the data of the page (default: html)");
  c.option("--compare", "FILE", f->compare, "Another version of the source, put beside the first on every device");
  c.option("--trace", "FILE", f->trace, "JSON file for the timeline of one SM, as Perfetto reads it");
  return [f](const Environment& environment) { return report_command(*f, environment); };
}

}  // namespace kernelcast::cli
