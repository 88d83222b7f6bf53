#include "report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>

#include "model/kernelcast_interval.h"
#include "model/ratio_error.h"
#include "objective.h"
#include "validate/summary.h"

namespace kernelcast::fit {
namespace {

forecast::BoundTimes forecast_of(const Row& row, const forecast::Constants& c) {
  return forecast::forecast(row.result.facts->workload, forecast::machine_of(row.device, c, false), c,
                            row.resident_blocks);
}

std::size_t binding(const forecast::BoundTimes& f) {
  std::size_t best = 0;
  for (std::size_t l = 0; l < forecast::limit_count; ++l)
    if (f.cycles[l] > f.cycles[best]) best = l;
  return best;
}

}  // namespace

void print_constants(const forecast::Constants& c) {
  for (const Parameter& p : parameters()) std::printf("%-28.*s %.4g\n", int(p.name.size()), p.name.data(), c.*p.value);
}

validate::Report scored(const std::vector<Row>& rows, const std::vector<double>& seconds) {
  validate::Report report;
  report.models = {"kernelcast"};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    validate::RowResult r = rows[i].result;
    validate::RowForecast f;
    if (seconds[i] > 0)
      f.time_s = seconds[i];
    else
      f.failure = "no forecast";
    r.models = {f};
    report.rows.push_back(r);
  }
  validate::score(report);
  return report;
}

void print_headline(const validate::ModelScore& s) {
  std::printf(
      "gMAE %.3f  median APE %.1f %%  MAPE %.1f %%  within 2x %.1f %%  Spearman %.2f  regret %.1f %%  ratio error %.1f "
      "%%  sign %.1f %%\n",
      s.gmae.value_or(NAN), 100 * s.median_ape.value_or(NAN), 100 * s.mape.value_or(NAN),
      100 * s.within_2x.value_or(NAN), s.spearman_median.value_or(NAN), 100 * s.top1_regret_median.value_or(NAN),
      100 * s.ratio_median_error.value_or(NAN), 100 * s.ratio_sign_accuracy.value_or(NAN));
}

void print_scores(const std::vector<Row>& rows, const forecast::Constants& c) {
  std::vector<double> seconds;
  std::map<std::string, std::map<std::string, int>> limits;
  for (const Row& row : rows) {
    seconds.push_back(predicted(row, c));
    if (row.resident_blocks > 0)
      ++limits[row.result.row.kernel_id + "|" + row.result.row.gpu]
              [std::string(name_of(static_cast<forecast::Limit>(binding(forecast_of(row, c)))))];
  }
  const validate::Report report = scored(rows, seconds);
  for (const validate::PairScore& p : report.pairs) {
    if (!p.errors) continue;
    std::string top;
    for (const auto& [name, n] : limits[p.kernel_id + "|" + p.gpu]) top += name + ":" + std::to_string(n) + " ";
    std::printf("%-30s %-24s n %3zu gmae %5.2f mape %5.0f%% bias %+5.0f%%  %s\n", p.kernel_id.c_str(),
                p.gpu.substr(0, 24).c_str(), p.errors->n, std::exp(p.errors->log_error), 100 * p.errors->mape,
                100 * p.errors->bias, top.c_str());
  }
  for (const validate::FamilyScore& f : report.families)
    if (f.gmae) std::printf("family %-10s gmae %.3f\n", f.family.c_str(), *f.gmae);
  for (const validate::GroupScore& g : report.groups)
    std::printf("group %-28s %-24s n %zu spearman %.2f regret %.1f%%\n", g.kernel_id.c_str(),
                g.gpu.substr(0, 24).c_str(), g.n, g.spearman.value_or(NAN), 100 * g.top1_regret.value_or(NAN));
  print_headline(report.scores.at(0));
}

void print_rows(const std::vector<Row>& rows, const forecast::Constants& c) {
  std::printf(
      "kernel,gpu,defines,flags,grid,block,resident,registers,measured_us,predicted_us,ratio,hit1,hit2,path,rounds,"
      "stack,launch_us,barriers");
  for (std::size_t l = 0; l < forecast::limit_count; ++l)
    std::printf(",%s", std::string(name_of(static_cast<forecast::Limit>(l))).c_str());
  std::printf("\n");
  for (const Row& row : rows) {
    if (row.resident_blocks <= 0 || !row.result.row.measured_s) continue;
    const Workload& w = row.result.facts->workload;
    const forecast::BoundTimes f = forecast_of(row, c);
    std::string defines, flags;
    for (const std::string& d : row.result.row.defines) defines += d + ";";
    for (const std::string& d : row.result.row.flags) flags += d + ";";
    const double p = predicted(row, c) * 1e6, t = *row.result.row.measured_s * 1e6;
    std::printf("%s,%s,%s,%s,%ldx%ldx%ld,%ldx%ldx%ld,%g,%g,%.2f,%.2f,%.3f,%.2f,%.2f,%.0f,%g,%g,%.2f,%g",
                row.result.row.kernel_id.c_str(), row.device.id.c_str(), defines.c_str(), flags.c_str(), long(w.grid.x),
                long(w.grid.y), long(w.grid.z), long(w.block.x), long(w.block.y), long(w.block.z), row.resident_blocks,
                w.registers_per_thread, t, p, p / t, f.traffic.l1_hits(), f.traffic.l2_hits(), f.path_cycles, f.rounds,
                w.local_bytes(), f.launch_s * 1e6, w.barriers / w.blocks);
    for (double cycles : f.cycles) std::printf(",%.2f", cycles / f.clock_hz * 1e6);
    std::printf("\n");
  }
}

void print_reuse(const Row& row) {
  const Workload& w = row.result.facts->workload;
  std::printf("%s %s grid %ld x %ld block %ld x %ld\n", row.result.row.kernel_id.c_str(), row.result.row.gpu.c_str(),
              long(w.grid.x), long(w.grid.y), long(w.block.x), long(w.block.y));
  for (const std::string& d : row.result.row.defines) std::printf("%s ", d.c_str());
  std::printf("\nloads %.4g sectors, stores %.4g\n", w.at(MemorySpace::global, AccessKind::load).sectors,
              w.at(MemorySpace::global, AccessKind::store).sectors);
  for (const auto direction : {Reuse::read, Reuse::write})
    for (int d = 0; d < Reuse::depths; ++d) {
      std::printf("%s depth %d:", direction == Reuse::read ? "read " : "write", d);
      for (int k = 0; k < Reuse::windows; ++k)
        std::printf(" %.4g/%.4g", w.reuse.at(direction, d, k).footprint, w.reuse.at(direction, d, k).traffic);
      std::printf("\n");
    }
}

void add_residual(const Row& row, const forecast::Constants& c, std::vector<Residual>& out) {
  const double p = predicted(row, c);
  const validate::Measurement& m = row.result.row;
  if (!(p > 0) || !m.measured_s || validate::is_excluded(m)) return;
  const Workload& w = row.result.facts->workload;
  const forecast::KernelcastDevice machine = forecast::machine_of(row.device, c, true);
  const forecast::BoundTimes f = forecast::forecast(w, machine, c, row.resident_blocks);
  Residual r;
  r.log_ratio = std::log(*m.measured_s / p);
  r.local_memory = row.result.facts->workload.local_bytes() > 0;
  r.data = w.locality != nullptr;
  r.brief = f.launch_s > 0.2 * f.seconds();
  r.amd = row.device.vendor == "AMD";
  r.stand_ins = machine.stand_ins.size();
  const auto doubt = forecast::doubt_of(row.device, machine, f.seconds(), [&](const Device& d) {
    return forecast::forecast(w, forecast::machine_of(d, c, false), c, row.resident_blocks).seconds();
  });
  r.half_width =
      std::log(forecast::spread_of({}, w, doubt, f, r.data ? CountsBasis::executed : CountsBasis::closed_form).factor_above);
  r.kernel = m.kernel_id;
  out.push_back(std::move(r));
}

namespace {

void print_quantiles(const char* name, const std::vector<Residual>& residuals,
                     const std::function<bool(const Residual&)>& use) {
  std::vector<double> log_ratios, sizes;
  std::map<std::string, std::pair<double, double>> by_kernel;  // inside, all
  double inside = 0;
  for (const Residual& r : residuals) {
    if (!use(r)) continue;
    log_ratios.push_back(r.log_ratio);
    sizes.push_back(std::abs(r.log_ratio));
    const bool in = std::abs(r.log_ratio) <= r.half_width;
    inside += in ? 1 : 0;
    by_kernel[r.kernel].first += in ? 1 : 0;
    by_kernel[r.kernel].second += 1;
  }
  if (sizes.empty()) return;
  std::sort(log_ratios.begin(), log_ratios.end());
  std::sort(sizes.begin(), sizes.end());
  const auto at = [](const std::vector<double>& v, double q) {
    return v[static_cast<std::size_t>(q * static_cast<double>(v.size() - 1))];
  };
  double macro = 0;
  for (const auto& [kernel, n] : by_kernel) macro += n.first / n.second / static_cast<double>(by_kernel.size());
  std::printf(
      "%-34s n %4zu  ln(measured/forecast): 5 %% %+.2f  50 %% %+.2f  95 %% %+.2f  size 90 %% %.2f  inside %.1f %%, "
      "mean over kernels %.1f %%\n",
      name, sizes.size(), at(log_ratios, 0.05), at(log_ratios, 0.5), at(log_ratios, 0.95), at(sizes, 0.9),
      100 * inside / static_cast<double>(sizes.size()), 100 * macro);
}

}  // namespace

void print_residuals(const std::vector<Residual>& residuals) {
  print_quantiles("all", residuals, [](const Residual&) { return true; });
  print_quantiles("nothing widens", residuals,
                  [](const Residual& r) { return !r.local_memory && !r.data && !r.brief; });
  print_quantiles("local memory", residuals, [](const Residual& r) { return r.local_memory; });
  print_quantiles("data decide", residuals, [](const Residual& r) { return r.data && !r.local_memory; });
  print_quantiles("short launch", residuals, [](const Residual& r) { return r.brief && !r.local_memory && !r.data; });
  print_quantiles("AMD", residuals, [](const Residual& r) { return r.amd; });
  print_quantiles("NVIDIA", residuals, [](const Residual& r) { return !r.amd; });
  print_quantiles("stand-ins 0..1", residuals, [](const Residual& r) { return r.stand_ins <= 1; });
  print_quantiles("stand-ins 2..", residuals, [](const Residual& r) { return r.stand_ins > 1; });
}

void print_ratios(const std::vector<Row>& rows, const forecast::Constants& c) {
  struct Point {
    double measured, predicted;
    bool local_memory;
  };
  struct Error {
    double size, error, weight;  // of ln(ratio): forecast, measured - forecast
    bool local_memory;           // of one or both
  };
  std::map<std::string, std::vector<Point>> groups;
  for (const Row& row : rows) {
    const validate::Measurement& m = row.result.row;
    const double p = predicted(row, c);
    if (p > 0 && m.measured_s && !validate::is_excluded(m))
      groups[m.kernel_id + "|" + m.gpu].push_back(
          {std::log(*m.measured_s), std::log(p), row.result.facts->workload.local_bytes() > 0});
  }
  std::vector<Error> errors;
  for (const auto& [group, points] : groups)
    for (std::size_t i = 0; i < points.size(); ++i)
      for (std::size_t k = i + 1; k < points.size(); ++k) {
        const double x = points[i].predicted - points[k].predicted, y = points[i].measured - points[k].measured;
        const double pairs = static_cast<double>(points.size() * (points.size() - 1) / 2);
        errors.push_back(
            {std::abs(x), x < 0 ? x - y : y - x, 1 / pairs, points[i].local_memory || points[k].local_memory});
      }
  std::sort(errors.begin(), errors.end(), [](const Error& a, const Error& b) { return a.error < b.error; });
  const double edges[] = {0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1, 2, 100};
  for (std::size_t b = 0; b + 1 < std::size(edges); ++b) {
    double all = 0, sum = 0;
    std::size_t n = 0;
    for (const Error& e : errors)
      if (e.size >= edges[b] && e.size < edges[b + 1]) all += e.weight, ++n;
    std::printf("|ln ratio| %4.2f..%6.2f n %6zu ", edges[b], edges[b + 1], n);
    std::size_t next = 0;
    const double quantiles[] = {0.05, 0.25, 0.5, 0.75, 0.95};
    for (const Error& e : errors) {
      if (e.size < edges[b] || e.size >= edges[b + 1]) continue;
      sum += e.weight;
      while (next < std::size(quantiles) && sum >= quantiles[next] * all)
        std::printf(" %2.0f %% %+.2f", 100 * quantiles[next++], e.error);
    }
    std::printf("\n");
  }
  std::sort(errors.begin(), errors.end(),
            [](const Error& a, const Error& b) { return std::abs(a.error) < std::abs(b.error); });
  for (const bool local : {false, true}) {
    const double half_width = (local ? kernelcast_local_memory_ratio_error : kernelcast_ratio_error).half_width();
    double all = 0, sum = 0, inside = 0, median = 0, most = 0;
    std::size_t n = 0;
    for (const Error& e : errors)
      if (e.local_memory == local) all += e.weight, ++n, inside += std::abs(e.error) <= half_width ? e.weight : 0;
    for (const Error& e : errors) {
      if (e.local_memory != local) continue;
      sum += e.weight;
      if (sum <= all / 2) median = std::abs(e.error);
      if (sum <= all * 0.9) most = std::abs(e.error);
    }
    std::printf("%s n %6zu half are within %.2f, nine in ten within %.2f, %.1f %% inside the interval of %.2f\n",
                local ? "local memory in one or both" : "no local memory", n, median, most, 100 * inside / all,
                half_width);
  }
}

}  // namespace kernelcast::fit
