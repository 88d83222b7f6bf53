// kernelcast explain: what the forecast stands on, line by line.
#include <filesystem>
#include <memory>

#include "cli/catalog.h"
#include "cli/commands.h"
#include "cli/forecast.h"
#include "cli/launches.h"
#include "cli/output.h"
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

/// The file where its path is, or beside the main source: PTX names the files that it was made of as its compiler saw
/// them.
std::string quoted(const std::string& path, const std::string& main) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return read_source(path);
  return read_source((fs::path(main).parent_path() / fs::path(path).filename()).string());
}

/// Lines of every file that some profile quotes. Headers that exist only inside the front end are left out.
void add_sources(const Source& main, report::Forecast& forecast) {
  forecast.sources[main.path] = lines_of(main.text);
  for (const report::DeviceResult& d : forecast.devices) {
    if (!d.profile) continue;
    for (const std::string& path : d.profile->files) {
      if (forecast.sources.contains(path) || path.empty() || path.front() == '<') continue;
      try {
        forecast.sources[path] = lines_of(quoted(path, main.path));
      } catch (const Error&) {
        forecast.sources[path] = {};  // not on disk
      }
    }
  }
}

/// What the cycle-level SM of the one device sees of the kernel.
void write_views(const std::string& path, const report::Forecast& forecast) {
  const report::DeviceResult& d = forecast.devices.front();
  if (!d.profile || !d.workload) return;  // the device's own failure is shown
  write_result(path,
               report::sm_views_json(forecast.head, d.device, sm::watch_kernel(*d.profile, *d.workload, d.device)));
}

int explain(const ForecastFlags& flags, const std::string& views, const Environment& environment) {
  Request request = checked(wants_launches(flags) ? only_launch(flags, environment) : flags);
  if (!views.empty() && (request.all_devices || request.devices.size() != 1))
    throw UsageError("--sm-views " + views + ": give one --device, whose SM is watched");
  request.execute.locality = true;
  const DeviceCatalog catalog = catalog_of(request.devices_dir, environment.devices_dir);
  request.source.text = read_source(request.source.path);
  const auto progress = [&](const std::string& text) {
    if (environment.progress) progress_line(text);
  };
  ForecastRun run = run_forecast(request, real_frontend(), catalog, progress);
  run.forecast.head = environment.head;
  add_sources(request.source, run.forecast);
  if (!views.empty()) write_views(views, run.forecast);
  const report::Style style(environment.colour && request.output.empty());
  write_result(request.output,
               request.json ? report::explain_json(run.forecast) : report::explain_text(run.forecast, style));
  for (const std::string& text : run.messages) message("kernelcast: " + text);
  return run.complete ? done : could_not_analyse;
}

}  // namespace

Action add_explain(Parser& parser) {
  auto flags = std::make_shared<ForecastFlags>();
  auto views = std::make_shared<std::string>();
  Flags command = parser.command(
      "explain", "Show what a forecast rests on: counts, accesses, source lines, assumptions", explain_examples);
  declare(command, *flags);
  declare_launches(command, *flags);
  command.option("--sm-views", "FILE", *views,
                 "JSON file for the cycle-level SM's view of the kernel: issues, stalls, pipes");
  return [flags, views](const Environment& environment) { return explain(*flags, *views, environment); };
}

}  // namespace kernelcast::cli
