// kernelcast offload --replay: the published cells on the two platforms that the source names (it does not say which of
// them gave the table), or on the pair given by --cpu and --gpu. What the suite's makefile says of the CPU's code, no
// optimisation and no target, and what the source says of its run, one thread, are the defaults here.
#include <fmt/format.h>

#include "cli/catalog.h"
#include "cli/common_flags.h"
#include "cli/flag_values.h"
#include "cli/offload.h"
#include "cli/offload_cells.h"
#include "cli/output.h"
#include "cli/run.h"
#include "io/text_file.h"
#include "kernelcast/error.h"
#include "kernelcast/offload_replay.h"
#include "report/offload_views.h"

namespace kernelcast::cli {
namespace {

/// The cells are what they are: flags that would change the question are not passed over in silence.
void refuse_others(const OffloadFlags& f) {
  const OffloadFlags d;
  const ForecastFlags &s = f.source, &e = d.source;
  const std::pair<const char*, bool> others[] = {{"--kernel", s.kernel != e.kernel},
                                                 {"--block", s.block != e.block},
                                                 {"--grid", s.grid != e.grid},
                                                 {"--arg", !s.args.empty()},
                                                 {"--buffer", !s.buffers.empty()},
                                                 {"--map", s.map != e.map},
                                                 {"--assume", !s.assume.empty()},
                                                 {"--compile-seconds", !s.compile_seconds.empty()},
                                                 {"--devices", !f.devices.empty()},
                                                 {"--cpu-source", !f.cpu_source.empty()},
                                                 {"--role", !f.roles.empty()},
                                                 {"--resident", !f.resident.empty()},
                                                 {"--reps", f.reps != d.reps},
                                                 {"--model", f.model != d.model},
                                                 {"--faults", !f.faults.empty()},
                                                 {"--host-memory", f.memory != d.memory},
                                                 {"--overlap", f.overlap},
                                                 {"--weights", f.weights != d.weights},
                                                 {"--confidence", f.confidence != d.confidence},
                                                 {"--scale", !f.scale.empty()},
                                                 {"--cpu-isa", f.cpu_isa != d.cpu_isa},
                                                 {"--cpu-simd", f.cpu_simd != d.cpu_simd},
                                                 {"--cpu-idle-w", !f.cpu_idle_w.empty()},
                                                 {"--gpu-idle-w", !f.gpu_idle_w.empty()},
                                                 {"--busy-power", f.busy_power != d.busy_power},
                                                 {"--measure-power", f.measure_power},
                                                 {"--cpu without --gpu", !f.cpu.empty() && f.gpu.empty()}};
  for (const auto& [flag, given] : others)
    if (given)
      throw UsageError(std::string("--replay takes no ") + flag +
                       "; it takes --cpu and --gpu, --cpu-opt, --cpu-threads and --examples");
}

}  // namespace

using offload::ReplayCell;

int offload_replay(const OffloadFlags& f, const Environment& environment) {
  if (!f.source.file.empty()) throw UsageError("--replay and FILE exclude each other");
  const bool json = is_json(f.source.format);
  refuse_others(f);
  const std::string nests = existing_folder("--examples", f.examples.empty() ? "examples/offload" : f.examples);
  CpuSettings settings = published_settings();
  settings.optimization = optimization_of(f, settings.optimization);
  const int threads = f.cpu_threads.empty() ? 1 : static_cast<int>(whole_number("--cpu-threads", f.cpu_threads, 1));
  settings.threads = threads;
  const DeviceCatalog catalog = catalog_of(f.source.devices_dir, environment.devices_dir);
  const std::vector<ReplayCell> cells = offload::parse_replay(read_text_file(f.replay), f.replay);
  std::vector<DevicePair> pairs = published_pairs();
  if (!f.gpu.empty()) pairs = {{f.cpu.empty() ? "host" : f.cpu, f.gpu}};
  report::OffloadReplayReport report;
  report.head = environment.head;
  report.table = f.replay;
  report.cpu_code = fmt::format("-O{}, no target flags, {}", settings.optimization,
                                threads == 1 ? "one thread" : fmt::format("{} threads", threads));
  for (const DevicePair& pair : pairs) {
    const Device cpu = catalog.find(pair.cpu), gpu = catalog.find(pair.gpu);
    offload::check_kinds(cpu, gpu);
    report.platforms.push_back(PreparedCells(cpu, gpu, cells, nests, settings, environment.progress).answers());
  }
  const report::Style style(environment.colour && f.source.output.empty());
  write_result(f.source.output,
               json ? report::offload_replay_json(report) : report::offload_replay_text(report, style));
  return done;
}

}  // namespace kernelcast::cli
