#include "objective.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "validate/summary.h"

namespace kernelcast::fit {

using forecast::Constants;

std::span<const Parameter> all_parameters() {
  static const std::array<Parameter, 24> all{{
      {"norm", &Constants::norm, 1, 12},
      {"unit_norm", &Constants::unit_norm, 1, 20},
      {"pipe_norm", &Constants::pipe_norm, 1, 40},
      {"clock", &Constants::clock, 0.85, 1.15},
      {"dram_efficiency", &Constants::dram_efficiency, 0.6, 0.95},
      {"l2_efficiency", &Constants::l2_efficiency, 0.6, 1.2},
      {"l2_request_bytes", &Constants::l2_request_bytes, 0, 256},
      {"issue_lost", &Constants::issue_lost, 0.05, 3},
      {"memory_efficiency", &Constants::memory_efficiency, 0.5, 1},
      {"launch_s", &Constants::launch_s, 1e-6, 1e-5},
      {"barrier_cycles", &Constants::barrier_cycles, 1, 600},
      {"l1_share", &Constants::l1_share, 0.05, 1},
      {"l2_share", &Constants::l2_share, 0.05, 1},
      {"branch_cycles", &Constants::branch_cycles, 0.1, 100},
      {"update_cycles", &Constants::update_cycles, 0.25, 8},
      // Left alone by a fit.
      {"latency_norm", &Constants::latency_norm},
      {"l3_efficiency", &Constants::l3_efficiency},
      {"l2_duplex", &Constants::l2_duplex},
      {"tensor_efficiency", &Constants::tensor_efficiency},
      {"barrier_latency", &Constants::barrier_latency},
      {"barrier_warp_cycles", &Constants::barrier_warp_cycles},
      {"warp_start_cycles", &Constants::warp_start_cycles},
      {"stores_joined", &Constants::stores_joined},
      {"block_start_cycles", &Constants::block_start_cycles},
  }};
  return all;
}

std::span<const Parameter> parameters() {
  constexpr std::size_t fitted = 15;
  return all_parameters().first(fitted);
}

double predicted(const Row& row, const Constants& c) {
  if (row.resident_blocks <= 0) return NAN;
  thread_local std::map<std::string, forecast::KernelcastDevice> machines;
  thread_local Constants made_for;
  thread_local bool fresh = true;
  if (fresh || std::memcmp(&made_for, &c, sizeof c) != 0) {
    machines.clear();
    made_for = c;
    fresh = false;
  }
  auto m = machines.find(row.device.id);
  if (m == machines.end()) m = machines.emplace(row.device.id, forecast::machine_of(row.device, c, false)).first;
  return forecast::forecast(row.result.facts->workload, m->second, c, row.resident_blocks).seconds() +
         row.launch_overhead_s;
}

namespace {

double objective_of_set(const std::vector<Row>& rows, const Constants& c, const std::function<bool(const Row&)>& use,
                        double pairs_share) {
  struct Sum {
    double sum = 0, n = 0;
  };
  std::map<std::string, std::map<std::string, Sum>> families;
  for (const Row& row : rows) {
    const validate::Measurement& m = row.result.row;
    if (validate::is_excluded(m) || !m.measured_s || !use(row)) continue;
    const double p = predicted(row, c);
    if (!(p > 0)) continue;
    Sum& s = families[validate::family_of(m.kernel_id)][m.kernel_id + "|" + m.gpu];
    s.sum += std::abs(std::log(p / *m.measured_s));
    s.n += 1;
  }
  double total = 0, of_pairs = 0, all_pairs = 0;
  for (const auto& [family, pairs] : families) {
    double of_family = 0;
    for (const auto& [pair, s] : pairs) of_family += s.sum / s.n;
    total += of_family / static_cast<double>(pairs.size());
    of_pairs += of_family;
    all_pairs += static_cast<double>(pairs.size());
  }
  return families.empty()
             ? NAN
             : (1 - pairs_share) * total / static_cast<double>(families.size()) + pairs_share * of_pairs / all_pairs;
}

}  // namespace

double objective(const std::vector<Row>& rows, const Constants& c, const std::function<bool(const Row&)>& use,
                 double pairs_share) {
  std::set<std::size_t> sets;
  for (const Row& r : rows) sets.insert(r.set);
  double sum = 0, n = 0;
  for (const std::size_t s : sets) {
    const double of_set = objective_of_set(rows, c, [&](const Row& r) { return r.set == s && use(r); }, pairs_share);
    if (std::isnan(of_set)) continue;
    sum += of_set;
    n += 1;
  }
  return n > 0 ? sum / n : NAN;
}

Constants fit(const std::vector<Row>& rows, Constants best, const std::function<bool(const Row&)>& use) {
  for (const Parameter& p : parameters()) best.*p.value = std::clamp(best.*p.value, p.low, p.high);
  double least = objective(rows, best, use, fit_pairs_share);
  for (double step = 0.2; step > 1e-3; step /= 2) {
    for (bool better = true; better;) {
      better = false;
      for (const Parameter& p : parameters())
        for (const double factor : {std::exp(step), std::exp(-step)}) {
          Constants next = best;
          next.*p.value = std::clamp(next.*p.value * factor, p.low, p.high);
          const double error = objective(rows, next, use, fit_pairs_share);
          if (error < least - 1e-7) {
            least = error;
            best = next;
            better = true;
          }
        }
    }
  }
  return best;
}

}  // namespace kernelcast::fit
