// `replay offload`: the published cells, and how the decisions fare when the devices' numbers are off by a few percent.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

#include "cli/catalog.h"
#include "cli/common_flags.h"
#include "cli/flag_values.h"
#include "cli/offload_cells.h"
#include "cli/output.h"
#include "cli/replay.h"
#include "io/text_file.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

using namespace offload;
using report::OffloadReplayPlatform;
using report::ReplayTable;

constexpr double most_off = 0.05;  // of each number

ReplayTable cells_table(const OffloadReplayPlatform& p) {
  ReplayTable t{
      "cells-" + p.gpu,
      fmt::format("{} and {}, milliseconds", p.cpu, p.gpu),
      {"program", "MiB", "n", "printed: CPU", "printed: GPU", "printed: cheaper", "printed: model says", "CPU", "GPU",
       "transfer", "kernelcast", "probability", "offload-2017 as printed", "offload-2017 corrected"},
      {},
      {}};
  for (const auto& c : p.cells)
    t.rows.push_back({c.cell.program, c.cell.size_mib, static_cast<double>(c.n), c.cell.cpu_cost, c.cell.gpu_cost,
                      std::string(name_of(c.cell.cheaper())), std::string(name_of(c.cell.printed)), c.cpu_s * 1e3,
                      c.gpu_s * 1e3, c.transfer_s * 1e3, std::string(name_of(c.ours.decision)), c.ours.probability,
                      std::string(name_of(c.as_printed)), std::string(name_of(c.corrected))});
  return t;
}

ReplayTable scores_table(const OffloadReplayPlatform& p) {
  ReplayTable t{"scores-" + p.gpu,
                fmt::format("who decides on {} and {}", p.cpu, p.gpu),
                {"who", "right", "cells", "CPU cells found", "CPU cells", "too close", "loss"},
                {},
                {"Loss: geometric mean of the chosen side's measured cost over the cheaper side's."}};
  for (const auto& l : p.scores)
    t.rows.push_back({l.name, static_cast<double>(l.score.right), static_cast<double>(l.score.cells),
                      static_cast<double>(l.score.cpu_found), static_cast<double>(l.score.cpu_cells),
                      static_cast<double>(l.score.too_close), l.score.loss});
  return t;
}

/// How far our times are from the printed ones: the geometric mean of the ratio, and the spread about it as a factor.
void add_ratios(const OffloadReplayPlatform& p, ReplayTable& t) {
  const auto add = [&](const std::string& device, auto ours, auto printed) {
    std::vector<double> logs;
    for (const auto& c : p.cells) logs.push_back(std::log(ours(c) * 1e3 / printed(c)));
    const double count = static_cast<double>(logs.size());
    const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / count;
    double squares = 0;
    for (const double l : logs) squares += (l - mean) * (l - mean);
    t.rows.push_back({device, std::exp(mean), std::exp(std::sqrt(squares / count))});
  };
  using Cell = OffloadReplayPlatform::Cell;
  add(p.cpu, [](const Cell& c) { return c.cpu_s; }, [](const Cell& c) { return c.cell.cpu_cost; });
  add(p.gpu, [](const Cell& c) { return c.gpu_s; }, [](const Cell& c) { return c.cell.gpu_cost; });
}

enum Perturbed : std::size_t { clock_rate, bandwidth, latency, link_rate, perturbed_kinds };

/// Which factor of a draw a number takes.
std::optional<Perturbed> kind_of(const FieldInfo& f) {
  if (f.section == "clock" && f.key.ends_with("_hz")) return clock_rate;
  if (f.section == "link" ? f.key.ends_with("_per_s") : f.key.starts_with("link_bandwidth")) return link_rate;
  if (f.key.ends_with("bandwidth_bytes_per_s")) return bandwidth;
  if (f.section == "memory" && f.key.ends_with("latency_cycles")) return latency;
  return std::nullopt;
}

/// Every number of every draw is one that a device file may have.
void check_ranges(const Device& d) {
  for (std::size_t i = 0; i < field_count; ++i) {
    const FieldInfo& f = info(static_cast<Field>(i));
    const std::optional<double>& value = d.values[i].value;
    if (!value || !kind_of(f)) continue;
    const double low = *value * (1 - most_off), high = *value * (1 + most_off);
    if (low < f.minimum || high > f.maximum)
      throw UserError(
          fmt::format("{}: {}.{} = {:g} perturbed by {:.0f} % is {:g} to {:g}, outside its range {:g} to "
                      "{:g}; correct the device file or leave out --draws",
                      d.id, f.section, f.key, *value, 100 * most_off, low, high, f.minimum, f.maximum));
  }
}

/// Clocks, bandwidths, latencies and link, each by a factor of its own.
Device perturbed(Device d, std::mt19937_64& random) {
  std::uniform_real_distribution<double> factor(1 - most_off, 1 + most_off);
  std::array<double, perturbed_kinds> factors{};
  for (double& f : factors) f = factor(random);
  for (std::size_t i = 0; i < field_count; ++i)
    if (const auto kind = kind_of(info(static_cast<Field>(i))); kind && d.values[i].value)
      *d.values[i].value *= factors[*kind];
  return d;
}

double mean_of(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}
double quantile_of(std::vector<double> v, double q) {
  std::sort(v.begin(), v.end());
  return v[static_cast<std::size_t>(std::ceil(q * static_cast<double>(v.size()))) - 1];
}

void add_draws(const PreparedCells& prepared, int draws, std::uint64_t seed, bool progress, ReplayTable& t) {
  std::mt19937_64 random(seed);
  std::vector<double> right, loss, close;
  for (int k = 0; k < draws; ++k) {
    if (progress) progress_line(fmt::format("{}: draw {} of {}", prepared.gpu().name, k + 1, draws));
    const Device cpu = perturbed(prepared.cpu(), random), gpu = perturbed(prepared.gpu(), random);
    std::vector<Decision> decisions;
    for (const Verdict& v : prepared.verdicts(cpu, gpu)) decisions.push_back(v.decision);
    const ReplayScore s = score(prepared.cells(), decisions);
    right.push_back(s.right);
    loss.push_back(s.loss);
    close.push_back(s.too_close);
  }
  if (progress) progress_line("");
  const std::vector<Decision> always(prepared.cells().size(), Decision::gpu);
  const ReplayScore constant = score(prepared.cells(), always);
  const std::string pair = prepared.cpu().id + " and " + prepared.gpu().id;
  t.rows.push_back({pair, std::string("kernelcast"), mean_of(right), quantile_of(right, 0.1), mean_of(loss),
                    quantile_of(loss, 0.9), *std::max_element(loss.begin(), loss.end()), mean_of(close)});
  t.rows.push_back({pair, std::string("always the GPU"), static_cast<double>(constant.right),
                    static_cast<double>(constant.right), constant.loss, constant.loss, constant.loss, 0.0});
}

}  // namespace

std::vector<ReplayTable> replay_offload(const ReplayInputs& in) {
  const std::string nests = existing_folder("--examples", in.flags->examples + "/offload");
  const auto draws = static_cast<int>(whole_number("--draws", in.flags->draws, 0));
  const auto seed = static_cast<std::uint64_t>(whole_number("--seed", in.flags->seed, 0));
  const std::vector<ReplayCell> cells = parse_replay(read_text_file(in.flags->table), in.flags->table);
  std::vector<ReplayTable> tables;
  ReplayTable robust{
      "robustness",
      fmt::format("{} draws of both devices: clocks, bandwidths, memory latencies and link each off by up to "
                  "{:.0f} %, uniform",
                  draws, 100 * most_off),
      {"platform", "who", "right, mean", "right, 10th percentile", "loss, mean", "loss, 90th percentile", "loss, most",
       "too close, mean"},
      {},
      {}};
  ReplayTable ratios{"times",
                     "forecast times over printed ones: the text does not say whose they are",
                     {"device", "mean ratio", "spread, factor"},
                     {},
                     {"The platform that gave the table has the smaller spreads."}};
  if (draws > 0)
    for (const DevicePair& pair : published_pairs())
      for (const std::string& name : {pair.cpu, pair.gpu}) check_ranges(in.catalog->find(name));
  for (const DevicePair& pair : published_pairs()) {
    const PreparedCells prepared(in.catalog->find(pair.cpu), in.catalog->find(pair.gpu), cells, nests,
                                 published_settings(), in.progress);
    const OffloadReplayPlatform p = prepared.answers();
    tables.push_back(cells_table(p));
    tables.push_back(scores_table(p));
    add_ratios(p, ratios);
    if (draws > 0) add_draws(prepared, draws, seed, in.progress, robust);
  }
  tables.push_back(std::move(ratios));
  if (draws > 0) tables.push_back(std::move(robust));
  return tables;
}

}  // namespace kernelcast::cli
