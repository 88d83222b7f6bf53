// kernelcast converge: divergent loops made to meet.
#include "cli/converge.h"

#include <memory>

#include "cli/run.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

constexpr const char* examples = R"(Example:
  kernelcast converge --replay converge/examples/pattern.txt --policy round-robin)";

int converge(const ConvergeFlags& flags, const Environment& environment) {
  if (flags.format != "text" && flags.format != "json") {
    throw UsageError("--format " + flags.format + ": expected text or json");
  }
  if (flags.replay.empty()) throw UsageError("give a pattern with --replay");
  return converge_replay(flags, environment);
}

}  // namespace

Action add_converge(Parser& parser) {
  auto f = std::make_shared<ConvergeFlags>();
  Flags flags =
      parser.command("converge", "Loops whose lanes disagree: step counts of schedules that make them meet", examples);
  flags.option("--replay", "FILE", f->replay, "Count the steps of this pattern: a line a lane, a T or F an iteration");
  flags.option("--policy", "NAME", f->policy, "plain, majority, round-robin, advance or advance-in-order");
  flags.option("--first", "T|F", f->first, "Path that round robin begins with; F without it");
  flags.option("--flush", "N", f->flush, "Majority: every N steps the path that fewer lanes want; never without it");
  flags.option("--format", "text|json", f->format, "text or json");
  flags.option("-o", "FILE", f->output, "Write to FILE, in one step, instead of standard output");
  return [f](const Environment& environment) { return converge(*f, environment); };
}

}  // namespace kernelcast::cli
