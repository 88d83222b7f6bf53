// kernelcast predict: how long, and what limits it.
#include <memory>

#include "cli/catalog.h"
#include "cli/commands.h"
#include "cli/forecast.h"
#include "cli/launches.h"
#include "cli/output.h"
#include "cli/run.h"
#include "cli/sources.h"
#include "kernelcast/error.h"
#include "report/views.h"

namespace kernelcast::cli {
namespace {

constexpr const char* predict_examples = R"(Examples:
  kernelcast predict examples/matmul_tiled.cl --device gtx280,v100 --global 1024,1024 --block 16,16 \
    --arg n=1024
  kernelcast predict examples/saxpy.cu --device all --grid 4096 --block 256 --arg n=1048576 --format json \
    -o saxpy.json
  kernelcast predict program.cu --device a100 --argv "1024 10"
  kernelcast predict examples/matmul.c --map i,j --device v100 --block 16,16 --arg n=1024 --model roofline

Exit status: 0 success, 1 analysis failed, 2 usage, 130 interrupted. It is 1 if a device named with --device cannot run
the kernel; the others are shown. With --device all it is 0 as long as one can.)";

int predict(const ForecastFlags& flags, const Environment& environment) {
  const bool csv = flags.format == "csv";
  if (wants_launches(flags)) {
    if (csv)
      throw UsageError(KC_SETTING(format) " csv: give " KC_SETTING(grid) " and " KC_SETTING(
          block) "; launches of host code have text and json");
    return predict_program(flags, environment);
  }
  ForecastFlags as_json = flags;
  if (csv) as_json.format = "json";
  Request request = checked(as_json);
  const DeviceCatalog catalog = catalog_of(request.devices_dir, environment.devices_dir, request.point);
  request.source.text = read_source(request.source.path);
  const auto progress = [&](const std::string& text) {
    if (environment.progress) progress_line(text);
  };
  ForecastRun run = run_forecast(request, real_frontend(), catalog, progress);
  run.forecast.head = environment.head;
  const report::Style style(environment.colour && request.output.empty());
  write_result(request.output, csv            ? report::predict_csv(run.forecast)
                               : request.json ? report::predict_json(run.forecast)
                                              : report::predict_text(run.forecast, style));
  for (const std::string& text : run.messages) message("kernelcast: " + text);
  return run.complete ? done : could_not_analyse;
}

}  // namespace

Action add_predict(Parser& parser) {
  auto flags = std::make_shared<ForecastFlags>();
  Flags command = parser.command("predict", "Forecast a kernel's time on GPUs and what limits it", predict_examples);
  declare(command, *flags);
  command.say_instead("--format", "text|json|csv", "Output format (default: text)");
  declare_launches(command, *flags);
  return [flags](const Environment& environment) { return predict(*flags, environment); };
}

}  // namespace kernelcast::cli
