// Reads the environment once, runs the command that was chosen, turns every failure into a message on
// standard error and an exit status.
#include "cli/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <new>

#include "cli/commands.h"
#include "cli/output.h"
#include "frontend/identity.h"
#include "io/interrupt.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

constexpr const char* version = KERNELCAST_VERSION;

constexpr const char* run_examples = R"(Examples:
  kernelcast predict examples/matmul_tiled.cl --device gtx280,v100 --global 1024,1024 --block 16,16 --arg n=1024
  kernelcast explain examples/saxpy.cu --device v100 --grid 4096 --block 256 --arg n=1048576
  kernelcast devices v100

`kernelcast COMMAND --help` shows a command's flags.
Exit status: 0 success, 1 analysis failed, 2 usage, 3 check's gate is broken, 70 a bug in kernelcast, 130 interrupted.)";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// As the XDG base directory specification has it: relative paths do not count.
std::string cache_folder() {
  if (const std::string xdg = variable("XDG_CACHE_HOME"); xdg.starts_with('/')) return xdg + "/kernelcast";
  const std::string home = variable("HOME");
  return home.starts_with('/') ? home + "/.cache/kernelcast" : "";
}

Environment environment_of(int argc, char** argv) {
  Environment e;
  e.devices_dir = variable("KERNELCAST_DEVICES");
  e.cache_dir = cache_folder();
  e.colour = isatty(STDOUT_FILENO) != 0 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  e.progress = isatty(STDERR_FILENO) != 0 && variable("TERM") != "dumb";
  e.head.tool_version = version;
  e.head.command.assign(argv, argv + argc);
  if (!e.head.command.empty()) e.head.command.front() = "kernelcast";
  return e;
}

/// No error goes without words, and one that has none is a bug to report.
std::string words_of(const std::exception& e) {
  const std::string text = message_of(e);
  if (text.find_first_not_of(" \t\r\n") != std::string::npos) return text;
  return fmt::format("the input could not be analysed, and no reason was given; please report it with the input ({})",
                     version);
}

struct PackageCommand {
  const char *summary, *footer;
};

/// Commands of the Python package: its program kernelcast-COMMAND answers.
const std::map<std::string, PackageCommand> package_commands{
    {"mcp",
     {"Serve forecasts to agents on standard input and output (Python package)",
      "Example, for the settings of an agent:\n  kernelcast mcp\n\nNeeds the Python package: pip install ."}},
    {"sweep",
     {"Forecast kernels x devices x configurations into a Parquet file (Python package)",
      "Example:\n  kernelcast sweep plan.toml -o results.parquet\n\nNeeds the Python package: pip install ."}}};

/// Becomes that program, which stands beside this one or on PATH. Returns where there is none and only help is wanted.
void become(const std::string& command, int argc, char** argv) {
  const std::string name = "kernelcast-" + command;
  std::error_code ignored;
  const std::string beside = (std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / name).string();
  execv(beside.c_str(), argv + 1);
  execvp(name.c_str(), argv + 1);
  if (argc == 3 && (std::string(argv[2]) == "--help" || std::string(argv[2]) == "-h")) return;
  throw UsageError(fmt::format("{} is a command of the Python package, whose program {} is not on PATH: pip install .",
                               command, name));
}

/// The parser with every command, and what each command does.
struct Commands {
  Commands() {
    for (const auto& [name, command] : package_commands) parser.listed(name, command.summary, command.footer);
  }
  Parser parser{"kernelcast", "A forecast for GPU kernels: from source to time, with no GPU",
                fmt::format("{} (LLVM {})", version, llvm_version()), run_examples};
  std::map<std::string, Action> actions{
      {"predict", add_predict(parser)},   {"explain", add_explain(parser)}, {"devices", add_devices(parser)},
      {"models", add_models(parser)},     {"tune", add_tune(parser)},       {"validate", add_validate(parser)},
      {"converge", add_converge(parser)}, {"probe", add_probe(parser)},     {"check", add_check(parser)},
      {"offload", add_offload(parser)},   {"replay", add_replay(parser)},   {"advise", add_advise(parser)},
      {"report", add_report(parser)}};
};

int parse_and_run(int argc, char** argv) {
  if (argc > 1 && package_commands.contains(argv[1])) become(argv[1], argc, argv);
  const Environment environment = environment_of(argc, argv);
  Commands commands;
  const Parser::Outcome outcome = commands.parser.parse(argc, argv);
  if (outcome.command.empty()) {
    write_stdout(outcome.text);
    return done;
  }
  return commands.actions.at(outcome.command)(environment);
}

int guarded(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const UsageError& e) {
    message(fmt::format("kernelcast: {}\nkernelcast: `kernelcast --help` and `kernelcast COMMAND --help` show usage",
                        words_of(e)));
    return usage;
  } catch (const Error& e) {
    message(fmt::format("kernelcast: {}", words_of(e)));
    return kernelcast::interrupted() ? interrupted : could_not_analyse;
  } catch (const std::bad_alloc&) {
    message(
        "kernelcast: there is not enough memory; a larger limit (ulimit -v), fewer --jobs or a smaller --max-memory "
        "may "
        "help");
    return could_not_analyse;
  } catch (const std::exception& e) {
    message(
        fmt::format("kernelcast: internal error: {}\nkernelcast: this is a bug in kernelcast {}; please report it "
                    "with the command line and the source",
                    message_of(e), version));
    return internal_error;
  }
}

}  // namespace

std::string chosen_command(int argc, char** argv) { return Commands().parser.parse(argc, argv).command; }

int run(int argc, char** argv) {
  install_signal_handlers();
  std::_Exit(guarded(argc, argv));  // nothing is buffered: every write above was a system call
}

}  // namespace kernelcast::cli
