// Latency by pointer chase: each load gives the address of the next, on a walk through all lines of a block of memory
// in an order that prefetchers do not follow. Blocks lie on large pages where the system gives them, so what is
// measured is the caches, not the translation of addresses.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probe/host/bench.h"
#include "probe/plateaus.h"

namespace kernelcast::probe::host {
namespace {

using View = Measurement::View;

constexpr std::size_t smallest = 4096, largest_half = std::size_t{12} << 20, shared_from = std::size_t{16} << 20;
constexpr std::int64_t steps_at_most = 16384;  // of a sample
constexpr double settle_time_s = 0.02;

struct PointerChase {
  char* at = nullptr;
  std::size_t bytes = 0;
  Measurement::Handle series = 0;
};

/// Seconds per load of a walk through `bytes` from `at` on. `warm`: once through all of it first. What goes beyond the
/// caches of a core is walked for some time in any case: the clock of the other parts of the chip follows the load.
Measurement::Handle walk(Measurement& m, char* at, std::size_t bytes, bool warm, double settle_s) {
  const auto lines = static_cast<std::int64_t>(bytes / line_bytes);
  const std::int64_t steps = std::max<std::int64_t>(std::min(lines, steps_at_most), 4096);
  return m.series([p = static_cast<const void*>(at), lines, steps, warm, settle_s]() mutable {
    const double begin = steady_seconds();
    if (warm) p = native::chase(p, (lines + 15) / 16 * 16);
    while (steady_seconds() - begin < settle_s) p = native::chase(p, 4096);
    const double from = steady_seconds();
    p = native::chase(p, steps);
    return (steady_seconds() - from) / static_cast<double>(steps);
  });
}

/// Seconds per load of a short walk through `bytes` right after a pass through them, as a loop nest comes back to its
/// data: what waits longer in a cache that others use is gone. A pass through `other` takes the place in the core's own
/// caches.
Measurement::Handle walk_after_pass(Bench& b, char* at, std::size_t bytes, const std::shared_ptr<Pages>& other) {
  constexpr std::int64_t steps = 1024;
  return b.measure.series(
      [p = static_cast<const void*>(at), at, bytes, other, read = b.widest().streams.read]() mutable {
        const double begin = steady_seconds();
        do {
          read(at, bytes);
          read(other->data(), other->bytes());
        } while (steady_seconds() - begin < settle_time_s);
        const double from = steady_seconds();
        p = native::chase(p, steps);
        return (steady_seconds() - from) / static_cast<double>(steps);
      });
}

/// `count` walks at a time, each from another place: seconds per load.
template <int count>
Measurement::Handle walks(Measurement& m, char* at, std::size_t bytes) {
  std::vector<const void*> start;
  for (std::size_t i = 0; i < count; ++i) start.push_back(at + i * (bytes / count / line_bytes) * line_bytes);
  return m.series([start]() mutable {
    const void* p[count];
    std::copy(start.begin(), start.end(), p);
    constexpr int turns = 1024;
    const double begin = steady_seconds();
    double seconds = 0;
    for (bool settled = false; !settled;) {
      settled = steady_seconds() - begin >= settle_time_s;
      const double from = steady_seconds();
      for (int i = 0; i < turns; ++i)
        for (const void*& each : p) {
          each = *static_cast<const void* const*>(each);
          asm volatile("" : "+r"(each));
        }
      seconds = steady_seconds() - from;
    }
    std::copy(p, p + count, start.begin());
    return seconds / (turns * count);
  });
}

class Latency {
 public:
  explicit Latency(Bench& b) : b_(b) {}

  void run() {
    build();
    const auto known = [&](Field f) { return b_.base.get(f).value_or(0); };
    const double l1 = known(Field::memory_l1_bytes), l2 = known(Field::memory_l2_bytes),
                 l3 = known(Field::memory_l3_bytes);
    level("l1", l1 / 2, l1 > 0, fields({{"memory", "l1_latency_cycles"}}));
    level("l2", std::sqrt(l1 * l2), l1 > 0 && l2 > 0, fields({{"memory", "l2_latency_cycles"}}));
    shared_level(l2, l3);
    dram(std::max({l1, l2, l3}));
    sizes();
  }

 private:
  void build() {
    const double last =
        std::max(b_.base.get(Field::memory_l3_bytes).value_or(0), b_.base.get(Field::memory_l2_bytes).value_or(0));
    std::size_t to = std::size_t{64} << 20;
    while (static_cast<double>(to) < 4 * last && 2 * to <= b_.memory_limit) to *= 2;
    to = std::min(to, std::size_t{1} << 30);
    const std::vector<std::size_t> sizes = walk_sizes(smallest, to, largest_half);
    const double own_caches = b_.base.get(Field::memory_l2_bytes).value_or(0);
    std::size_t small = 0;
    for (std::size_t s : sizes)
      if (s < shared_from) small += s;
    auto own = std::make_shared<Pages>(small), shared = std::make_shared<Pages>(to);
    b_.memory.insert(b_.memory.end(), {own, shared});
    std::size_t offset = 0;
    int slot = 0;  // walks of several sizes share the large block, each with its own word of a line
    for (std::size_t s : sizes) {
      char* at =
          s < shared_from ? own->data() + offset : shared->data() + static_cast<std::size_t>(slot) * sizeof(void*);
      if (s < shared_from) {
        link(at, s, 0);
        offset += s;
      } else {
        link(shared->data(), s, slot++);
      }
      const bool warm = last > 0 ? static_cast<double>(s) <= last : s <= shared_from;
      chases_.push_back(
          {at, s, walk(b_.measure, at, s, warm, static_cast<double>(s) > own_caches ? settle_time_s : 0)});
    }
    many_ = walks<32>(b_.measure, shared->data() + static_cast<std::size_t>(slot - 1) * sizeof(void*), to);
  }

  [[nodiscard]] const PointerChase& nearest(double bytes) const {
    return *std::ranges::min_element(chases_, {}, [&](const PointerChase& w) {
      return std::abs(std::log(static_cast<double>(w.bytes)) - std::log(bytes));
    });
  }

  void level(const std::string& name, double bytes, bool known, std::vector<Field> to) {
    const PointerChase w = known ? nearest(bytes) : chases_.front();
    Result r =
        row(name + ".latency_cycles", "cycles",
            fmt::format("pointer chase through {} KiB after a pass through all of it", w.bytes / 1024),
            "Cycles from a load that hits the " + name + " cache to an instruction that needs it.", std::move(to));
    b_.measure.figure(
        r,
        [w, known](const View& v) -> std::optional<double> {
          if (!known) return std::nullopt;
          return v.cycles(w.series);
        },
        known ? "" : "the operating system has no table of the caches' sizes");
  }

  void shared_level(double l2, double l3) {
    const bool known = l2 > 0 && l3 > 0;
    const PointerChase w = known ? nearest(block_of_l3(l2, l3)) : chases_.front();
    auto other = std::make_shared<Pages>(known ? static_cast<std::size_t>(2 * l2) / 4096 * 4096 : 4096);
    b_.memory.push_back(other);
    const auto series = walk_after_pass(b_, w.at, w.bytes, other);
    Result r =
        row("l3.latency_cycles", "cycles",
            fmt::format("pointer chase of 1024 steps in {} KiB, right after a pass through them and twice the L2",
                        w.bytes / 1024),
            "Cycles from a load that hits the l3 cache, on a line that was used a moment ago, to an instruction that "
            "needs it.",
            fields({{"memory", "l3_latency_cycles"}}));
    b_.measure.figure(
        r,
        [series, known](const View& v) -> std::optional<double> {
          if (!known) return std::nullopt;
          return v.cycles(series);
        },
        known ? "" : "the operating system has no table of the caches' sizes");
  }

  void dram(double caches) {
    const PointerChase w = chases_.back();
    const bool beyond = static_cast<double>(w.bytes) >= 2 * caches && caches > 0;
    const std::string why = beyond ? "" : "too little memory is free for a walk through twice the caches";
    const std::string method = fmt::format("pointer chase through {} MiB", w.bytes >> 20);
    const auto when = [beyond](auto f) {
      return [beyond, f](const View& v) -> std::optional<double> {
        if (!beyond) return std::nullopt;
        return f(v);
      };
    };
    b_.measure.figure(row("dram.latency_s", "s", method, "Time of a load that misses all caches."),
                      when([w](const View& v) { return v(w.series); }), why);
    b_.measure.figure(row("dram.latency_cycles", "cycles", method, "The same in cycles of a core.",
                          {Field::memory_dram_latency_cycles}),
                      when([w](const View& v) { return v.cycles(w.series); }), why);
    b_.measure.figure(
        row("dram.lines_in_flight", "cache lines",
            method + ", 32 walks at a time against one: their rate times the latency of one",
            "Cache lines that a core waits for at a time.", fields({{"cpu", "outstanding_lines_per_core"}})),
        when([w, many = many_](const View& v) { return v(w.series) / v(many); }), why);
  }

  void sizes() {
    b_.measure.table(row("memory.latency_by_size", "bytes, s", "pointer chase through blocks of each size, one thread",
                         "Time of a load by the size of the block that it walks through: sizes, then times."),
                     [all = chases_](const View& v) {
                       std::vector<std::vector<double>> out(2);
                       for (const PointerChase& w : all) {
                         out[0].push_back(static_cast<double>(w.bytes));
                         out[1].push_back(v(w.series));
                       }
                       return out;
                     });
    for (std::size_t k = 0; k < 3; ++k) {
      const Field field = k == 0 ? Field::memory_l1_bytes : k == 1 ? Field::memory_l2_bytes : Field::memory_l3_bytes;
      // A table of the operating system is exact, a step of the curve is not.
      std::vector<Field> to;
      if (!b_.base.get(field)) to = {field};
      b_.measure.step(
          row(fmt::format("l{}.size_bytes", k + 1), "bytes",
              fmt::format("last size before the {} climb of latency, {} sizes from 4 KiB to {} MiB",
                          k == 0   ? "first"
                          : k == 1 ? "second"
                                   : "third",
                          chases_.size(), chases_.back().bytes >> 20),
              fmt::format("Size of the L{} cache as one thread finds it, rounded down to a size of the walk.", k + 1),
              to),
          [k, all = chases_](const View& v) -> std::optional<double> {
            std::vector<CurvePoint> curve;
            for (const PointerChase& w : all) curve.push_back({static_cast<double>(w.bytes), v(w.series)});
            const std::vector<Plateau> found = plateaus(curve);
            // The last plateau is DRAM.
            if (k + 1 >= found.size()) return std::nullopt;
            return found[k].last_bytes;
          },
          "the curve of latency has no such step");
    }
  }

  Bench& b_;
  std::vector<PointerChase> chases_;
  Measurement::Handle many_ = 0;
};

}  // namespace

void add_latency(Bench& b) { Latency(b).run(); }

}  // namespace kernelcast::probe::host
