// kernelcast models: what can be asked with --model.
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/run.h"
#include "kernelcast/error.h"
#include "report/views.h"

namespace kernelcast::cli {
namespace {

struct Flags {
  std::string format = "text", output;
};

int models(const Flags& flags, const Environment& environment) {
  if (flags.format != "text" && flags.format != "json") {
    throw UsageError("--format " + flags.format + ": expected text or json");
  }
  const report::Style style(environment.colour && flags.output.empty());
  std::vector<const Model*> list(all_models().begin(), all_models().end());
  list.insert(list.end(), model_variants().begin(), model_variants().end());
  write_result(flags.output,
               flags.format == "json" ? report::models_json(environment.head, list) : report::models_text(list, style));
  return done;
}

}  // namespace

Command add_models(CLI::App& root) {
  auto* app = root.add_subcommand("models", "List the models and the papers behind them");
  auto flags = std::make_shared<Flags>();
  app->add_option("--format", flags->format, "text or json")->type_name("text|json");
  app->add_option("-o", flags->output, "Write to FILE, in one step, instead of standard output")->type_name("FILE");
  app->footer("Example:\n  kernelcast models");
  return {app, [flags](const Environment& environment) { return models(*flags, environment); }};
}

}  // namespace kernelcast::cli
