// One line a row: its number, then the workload's totals as numbers. The list of fields is walked by one function for
// reading and writing.
#include "facts_file.h"

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "kernelcast/error.h"
#include "kernelcast/model.h"

namespace kernelcast::fit {
namespace {

/// Distances of the blocks that share an SM and of all; nothing where nothing was executed.
template <class F>
void walk_locality(Workload& w, F f) {
  Locality l = w.locality ? *w.locality : Locality{};
  for (ReuseDistances* d : {&l.resident, &l.grid}) {
    double buckets = static_cast<double>(d->nearer.size());
    f(buckets);
    d->nearer.resize(static_cast<std::size_t>(buckets));
    for (double& n : d->nearer) f(n);
    f(d->cold);
    f(d->touches);
  }
  if (!w.locality && l.resident.touches > 0) w.locality = std::make_shared<const Locality>(std::move(l));
}

template <class F>
void walk_phases(std::vector<BarrierPhase>& phases, F f) {
  double count = static_cast<double>(phases.size());
  f(count);
  phases.resize(static_cast<std::size_t>(count));
  for (BarrierPhase& p : phases) {
    for (double* d : {&p.instructions, &p.branches, &p.barriers, &p.arithmetic, &p.shared, &p.global, &p.products}) f(*d);
    for (double& n : p.waits) f(n);
    for (double& n : p.hidden) f(n);
  }
}

template <class F>
void walk_atomics(Workload& w, F f) {
  for (AtomicCount& a : w.atomics)
    for (double* d : {&a.updates, &a.sectors, &a.hottest, &a.bytes}) f(*d);
  for (double* d : {&w.retries.requests, &w.retries.passes, &w.retries.rounds, &w.retries.fp64, &w.handovers}) f(*d);
}

template <class F>
void walk_path(WarpPath& path, F f) {
  for (double* d : {&path.instructions, &path.branches, &path.stalls.loads, &path.stalls.fills, &path.stalls.products}) f(*d);
  for (double& n : path.stalls.waits) f(n);
  for (double& n : path.stalls.hidden) f(n);
}

template <class F>
void walk(Workload& w, double& stack, double& spill, F f) {
  double sizes[6] = {double(w.grid.x), double(w.grid.y), double(w.grid.z), double(w.block.x), double(w.block.y), double(w.block.z)};
  for (double& s : sizes) f(s);
  w.grid = {std::int64_t(sizes[0]), std::int64_t(sizes[1]), std::int64_t(sizes[2])};
  w.block = {std::int64_t(sizes[3]), std::int64_t(sizes[4]), std::int64_t(sizes[5])};
  double method = static_cast<double>(w.counts_method);
  f(method);
  w.counts_method = static_cast<CountsMethod>(static_cast<int>(method));
  double geometry[5] = {double(w.geometry.warp_size), double(w.geometry.sector_bytes), double(w.geometry.segment_bytes),
                        double(w.geometry.shared_banks), double(w.geometry.bank_bytes)};
  for (double& g : geometry) f(g);
  w.geometry = {int(geometry[0]), int(geometry[1]), int(geometry[2]), int(geometry[3]), int(geometry[4])};
  for (double* d : {&w.blocks, &w.threads, &w.warps_per_block, &w.warps, &w.barriers, &w.flat_barriers, &w.footprint_bytes,
                    &w.footprint_read_bytes, &w.footprint_write_bytes, &w.registers_per_thread, &w.shared_bytes_per_block,
                    &w.spill_bytes, &w.stack_bytes, &stack, &spill, &w.stalls.loads})
    f(*d);
  for (OpCounts* o : {&w.warp_ops, &w.thread_ops, &w.data_branch_ops}) {
    for (double& n : o->n) f(n);
    for (double& n : o->tensor.warp) f(n);
    for (double& n : o->tensor.async) f(n);
    f(o->tensor.shared_bytes);
    f(o->tensor.idle);
  }
  for (auto& space : w.by_space)
    for (AccessCount& a : space)
      for (double* d : {&a.requests, &a.lanes, &a.sectors, &a.segments, &a.bank_passes, &a.bytes, &a.words}) f(*d);
  for (double& n : w.stalls.waits) f(n);
  for (double& n : w.stalls.hidden) f(n);
  for (double* d : {&w.stalls.fills, &w.stalls.products, &w.bulk_sectors, &w.bulk_bytes, &w.warp_imbalance}) f(*d);
  walk_path(w.slowest, f);
  walk_path(w.longest, f);
  walk_phases(w.phases, f);
  walk_atomics(w, f);
  f(w.hottest_atomic_share);
  f(w.read_only_sectors);
  walk_locality(w, f);
  double known = w.reuse.known ? 1 : 0;
  f(known);
  w.reuse.known = known != 0;
  for (double& share : w.reuse.near) f(share);
  f(w.reuse.stored_again);
  for (auto& direction : w.reuse.level)
    for (auto& depth : direction)
      for (Reuse::Level& l : depth) {
        f(l.footprint);
        f(l.traffic);
      }
}

}  // namespace

void write_facts(const std::string& path, const std::vector<validate::RowResult>& rows) {
  std::ofstream out(path);
  out.precision(17);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].facts) continue;
    validate::Facts facts = *rows[i].facts;
    double stack = static_cast<double>(facts.stack_bytes), assumptions = static_cast<double>(facts.assumptions);
    out << i << ' ' << rows[i].cache_state;
    walk(facts.workload, stack, assumptions, [&](double& v) { out << ' ' << v; });
    out << '\n';
  }
  if (!out) throw UserError(path + ": cannot be written");
}

std::vector<Row> read_facts(const std::string& path, std::vector<validate::Measurement> measured,
                            const DeviceCatalog& catalog) {
  std::ifstream in(path);
  if (!in) throw UserError(path + ": cannot be read; make it with fit_model collect");
  std::map<std::string, Device> devices;
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) {
    std::istringstream text(line);
    std::size_t number = 0;
    Row row;
    text >> number >> row.result.cache_state;
    if (number >= measured.size()) throw UserError(path + ": was made from other rows");
    row.result.row = measured[number];
    validate::Facts facts;
    double stack = 0, assumptions = 0;
    walk(facts.workload, stack, assumptions, [&](double& v) { text >> v; });
    if (!text) throw UserError(path + ": line " + std::to_string(rows.size() + 1) + " is too short");
    facts.stack_bytes = static_cast<std::int64_t>(stack);
    facts.assumptions = static_cast<std::size_t>(assumptions);
    facts.workload.cache = row.result.cache_state == "warm" ? CacheState::warm : CacheState::cold;
    row.result.facts = facts;
    const std::string& gpu = row.result.row.gpu;
    if (!devices.contains(gpu)) devices.emplace(gpu, catalog.find(gpu));
    row.device = devices.at(gpu);
    try {
      row.resident_blocks = occupancy(facts.workload, row.device).blocks_per_unit;
    } catch (const Error&) {
      row.resident_blocks = 0;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kernelcast::fit
