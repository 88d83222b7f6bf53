// kernelcast offload --replay: the published cells on the two platforms that the source names (it does not say which of
// them gave the table), or on the pair given by --cpu and --gpu. What the suite's makefile says of the CPU's code, no
// optimisation and no target, and what the source says of its run, one thread, are the defaults here.
#include <fmt/format.h>

#include "cli/catalog.h"
#include "cli/common_flags.h"
#include "cli/offload.h"
#include "cli/output.h"
#include "cli/run.h"
#include "cli/sources.h"
#include "cli/values.h"
#include "io/text_file.h"
#include "kernelcast/error.h"
#include "kernelcast/offload_replay.h"
#include "report/offload_views.h"

namespace kernelcast::cli {
namespace {

using namespace offload;
using report::OffloadReplayPlatform;

struct Pair {
  std::string cpu, gpu;
};

OffloadReplayPlatform replayed(const Pair& pair, const std::vector<ReplayCell>& cells, const std::string& folder,
                               const CpuSettings& settings, int threads, const DeviceCatalog& catalog, bool progress) {
  OffloadReplayPlatform out;
  const Device cpu = catalog.find(pair.cpu), gpu = catalog.find(pair.gpu);
  check_kinds(cpu, gpu);
  out.cpu = cpu.id;
  out.gpu = gpu.id;
  std::vector<std::string> warnings;
  std::map<std::string, std::unique_ptr<Region>> regions;
  for (const ReplayCell& cell : cells) {
    const ReplayProgram* program = nullptr;
    for (const ReplayProgram& p : replay_programs())
      if (p.name == cell.program) program = &p;
    if (!program) throw UserError("the program '" + cell.program + "' of the table is not among the examples");
    std::unique_ptr<Region>& region = regions[cell.program];
    if (!region) {
      if (progress) progress_line(gpu.name + ": " + cell.program);
      Source source;
      source.path = folder + "/" + program->file;
      source.text = read_source(source.path);
      source.language = Language::c;
      Source on_gpu = source;
      if (!program->gpu_file.empty()) {
        on_gpu.path = folder + "/" + program->gpu_file;
        on_gpu.text = read_source(on_gpu.path);
        on_gpu.language = Language::opencl;
      }
      region =
          std::make_unique<Region>(analysed_region(on_gpu, source, program->kernels, {}, cpu, gpu, settings, warnings));
      region->roles = program->roles;
    }
    Question q;
    q.launch.block = {128, 1, 1};
    q.fit_block = program->gpu_file.empty();
    q.threads = threads;
    OffloadReplayPlatform::Cell c;
    c.cell = cell;
    c.n = side_of(*program, cell.size_mib);
    q.launch.args["n"] = c.n;
    if (!program->gpu_file.empty()) q.grid = Dim3{c.n, 1, 1};
    Evaluator evaluator(*region, cpu, gpu);
    const Answer a = evaluator.answer(q);
    q.model = DecisionModel::offload_2017;
    c.corrected = evaluator.answer(q).verdict.decision;
    q.faults = as_printed;
    c.as_printed = evaluator.answer(q).verdict.decision;
    c.ours = a.verdict;
    c.cpu_s = a.cpu.time.time_s;
    c.gpu_s = a.gpu.time.time_s;
    c.transfer_s = a.gpu.transfer_in_s + a.gpu.transfer_out_s;
    out.cells.push_back(std::move(c));
  }
  const auto add = [&](const std::string& name, auto decision) {
    std::vector<Decision> all;
    for (const auto& c : out.cells) all.push_back(decision(c));
    out.scores.push_back({name, score(cells, all)});
  };
  using Cell = OffloadReplayPlatform::Cell;
  add("oracle", [](const Cell& c) { return c.cell.cheaper(); });
  add("kernelcast", [](const Cell& c) { return c.ours.decision; });
  add("kernelcast, too close below 0.6",
      [](const Cell& c) { return c.ours.probability < 0.6 ? Decision::too_close : c.ours.decision; });
  add("always the GPU", [](const Cell&) { return Decision::gpu; });
  add("always the CPU", [](const Cell&) { return Decision::cpu; });
  add("decisions printed in the source", [](const Cell& c) { return c.cell.printed; });
  add("offload-2017 as printed, our counts", [](const Cell& c) { return c.as_printed; });
  add("offload-2017 corrected, our counts", [](const Cell& c) { return c.corrected; });
  return out;
}

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
                                                 {"--measure-power", f.measure_power},
                                                 {"--cpu without --gpu", !f.cpu.empty() && f.gpu.empty()}};
  for (const auto& [flag, given] : others)
    if (given)
      throw UsageError(std::string("--replay takes no ") + flag +
                       "; it takes --cpu and --gpu, --cpu-opt, --cpu-threads and --examples");
}

}  // namespace

int offload_replay(const OffloadFlags& f, const Environment& environment) {
  if (!f.source.file.empty()) throw UsageError("--replay and FILE exclude each other");
  const bool json = is_json(f.source.format);
  refuse_others(f);
  const std::string nests = existing_folder("--examples", f.examples.empty() ? "examples/offload" : f.examples);
  CpuSettings settings;
  settings.optimization = optimization_of(f, 0);
  settings.simd = false;
  settings.baseline = true;
  const int threads = f.cpu_threads.empty() ? 1 : static_cast<int>(whole_number("--cpu-threads", f.cpu_threads, 1));
  settings.threads = threads;
  const DeviceCatalog catalog = catalog_of(f.source.devices_dir, environment.devices_dir);
  const std::vector<ReplayCell> cells = parse_replay(read_text_file(f.replay), f.replay);
  std::vector<Pair> pairs{{"i7-4710mq", "gtx850m"}, {"i5-3340m", "gt750m"}};
  if (!f.gpu.empty()) pairs = {{f.cpu.empty() ? "host" : f.cpu, f.gpu}};
  report::OffloadReplayReport report;
  report.head = environment.head;
  report.table = f.replay;
  report.cpu_code = fmt::format("-O{}, no target flags, {}", settings.optimization,
                                threads == 1 ? "one thread" : fmt::format("{} threads", threads));
  for (const Pair& pair : pairs)
    report.platforms.push_back(replayed(pair, cells, nests, settings, threads, catalog, environment.progress));
  const report::Style style(environment.colour && f.source.output.empty());
  write_result(f.source.output,
               json ? report::offload_replay_json(report) : report::offload_replay_text(report, style));
  return done;
}

}  // namespace kernelcast::cli
