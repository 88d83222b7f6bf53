// kernelcast explain: what the forecast stands on, line by line.
#include <memory>

#include "cli/catalog.h"
#include "cli/commands.h"
#include "cli/forecast.h"
#include "cli/launches.h"
#include "cli/output.h"
#include "cli/quoted_sources.h"
#include "cli/run.h"
#include "cli/sources.h"
#include "kernelcast/error.h"
#include "kernelcast/sm_views.h"
#include "report/sm_views.h"
#include "report/views.h"

namespace kernelcast::cli {
namespace {

constexpr const char* explain_examples = R"(Examples:
  kernelcast explain examples/matmul_naive.cl --device gtx280 --global 1024,1024 --block 16,16 --arg n=1024
  kernelcast explain - --lang cuda --kernel saxpy --device v100 --grid 4096 --block 256 --arg n=1048576 \
    < examples/saxpy.cu

Exit status: 0 success, 1 analysis failed, 2 usage, 130 interrupted. It is 1 if a device named with --device cannot run
the kernel; the others are shown. With --device all it is 0 as long as one can.)";

/// What the cycle-level SM of the one device sees of the kernel.
void write_views(const std::string& path, const report::ForecastReport& forecast) {
  const report::DeviceResult& d = forecast.devices.front();
  if (!d.profile || !d.workload) return;  // the device's own failure is shown
  write_result(path,
               report::sm_views_json(forecast.head, d.device, sm::watch_kernel(*d.profile, *d.workload, d.device)));
}

std::vector<report::LineCosts> costs_of(const report::ForecastReport& forecast) {
  std::vector<report::LineCosts> costs;
  for (const report::DeviceResult& d : forecast.devices) {
    costs.emplace_back();
    if (!d.workload || d.models.empty() || !d.models.front().estimate) continue;
    costs.back() =
        picture::line_costs(*d.profile, *d.workload, d.device, d.models.front().estimate->occupancy.blocks_per_unit);
  }
  return costs;
}

int explain(const ForecastFlags& flags, const std::string& views, bool annotate, const Environment& environment) {
  if (annotate && flags.format != "text")
    throw UsageError(KC_SETTING(annotate) ": is text for a terminal; leave out " KC_SETTING(format) " " + flags.format);
  Request request = checked(wants_launches(flags) ? only_launch(flags, environment) : flags);
  if (!views.empty() && (request.all_devices || request.devices.size() != 1))
    throw UsageError("--sm-views " + views + ": give one --device, whose SM is watched");
  request.execute.locality = true;
  const DeviceCatalog catalog = catalog_of(request.devices_dir, environment.devices_dir, request.point);
  request.source.text = read_source(request.source.path);
  const auto progress = [&](const std::string& text) {
    if (environment.progress) progress_line(text);
  };
  ForecastRun run = run_forecast(request, real_frontend(), catalog, progress);
  run.forecast.head = environment.head;
  run.forecast.sources = quoted_sources(request.source, run.forecast);
  if (!views.empty()) write_views(views, run.forecast);
  const report::Style style(environment.colour && request.output.empty());
  write_result(request.output, annotate       ? report::annotated_text(run.forecast, costs_of(run.forecast), style)
                               : request.json ? report::explain_json(run.forecast)
                                              : report::explain_text(run.forecast, style));
  for (const std::string& text : run.messages) message("kernelcast: " + text);
  return run.complete ? done : could_not_analyse;
}

}  // namespace

Action add_explain(Parser& parser) {
  auto flags = std::make_shared<ForecastFlags>();
  auto views = std::make_shared<std::string>();
  auto annotate = std::make_shared<bool>(false);
  Flags command = parser.command(
      "explain", "Show what a forecast rests on: counts, accesses, source lines, assumptions", explain_examples);
  declare(command, *flags);
  declare_launches(command, *flags);
  command.option("--sm-views", "FILE", *views,
                 "JSON file for the cycle-level SM's view of the kernel: issues, stalls, pipes");
  command.flag("--annotate", *annotate,
               "Source with margins instead: shares of instructions, sectors, bank conflicts and waits by line");
  return [flags, views, annotate](const Environment& environment) {
    return explain(*flags, *views, *annotate, environment);
  };
}

}  // namespace kernelcast::cli
