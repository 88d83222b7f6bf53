// kernelcast models: what can be asked with --model.
#include <memory>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/output.h"
#include "cli/run.h"
#include "kernelcast/error.h"
#include "kernelcast/sm_model.h"
#include "report/views.h"

namespace kernelcast::cli {
namespace {

struct ModelFlags {
  std::string format = "text", output;
};

int models(const ModelFlags& flags, const Environment& environment) {
  const bool json = is_json(flags.format);
  const report::Style style(environment.colour && flags.output.empty());
  std::vector<const Model*> list(all_models().begin(), all_models().end());
  list.insert(list.end(), model_variants().begin(), model_variants().end());
  list.push_back(&sm::cycle_level_model());
  write_result(flags.output, json ? report::models_json(environment.head, list) : report::models_text(list, style));
  return done;
}

}  // namespace

Action add_models(Parser& parser) {
  auto f = std::make_shared<ModelFlags>();
  Flags flags = parser.command("models", "List the models and the papers behind them", "Example:\n  kernelcast models");
  declare_result(flags, f->format, f->output);
  return [f](const Environment& environment) { return models(*f, environment); };
}

}  // namespace kernelcast::cli
