// The back end that measures an OpenCL device through a process of its own (kernelcast-opencl), which records rounds of
// launches that take turns; estimates and flags are those of the host back end (series.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "kernelcast/error.h"
#include "kernelcast/probe.h"
#include "kernelcast/setting.h"
#include "probe/cost_table.h"
#include "probe/four_steps.h"
#include "probe/opencl_kernels.h"
#include "probe/opencl_wire.h"
#include "probe/plateaus.h"
#include "probe/series.h"

namespace kernelcast::probe {
namespace {

using opencl::Operation;
using View = Measurement::View;
using Handle = Measurement::Handle;
using Kind = OpenclArgument::Kind;

constexpr int chain_turns = 4000;
constexpr double clock_ops =
    chain_turns * opencl::chain_ops * 2.0;  // of the chain of integer additions and exclusive ors
constexpr int walked_at_most = 131072, walked = 65536;
constexpr std::size_t smallest_walk = 8192, largest_walk = std::size_t{512} << 20;
constexpr std::size_t small_copy = 64, middle_copy = std::size_t{8} << 20, large_copy = std::size_t{32} << 20;
constexpr int copies = 32;
constexpr int local_steps = 65536, few_barriers = 500, many_barriers = 1500, atomic_ops = 20000;
constexpr std::size_t group_sizes[] = {16, 64, 256};  // of the barriers
constexpr int apart_words = 64;                       // a counter of its own in a line of its own

template <class T>
OpenclArgument scalar(T value) {
  OpenclArgument a;
  a.kind = Kind::scalar;
  a.value.resize(sizeof value);
  std::memcpy(a.value.data(), &value, sizeof value);
  return a;
}

OpenclArgument scalar_of(const std::string& type, double value) {
  if (type == "float") return scalar(static_cast<float>(value));
  if (type == "double") return scalar(value);
  if (type == "ulong") return scalar(static_cast<std::uint64_t>(value));
  return scalar(static_cast<std::uint32_t>(value));
}

/// Turns of a throughput kernel: some 0.1 ms at least, long beside the start of its threads; calls of the library take
/// longer by themselves.
int wide_turns(const Operation& o) {
  const std::string_view text = o.text;
  const bool library = text.find("exp") != text.npos || text.find("log") != text.npos ||
                       text.find("sin") != text.npos || text.find("cos") != text.npos;
  return library ? 2000 : 20000;
}

OpenclArgument buffer(std::size_t bytes) { return {Kind::buffer, bytes, {}, false, false}; }

std::optional<Field> named(std::string_view section, std::string_view key) { return field_named(section, key); }

std::vector<Field> present(std::initializer_list<std::optional<Field>> all) {
  std::vector<Field> out;
  for (const std::optional<Field>& f : all)
    if (f) out.push_back(*f);
  return out;
}

class OpenclProbe {
 public:
  OpenclProbe(const Device& base, const Options& options) : base_(base), options_(options) {}

  Report run() {
    say("the device");
    const OpenclBatchReply about = ask({});
    info_ = about.info;
    if (info_.cpu != (base_.kind == "cpu"))
      throw UsageError(KC_SETTING(device) " " + base_.id + " is a " + base_.kind + ", the OpenCL device \"" +
                       info_.name + "\" is " + (info_.cpu ? "a CPU" : "none") +
                       ": name its device file by " KC_SETTING(device));
    for (const Operation& o : opencl::operations(info_.doubles)) arithmetic(o);
    source_ += opencl::memory_kernels() + opencl::sharing_kernels();
    memory();
    sharing();
    transfers();
    OpenclBatch batch;
    for (OpenclLaunch& l : launches_) {
      l.source = source_;
      l.options = "-cl-mad-enable";
      batch.launches.push_back(l);
    }
    batch.transfers = transfers_;
    batch.seconds = options_.time_limit_s;
    if (info_.cpu) batch.clock = static_cast<int>(chain_launch_.at("iadd"));
    batch.max_rounds = options_.quick ? 6 : 200;
    say("launches");
    recorded_ = ask(batch);
    return report();
  }

 private:
  struct Arithmetic {
    Operation operation;
    int width = 1;
    std::size_t chain = 0, wide = 0;  // launches
    [[nodiscard]] std::string id(const std::string& what) const {
      return width == 1 ? fmt::format("{}.{}", operation.name, what)
                        : fmt::format("{}.v{}.{}", operation.name, width, what);
    }
    [[nodiscard]] std::string written() const { return width == 1 ? "scalars" : fmt::format("vectors of {}", width); }
  };
  struct PointerChase {
    std::size_t bytes = 0, shorter = 0, longer = 0;
  };
  struct Stream {
    std::string id, words;
    std::size_t launch = 0;
    double bytes = 0;
    std::vector<Field> fields;
  };

  void say(const std::string& what) const {
    if (options_.progress) options_.progress("probe: " + what);
  }

  OpenclBatchReply ask(const OpenclBatch& batch) const {
    OpenclBatchReply reply = run_batch_in_process(options_.opencl_runner, batch, 4 * options_.time_limit_s + 120);
    if (!reply.failure.empty()) throw LimitError(KC_SETTING(backend) " opencl: " + reply.failure);
    return reply;
  }

  std::size_t launch(std::string kernel, std::size_t groups, std::size_t local, std::vector<OpenclArgument> arguments) {
    OpenclLaunch l;
    l.kernel = std::move(kernel);
    l.grid[0] = groups;
    l.block[0] = local;
    l.arguments = std::move(arguments);
    launches_.push_back(std::move(l));
    return launches_.size() - 1;
  }

  // A CPU runs a work-group on a thread; a GPU wants many warps.
  [[nodiscard]] std::size_t groups() const { return static_cast<std::size_t>(info_.units) * (info_.cpu ? 1 : 8); }
  [[nodiscard]] std::size_t local() const { return info_.cpu ? 1 : 256; }

  void arithmetic(const Operation& o) {
    at_width(o, 1);
    if (!o.vectors) return;
    for (int width : opencl::vector_widths)
      if (!options_.quick || width == opencl::vector_widths[0]) at_width(o, width);
  }

  void at_width(const Operation& o, int width) {
    source_ += opencl::chain_kernel(o, width) + opencl::wide_kernel(o, width);
    const std::size_t element = static_cast<std::size_t>(width) * 8;
    const auto kernel = [&](const std::string& name, std::size_t work_groups, std::size_t items, int turns) {
      return launch(
          name, work_groups, items,
          {buffer(work_groups * items * element), scalar(turns), scalar_of(o.type, o.a), scalar_of(o.type, o.b)});
    };
    const std::size_t chain = kernel(opencl::name_of_chain(o, width), 1, 1, chain_turns);
    if (width == 1) chain_launch_[o.name] = chain;
    arithmetic_.push_back({o, width, chain, kernel(opencl::name_of_wide(o, width), groups(), local(), wide_turns(o))});
  }

  void memory() {
    empty_ = launch("empty", 1, 1, {buffer(64)});
    const auto known = [&](Field f) { return base_.get(f).value_or(0); };
    l1_ = known(Field::memory_l1_bytes);
    l2_ = known(Field::memory_l2_bytes);
    l3_ = known(Field::memory_l3_bytes);
    const double last = std::max({l1_, l2_, l3_});
    std::size_t to = std::size_t{16} << 20;
    while (static_cast<double>(to) < 2 * last && to < largest_walk &&
           2.0 * static_cast<double>(to) <= std::min(info_.largest_buffer_bytes, info_.memory_bytes / 8))
      to *= 2;
    beyond_ = last > 0 && static_cast<double>(to) >= 2 * last;
    for (std::size_t bytes = smallest_walk; bytes <= to; bytes *= 2) {
      const int once = static_cast<int>(std::min<std::size_t>(bytes / 64, walked_at_most));
      OpenclArgument next = buffer(bytes);
      next.walk = true;
      const auto walk = [&](int steps) { return launch("walk", 1, 1, {next, buffer(64), scalar(steps)}); };
      const std::size_t shorter = walk(once), longer = walk(once + walked);
      chases_.push_back({bytes, shorter, longer});
    }
    if (l1_ > 0 && info_.cpu) stream("l1", l1_ / 2, 256, {}, "in the L1 caches of all units");
    if (l1_ > 0 && l2_ > 0) stream("l2", std::sqrt(l1_ * l2_), 32, {}, "in the L2 caches");
    if (beyond_) {
      std::vector<Field> to_fields = present({named("memory", "sustained_dram_bandwidth_bytes_per_s")});
      if (!base_.get(Field::memory_dram_bandwidth_bytes_per_s))
        to_fields.push_back(Field::memory_dram_bandwidth_bytes_per_s);
      stream("dram", static_cast<double>(to) / info_.units, 1, to_fields, "in memory that no cache holds");
    }
  }

  /// `bytes` for each unit of a CPU, for all of a GPU.
  void stream(const std::string& level, double bytes, int turns, std::vector<Field> fields, const std::string& where) {
    const double items = static_cast<double>(groups() * local());
    const double total = info_.cpu ? bytes * info_.units : level == "dram" ? bytes * info_.units : bytes;
    const int each = std::max(4, static_cast<int>(total / 2 / 64 / items) / 4 * 4);
    const auto size = static_cast<std::size_t>(each * items * 64);
    const int step = info_.cpu ? 1 : static_cast<int>(items);
    for (const bool copy : {false, true}) {
      const std::size_t index =
          launch(copy ? "copy" : "read", groups(), local(),
                 {buffer(size), buffer(std::max<std::size_t>(size, static_cast<std::size_t>(items) * 64)), scalar(each),
                  scalar(step), scalar(turns)});
      streams_.push_back({fmt::format("{}.{}_bandwidth_bytes_per_s", level, copy ? "copy" : "read"),
                          fmt::format("Bytes {} a second {}.", copy ? "read and written" : "read", where), index,
                          static_cast<double>(size) * turns * (copy ? 2 : 1), copy ? std::vector<Field>{} : fields});
    }
  }

  /// What work-items share: local memory, barriers, atomic operations.
  void sharing() {
    const OpenclArgument local_memory{Kind::local, opencl::local_words * 4, {}, false, false};
    for (const int steps : {local_steps, 2 * local_steps})
      local_walk_.push_back(launch("local_walk", 1, 1, {buffer(64), local_memory, scalar(steps)}));
    for (const std::size_t size : group_sizes)
      for (const int count : {few_barriers, many_barriers})
        barriers_.push_back(launch("barriers", 1, size, {buffer(size * 4), local_memory, scalar(count)}));
    atomic_chain_ = launch("atomic_chain", 1, 1, {buffer(64), scalar(atomic_ops)});
    const std::size_t items = groups() * local();
    for (const int apart : {0, apart_words}) {
      const std::size_t bytes = (items * static_cast<std::size_t>(apart) + 16) * 4;
      atomics_.push_back(launch("atomics", groups(), local(), {buffer(bytes), scalar(apart), scalar(atomic_ops)}));
    }
  }

  void transfers() {
    for (const bool to : {true, false}) {
      transfers_.push_back({small_copy, to, 1});
      transfers_.push_back({small_copy, to, copies});
      transfers_.push_back({middle_copy, to, 1});
      transfers_.push_back({large_copy, to, 1});
    }
  }

  // ---- from recorded rounds to figures ----

  /// Seconds of a launch's rounds, by the device's clock less `less`, over `items`.
  Handle series(std::size_t index, double items, double less = 0, bool wall = false) {
    return measure_.series(
        [this, &rounds = recorded_.launches.at(index), items, less, wall, i = std::size_t{0}]() mutable {
          const OpenclSeconds& s = rounds.at(i++);
          now_ = s.beside_s > 0 ? std::max((s.beside_s - fastest_empty_) / clock_ops, 1e-12) : cycle_;
          return std::max((wall ? s.wall_s : s.device_s) - less, 1e-12) / items;
        });
  }

  Handle transfer(std::size_t index, double items, bool started) {
    return measure_.series([&rounds = recorded_.transfers.at(index), items, started, i = std::size_t{0}]() mutable {
      const OpenclRunner::Transfer& t = rounds.at(i++);
      return (started ? t.started_s : t.done_s) / items;
    });
  }

  [[nodiscard]] double fastest_of(std::size_t index) const {
    std::vector<Sample> samples;
    for (const OpenclSeconds& s : recorded_.launches.at(index)) samples.push_back({s.device_s, 1});
    return fastest(samples);
  }

  void clock() {
    const double rated = base_.get(Field::clock_sustained_clock_hz)
                             .value_or(base_.get(Field::clock_boost_clock_hz)
                                           .value_or(base_.get(Field::clock_base_clock_hz).value_or(info_.clock_hz)));
    cycle_ = 1 / rated;
    clock_words_ = "cycles of the device file's clock";
    if (!info_.cpu) return;
    const std::size_t index = chain_launch_.at("iadd");
    const double less = fastest_of(empty_);
    cycle_ = (fastest_of(index) - less) / clock_ops;
    clock_words_ = "cycles by a chain of integer additions and exclusive ors, one each, launched beside it";
    measure_.figure(row("clock.core_hz", "Hz", "chain of dependent integer additions and exclusive ors, one cycle each",
                        "Clock of a unit that computes.", {Field::clock_sustained_clock_hz}),
                    [h = series(index, clock_ops, less)](const View& v) { return 1 / v(h); });
  }

  Report report() {
    for (std::size_t i = 0; i < launches_.size(); ++i)
      if (!recorded_.failures.at(i).empty()) throw LimitError(KC_SETTING(backend) " opencl: " + recorded_.failures[i]);
    const double less = fastest_of(empty_);
    clock();
    fastest_empty_ = less;
    // Read before and after each sample, the shorter counts: the one before is not known, the one after was recorded
    // with it.
    measure_.clock([this] { return std::exchange(now_, std::numeric_limits<double>::infinity()); });
    for (const Arithmetic& a : arithmetic_) latency(a, less);
    for (const Arithmetic& a : arithmetic_) throughput(a, less);
    add_cost_table(measure_, chains_,
                   "one work-item, dependent operations; mean of the ten fastest repeats; " + clock_words_,
                   "the device has no FP64");
    walks();
    for (const Stream& s : streams_)
      measure_.figure(
          row(s.id, "bytes/s", fmt::format("float16, {} work-groups of {}", groups(), local()), s.words, s.fields),
          [h = series(s.launch, s.bytes, less)](const View& v) { return 1 / v(h); });
    measure_.figure(row("launch.wall_s", "s",
                        "a kernel that does nothing, from clEnqueueNDRangeKernel to the end of clWaitForEvents",
                        "Time of an empty launch as the host sees it.", {Field::system_launch_overhead_s}),
                    [h = series(empty_, 1, 0, true)](const View& v) { return v(h); });
    shared_things(less);
    copies_between();
    Measurement::Limits limits;
    std::size_t rounds = recorded_.transfers.front().size();
    limits.min_rounds = limits.max_rounds = static_cast<int>(rounds);
    limits.time_limit_s = 1e9;
    measure_.run(limits, nullptr);
    Report out;
    out.backend = "opencl";
    out.device = base_;
    out.results = measure_.results();
    for (Result& r : unseen_figures({"the device's compiler assigns registers", "OpenCL C has no control codes",
                                     "the device's compiler orders instructions"}))
      out.results.push_back(std::move(r));
    return out;
  }

  void latency(const Arithmetic& a, double less) {
    const double ops = chain_turns * opencl::chain_ops * a.operation.operations;
    const Handle h = series(a.chain, ops, less);
    const std::string name = a.operation.name;
    std::vector<Field> fields;
    if (a.width == 1) {
      chains_[name] = h;
      if (name == "ffma") fields = {Field::latency_fp32_cycles};
      if (name == "dfma") fields = {Field::latency_fp64_cycles};
      if (name == "iadd" && !info_.cpu) fields = {Field::latency_int_cycles};
    }
    measure_.figure(row(a.id("latency_cycles"), "cycles", fmt::format("one work-item, dependent; {}", clock_words_),
                        fmt::format("Cycles of one of the {} whose result the next needs, written with {}.",
                                    a.operation.words, a.written()),
                        fields),
                    [h](const View& v) { return v.cycles(h); });
  }

  void throughput(const Arithmetic& a, double less) {
    const double ops = static_cast<double>(wide_turns(a.operation)) * opencl::chains * opencl::repeats *
                       a.operation.operations * a.width * static_cast<double>(groups() * local()) / info_.units;
    measure_.figure(
        row(a.id("throughput_per_cycle"), "operations per cycle and unit",
            fmt::format("8 chains a work-item, {} work-groups of {}; {}", groups(), local(), clock_words_),
            fmt::format("{} that a unit completes in a cycle, written with {}.", a.operation.words, a.written())),
        [h = series(a.wide, ops, less)](const View& v) { return 1 / v.cycles(h); });
  }

  void walks() {
    std::vector<std::pair<Handle, Handle>> pairs;
    for (const PointerChase& w : chases_) pairs.emplace_back(series(w.shorter, 1), series(w.longer, 1));
    const auto seconds = [](const View& v, std::pair<Handle, Handle> p) { return (v(p.second) - v(p.first)) / walked; };
    const auto nearest = [&](double bytes) {
      std::size_t best = 0;
      for (std::size_t i = 0; i < chases_.size(); ++i)
        if (std::abs(std::log(static_cast<double>(chases_[i].bytes) / bytes)) <
            std::abs(std::log(static_cast<double>(chases_[best].bytes) / bytes)))
          best = i;
      return best;
    };
    const auto level = [&](const std::string& id, std::size_t i, bool known, std::vector<Field> fields,
                           const std::string& unknown) {
      measure_.figure(
          row(id, "cycles",
              fmt::format("one work-item walks through {} KiB: {} steps more; {}", chases_[i].bytes / 1024, walked,
                          clock_words_),
              "Cycles of a load whose result is the address of the next.", std::move(fields)),
          [p = pairs[i], known, seconds, c = cycle_](const View& v) -> std::optional<double> {
            if (!known) return std::nullopt;
            return seconds(v, p) / c;
          },
          unknown);
    };
    const std::string no_size = "the device file has no size of this cache";
    level("l1.latency_cycles", nearest(std::max(l1_ / 2, 1.0)), l1_ > 0, {Field::memory_l1_latency_cycles}, no_size);
    level("l2.latency_cycles", nearest(std::sqrt(std::max(l1_ * l2_, 1.0))), l1_ > 0 && l2_ > 0,
          {Field::memory_l2_latency_cycles}, no_size);
    level("dram.latency_cycles", chases_.size() - 1, beyond_, {Field::memory_dram_latency_cycles},
          "the largest buffer is no more than twice the caches");
    measure_.table(
        row("memory.latency_by_size", "bytes, s", "one work-item, pointer chase through buffers of each size",
            "Time of a load by the size of the buffer that it walks through: sizes, then times."),
        [pairs, seconds, all = chases_](const View& v) {
          std::vector<std::vector<double>> out(2);
          for (std::size_t i = 0; i < all.size(); ++i) {
            out[0].push_back(static_cast<double>(all[i].bytes));
            out[1].push_back(seconds(v, pairs[i]));
          }
          return out;
        });
    for (std::size_t k = 0; k < 2; ++k)
      measure_.step(
          row(fmt::format("l{}.size_bytes", k + 1), "bytes", "last power of two before the curve of latency climbs",
              fmt::format("Size of the L{} cache as one work-item finds it.", k + 1)),
          [k, pairs, seconds, all = chases_](const View& v) -> std::optional<double> {
            std::vector<CurvePoint> curve;
            for (std::size_t i = 0; i < all.size(); ++i)
              curve.push_back({static_cast<double>(all[i].bytes), seconds(v, pairs[i])});
            const std::vector<Plateau> found = plateaus(curve);
            if (k + 1 >= found.size()) return std::nullopt;
            return found[k].last_bytes;
          },
          "the curve of latency has no such step");
  }

  void shared_things(double less) {
    measure_.figure(row("shared.latency_cycles", "cycles",
                        fmt::format("one work-item walks through {} words: {} steps more; {}", opencl::local_words,
                                    local_steps, clock_words_),
                        "Cycles of a load from local memory whose result is the address of the next.",
                        {Field::memory_shared_latency_cycles}),
                    [one = series(local_walk_[0], local_steps), two = series(local_walk_[1], local_steps)](
                        const View& v) { return v.cycles(two) - v.cycles(one); });
    std::vector<std::pair<Handle, Handle>> pairs;
    constexpr double more = many_barriers - few_barriers;
    for (std::size_t i = 0; i + 1 < barriers_.size(); i += 2)
      pairs.emplace_back(series(barriers_[i], more), series(barriers_[i + 1], more));
    measure_.table(row("barrier.cycles_by_threads", "work-items, cycles",
                       fmt::format("one work-group, {} barriers more, each behind a store; {}", more, clock_words_),
                       "Cycles from one barrier to the next by the size of the work-group: sizes, then cycles."),
                   [pairs](const View& v) {
                     std::vector<std::vector<double>> out(2);
                     for (std::size_t i = 0; i < pairs.size(); ++i) {
                       out[0].push_back(static_cast<double>(group_sizes[i]));
                       out[1].push_back(v.cycles(pairs[i].second) - v.cycles(pairs[i].first));
                     }
                     return out;
                   });
    measure_.figure(
        row("atomic.global_latency_cycles", "cycles",
            fmt::format("one work-item, each addition to the word that the one before names; {}", clock_words_),
            "Cycles of an atomic addition in global memory whose result is needed."),
        [h = series(atomic_chain_, atomic_ops, less)](const View& v) { return v.cycles(h); });
    const std::string method = fmt::format("{} work-groups of {}, {} additions each", groups(), local(), atomic_ops);
    const double items = atomic_ops * static_cast<double>(groups() * local());
    measure_.figure(row("atomic.same_address_per_s", "additions/s", method, "Atomic additions a second to one word."),
                    [h = series(atomics_[0], items, less)](const View& v) { return 1 / v(h); });
    measure_.figure(row("atomic.apart_per_s", "additions/s", method,
                        "Atomic additions a second, each work-item to a word in a line of its own."),
                    [h = series(atomics_[1], items, less)](const View& v) { return 1 / v(h); });
  }

  // LogGP (Alexandrov et al. 1995): o until the host is free again, g between messages, L + o until one has arrived, G
  // from two large ones.
  void copies_between() {
    for (std::size_t k = 0; k < 2; ++k) {
      const std::string way = k == 0 ? "to" : "from", words = k == 0 ? "to the device" : "from the device";
      const Handle one = transfer(4 * k, 1, false), started = transfer(4 * k + 1, copies, true),
                   gap = transfer(4 * k + 1, copies, false), middle = transfer(4 * k + 2, 1, false),
                   large = transfer(4 * k + 3, 1, false);
      const auto field = [&](const char* what) { return named("link", way + what); };
      const std::string small = fmt::format("{} copies of {} bytes {}", copies, small_copy, words);
      measure_.figure(row("transfer." + way + "_overhead_s", "s", small + ", until the last call returns",
                          "LogGP's o: time that the host spends on starting a copy.", present({field("_overhead_s")})),
                      [started](const View& v) { return v(started); });
      measure_.figure(row("transfer." + way + "_gap_s", "s", small + ", until the last has arrived",
                          "LogGP's g: time between two small copies.", present({field("_gap_s")})),
                      [gap](const View& v) { return v(gap); });
      measure_.figure(row("transfer." + way + "_latency_s", "s",
                          fmt::format("one copy of {} bytes {} until it has arrived, less o", small_copy, words),
                          "LogGP's L: time of the smallest copy beyond o.", present({field("_latency_s")})),
                      [one, started](const View& v) { return std::max(0.0, v(one) - v(started)); });
      measure_.figure(row("transfer." + way + "_bandwidth_bytes_per_s", "bytes/s",
                          fmt::format("copies of {} and {} MiB {}", middle_copy >> 20, large_copy >> 20, words),
                          "LogGP's 1/G: bytes a second of large copies from pageable memory.",
                          present({field("_pageable_bandwidth_bytes_per_s"),
                                   info_.cpu ? field("_bandwidth_bytes_per_s") : std::nullopt})),
                      [middle, large](const View& v) {
                        return static_cast<double>(large_copy - middle_copy) / (v(large) - v(middle));
                      });
    }
  }

  const Device& base_;
  const Options& options_;
  OpenclInfo info_;
  std::string source_, clock_words_;
  std::vector<OpenclLaunch> launches_;
  std::vector<OpenclBatch::Transfer> transfers_;
  std::map<std::string, std::size_t> chain_launch_;
  std::vector<Arithmetic> arithmetic_;
  std::vector<PointerChase> chases_;
  std::vector<Stream> streams_;
  std::vector<std::size_t> local_walk_, barriers_, atomics_;  // launches
  std::size_t empty_ = 0, atomic_chain_ = 0;
  double l1_ = 0, l2_ = 0, l3_ = 0, cycle_ = 0, fastest_empty_ = 0;
  double now_ = std::numeric_limits<double>::infinity();  // seconds of a cycle beside the last sample
  bool beyond_ = false;
  OpenclBatchReply recorded_;
  Measurement measure_;
  std::map<std::string, Handle> chains_;
};

}  // namespace

Report probe_opencl(const Device& base, const Options& options) { return OpenclProbe(base, options).run(); }

}  // namespace kernelcast::probe
