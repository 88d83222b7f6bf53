// kernelcast converge: divergent loops made to meet.
#include "cli/converge.h"

#include <memory>

#include "cli/common_flags.h"
#include "cli/run.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

constexpr const char* converge_examples = R"(Examples:
  kernelcast converge converge/examples/walk.cl --global 1024 --block 64 --arg steps=256
  kernelcast converge converge/examples/walk.cl --global 1024 --block 64 --arg steps=256 --rewrite --diff
  kernelcast converge --replay converge/examples/pattern.txt --policy round-robin

Exit status: 0 done, 1 could not analyse or rewrite, 2 usage, 130 interrupted.)";

int converge(const ConvergeFlags& flags, const Environment& environment) {
  const ForecastFlags& f = flags.forecast;
  is_json(f.format);
  if (flags.replay.empty() == f.file.empty()) {
    throw UsageError("give the source of a kernel, or a pattern with --replay");
  }
  if (flags.replay.empty() && !(flags.first.empty() && flags.flush.empty()))
    throw UsageError("--first and --flush belong to --replay");
  if (!flags.replay.empty() && (flags.rewrite || flags.diff))
    throw UsageError("--rewrite and --diff need the source of a kernel, not --replay");
  return flags.replay.empty() ? converge_loops(flags, environment) : converge_replay(flags, environment);
}

}  // namespace

Action add_converge(Parser& parser) {
  auto f = std::make_shared<ConvergeFlags>();
  ForecastFlags& o = f->forecast;
  Flags c =
      parser.command("converge", "Loops whose lanes disagree about a branch: may they be made to meet, what is gained",
                     converge_examples);
  c.positional("FILE", o.file, "Kernel source (CUDA, HIP, OpenCL C), or - for standard input");
  c.option("--kernel", "NAME", o.kernel, "Which kernel, when the source and its headers have several");
  c.option("--loop", "[FILE:]LINE", f->loop, "Only the loop that begins at this line, of the source or of a header");
  c.option("--device", "DEV", o.device, "Device whose warps and code count; nvidia-tesla-v100-pcie-16gb without it");
  c.option("--grid", "X[,Y[,Z]]", o.grid,
           "Blocks; with a launch the branch's pattern is executed, otherwise it is assumed");
  c.option("--block", "X[,Y[,Z]]", o.block, "Threads of a block");
  c.option("--global", "X[,Y[,Z]]", o.global, "Work-items in all, as OpenCL says it; instead of --grid");
  c.option("--shared", "BYTES", o.shared, "Dynamic shared memory of a block; 0 without it");
  c.list("--arg", "NAME=VALUE", o.args, "Value of a scalar parameter; repeat");
  c.list("--buffer", "NAME=COUNT[:FILL]", o.buffers, "Elements behind a pointer parameter, and what they hold; repeat");
  declare_source(c, o);
  c.option("--sample", "N|all", o.sample, "Blocks to execute; as many as fit a time below a second without it");
  c.list("--assume", "KEY=VALUE", o.assume, "p, f, iterations or rho of the pattern, where it is not executed; repeat");
  c.flag("--rewrite", f->rewrite, "Write the source with the loop transformed, after checking results by execution");
  c.flag("--diff", f->diff, "With --rewrite: a unified diff instead of the source");
  c.option("--replay", "FILE", f->replay, "Count the steps of this pattern: a line a lane, a T or F an iteration");
  c.option(
      "--policy", "NAME", f->policy,
      "plain, majority, round-robin, advance or advance-in-order: what --replay counts, or what --rewrite makes (not "
      "plain, majority; without it the recommended one)");
  c.option("--first", "T|F", f->first, "Path that round robin begins with in --replay; F without it");
  c.option("--flush", "N", f->flush,
           "Majority in --replay: every N steps the path that fewer lanes want; never without it");
  declare_result(c, o.format, o.output);
  declare_devices_dir(c, o.devices_dir);
  return [f](const Environment& environment) { return converge(*f, environment); };
}

}  // namespace kernelcast::cli
