// The same work on 1, 2, 4, ... and all hardware threads at a time: the time from the first to begin to the last to
// end.
#include <fmt/format.h>

#include <algorithm>

#include "probe/host/bench.h"

namespace kernelcast::probe::host {
namespace {

using View = Measurement::View;

const native::Loop* widest_fma(const native::Kernels& set, native::Type type) {
  for (int i = 0; i < set.count; ++i)
    if (set.loops[i].op == native::Op::fma && set.loops[i].type == type && set.loops[i].lanes > 1) return &set.loops[i];
  return nullptr;
}

template <class F>
double best_of(int times, F f) {
  double best = f();
  for (int i = 1; i < times; ++i) best = std::min(best, f());
  return best;
}

Measurement::Handle flops(Bench& b, const native::Loop& loop, int threads) {
  const double per_turn = 2.0 * loop.lanes * loop.parallel_ops * threads;
  return b.measure.series([&team = b.team, run = loop.parallel, threads, per_turn]() {
    // Short, and the best of some: all threads must run at the same time for all of it.
    constexpr std::int64_t turns = 4000;
    return best_of(10, [&] { return team.run(threads, [&](int) { run(turns); }); }) /
           (per_turn * static_cast<double>(turns));
  });
}

std::vector<int> counts(int all) {
  std::vector<int> out;
  for (int n = 1; n < all; n *= 2) out.push_back(n);
  out.push_back(all);
  return out;
}

}  // namespace

void add_threads(Bench& b) {
  const int all = b.team.size();
  const native::Loop *single = widest_fma(b.widest(), native::Type::f32),
                     *twice = widest_fma(b.widest(), native::Type::f64);
  for (int n : counts(all)) {
    const std::string on = n == 1 ? "one thread" : fmt::format("{} threads", n);
    for (const auto& [loop, name] : {std::pair{single, "fp32"}, std::pair{twice, "fp64"}}) {
      const auto series = flops(b, *loop, n);
      b.measure.figure(row(fmt::format("threads{}.{}_flops_per_s", n, name), "FLOP/s",
                           fmt::format("multiply-adds on {}-bit registers, {}", b.widest().bits, on),
                           fmt::format("Floating-point operations a second on {}.", on)),
                       [series](const View& v) { return 1 / v(series); });
    }
  }
  if (const std::shared_ptr<Pages> pages = stream_memory(b)) {
    for (int n : counts(all)) {
      if (n == 1 && all > 1) continue;  // stands among the bandwidths
      const auto series = dram_read(b, pages, n);
      std::vector<Field> to;
      if (n == all) {
        to = fields({{"memory", "sustained_dram_bandwidth_bytes_per_s"}});
        if (!b.base.get(Field::memory_dram_bandwidth_bytes_per_s))
          to.push_back(Field::memory_dram_bandwidth_bytes_per_s);
      }
      b.measure.figure(
          row(n == all ? "dram.read_bandwidth_bytes_per_s"
                       : fmt::format("threads{}.dram_read_bandwidth_bytes_per_s", n),
              "bytes/s", fmt::format("blocks of 16 MiB that no cache holds, {} thread{}", n, n == 1 ? "" : "s"),
              fmt::format("Bytes read a second from DRAM on {}.",
                          n == all ? "all threads" : fmt::format("{} thread{}", n, n == 1 ? "" : "s")),
              to),
          [series](const View& v) { return 1 / v(series); });
    }
  }
  const auto region = b.measure.series([&team = b.team] { return best_of(10, [&] { return team.region(); }); });
  b.measure.figure(
      row("threads.region_s", "s",
          fmt::format("{} waiting threads woken for nothing and waited for; the best of ten a sample", all),
          "Cost of a parallel loop on all threads, which slept before, beyond its work."),
      [region](const View& v) { return v(region); });
  const auto watched = b.measure.series([all] { return watched_region(all); });
  b.measure.figure(
      row("threads.watched_region_s", "s",
          fmt::format("{} threads, the caller among them, that look out for nothing to do; the fastest of 300 a "
                      "sample",
                      all),
          "Cost of a parallel loop on all threads beyond its work, soon after the last one.",
          fields({{"cpu", "thread_start_s"}})),
      [watched](const View& v) { return v(watched); });
  const auto create = b.measure.series([] {
    return best_of(10, [] {
      const double from = steady_seconds();
      std::thread([] {}).join();
      return steady_seconds() - from;
    });
  });
  b.measure.figure(row("threads.create_s", "s", "std::thread of an empty function, joined; the best of ten a sample",
                       "Time to make a thread and to wait for its end."),
                   [create](const View& v) { return v(create); });
}

}  // namespace kernelcast::probe::host
