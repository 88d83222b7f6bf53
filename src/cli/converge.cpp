// kernelcast converge: divergent loops made to meet.
#include "cli/converge.h"

#include <memory>

#include "cli/common_flags.h"
#include "cli/run.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

constexpr const char* converge_examples = R"(Examples:
  kernelcast converge libconverge/examples/walk.cl --global 1024 --block 64 --arg steps=256
  kernelcast converge libconverge/examples/walk.cl --global 1024 --block 64 --arg steps=256 --rewrite --diff
  kernelcast converge --replay libconverge/examples/pattern.txt --policy round-robin

Exit status: 0 success, 1 analysis or rewriting failed, 2 usage, 130 interrupted.)";

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
  Flags c = parser.command("converge", "Find loops with divergent branches, and what rescheduling their lanes gains",
                           converge_examples);
  c.positional("FILE", o.file, "Kernel source (CUDA, HIP, OpenCL C); -: standard input");
  c.option("--kernel", "NAME", o.kernel, "Kernel name (default: all kernels of the source and its headers)");
  c.option("--loop", "[FILE:]LINE", f->loop,
           "First line of the one loop to judge, in the source or in a header (default: all loops)");
  c.option("--device", "DEV", o.device, "Device (default: nvidia-tesla-v100-pcie-16gb)");
  c.option("--grid", "X[,Y[,Z]]", o.grid,
           "Grid size in blocks; with a launch the pattern of the branch is executed, otherwise assumed");
  c.option("--block", "X[,Y[,Z]]", o.block, "Block size in threads");
  c.option("--global", "X[,Y[,Z]]", o.global, "Grid size in threads, as in OpenCL; instead of --grid");
  c.option("--shared", "BYTES", o.shared, "Dynamic shared memory per block in bytes (default: 0)");
  c.list("--arg", "NAME=VALUE", o.args, "Value of a scalar kernel argument; repeat");
  c.list("--buffer", "NAME=COUNT[:FILL]", o.buffers, "Elements of a buffer, and its initializer; repeat");
  declare_source(c, o);
  c.option("--sample", "N|all", o.sample, "Blocks to execute (default: as many as fit in half a second)");
  c.list("--assume", "KEY=VALUE", o.assume,
         "Value of p, f, iterations or rho of the pattern, if it is not executed; repeat");
  c.flag("--rewrite", f->rewrite,
         "Source with the transformed loop as the output, after a check of the results by execution");
  c.flag("--diff", f->diff, "Unified diff instead of the source, with --rewrite");
  c.option("--replay", "FILE", f->replay, "Pattern to replay: a line per lane, a T or F per iteration");
  c.option("--policy", "NAME", f->policy,
           "Policy of --replay or --rewrite: plain, majority, round-robin, advance or advance-in-order (--rewrite: not "
           "plain, majority; default: the recommended one)");
  c.option("--first", "T|F", f->first, "First path of round robin in --replay (default: F)");
  c.option("--flush", "N", f->flush,
           "Steps of majority in --replay after which the rarer path runs once (default: never)");
  declare_result(c, o.format, o.output);
  declare_devices_dir(c, o.devices_dir);
  return [f](const Environment& environment) { return converge(*f, environment); };
}

}  // namespace kernelcast::cli
