// One function a command: declares its flags and says what to do when it was chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "report/results.h"
#include "report/style.h"

namespace kernelcast::cli {

/// What the environment says, read once.
struct Environment {
  std::string devices_dir;  // KERNELCAST_DEVICES
  bool colour = false;      // standard output is a terminal and NO_COLOR is not set
  bool progress = false;    // standard error is a terminal
  report::Head head;
};

/// Does the work; returns the exit status.
using Action = std::function<int(const Environment&)>;

struct Command {
  CLI::App* app;
  Action action;
};

Command add_predict(CLI::App& root);
Command add_explain(CLI::App& root);
Command add_devices(CLI::App& root);
Command add_models(CLI::App& root);

}  // namespace kernelcast::cli
