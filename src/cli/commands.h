// One function a command: declares its flags and says what to do when it was chosen.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/parser.h"
#include "report/results.h"
#include "report/style.h"

namespace kernelcast::cli {

/// What the environment says, read once.
struct Environment {
  std::string devices_dir;  // KERNELCAST_DEVICES
  std::string cache_dir;    // kernelcast/ in XDG_CACHE_HOME or ~/.cache; empty: neither is known
  bool colour = false;      // standard output is a terminal and NO_COLOR is not set
  bool progress = false;    // standard error is a terminal
  report::Head head;
};

/// Does the work; returns the exit status.
using Action = std::function<int(const Environment&)>;

Action add_predict(Parser& parser);
Action add_explain(Parser& parser);
Action add_advise(Parser& parser);
Action add_report(Parser& parser);
Action add_devices(Parser& parser);
Action add_models(Parser& parser);
Action add_tune(Parser& parser);
Action add_validate(Parser& parser);
Action add_check(Parser& parser);
Action add_converge(Parser& parser);
Action add_probe(Parser& parser);
Action add_offload(Parser& parser);
Action add_replay(Parser& parser);

}  // namespace kernelcast::cli
