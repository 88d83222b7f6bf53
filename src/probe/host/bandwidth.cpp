// Bandwidth with the widest registers that the processor has. A copy counts the bytes read and the bytes written; lines
// that a cache fetches before they are written are not counted.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "probe/host/bench.h"

namespace kernelcast::probe::host {
namespace {

using View = Measurement::View;

constexpr std::size_t block = std::size_t{16} << 20;  // of DRAM in a sample: milliseconds
constexpr const char* unit = "bytes/s";

std::size_t rounded(double bytes) { return std::max<std::size_t>(static_cast<std::size_t>(bytes) / 4096, 1) * 4096; }

/// Blocks of a piece of memory in turn: the caches have lost one when its turn comes again.
class Turn {
 public:
  Turn(char* at, std::size_t bytes) : at_(at), blocks_(std::max<std::size_t>(bytes / block, 1)) {}
  char* next() { return at_ + (turn_++ % blocks_) * block; }

 private:
  char* at_;
  std::size_t blocks_, turn_ = 0;
};

struct Kind {
  const char* name;
  const char* words;
};
constexpr Kind kinds[] = {{"read", "Bytes read"}, {"write", "Bytes written"}, {"copy", "Bytes read and written"}};

void stream(const native::Streams& s, int kind, char* at, std::size_t bytes) {
  if (kind == 0) s.read(at, bytes);
  if (kind == 1) s.write(at, bytes);
  if (kind == 2) s.copy(at + bytes / 2, at, bytes / 2);
}

class Bandwidth {
 public:
  explicit Bandwidth(Bench& b) : b_(b) {}

  void run() {
    const auto known = [&](Field f) { return b_.base.get(f).value_or(0); };
    const double l1 = known(Field::memory_l1_bytes), l2 = known(Field::memory_l2_bytes),
                 l3 = known(Field::memory_l3_bytes);
    cache("l1", l1 / 2, true, {});
    cache("l2", std::sqrt(l1 * l2), false, {Field::memory_l2_bandwidth_bytes_per_s});
    cache("l3", block_of_l3(l2, l3), false, fields({{"memory", "l3_bandwidth_bytes_per_s"}}));
    narrow(l1, l2);
    few_sets(l1, l2);
    const std::shared_ptr<Pages> pages = stream_memory(b_);
    dram(pages);
    copies(pages);
  }

 private:
  /// A pass warms the cache; then as many as make a sample.
  Measurement::Handle again_and_again(char* at, std::size_t size, int kind) {
    const native::Streams streams = b_.widest().streams;
    return b_.measure.series([at, size, kind, streams,
                              timed = repeated(
                                  [at, size, kind, streams](std::int64_t n) {
                                    for (; n > 0; --n) stream(streams, kind, at, size);
                                  },
                                  static_cast<double>(size))]() {
      stream(streams, kind, at, size);
      return timed();
    });
  }

  /// A part of the block a moment after it was used, and after the rest has passed the caches of the core: what waits
  /// longer in a cache that others use is gone.
  Measurement::Handle after_pass(char* at, std::size_t size, int kind) {
    return b_.measure.series([at, size, kind, streams = b_.widest().streams]() {
      const std::size_t part = size / 4;
      for (std::size_t from = 0; from < size; from += part) stream(streams, kind, at + from, part);
      const double begin = steady_seconds();
      stream(streams, kind, at, part);
      return (steady_seconds() - begin) / static_cast<double>(part);
    });
  }

  void cache(const std::string& name, double bytes, bool per_cycle, std::vector<Field> read_fields) {
    const bool shared = name == "l3";
    if (bytes <= 0) {
      b_.measure.figure(
          row(name + ".read_bandwidth_bytes_per_s", unit, "", "Not measured."),
          [](const View&) { return std::nullopt; }, "the operating system has no table of its size");
      return;
    }
    const std::size_t size = rounded(bytes);
    auto pages = std::make_shared<Pages>(size);
    b_.memory.push_back(pages);
    for (int kind = 0; kind < 3; ++kind) {
      char* const at = pages->data();
      const auto series = shared ? after_pass(at, size, kind) : again_and_again(at, size, kind);
      const std::string method =
          shared
              ? fmt::format("the first quarter of {} KiB right after a pass through all, one thread, {}-bit registers",
                            size / 1024, b_.widest().bits)
              : fmt::format("{} KiB again and again on one thread, {}-bit registers", size / 1024, b_.widest().bits);
      b_.measure.figure(row(fmt::format("{}.{}_bandwidth_bytes_per_s", name, kinds[kind].name), unit, method,
                            fmt::format("{} a second by one core in its {} cache.", kinds[kind].words, name),
                            kind == 0 ? read_fields : std::vector<Field>{}),
                        [series](const View& v) { return 1 / v(series); });
      if (per_cycle && kind == 0)
        b_.measure.figure(row(name + ".read_bytes_per_cycle", "bytes per cycle and core", method,
                              "Bytes that a core reads in a cycle from its " + name + " cache.",
                              {Field::memory_l1_bandwidth_bytes_per_unit}),
                          [series](const View& v) { return 1 / v.cycles(series); });
    }
  }

  /// Eight loads a line, from the L1 and from the L2, beside the L2's stream of wide ones. In the
  /// Execution-Cache-Memory model of Intel's cores the two times add up (Stengel et al., ICS 2015); on a Zen 4 core the
  /// longer hides nine tenths of the other. The load that brings a line is part of the stream's time.
  void narrow(double l1, double l2) {
    auto result = row(
        "l2.overlap", "share", "eight loads of 8 bytes a line from the L2, against the same from the L1 and wide loads",
        "Of the shorter of two times, loads from the L1 and lines that the L2 sends, the share that passes "
        "during the longer.",
        fields({{"cpu", "l2_overlap"}}));
    if (l1 <= 0 || l2 <= 0) {
      b_.measure.figure(
          std::move(result), [](const View&) { return std::nullopt; },
          "the operating system has no table of the caches' sizes");
      return;
    }
    const std::size_t near_bytes = rounded(l1 / 2), far_bytes = rounded(std::sqrt(l1 * l2));
    auto pages = std::make_shared<Pages>(far_bytes);
    b_.memory.push_back(pages);
    const auto reads = [&](std::size_t bytes) {
      const std::size_t lines_in = bytes / line_bytes;
      return b_.measure.series(repeated(
          [at = pages->data(), bytes](std::int64_t n) {
            for (; n > 0; --n) native::narrow_read(at, bytes);
          },
          static_cast<double>(lines_in), 300e-6));
    };
    const auto first = reads(near_bytes), second = reads(far_bytes);
    const auto wide = again_and_again(pages->data(), far_bytes, 0);
    b_.measure.figure(std::move(result), [first, second, wide](const View& v) {
      const double loads = v(first), lines = v(wide) * static_cast<double>(line_bytes);
      const double added = loads * 7 / 8 + lines, hidden = std::max(loads, lines);
      return std::clamp((added - v(second)) / (added - hidden), 0.0, 1.0);
    });
  }

  /// Lines that all go to one set of the L1, or to two.
  void few_sets(double l1, double l2) {
    const auto ways = b_.base.get(Field::memory_l1_ways);
    for (const int sets : {1, 2}) {
      auto result = row(fmt::format("l1.{}_line_cycles", sets == 1 ? "one_set" : "two_sets"), "cycles", "",
                        fmt::format("Cycles from one line to the next that the L2 sends to {} of the L1.",
                                    sets == 1 ? "one set" : "two sets"),
                        fields({{"cpu", sets == 1 ? "l1_one_set_line_cycles" : "l1_two_sets_line_cycles"}}));
      const double way = ways ? l1 / *ways : 0;
      if (way < 128 || way * 8 * *ways > l2) {
        b_.measure.figure(
            std::move(result), [](const View&) { return std::nullopt; },
            "the operating system has no table of the caches, or the L2 is too small for it");
        continue;
      }
      const auto stride = static_cast<std::size_t>(way / sets);
      const auto lines = static_cast<std::int64_t>(*ways) * 8 * sets / 16 * 16;
      result.method = fmt::format("{} lines, {} bytes apart, again and again", lines, stride);
      auto pages = std::make_shared<Pages>(stride * static_cast<std::size_t>(lines));
      b_.memory.push_back(pages);
      const auto series = b_.measure.series(repeated(
          [at = pages->data(), stride, lines](std::int64_t n) {
            for (; n > 0; --n) native::column_read(at, stride, lines);
          },
          static_cast<double>(lines)));
      b_.measure.figure(std::move(result), [series](const View& v) { return v.cycles(series); });
    }
  }

  void dram(const std::shared_ptr<Pages>& pages) {
    for (int kind = 0; kind < 3; ++kind) {
      const std::string id = fmt::format("dram.core_{}_bandwidth_bytes_per_s", kinds[kind].name);
      const std::string method =
          fmt::format("blocks of 16 MiB of {} MiB in turn, one thread", pages ? pages->bytes() >> 20 : 0);
      const std::string what = fmt::format("{} a second by one core in DRAM.", kinds[kind].words);
      if (!pages) {
        b_.measure.figure(
            row(id, unit, "", what), [](const View&) { return std::nullopt; },
            "too little memory is free for twice the caches");
        continue;
      }
      const auto series = kind == 0 ? dram_read(b_, pages, 1)
                                    : b_.measure.series([kind, turn = Turn(pages->data(), pages->bytes()),
                                                         s = b_.widest().streams]() mutable {
                                        char* const at = turn.next();
                                        const double from = steady_seconds();
                                        stream(s, kind, at, block);
                                        return (steady_seconds() - from) / static_cast<double>(block);
                                      });
      b_.measure.figure(row(id, unit, method, what,
                            kind == 0 ? fields({{"cpu", "core_dram_bandwidth_bytes_per_s"}}) : std::vector<Field>{}),
                        [series](const View& v) { return 1 / v(series); });
    }
  }

  // A transfer between a host and a device that share memory is a copy: o + k G in LogGP's terms.
  void copies(const std::shared_ptr<Pages>& pages) {
    auto small = std::make_shared<Pages>(8192);
    b_.memory.push_back(small);
    const auto call = b_.measure.series(repeated(
        [at = small->data()](std::int64_t n) {
          volatile std::size_t bytes = 64;
          for (; n > 0; --n) {
            std::memcpy(at + 4096, at, bytes);
            asm volatile("" ::: "memory");
          }
        },
        1));
    b_.measure.figure(row("memcpy.call_s", "s", "memcpy of 64 bytes in the cache",
                          "Time of the smallest copy: LogGP's o and g where host and device share memory.",
                          fields({{"link", "to_overhead_s"},
                                  {"link", "to_gap_s"},
                                  {"link", "from_overhead_s"},
                                  {"link", "from_gap_s"}})),
                      [call](const View& v) { return v(call); });
    if (!pages) return;
    const auto large = b_.measure.series([turn = Turn(pages->data(), pages->bytes())]() mutable {
      char* const at = turn.next();
      const double from = steady_seconds();
      constexpr std::size_t bytes = block / 2;
      std::memcpy(at + bytes, at, bytes);
      asm volatile("" ::: "memory");
      return (steady_seconds() - from) / static_cast<double>(bytes);
    });
    b_.measure.figure(row("memcpy.bandwidth_bytes_per_s", "bytes/s", "memcpy of 8 MiB that no cache holds",
                          "Bytes copied a second: LogGP's 1/G where host and device share memory.",
                          fields({{"link", "to_bandwidth_bytes_per_s"},
                                  {"link", "to_pageable_bandwidth_bytes_per_s"},
                                  {"link", "from_bandwidth_bytes_per_s"},
                                  {"link", "from_pageable_bandwidth_bytes_per_s"}})),
                      [large](const View& v) { return 1 / v(large); });
  }

  Bench& b_;
};

}  // namespace

void add_bandwidth(Bench& b) { Bandwidth(b).run(); }

std::shared_ptr<Pages> stream_memory(Bench& b) {
  const double last =
      std::max(b.base.get(Field::memory_l3_bytes).value_or(0), b.base.get(Field::memory_l2_bytes).value_or(0));
  std::size_t bytes = std::size_t{64} << 20;
  // Blocks in turn through twice a cache with a random victim find a fifth of their lines still there, through four
  // times the cache 2 % (memory/capacity.h). At least twice.
  while (static_cast<double>(bytes) < 4 * last && 2 * bytes <= b.memory_limit) bytes *= 2;
  if (static_cast<double>(bytes) < 2 * last) return nullptr;
  if (!b.stream) b.stream = std::make_shared<Pages>(bytes);
  return b.stream;
}

Measurement::Handle dram_read(Bench& b, const std::shared_ptr<Pages>& pages, int threads) {
  const std::size_t each = pages->bytes() / static_cast<std::size_t>(threads) / block * block;
  auto turns = std::make_shared<std::vector<Turn>>();
  for (int i = 0; i < threads; ++i) turns->emplace_back(pages->data() + static_cast<std::size_t>(i) * each, each);
  return b.measure.series([turns, threads, &team = b.team, read = b.widest().streams.read]() {
    double seconds = 1e9;
    for (int i = 0; i < 3; ++i)
      seconds = std::min(seconds,
                         team.run(threads, [&](int t) { read((*turns)[static_cast<std::size_t>(t)].next(), block); }));
    return seconds / (static_cast<double>(block) * threads);
  });
}

}  // namespace kernelcast::probe::host
