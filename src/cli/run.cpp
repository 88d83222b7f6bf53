// Reads the environment once, lets CLI11 parse, runs the command that was chosen, turns every failure into a message on
// standard error and an exit status.
#include "cli/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "cli/commands.h"
#include "cli/output.h"
#include "io/nearest.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

constexpr const char* version = KERNELCAST_VERSION;

constexpr const char* examples = R"(Examples:
  kernelcast predict examples/matmul_tiled.cl --device gtx280,v100 --global 1024,1024 --block 16,16 --arg n=1024
  kernelcast explain examples/saxpy.cu --device v100 --grid 4096 --block 256 --arg n=1048576
  kernelcast devices v100

`kernelcast COMMAND --help` shows a command's flags.)";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Environment environment_of(int argc, char** argv) {
  Environment e;
  e.devices_dir = variable("KERNELCAST_DEVICES");
  e.colour = isatty(STDOUT_FILENO) != 0 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  e.progress = isatty(STDERR_FILENO) != 0 && variable("TERM") != "dumb";
  e.head.tool_version = version;
  e.head.command.assign(argv, argv + argc);
  if (!e.head.command.empty()) e.head.command.front() = "kernelcast";
  return e;
}

/// CLI11 would only say that a command is missing.
void check_command(const std::string& word, const std::vector<std::string>& known) {
  if (word.starts_with('-') || std::find(known.begin(), known.end(), word) != known.end()) return;
  const std::vector<std::string> near = nearest_names(word, known, 1);
  throw UsageError(fmt::format("there is no command {}; {}", word,
                               near.empty() ? fmt::format("commands are {}", fmt::join(known, ", "))
                                            : fmt::format("did you mean {}?", near.front())));
}

int parse_and_run(int argc, char** argv) {
  const Environment environment = environment_of(argc, argv);
  CLI::App app("A forecast for GPU kernels: from source to time, with no GPU", "kernelcast");
  app.set_version_flag("--version", std::string("kernelcast ") + version);
  app.require_subcommand(1);
  app.footer(examples);
  const Command commands[] = {add_predict(app), add_explain(app), add_devices(app), add_models(app)};
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.app->get_name());
  if (argc > 1) check_command(argv[1], names);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    write_stdout(app.help());
    return done;
  } catch (const CLI::CallForVersion& e) {
    write_stdout(std::string(e.what()) + "\n");
    return done;
  } catch (const CLI::ParseError& e) {
    throw UsageError(e.what());
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.action(environment);
  }
  throw InternalError("no command was chosen");
}

int guarded(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const UsageError& e) {
    message(fmt::format("kernelcast: {}\nkernelcast: `kernelcast --help` and `kernelcast COMMAND --help` show usage",
                        e.what()));
    return usage;
  } catch (const Error& e) {
    message(fmt::format("kernelcast: {}", e.what()));
    return could_not_analyse;
  } catch (const std::exception& e) {
    message(
        fmt::format("kernelcast: internal error: {}\nkernelcast: this is a bug in kernelcast {}; please report it "
                    "with the command line and the source",
                    e.what(), version));
    return internal_error;
  }
}

}  // namespace

int run(int argc, char** argv) {
  install_signal_handlers();
  std::_Exit(guarded(argc, argv));  // nothing is buffered: every write above was a system call
}

}  // namespace kernelcast::cli
