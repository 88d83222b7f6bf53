// Totals are sums over parts (bind.h), so a change of a part is a change of the totals, and the model reads nothing
// else. What has no parts is carried over by its ratio: the path of a block's slowest warp.
#include "advise/what_if.h"

#include <algorithm>
#include <cmath>

#include "count/mix.h"
#include "kernelcast/bind.h"
#include "kernelcast/error.h"
#include "kernelcast/model.h"

namespace kernelcast::advice {
namespace {

double ratio(double a, double b) { return b > 0 ? a / b : 1; }

double asked(const Workload& w, Reuse::Direction d) {
  const auto of = [&](AccessKind k) {
    return w.at(MemorySpace::global, k).sectors + w.at(MemorySpace::texture, k).sectors;
  };
  return d == Reuse::read ? of(AccessKind::load) : of(AccessKind::store) + of(AccessKind::atomic);
}

void scale_slowest(WarpPath& path, const Workload& before, const Workload& after) {
  if (path.instructions <= 0) return;
  path.instructions *= ratio(after.warp_ops.total(), before.warp_ops.total());
  path.branches *= ratio(after.warp_ops[OpClass::control], before.warp_ops[OpClass::control]);
  path.stalls.loads *= ratio(after.stalls.loads, before.stalls.loads);
  for (std::size_t c = 0; c < latency_count; ++c) {
    // A class that one warp of the path did not wait for before cannot be scaled: the mean warp's stand for it.
    const double mean = after.warps > 0 ? after.blocks / after.warps : 0;
    path.stalls.waits[c] = before.stalls.waits[c] > 0
                               ? path.stalls.waits[c] * after.stalls.waits[c] / before.stalls.waits[c]
                               : after.stalls.waits[c] * mean;
    path.stalls.hidden[c] = before.stalls.hidden[c] > 0
                                ? path.stalls.hidden[c] * after.stalls.hidden[c] / before.stalls.hidden[c]
                                : after.stalls.hidden[c] * mean;
  }
}

}  // namespace

void add_up(Variant& v) {
  Workload& w = v.workload;
  const Workload before = w;
  sum_parts(v.profile, w);
  for (const Reuse::Direction d : {Reuse::read, Reuse::write}) {
    if (v.near_counted) break;
    double& near = w.reuse.near[d];
    near = std::min(1.0, near * ratio(asked(before, d), asked(w, d)));
  }
  scale_slowest(w.slowest, before, w);
  scale_slowest(w.longest, before, w);
}

void bind_again(Variant& v, const Subject& subject) {
  Binder binder(v.profile, subject.device().geometry());
  const Workload now = binder.bind(v.launch);
  const Workload& was = subject.closed_forms();
  for (const Site& s : subject.sites()) {
    AccessCount& c = v.workload.access_counts[s.index];
    const AccessCount &a = now.access_counts[s.index], &b = was.access_counts[s.index];
    if (s.origin == Origin::closed) {
      c = a;
    } else if (s.access->unknown < 0 && b.requests > 0) {
      c.sectors *= ratio(a.sectors, b.sectors);
      c.segments *= ratio(a.segments, b.segments);
      c.bank_passes *= ratio(a.bank_passes, b.bank_passes);
    }
  }
  v.workload.reuse = now.reuse;
  v.near_counted = true;
  v.workload.footprint_bytes = now.footprint_bytes;
  v.workload.footprint_read_bytes = now.footprint_read_bytes;
  v.workload.footprint_write_bytes = now.footprint_write_bytes;
  v.workload.shared_bytes_per_block = now.shared_bytes_per_block;
}

std::optional<VariantForecast> forecast_variant(const Subject& subject, const Change& change) {
  try {
    Variant v{subject.profile(), subject.workload(), subject.launch()};
    change(v);
    add_up(v);
    const Estimate e = subject.model().estimate(v.profile, v.workload, subject.device());
    if (!e.time_s.value) return std::nullopt;
    return VariantForecast{*e.time_s.value, e.limiter, v.workload.local_bytes() > 0};
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool could_gain(const Subject& subject, const Change& at_best) {
  const auto now = forecast_variant(subject, at_best), unchanged = forecast_variant(subject, [](Variant&) {});
  return now && unchanged && now->seconds < unchanged->seconds * (1 - subject.limits().least_gain);
}

Change without_arithmetic(std::set<SourceLine> lines) {
  return [lines = std::move(lines)](Variant& v) {
    for (Block& b : v.profile.blocks) {
      bool touched = false;
      for (const LineOps& l : b.lines) {
        if (!lines.contains(l.line)) continue;
        touched = true;
        for (std::size_t i = 0; i < op_class_count; ++i) {
          const auto c = static_cast<OpClass>(i);
          if (!is_memory(c) && c != OpClass::barrier) b.ops[c] -= std::min(b.ops[c], l.ops[c]);
        }
      }
      if (!touched) continue;
      for (const Latency l : {Latency::alu, Latency::fp64, Latency::special})
        b.stalls.waits[static_cast<std::size_t>(l)] = b.stalls.hidden[static_cast<std::size_t>(l)] = 0;
    }
  };
}

void spread_over(Variant& v, double blocks) {
  Workload& w = v.workload;
  const double more = w.blocks / blocks;
  for (auto& direction : w.reuse.level)
    for (auto& depth : direction)
      for (int k = 0; k < Reuse::windows; ++k)
        if (Reuse::blocks_in(k, w.blocks) < w.blocks) depth[static_cast<std::size_t>(k)].traffic *= more;
  w.blocks = blocks;
}

AccessCount coalesced(const AccessCount& count, int bytes, const MemoryGeometry& g) {
  if (count.requests <= 0) return count;
  AccessCount c = count;
  const double per_request = count.lanes / count.requests * bytes;
  const auto pieces = [&](double size) { return std::ceil(per_request / size - 1e-9) * count.requests; };
  c.sectors = std::min(count.sectors, pieces(g.sector_bytes));
  c.segments = std::min(count.segments, pieces(g.segment_bytes));
  const double parts = std::max(1.0, static_cast<double>(g.warp_size) / lanes_of_part(g.warp_size, bytes));
  c.bank_passes = std::min(count.bank_passes, parts * count.requests);
  return c;
}

}  // namespace kernelcast::advice
