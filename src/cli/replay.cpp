// kernelcast replay: the tables and figures of a published system from its stated inputs, beside what its text prints.
#include "cli/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

#include "cli/catalog.h"
#include "cli/common_flags.h"
#include "cli/output.h"
#include "cli/run.h"
#include "io/nearest.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

struct Experiment {
  const char* name;
  const char* what;                     // in the list
  const char* paper;                    // citation
  std::vector<std::string_view> flags;  // of its own
  std::vector<report::ReplayTable> (*tables)(const ReplayInputs&);
};

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all{
      {"opencl-quantitative",
       "four kernels on GTX 280 and HD 5870, and the counts of the front end beside the paper's",
       "Zhu, Chen, Zhang, Wu: Quantitative GPGPU Performance Model Targeting OpenCL Architecture, 2013",
       {"--examples"},
       replay_opencl_quantitative},
      {"ske",
       "block-size sweep of three filters, memory and plan of H.264 intra prediction",
       "SKE: single-kernel estimate for CUDA (GeForce GTX 280, GTX 480, GTX 670; memory costs of GTX 680)",
       {},
       replay_ske},
      {"ffma",
       "the four steps of the FFMA throughput test on the cycle-level SM of --device (default: k20)",
       "GPU FFMA throughput under dual issue, test method (Tesla K20)",
       {"--device"},
       replay_ffma},
      {"divergence",
       "worked examples, table of patterns, the two sweeps of GT 550M",
       "Liu, Wang, An, Yang, Wang: a CUDA-based converging optimization strategy for divergent conditional branches of "
       "GPUs (title translated), 2014 (GeForce GT 550M)",
       {},
       replay_divergence},
      {"offload",
       "39 cells of the CPU-or-GPU table on both platforms",
       "Operation cost of a CPU and GPU system by Roofline, LogGP and power, 2017",
       {"--examples", "--table", "--draws", "--seed"},
       replay_offload},
  };
  return all;
}

std::string list_of_experiments() {
  std::string text;
  for (const Experiment& e : experiments()) text += fmt::format("{:<20} {}\n", e.name, e.what);
  return text;
}

const Experiment& experiment_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Experiment& e : experiments()) {
    if (name == e.name) return e;
    names.emplace_back(e.name);
  }
  const std::vector<std::string> near = nearest_names(name, names, 1);
  throw UsageError(fmt::format("no experiment '{}'{}; there are {}", name,
                               near.empty() ? "" : fmt::format(", did you mean {}?", near[0]), fmt::join(names, ", ")));
}

/// Flags that only some experiments read.
struct OwnFlag {
  std::string_view name;
  std::string ReplayFlags::* value;
  const char* otherwise;
};
constexpr OwnFlag own_flags[] = {{"--device", &ReplayFlags::device, "k20"},
                                 {"--examples", &ReplayFlags::examples, "examples"},
                                 {"--table", &ReplayFlags::table, "test/data/offload-2017.csv"},
                                 {"--draws", &ReplayFlags::draws, "0"},
                                 {"--seed", &ReplayFlags::seed, "1"}};

/// A flag that the experiment does not read is an error that names those that do.
void check_flags(const ReplayFlags& flags, const Experiment& e) {
  for (const OwnFlag& f : own_flags) {
    if ((flags.*f.value).empty() || std::ranges::find(e.flags, f.name) != e.flags.end()) continue;
    std::vector<std::string> readers;
    for (const Experiment& other : experiments())
      if (std::ranges::find(other.flags, f.name) != other.flags.end()) readers.emplace_back(other.name);
    throw UsageError(
        fmt::format("{} {}: {} does not read it; {} does", f.name, flags.*f.value, e.name, fmt::join(readers, " or ")));
  }
  if (!flags.seed.empty() && flags.draws.empty())
    throw UsageError("--seed " + flags.seed + ": --draws is missing; the seed is that of the draws");
}

int replay(const ReplayFlags& flags, const Environment& environment) {
  if (flags.format != "text" && flags.format != "json" && flags.format != "csv")
    throw UsageError("--format " + flags.format + ": expected text, json or csv");
  if (flags.name.empty()) {
    if (flags.format != "text") throw UsageError("NAME is missing: " + list_of_experiments());
    for (const OwnFlag& f : own_flags)
      if (!(flags.*f.value).empty())
        throw UsageError(fmt::format("{}: NAME is missing: {}", f.name, list_of_experiments()));
    write_result(flags.output, list_of_experiments());
    return done;
  }
  const Experiment& e = experiment_named(flags.name);
  check_flags(flags, e);
  ReplayFlags with_defaults = flags;
  for (const OwnFlag& f : own_flags)
    if ((with_defaults.*f.value).empty()) with_defaults.*f.value = f.otherwise;
  const DeviceCatalog catalog = catalog_of(flags.devices_dir, environment.devices_dir);
  report::PaperReplay result;
  result.head = environment.head;
  result.name = e.name;
  result.paper = e.paper;
  result.tables = e.tables({&with_defaults, &catalog, environment.progress});
  const report::Style style(environment.colour && flags.output.empty());
  write_result(flags.output, flags.format == "json"  ? report::paper_replay_json(result)
                             : flags.format == "csv" ? report::paper_replay_csv(result)
                                                     : report::paper_replay_text(result, style));
  return done;
}

}  // namespace

Action add_replay(Parser& parser) {
  auto f = std::make_shared<ReplayFlags>();
  Flags c = parser.command("replay", "Remake the tables of a published system beside what it prints",
                           "Examples:\n  kernelcast replay\n  kernelcast replay ske\n  kernelcast replay ffma --device "
                           "k20\n  kernelcast replay opencl-quantitative --format csv -o figures.csv");
  c.positional("NAME", f->name, "Experiment (default: list all)");
  c.option("--device", "DEV", f->device, "Device of the SM for ffma (default: k20)");
  c.option("--examples", "DIR", f->examples, "Folder of the example kernels (default: examples)");
  c.option("--table", "FILE", f->table, "Published cells for offload (default: test/data/offload-2017.csv)");
  c.option("--draws", "N", f->draws, "Perturbed devices for offload (default: 0)");
  c.option("--seed", "N", f->seed, "Random seed of --draws (default: 1)");
  declare_devices_dir(c, f->devices_dir);
  declare_result(c, f->format, f->output);
  c.say_instead("--format", "text|json|csv", "Format of the result (default: text)");
  return [f](const Environment& environment) { return replay(*f, environment); };
}

}  // namespace kernelcast::cli
