#include "cli/offload_cells.h"

#include <utility>

#include "cli/output.h"
#include "cli/sources.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {

using namespace offload;
using report::OffloadReplayPlatform;

const std::vector<DevicePair>& published_pairs() {
  static const std::vector<DevicePair> pairs{{"i7-4710mq", "gtx850m"}, {"i5-3340m", "gt750m"}};
  return pairs;
}

CpuSettings published_settings() {
  CpuSettings settings;
  settings.optimization = 0;
  settings.simd = false;
  settings.baseline = true;
  settings.threads = 1;
  return settings;
}

PreparedCells::PreparedCells(Device cpu, Device gpu, const std::vector<ReplayCell>& cells, const std::string& folder,
                             const CpuSettings& settings, bool progress)
    : cpu_(std::move(cpu)), gpu_(std::move(gpu)), cells_(cells) {
  std::vector<std::string> warnings;
  for (const ReplayCell& cell : cells_) {
    const ReplayProgram* program = nullptr;
    for (const ReplayProgram& p : replay_programs())
      if (p.name == cell.program) program = &p;
    if (!program) throw UserError("the program '" + cell.program + "' of the table is not among the examples");
    std::unique_ptr<Region>& region = regions_[cell.program];
    if (!region) {
      if (progress) progress_line(gpu_.name + ": " + cell.program);
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
      region = std::make_unique<Region>(
          analysed_region(on_gpu, source, program->kernels, {}, cpu_, gpu_, settings, warnings));
      region->roles = program->roles;
    }
    Asked a{region.get(), {}, side_of(*program, cell.size_mib)};
    a.question.launch.block = {128, 1, 1};
    a.question.fit_block = program->gpu_file.empty();
    a.question.threads = settings.threads;
    a.question.launch.args["n"] = a.n;
    if (!program->gpu_file.empty()) a.question.grid = Dim3{a.n, 1, 1};
    asked_.push_back(std::move(a));
  }
}

std::vector<Verdict> PreparedCells::verdicts(const Device& cpu, const Device& gpu) const {
  std::vector<Verdict> out;
  const Region* of = nullptr;
  std::unique_ptr<Evaluator> evaluator;  // cells of a program stand together
  for (const Asked& a : asked_) {
    if (a.region != of) evaluator = std::make_unique<Evaluator>(*a.region, cpu, gpu);
    of = a.region;
    out.push_back(evaluator->answer(a.question).verdict);
  }
  return out;
}

OffloadReplayPlatform PreparedCells::answers(const Device& cpu, const Device& gpu) const {
  OffloadReplayPlatform out;
  out.cpu = cpu.id;
  out.gpu = gpu.id;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const Asked& a = asked_[i];
    Evaluator evaluator(*a.region, cpu, gpu);
    const OffloadDecision ours = evaluator.answer(a.question);
    OffloadRequest q = a.question;
    q.model = DecisionModel::offload_2017;
    OffloadReplayPlatform::Cell c;
    c.cell = cells_[i];
    c.n = a.n;
    c.corrected = evaluator.answer(q).verdict.decision;
    q.faults = as_printed;
    c.as_printed = evaluator.answer(q).verdict.decision;
    c.ours = ours.verdict;
    c.cpu_s = ours.cpu.time.time_s;
    c.gpu_s = ours.gpu.time.time_s;
    c.transfer_s = ours.gpu.transfer_in_s + ours.gpu.transfer_out_s;
    out.cells.push_back(std::move(c));
  }
  const auto add = [&](const std::string& name, auto decision) {
    std::vector<Decision> all;
    for (const auto& c : out.cells) all.push_back(decision(c));
    out.scores.push_back({name, score(cells_, all)});
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

}  // namespace kernelcast::cli
