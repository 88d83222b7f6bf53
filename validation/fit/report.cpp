#include "report.h"

#include <cmath>
#include <cstdio>
#include <map>

#include "objective.h"
#include "validate/summary.h"

namespace kernelcast::fit {
namespace {

forecast::Forecast forecast_of(const Row& row, const forecast::Constants& c) {
  return forecast::forecast(row.result.facts->workload, forecast::machine_of(row.device, c, false), c, row.resident_blocks);
}

std::size_t binding(const forecast::Forecast& f) {
  std::size_t best = 0;
  for (std::size_t l = 0; l < forecast::limit_count; ++l)
    if (f.cycles[l] > f.cycles[best]) best = l;
  return best;
}

}  // namespace

void print_constants(const forecast::Constants& c) {
  for (const Parameter& p : parameters()) std::printf("%-28.*s %.4g\n", int(p.name.size()), p.name.data(), c.*p.value);
}

void print_scores(const std::vector<Row>& rows, const forecast::Constants& c) {
  validate::Report report;
  report.models = {"kernelcast"};
  std::map<std::string, std::map<std::string, int>> limits;
  for (const Row& row : rows) {
    validate::RowResult r = row.result;
    validate::Forecast f;
    const double p = predicted(row, c);
    if (p > 0) f.time_s = p;
    else f.failure = "no forecast";
    r.models = {f};
    report.rows.push_back(r);
    if (row.resident_blocks >= 1)
      ++limits[r.row.kernel_id + "|" + r.row.gpu][std::string(name_of(static_cast<forecast::Limit>(binding(forecast_of(row, c)))))];
  }
  validate::score(report);
  for (const validate::PairScore& p : report.pairs) {
    if (!p.errors) continue;
    std::string top;
    for (const auto& [name, n] : limits[p.kernel_id + "|" + p.gpu]) top += name + ":" + std::to_string(n) + " ";
    std::printf("%-30s %-24s n %3zu gmae %5.2f mape %5.0f%% bias %+5.0f%%  %s\n", p.kernel_id.c_str(), p.gpu.substr(0, 24).c_str(),
                p.errors->n, std::exp(p.errors->log_error), 100 * p.errors->mape, 100 * p.errors->bias, top.c_str());
  }
  for (const validate::FamilyScore& f : report.families)
    if (f.gmae) std::printf("family %-10s gmae %.3f\n", f.family.c_str(), *f.gmae);
  for (const validate::GroupScore& g : report.groups)
    std::printf("group %-28s %-24s n %zu spearman %.2f regret %.1f%%\n", g.kernel_id.c_str(), g.gpu.substr(0, 24).c_str(), g.n,
                g.spearman.value_or(NAN), 100 * g.top1_regret.value_or(NAN));
  const validate::ModelScore& s = report.scores.at(0);
  std::printf("gMAE %.3f  median APE %.1f %%  MAPE %.1f %%  within 2x %.1f %%  Spearman %.2f  regret %.1f %%  ratio error %.1f %%  sign %.1f %%\n",
              s.gmae.value_or(NAN), 100 * s.median_ape.value_or(NAN), 100 * s.mape.value_or(NAN), 100 * s.within_2x.value_or(NAN),
              s.spearman_median.value_or(NAN), 100 * s.top1_regret_median.value_or(NAN), 100 * s.ratio_median_error.value_or(NAN),
              100 * s.ratio_sign_accuracy.value_or(NAN));
}

void print_rows(const std::vector<Row>& rows, const forecast::Constants& c) {
  std::printf("kernel,gpu,defines,flags,grid,block,resident,registers,measured_us,predicted_us,ratio,hit1,hit2,path,rounds,stack,launch_us");
  for (std::size_t l = 0; l < forecast::limit_count; ++l) std::printf(",%s", std::string(name_of(static_cast<forecast::Limit>(l))).c_str());
  std::printf("\n");
  for (const Row& row : rows) {
    if (row.resident_blocks < 1 || !row.result.row.measured_s) continue;
    const Workload& w = row.result.facts->workload;
    const forecast::Forecast f = forecast_of(row, c);
    std::string defines, flags;
    for (const std::string& d : row.result.row.defines) defines += d + ";";
    for (const std::string& d : row.result.row.flags) flags += d + ";";
    const double p = predicted(row, c) * 1e6, t = *row.result.row.measured_s * 1e6;
    std::printf("%s,%s,%s,%s,%ldx%ldx%ld,%ldx%ldx%ld,%g,%g,%.2f,%.2f,%.3f,%.2f,%.2f,%.0f,%g,%g,%.2f", row.result.row.kernel_id.c_str(),
                row.device.id.c_str(), defines.c_str(), flags.c_str(), long(w.grid.x), long(w.grid.y), long(w.grid.z), long(w.block.x),
                long(w.block.y), long(w.block.z), row.resident_blocks, w.registers_per_thread, t, p, p / t, f.traffic.l1_hits(),
                f.traffic.l2_hits(), f.path_cycles, f.rounds, w.stack_bytes + w.spill_bytes, f.launch_s * 1e6);
    for (double cycles : f.cycles) std::printf(",%.2f", cycles / f.clock_hz * 1e6);
    std::printf("\n");
  }
}

void print_reuse(const Row& row) {
  const Workload& w = row.result.facts->workload;
  std::printf("%s %s grid %ld x %ld block %ld x %ld\n", row.result.row.kernel_id.c_str(), row.result.row.gpu.c_str(), long(w.grid.x), long(w.grid.y), long(w.block.x), long(w.block.y));
  for (const std::string& d : row.result.row.defines) std::printf("%s ", d.c_str());
  std::printf("\nloads %.4g sectors, stores %.4g\n", w.at(MemorySpace::global, AccessKind::load).sectors, w.at(MemorySpace::global, AccessKind::store).sectors);
  for (const auto direction : {Reuse::read, Reuse::write})
    for (int d = 0; d < Reuse::depths; ++d) {
      std::printf("%s depth %d:", direction == Reuse::read ? "read " : "write", d);
      for (int k = 0; k < Reuse::windows; ++k) std::printf(" %.4g/%.4g", w.reuse.at(direction, d, k).footprint, w.reuse.at(direction, d, k).traffic);
      std::printf("\n");
    }
}

}  // namespace kernelcast::fit
