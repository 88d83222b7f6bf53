// kernelcast validate: forecasts held against measurements.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "cli/catalog.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/flag_values.h"
#include "cli/output.h"
#include "cli/request.h"
#include "cli/run.h"
#include "frontend/identity.h"
#include "io/text.h"
#include "io/text_file.h"
#include "kernelcast/error.h"
#include "kernelcast/sm_model.h"
#include "report/validate_views.h"
#include "validate/analysis_cache.h"
#include "validate/forecast_rows.h"
#include "validate/inputs.h"
#include "validate/measurement.h"
#include "validate/summary.h"

namespace kernelcast::cli {
namespace {

constexpr const char* validate_examples = R"(Examples:
  kernelcast validate rows.csv --kernels kernels.csv --sources sources
  kernelcast validate rows.csv --kernels kernels.csv --sources sources --kernel 'conv_*' --device a4000 \
    --model roofline --format json -o conv.json --rows-out conv.csv

Files, scores and columns: docs/reference/validate.md. Failed rows are counted and shown.
Exit status: 0 success, 1 no row could be forecast, 2 usage, 130 interrupted.)";

struct ValidateFlags {
  std::string rows, kernels, sources, model, device, kernel, limit, jobs, t1, like, block, problem, tile, cache;
  std::string launch_overhead;
  std::string counts = "auto", format = "text", output, rows_output, devices_dir, ptxas, nvrtc;
};

std::vector<const Model*> models_named(const std::string& names) {
  if (names.empty() || names == "all") return {all_models().begin(), all_models().end()};
  std::vector<const Model*> models;
  for (const std::string& name : comma_list("--model", names)) models.push_back(&sm::any_model_named(name));
  return models;
}

/// Whether what data decide is executed.
bool counts_named(const std::string& name) {
  if (name == "auto") return true;
  if (name == "symbolic") return false;
  throw UsageError("--counts " + name + ": expected auto or symbolic");
}

int jobs_of(const std::string& text) {
  if (text.empty()) return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return static_cast<int>(std::min<std::int64_t>(whole_number("--jobs", text, 1), 1024));
}

/// Ten times a second at most: a terminal needs no more.
class Progress {
 public:
  void operator()(std::size_t done, std::size_t all) {
    const auto now = std::chrono::steady_clock::now();
    if (done < all && now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    constexpr std::size_t width = 40;
    const std::size_t filled = all == 0 ? width : done * width / all;
    progress_line(fmt::format("[{:#<{}}{: <{}}] {} of {} rows", "", filled, "", width - filled, done, all));
  }

 private:
  std::chrono::steady_clock::time_point shown_;
};

std::string folder_of(const std::string& file) {
  const std::string folder = std::filesystem::path(file).parent_path().string();
  return folder.empty() ? "." : folder;
}

bool any_forecast(const validate::Report& report) {
  return std::any_of(report.scores.begin(), report.scores.end(),
                     [](const validate::ModelScore& s) { return s.rows + s.excluded > 0; });
}

validate::Selection selection_of(const ValidateFlags& f) {
  validate::Selection s;
  if (!f.kernel.empty()) s.kernels = comma_list("--kernel", f.kernel);
  if (!f.device.empty()) s.devices = comma_list("--device", f.device);
  if (!f.limit.empty()) s.limit = static_cast<std::size_t>(whole_number("--limit", f.limit, 1));
  return s;
}

/// Kernel and device name what a file of measurements does not say, when they can mean one thing only.
validate::InputFiles inputs_of(const ValidateFlags& f, const validate::Selection& selection,
                               const DeviceCatalog& catalog) {
  validate::InputFiles files{f.rows, f.kernels, f.t1, f.like, "", "", {}, {}, {}};
  if (selection.kernels.size() == 1 && f.kernel.find('*') == std::string::npos) files.kernel = f.kernel;
  if (selection.devices.size() == 1) files.gpu = catalog.find(f.device).name;
  if (!f.block.empty()) files.block = comma_list("--block", f.block);
  if (!f.problem.empty()) files.problem = comma_list("--problem", f.problem);
  if (!f.tile.empty()) files.tile = comma_list("--tile", f.tile);
  return files;
}

int validate(const ValidateFlags& f, const Environment& environment) {
  const bool html = f.format == "html";
  const bool json = is_json_of_page(f.format);
  for (const auto& [flag, written] : {std::pair{"-o", f.output}, std::pair{"--rows-out", f.rows_output}})
    keep_inputs(flag, written, {f.rows, f.kernels, f.t1, f.like});
  for (const std::string& file : {f.output, f.rows_output})
    if (!file.empty()) check_writable(file);
  const DeviceCatalog catalog = catalog_of(f.devices_dir, environment.devices_dir);
  validate::ForecastOptions options;
  options.models = models_named(f.model);
  options.jobs = jobs_of(f.jobs);
  options.launch_overhead_s = launch_overhead_of(f.launch_overhead);
  options.sources = existing_folder("--sources", f.sources);
  options.kernels_folder = folder_of(f.kernels);
  const std::string ptxas = program_file("--ptxas", f.ptxas);
  const NvrtcChoice nvrtc = nvrtc_choice(f.nvrtc);
  options.analyze = [ptxas, library = nvrtc.path](const Source& source, FrontendOptions o) {
    o.ptxas = ptxas;
    o.nvrtc = library;
    return analyze(source, o);
  };
  options.execute = counts_named(f.counts);
  validate::CacheTrouble trouble;
  if (!f.cache.empty()) {
    options.analyze = validate::with_memory(options.analyze, f.cache,
                                            std::string(frontend_identity()) + ptxas + nvrtc.path + nvrtc.version,
                                            f.sources, &trouble);
  }
  Progress progress;
  if (environment.progress) options.progress = [&](std::size_t done, std::size_t all) { progress(done, all); };
  const validate::Selection selection = selection_of(f);
  validate::Inputs inputs = validate::read_inputs(inputs_of(f, selection, catalog));
  validate::Report report = validate::forecast_rows(validate::selected(std::move(inputs.rows), selection, catalog),
                                                    inputs.kernels, catalog, options);
  validate::score(report);
  const report::Style style(environment.colour && f.output.empty());
  if (!f.rows_output.empty()) write_result(f.rows_output, report::validate_rows_csv(report));
  if (html) {
    write_page(f.output, report::validate_html(environment.head, report));
  } else {
    write_result(f.output,
                 json ? report::validate_json(environment.head, report) : report::validate_text(report, style));
  }
  if (const std::string why = trouble.text(); !why.empty())
    message(fmt::format("kernelcast: warning: --cache {}: analyses are not kept: {}", f.cache, why));
  if (environment.progress) {
    message(fmt::format("kernelcast: {} {}, {} of source, {:.1f} s", report.rows.size(),
                        plural(static_cast<double>(report.rows.size()), "row"),
                        report.analyses == 1 ? "1 analysis" : fmt::format("{} analyses", report.analyses),
                        report.seconds));
  }
  if (any_forecast(report)) return done;
  message(fmt::format("kernelcast: {}: none of {} {} has a forecast; the result lists the reasons", f.rows,
                      report.rows.size(), plural(static_cast<double>(report.rows.size()), "row")));
  return could_not_analyse;
}

}  // namespace

Action add_validate(Parser& parser) {
  auto f = std::make_shared<ValidateFlags>();
  Flags flags =
      parser.command("validate", "Compare forecasts with measured times and score every model", validate_examples);
  constexpr auto required = Flags::Need::required;
  flags.positional(
      "ROWS", f->rows,
      "Measured times: rows or a space (CSV), or Kernel Tuner's T4 or cache file, optionally gzip-compressed",
      required);
  flags.option("--kernels", "FILE", f->kernels, "Measured kernels (CSV); not needed with --t1");
  flags.option("--sources", "DIR", f->sources, "Folder of the kernels' sources, also the include path", required);
  flags.option("--model", "NAME[,NAME...|all]", f->model,
               "Models to score, see `kernelcast models` (default: every model except sm, which simulates)");
  flags.option("--counts", "auto|symbolic", f->counts,
               "Counting method: closed forms (symbolic), or execution where data decide (default: auto)");
  flags.option("--device", "DEV[,DEV...]", f->device,
               "Devices of the rows to use (default: all); for a T4 file, the device that was measured");
  flags.option("--kernel", "ID[,ID...]", f->kernel, "Kernels of the rows to use; * matches any text (default: all)");
  flags.option("--limit", "N", f->limit, "Largest number of rows per kernel and GPU, evenly spread (default: all)");
  flags.option("--t1", "FILE", f->t1, "Space: T1 description (sizes, arguments)");
  flags.option("--like", "FILE", f->like, "Space: rows of the same kernel with its arguments and buffers");
  flags.option("--problem", "X[,Y[,Z]]", f->problem, "Space: problem size in elements; overrides --t1");
  flags.option("--block", "X[,Y[,Z]]", f->block, "Space: block size in threads, as names of parameters or numbers");
  flags.option("--tile", "X[,Y[,Z]]", f->tile, "Space: elements per thread; grid = ceil(problem / (block * tile))");
  declare_vendor(flags, f->ptxas, f->nvrtc);
  flags.option("--launch-overhead", "S", f->launch_overhead,
               "Host's launch overhead in the measured times, in seconds, added to every forecast (default: 0)");
  flags.option("--jobs", "N", f->jobs, "Threads (default: one per processor)");
  flags.option("--cache", "DIR", f->cache, "Cache folder of analyses (default: no cache)");
  declare_result(flags, f->format, f->output);
  flags.say_instead("--format", "text|json|html", "Output format; html: a page with plots (default: text)");
  flags.option("--rows-out", "FILE", f->rows_output, "CSV file for every row with forecasts and counts");
  declare_devices_dir(flags, f->devices_dir);
  return [f](const Environment& environment) { return validate(*f, environment); };
}

}  // namespace kernelcast::cli
