// The model `sm`. The SM is simulated; what lies outside of it is that of the model kernelcast: shares of hits in L1
// and L2, sustained clock, share of the DRAM's bandwidth that is reached, launch overhead, updates of one address. So
// where the two differ, they differ in how an SM hides latency and shares its pipes.
//
// The busiest SM runs n = ceil(blocks / SMs) blocks. Its share of the bandwidth of L2 and DRAM is its share of the
// blocks, n / blocks: all of them together need what the chip has.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>

#include "device/describe.h"
#include "io/clock.h"
#include "kernelcast/error.h"
#include "kernelcast/sm_model.h"
#include "kernelcast/sm_views.h"
#include "machine/occupancy.h"
#include "model/kernelcast.h"
#include "model/models.h"

namespace kernelcast::sm {
namespace {

using describe::number;
using forecast::Limit;

// A simulated warp instruction takes about a third of a microsecond, so that a forecast takes less than a second.
constexpr double budget = 1e6;
// Warp instructions of a run that is watched.
constexpr double watched = 1e5;
// What a port between an SM and the L2 delivers at most, bytes a cycle: 64 on NVIDIA since Volta (volta-wp).
constexpr double l2_port = 64;

/// The folder of device files that this one lies in, where it has SMs.
std::string folder_of(const Device& d) {
  const std::filesystem::path folder = std::filesystem::path(d.file).parent_path();
  std::error_code ignored;
  return std::filesystem::is_directory(folder / "sm", ignored) ? folder.string() : std::string();
}

struct Setting {
  Spec spec;
  UserProgram program;
  UserLaunch launch;
  forecast::KernelcastDevice machine;
  forecast::BoundTimes closed;  // of the model kernelcast
};

HitShares hit_shares(const Workload& w, const forecast::KernelcastDevice& m, const forecast::BoundTimes& f) {
  HitShares h;
  const forecast::Traffic& t = f.traffic;
  h.load_l1 = std::clamp(t.l1_hits(), 0.0, 1.0);
  h.load_l2 = std::clamp(t.l2_hits(), 0.0, 1.0);
  // Below zero there is more traffic than there are stores.
  h.store_l2 = t.l2_written > 0 ? 1 - t.dram_moved_by_writes(w, m) / t.l2_written : 0;
  const double held = f.resident_blocks * static_cast<double>(w.block.count()) * w.local_bytes();
  h.stages = std::max(1.0, f.stages);
  h.local_l1 = held > 0 ? std::clamp(m.l1_bytes / held, 0.0, 1.0) : 1;
  return h;
}

/// The device's SM with the share of the chip's bandwidth that `blocks` of all blocks have.
Spec spec_for(const Device& d, const forecast::KernelcastDevice& m, double share) {
  Spec spec = spec_of(d, folder_of(d));
  spec.clock_hz = m.clock_hz;
  // Stall counts are the compiler's work; a scoreboard stands in for it.
  spec.interlock = true;
  spec.dram_bytes_per_cycle = m.dram_bytes_per_s * forecast::fitted_constants().dram_efficiency / m.clock_hz * share;
  spec.l2_bytes_per_cycle = std::min(l2_port, m.l2_bytes_per_s / m.clock_hz * share);
  return spec;
}

Setting setting_of(const KernelProfile& p, const Workload& w, const Device& d, forecast::KernelcastDevice machine) {
  Setting s;
  s.machine = std::move(machine);
  const double warps = resident_warps(w, d);  // throws when the launch cannot run
  s.launch.warps_per_block = static_cast<int>(std::ceil(static_cast<double>(w.block.count()) / s.machine.warp));
  s.launch.resident = std::max(1.0, std::floor(warps / s.launch.warps_per_block + 1e-9));
  s.launch.blocks = std::ceil(w.blocks / s.machine.units);
  s.closed = forecast::forecast(w, s.machine, forecast::fitted_constants(), s.launch.resident);
  s.spec = spec_for(d, s.machine, s.launch.blocks / std::max(1.0, w.blocks));
  s.program = user_program(p, w, s.spec, hit_shares(w, s.machine, s.closed));
  return s;
}

void add_bounds(const Setting& s, const Extrapolation& x, double alone, double seconds, Estimate& e) {
  const Spec& spec = s.spec;
  const Result& r = x.sample;
  const auto cycles = static_cast<double>(r.cycles);
  const auto add = [&](const std::string& name, double share, const std::string& why) {
    if (share > 0) e.bounds.push_back({name, Seconds(share * seconds), why, std::nullopt});
  };
  const auto busy = [](double share) { return number(std::round(share * 1000) / 10) + " % of the simulated cycles"; };
  const double turns = cycles / spec.turn_cycles * spec.schedulers;
  const auto issued = static_cast<double>(r.warp_instructions - r.dual_issues);
  add("issue", issued / turns, "schedulers issue in " + busy(issued / turns));
  for (std::size_t u = 0; u < spec.units.size(); ++u) {
    const double share = static_cast<double>(r.unit_busy[u]) / (cycles * spec.schedulers / spec.units[u].schedulers);
    add("pipe: " + spec.units[u].name, share, "busy in " + busy(share));
  }
  const double dram = r.dram_sectors * spec.sector_bytes / spec.dram_bytes_per_cycle / cycles;
  add("dram_bandwidth", dram,
      "this SM's share of " + describe::si(s.machine.dram_bytes_per_s, "B/s") + ", in " + busy(dram));
  const double latency = alone * std::ceil(s.launch.blocks / s.launch.resident) / s.spec.clock_hz;
  add("latency", latency / seconds,
      "a block alone takes " + number(std::round(alone)) + " cycles, in " +
          number(std::ceil(s.launch.blocks / s.launch.resident)) + " rounds");
  sort_stably(e.bounds, [](const Bound& a, const Bound& b) { return a.time > b.time; });
  e.limiter = e.bounds.empty() ? "latency" : e.bounds.front().name;
}

class CycleLevel final : public Model {
 public:
  [[nodiscard]] std::string_view name() const override { return "sm"; }
  [[nodiscard]] std::string_view summary() const override {
    return "cycle-level simulation of one SM; found by this name only, up to a second a kernel";
  }
  [[nodiscard]] bool reads_reuse() const override { return true; }
  [[nodiscard]] double seconds(const Workload&, const Device&) const override {
    return std::numeric_limits<double>::quiet_NaN();
  }

  [[nodiscard]] Estimate estimate(const KernelProfile& p, const Workload& w, const Device& d) const override {
    return estimate_within(p, w, d, 0);
  }

  [[nodiscard]] Estimate estimate_within(const KernelProfile& p, const Workload& w, const Device& d,
                                         double seconds) const override {
    const double deadline_s = seconds > 0 ? steady_seconds() + seconds : 0;
    Estimate e = empty_estimate(name());
    e.interval_reason = "sm has no error distribution: it is held against few measurements (docs/model/sm.md)";
    if (d.kind == "cpu") {
      e.time_s.reason = "sm describes GPUs; " + d.name + " is a CPU";
      return e;
    }
    put_occupancy(w, d, e);
    try {
      simulate_kernel(p, w, d, deadline_s, e);
    } catch (const LimitError& limit) {
      e.time_s.value.reset();
      e.time_s.reason = message_of(limit);
    }
    return e;
  }

 private:
  static void simulate_kernel(const KernelProfile& p, const Workload& w, const Device& d, double deadline_s,
                              Estimate& e) {
    const forecast::KernelcastDevice machine = forecast::machine_of(d, forecast::fitted_constants(), false);
    if (!has_spec(d, e)) return;
    if (!(machine.clock_hz > 0) || !(machine.dram_bytes_per_s > 0) || !(machine.units > 0)) {
      e.time_s.reason = "sm needs compute units, clock and DRAM bandwidth of " + d.name + "; set them in " + d.file;
      return;
    }
    Setting s = setting_of(p, w, d, machine);
    s.launch.deadline_s = deadline_s;
    const Extrapolation x = simulate_shortened(s.spec, s.program, s.launch, budget);
    UserLaunch one = s.launch;
    one.blocks = one.resident = 1;
    const double alone = simulate_shortened(s.spec, s.program, one, budget / 4).cycles;
    const double on_sm = x.cycles / s.spec.clock_hz;
    const double atomics = s.closed.seconds_of(Limit::atomics);
    e.time_s.value = s.machine.launch_s + std::max(on_sm, atomics);
    add_bounds(s, x, alone, on_sm, e);
    if (atomics > 0)
      e.bounds.push_back({"atomics", Seconds(atomics), "lanes that update one address, as kernelcast counts them"});
    e.bounds.push_back(
        {"launch", Seconds(s.machine.launch_s), "start and end of a grid on the GPU", std::nullopt, BoundKind::launch});
    sort_stably(e.bounds, [](const Bound& a, const Bound& b) { return a.time > b.time; });
    if (atomics > on_sm) e.limiter = "atomics";
    assume(s, x, e);
  }

  static bool has_spec(const Device& d, Estimate& e) {
    try {
      static_cast<void>(spec_of(d, folder_of(d)));
      return true;
    } catch (const UserError& error) {
      e.time_s.reason = message_of(error) + "; ask the model kernelcast, which needs none";
      return false;
    }
  }

  static void assume(const Setting& s, const Extrapolation& x, Estimate& e) {
    const auto hypotheses = std::ranges::count_if(s.spec.numbers, [](const SpecNumber& n) { return n.source.empty(); });
    e.assumptions.push_back({"sm: " + s.spec.name,
                             number(static_cast<double>(hypotheses)) + " of " +
                                 number(static_cast<double>(s.spec.numbers.size())) + " numbers are hypotheses",
                             s.spec.file});
    const Program& program = s.program.program;
    if (!program.mbarriers.empty())
      e.assumptions.push_back(
          {"sm: a ring of " + number(s.closed.stages) + " stages of shared memory, filled by copies in bulk",
           program.roles.empty()
               ? "all warps alike"
               : number(static_cast<double>(program.roles.size())) + " groups of warps by the number of the thread",
           ""});
    if (x.passed_waits > 0)
      e.assumptions.push_back({"sm: waits for mbarriers that no copy or arrival in the model completes pass",
                               number(static_cast<double>(x.passed_waits)) + " of the simulated ones", ""});
    if (s.closed.cycles[static_cast<std::size_t>(forecast::Limit::cluster_memory)] > 0)
      e.assumptions.push_back({"sm: shared memory of other blocks of the cluster",
                               "takes as long as the block's own: the network between SMs is not simulated", ""});
    if (x.shortened.empty() && !x.blocks_shortened) return;
    std::string what;
    if (!x.shortened.empty()) what = number(static_cast<double>(x.shortened.size())) + " loops";
    if (x.blocks_shortened) what += std::string(what.empty() ? "" : " and ") + "rounds of blocks";
    e.assumptions.push_back({"sm: " + what + " were simulated shorter than they are",
                             number(static_cast<double>(x.simulated_instructions)) + " warp instructions in " +
                                 number(x.runs) + " runs, continued along straight lines",
                             ""});
  }
};

}  // namespace

Views watch_kernel(const KernelProfile& p, const Workload& w, const Device& d, const ViewOptions& options) {
  if (d.kind == "cpu") throw UserError("sm describes GPUs; " + d.name + " is a CPU");
  const Setting s = setting_of(p, w, d, forecast::machine_of(d, forecast::fitted_constants(), false));
  SmLaunch launch;
  launch.resident_blocks = launch.blocks = static_cast<int>(std::min(s.launch.blocks, s.launch.resident));
  launch.warps_per_block = s.launch.warps_per_block;
  launch.pass_waits = true;
  const double warps = static_cast<double>(launch.blocks) * launch.warps_per_block;
  return watch(s.spec, shortened_to(s.program, watched / warps).program, launch, options);
}

const Model& cycle_level_model() {
  static const CycleLevel model;
  static const std::unique_ptr<Model> never_below = floored(model);
  return *never_below;
}

const Model& any_model_named(std::string_view name) {
  if (name == cycle_level_model().name()) return cycle_level_model();
  try {
    return model_named(name);
  } catch (const UsageError& e) {
    throw UsageError(message_of(e) + " " + std::string(cycle_level_model().name()));
  }
}

}  // namespace kernelcast::sm
