// `replay opencl-quantitative`.
#include <fmt/format.h>

#include <iterator>

#include "cli/catalog.h"
#include "cli/common_flags.h"
#include "cli/replay.h"
#include "cli/sources.h"
#include "kernelcast/bind.h"
#include "kernelcast/frontend.h"
#include "model/opencl_quantitative_device.h"
#include "model/opencl_quantitative_paper.h"

namespace kernelcast::cli {
namespace {

namespace oq = opencl_quantitative;
namespace paper = opencl_quantitative::paper;
using report::ReplayTable;
using report::ReplayValue;

ReplayTable cost_table() {
  return {"costs",
          "instructions of one work-item on GTX 280, cycles (table 1)",
          {"class", "units", "used", "printed: cycles", "source of what is used"},
          {{std::string("ADD, SUB"), 8.0, 24.0, 24.0, std::string("the paper")},
           {std::string("MUL"), 10.0, 35.0, std::string("357, of MUL and DIV together"),
            std::string("our reading of the damaged print, unconfirmed")},
           {std::string("DIV"), ReplayValue(), 137.0, std::string("likewise"), std::string("Wong et al. 2010")},
           {std::string("SIN, COS, LOG"), 2.0, 45.0, 45.0, std::string("the paper")},
           {std::string("GM_L"), ReplayValue(), 440.0, ReplayValue(), std::string("Wong et al. 2010")},
           {std::string("LM_L"), ReplayValue(), 38.0, ReplayValue(), std::string("Wong et al. 2010")}},
          {}};
}

ReplayTable figures_table() {
  ReplayTable t{
      "figures-9-to-12",
      "the four kernels on GTX 280; cycles of a batch, of a work-group at barriers; milliseconds",
      {"figure", "kernel", "configuration", "batches/WG", "compute", "branch", "global", "local", "barriers",
       "settled, ms", "printed (14), ms", "no-overlap, ms"},
      {},
      {"The figures are images without numbers: no time of the paper can be put beside these.",
       "settled calls MM_Local slower than MM_Global; the paper says that it is the faster one. (12) outweighs the "
       "memory that tiles save."}};
  const oq::QuantitativeDevice m = paper::gtx_280();
  for (const paper::Configuration& c : paper::configurations()) {
    const paper::KernelLaunch k = c.make(m.batch);
    const oq::BatchCost cost = oq::batch_cost(m, k.kernel);
    const oq::QuantitativeTimes settled = oq::forecast(m, cost, k.launch, oq::Variant::settled);
    const auto ms = [&](oq::Variant v) { return oq::forecast(m, cost, k.launch, v).total().value() * 1e3; };
    const double group_barriers = settled.barriers.value() * m.shader_clock.value() * m.compute_units / k.launch.groups;
    t.rows.push_back({static_cast<double>(c.figure), std::string(c.kernel), std::string(c.configuration),
                      settled.batches_per_group, cost.compute.value(), cost.branch.value(), cost.global.value(),
                      cost.local.value(), group_barriers, ms(oq::Variant::settled), ms(oq::Variant::printed),
                      ms(oq::Variant::no_overlap)});
  }
  return t;
}

ReplayTable orderings_table() {
  ReplayTable t{
      "hd-5870-orderings",
      "orderings on HD 5870 over 729 costs: on how many machines each holds",
      {"faster", "slower", "settled", "printed (14)", "no-overlap"},
      {},
      {"The paper prints no cost for this GPU. An instruction takes 1 to 100 cycles, GM_L 10 to 1000, LM_L 1 to "
       "100, independently, nine values each."}};
  for (const paper::Ordering& o : paper::hd_5870_orderings())
    t.rows.push_back({o.faster, o.slower, static_cast<double>(o.holds[0]), static_cast<double>(o.holds[1]),
                      static_cast<double>(o.holds[2])});
  return t;
}

struct RealKernel {
  const char* kernel;  // of the paper
  const char* configuration;
  const char* file;
  Dim3 grid, block;
  bool n;  // has the argument n = 1024
};

/// What the front end counts in a kernel of ours that does what the paper's does, beside the paper's counts.
void add_counted(const RealKernel& r, const ReplayInputs& in, const Device& device, ReplayTable& t) {
  Source source;
  source.path = in.flags->examples + "/" + r.file;
  source.text = read_source(source.path);
  source.language = Language::opencl;
  FrontendOptions options;
  options.target = device.codegen_target;
  const Analysis analysis = analyze(source, options);
  Launch launch;
  launch.grid = r.grid;
  launch.block = r.block;
  if (r.n) launch.args["n"] = std::int64_t{1024};
  Binder binder(analysis.profile, device.geometry());
  const Workload w = binder.bind(launch);
  const oq::QuantitativeDevice m = oq::machine_of(device);
  const double factor = oq::fp64_factor(device);
  const oq::Instructions counted = oq::instructions_of(w.warp_ops, w.warps, factor);
  const oq::BatchCost cost = oq::batch_cost_of(m, w, factor);
  oq::QuantitativeLaunch ours;
  ours.work_items = w.threads;
  ours.groups = w.blocks;
  const oq::QuantitativeTimes f = oq::forecast(m, cost, ours, oq::Variant::settled);
  const paper::Configuration* printed = nullptr;
  for (const paper::Configuration& c : paper::configurations())
    if (std::string_view(c.kernel) == r.kernel && std::string_view(c.configuration) == r.configuration) printed = &c;
  const paper::KernelLaunch k = printed->make(m.batch);
  const oq::BatchCost stated = oq::batch_cost(m, k.kernel);
  const oq::QuantitativeTimes theirs = oq::forecast(m, stated, k.launch, oq::Variant::settled);
  const std::string name = fmt::format("{} {}", r.kernel, r.configuration);
  const auto row = [&](const char* what, double paper_value, double our_value) {
    t.rows.push_back({name, std::string(r.file), std::string(what), paper_value, our_value});
  };
  double flat = k.kernel.flat_barriers, all = flat;
  for (const oq::Barrier& b : k.kernel.barriers) all += b.count;
  double adds = k.kernel.instructions.add, muls = k.kernel.instructions.mul;
  for (const oq::Branch& b : k.kernel.branches) adds += b.count;  // of a work-item that takes the branch
  row("ADD a work-item", adds, counted.add);
  row("MUL a work-item", muls, counted.mul);
  row("global transactions a batch", stated.global.value() / m.global_latency.value(),
      cost.global.value() / m.global_latency.value());
  row("local accesses a batch, in ways", stated.local.value() / (oq::transfers_per_access * m.local_latency.value()),
      cost.local.value() / (oq::transfers_per_access * m.local_latency.value()));
  row("barriers a group", all, w.barriers / w.blocks);
  row("of these flat", flat, w.flat_barriers / w.blocks);
  row("computation and branches, ms", (theirs.compute + theirs.branch).value() * 1e3,
      (f.compute + f.branch).value() * 1e3);
  row("memory, ms", (theirs.global_memory + theirs.local_memory).value() * 1e3,
      (f.global_memory + f.local_memory).value() * 1e3);
  row("barriers, ms", theirs.barriers.value() * 1e3, f.barriers.value() * 1e3);
  row("settled, ms", theirs.total().value() * 1e3, f.total().value() * 1e3);
}

ReplayTable counts_table(const ReplayInputs& in) {
  ReplayTable t{
      "counts-of-the-front-end",
      "what the paper counts, and what the front end finds in kernels of ours (GTX 280, settled)",
      {"kernel", "example", "quantity", "paper", "front end"},
      {},
      {"The paper counts source-level additions and multiplications alone. The front end counts addresses, loop "
       "counters, tests and branches too, each at an ADD, which (1) charges at full latency: this is why MM_Global "
       "takes several times the paper's computation.",
       "Our MM_Global reads a row of A at one address and B along a row, so that neighbours coalesce; the paper "
       "counts a column of B at a transaction a work-item.",
       "Our scans work on each work-group's part, log2 of its size rounds; the paper's on all 65,536 elements."}};
  const Device device = in.catalog->find("gtx280");
  const RealKernel kernels[] = {
      {"MM_Global", "256", "matmul_naive.cl", {64, 64, 1}, {16, 16, 1}, true},
      {"MM_Local", "16x16", "matmul_tiled.cl", {64, 64, 1}, {16, 16, 1}, true},
      {"PPS_Br", "256", "scan_hillis_steele.cl", {256, 1, 1}, {256, 1, 1}, false},
      {"PPS_Conf", "256", "scan_blelloch.cl", {128, 1, 1}, {256, 1, 1}, false},
  };
  for (const RealKernel& r : kernels) add_counted(r, in, device, t);
  return t;
}

}  // namespace

std::vector<ReplayTable> replay_opencl_quantitative(const ReplayInputs& in) {
  (void)existing_folder("--examples", in.flags->examples);
  return {cost_table(), figures_table(), orderings_table(), counts_table(in)};
}

}  // namespace kernelcast::cli
