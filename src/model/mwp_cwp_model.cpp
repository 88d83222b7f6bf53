// The model `mwp-cwp`: how workloads and device files become the paper's counts.
//
// Global, local and texture accesses are memory instructions; everything else, shared and constant memory included, is
// computation, as in the paper. A request with the fewest possible transactions is coalesced, one with a transaction
// for every lane is not; what lies between counts in proportion. The paper's own constants of GTX 280 stand in for
// devices whose file has none: the latency comes from memory.dram_latency_cycles where that is known.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "device/describe.h"
#include "machine/occupancy.h"
#include "model/models.h"
#include "model/mwp_cwp.h"

namespace kernelcast {
namespace {

using describe::number;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double gtx280_mem_ld = 450, gtx280_departure_uncoal = 40, departure_coal = 4;  // the paper's table of GPUs

mwp_cwp::MwpCwpDevice machine_of(const Device& d) {
  mwp_cwp::MwpCwpDevice m;
  m.multiprocessors = d.get_or(Field::compute_units, unknown);
  const auto boost = d.get(Field::clock_boost_clock_hz);
  m.clock_hz = boost ? *boost : d.get_or(Field::clock_base_clock_hz, unknown);
  m.bandwidth_bytes_per_s = d.get_or(Field::memory_dram_bandwidth_bytes_per_s, unknown);
  const auto own = d.get(Field::mwp_cwp_mem_ld_cycles);
  m.mem_ld_cycles = own ? *own : d.get_or(Field::memory_dram_latency_cycles, gtx280_mem_ld);
  m.departure_del_uncoal = d.get_or(Field::mwp_cwp_departure_del_uncoal_cycles, gtx280_departure_uncoal);
  m.departure_del_coal = d.get_or(Field::mwp_cwp_departure_del_coal_cycles, departure_coal);
  const double lanes = d.get_or(Field::compute_fp32_lanes_per_unit, unknown);
  m.issue_cycles = d.get_or(Field::compute_warp_size, 32) / lanes;
  return m;
}

double units_of_device(const Device& d) { return d.get_or(Field::compute_units, unknown); }

mwp_cwp::Kernel kernel_of(const Workload& w, const WarpResidency& residency, double units) {
  mwp_cwp::Kernel k;
  double requests = 0, scattered = 0, bytes = 0, lanes_of_scattered = 0;
  for (const MemorySpace space : {MemorySpace::global, MemorySpace::local, MemorySpace::texture}) {
    for (const AccessKind kind : {AccessKind::load, AccessKind::store, AccessKind::atomic}) {
      const AccessCount& a = w.at(space, kind);
      if (a.requests <= 0) continue;
      const double fewest = std::max(a.requests, std::min(a.segments, a.bytes / w.geometry.segment_bytes));
      const double share = a.lanes > fewest ? std::clamp((a.segments - fewest) / (a.lanes - fewest), 0.0, 1.0) : 0.0;
      requests += a.requests;
      scattered += share * a.requests;
      lanes_of_scattered += share * a.lanes;
      bytes += a.bytes;
    }
  }
  k.uncoal_mem_insts = scattered / w.warps;
  k.coal_mem_insts = (requests - scattered) / w.warps;
  k.uncoal_per_mw = scattered > 0 ? lanes_of_scattered / scattered : 1;
  k.load_bytes_per_warp = requests > 0 ? bytes / requests : 0;
  k.comp_insts = std::max(0.0, (w.warp_ops.total() - requests) / w.warps);
  k.synch_insts = w.barriers / w.blocks;
  k.active_warps = residency.warps(w);
  k.active_blocks = k.active_warps / std::max(1.0, w.warps_per_block);
  k.active_multiprocessors = std::min(units, w.blocks);
  k.blocks = w.blocks;
  return k;
}

std::string missing(const mwp_cwp::MwpCwpDevice& m, const Device& d) {
  const auto set = [&d](const char* what, const char* key) {
    return std::string("mwp-cwp needs ") + what + " of " + d.name + "; set " + describe::where_to_set(d, key);
  };
  if (std::isnan(m.multiprocessors)) return set("the number of multiprocessors", "compute.units");
  if (std::isnan(m.clock_hz)) return set("the clock", "clock.base_clock_hz");
  if (std::isnan(m.bandwidth_bytes_per_s)) return set("the bandwidth", "memory.dram_bandwidth_bytes_per_s");
  return set("the lanes that issue a warp", "compute.fp32_lanes_per_unit");
}

std::vector<Bound> bounds_of(const mwp_cwp::MwpCwpDevice& m, const mwp_cwp::Kernel& k, const mwp_cwp::MwpCwpCycles& f) {
  using Case = mwp_cwp::MwpCwpCycles::Case;
  const std::string parallel = "MWP " + number(f.mwp) + ", CWP " + number(f.cwp) + ", N " + number(k.active_warps) +
                               ", " + number(f.repetitions) + " repetitions";
  const char* name = f.which == Case::memory              ? "memory_parallelism"
                     : f.which == Case::enough_of_neither ? "too_few_warps"
                                                          : "computation";
  const char* equation = f.which == Case::memory ? " (23)" : f.which == Case::enough_of_neither ? " (22)" : " (24)";
  std::vector<Bound> bounds{{name, Seconds(f.exec_cycles / m.clock_hz), parallel + equation},
                            {"synchronisation", Seconds(f.synch_cycles / m.clock_hz),
                             k.synch_insts == 0 ? "no barrier" : number(k.synch_insts) + " barriers a block (25)"}};
  sort_stably(bounds, [](const Bound& x, const Bound& y) { return x.time > y.time; });
  return bounds;
}

std::vector<Assumption> assumptions_of(const mwp_cwp::MwpCwpDevice& m, const Device& d) {
  std::vector<Assumption> out;
  if (!d.get(Field::mwp_cwp_mem_ld_cycles)) {
    out.push_back({"mwp-cwp: latency of device memory (Mem_LD)",
                   number(m.mem_ld_cycles) + (d.get(Field::memory_dram_latency_cycles) ? " (memory.dram_latency_cycles)"
                                                                                       : " (the paper's GTX 280)"),
                   describe::where_to_set(d, "mwp_cwp.mem_ld_cycles")});
  }
  if (!d.get(Field::mwp_cwp_departure_del_uncoal_cycles)) {
    out.push_back({"mwp-cwp: cycles between transactions (Departure_del_uncoal, _coal)",
                   number(m.departure_del_uncoal) + ", " + number(m.departure_del_coal) + " (the paper's GTX 280)",
                   describe::where_to_set(d, "mwp_cwp.departure_del_uncoal_cycles")});
  }
  return out;
}

class MwpCwpTimes final : public DeviceTimes {
 public:
  explicit MwpCwpTimes(const Device& d) : residency_(d), machine_(machine_of(d)), units_(units_of_device(d)) {}
  [[nodiscard]] double seconds(const Workload& w) const override {
    return mwp_cwp::forecast(machine_, kernel_of(w, residency_, units_)).total_cycles() / machine_.clock_hz;
  }

 private:
  WarpResidency residency_;
  mwp_cwp::MwpCwpDevice machine_;
  double units_;
};

class MwpCwp final : public Model {
 public:
  [[nodiscard]] std::string_view name() const override { return "mwp-cwp"; }
  [[nodiscard]] std::string_view summary() const override {
    return "memory and computation warp parallelism (Hong and Kim 2009)";
  }
  [[nodiscard]] double seconds(const Workload& w, const Device& d) const override {
    if (d.kind == "cpu") return unknown;
    return MwpCwpTimes(d).seconds(w);
  }

  [[nodiscard]] std::unique_ptr<DeviceTimes> on(const Device& d) const override {
    return d.kind == "cpu" ? Model::on(d) : std::make_unique<MwpCwpTimes>(d);
  }

  [[nodiscard]] Estimate estimate(const KernelProfile&, const Workload& w, const Device& d) const override {
    Estimate e = empty_estimate(name());
    if (d.kind == "cpu") {
      e.time_s.reason = "mwp-cwp describes GPUs; " + d.name + " is a CPU";
      return e;
    }
    put_occupancy(w, d, e);
    const mwp_cwp::MwpCwpDevice m = machine_of(d);
    const mwp_cwp::Kernel k = kernel_of(w, WarpResidency(d), units_of_device(d));
    const mwp_cwp::MwpCwpCycles f = mwp_cwp::forecast(m, k);
    const double total = f.total_cycles() / m.clock_hz;
    if (std::isnan(total)) {
      e.time_s.reason = missing(m, d);
      return e;
    }
    e.time_s.value = total;
    e.bounds = bounds_of(m, k, f);
    e.limiter = e.bounds.front().name;
    for (Assumption& a : assumptions_of(m, d)) e.assumptions.push_back(std::move(a));
    return e;
  }
};

}  // namespace

std::span<const Model* const> mwp_cwp_models() {
  static const MwpCwp model;
  static const std::array<const Model*, 1> models{&model};
  return models;
}

}  // namespace kernelcast
