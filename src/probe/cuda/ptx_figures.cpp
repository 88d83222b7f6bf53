// The figures that need no patched cubins.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "probe/cost_table.h"
#include "probe/cuda/figures.h"
#include "probe/cuda/ptx.h"
#include "probe/plateaus.h"

namespace kernelcast::probe::cuda {
namespace {

using Source = Figures::Source;
using View = Figures::View;
using Handles = Figures::Handles;

std::vector<Field> link(const std::string& key) {
  const std::optional<Field> f = field_named("link", key);
  return f ? std::vector{*f} : std::vector<Field>{};
}

void arithmetic(Figures& f, const Record& record) {
  for (const Operation& o : operations(record.info.architecture)) {
    const std::string name = o.name;
    const bool packed = o.type == std::string("h2");  // two operations in an instruction, which has one latency
    std::vector<Field> latency, lanes;
    if (name == "ffma") latency = {Field::latency_fp32_cycles};
    if (name == "dfma") latency = {Field::latency_fp64_cycles}, lanes = {Field::compute_fp64_lanes_per_unit};
    if (name == "iadd") latency = {Field::latency_int_cycles}, lanes = {Field::compute_int_add_lanes_per_unit};
    if (name == "mufu") latency = {Field::latency_special_cycles}, lanes = {Field::compute_special_lanes_per_unit};
    if (name == "imad") lanes = {Field::compute_int_mul_lanes_per_unit};
    if (name == "ishift") lanes = {Field::compute_shift_lanes_per_unit};
    if (name == "cvt") lanes = {Field::compute_convert_lanes_per_unit};
    if (name == "hfma2") lanes = {Field::compute_fp16_lanes_per_unit};
    f.figure(
        row(name + ".latency_cycles", "cycles", "dependence chains of two lengths on one warp, second of two passes",
            fmt::format("Cycles of one of the {} whose result the next needs.", o.words), latency),
        f.pair("chain." + name), slope(f.items_between("chain." + name) / (packed ? 2 : 1)));
    f.figure(row(name + ".throughput_per_cycle", "operations per cycle and SM",
                 "8 chains a thread, 16 warps, bodies of two lengths, second of two passes",
                 fmt::format("{} that an SM completes in a cycle.", o.words), lanes),
             f.pair("wide." + name), rate(f.items_between("wide." + name)), false, no_difference);
  }
  const double items = f.items_between("device.ffma");
  std::vector<Source> both = f.pair("device.ffma", Metric::device_s);
  f.figure(row("device.ffma_flops_per_s", "FLOP/s", "8 chains a thread, 32 warps an SM, two lengths, time by events",
               "FP32 rate of the whole device as the driver's assembler orders multiply-adds."),
           both, rate(2 * items), false, no_difference);
  for (const Source& s : f.pair("device.ffma")) both.push_back(s);
  f.figure(
      row("clock.core_hz", "Hz", "cycles of an SM over seconds by events, all SMs on FP32 multiply-adds, two lengths",
          "Clock of the SMs under load.", {Field::clock_sustained_clock_hz}),
      both, clock_rate(), false, no_difference);
}

// The mean of ten repeats of one work-item, each the difference of two chains.
void costs(Figures& f) {
  Measurement m;
  m.clock([] { return 1.0; });
  std::map<std::string, Measurement::Handle> chains;
  std::size_t rounds = ~std::size_t{0};
  for (const char* name : {"fadd", "fmul", "fdiv", "fsin", "fcos", "flog", "dadd", "ddiv"}) {
    const std::string of = std::string("chain.") + name;
    std::string failure;
    std::vector<double> one = f.readings({of + ".short"}, failure), two = f.readings({of + ".long"}, failure);
    one.resize(std::min(one.size(), two.size()));
    if (one.empty()) continue;
    const double items = f.items_between(of);
    for (std::size_t i = 0; i < one.size(); ++i) one[i] = std::max(0.0, two[i] - one[i]) / items;
    rounds = std::min(rounds, one.size());
    chains[name] = m.series([one = std::move(one), i = std::size_t{0}]() mutable { return one[i++]; });
  }
  add_cost_table(
      m, chains,
      "dependence chains of one warp, difference of two lengths; mean of the ten fastest repeats; sine, cosine "
      "and logarithm by the special-function unit",
      "a chain of its class did not run");
  Measurement::Limits limits;
  limits.min_rounds = limits.max_rounds = chains.empty() ? 0 : static_cast<int>(rounds);
  limits.time_limit_s = 1e9;
  if (!chains.empty()) m.run(limits, nullptr);
  for (Result& r : m.results()) f.add(std::move(r));
}

void shared(Figures& f) {
  const auto latency = [&](const std::string& id, const std::string& of, const std::string& method,
                           const std::string& what, std::vector<Field> fields) {
    f.figure(row(id, "cycles", method, what, std::move(fields)), f.pair(of), slope(f.items_between(of)));
  };
  latency("shared.latency_cycles", "shared.chase", "dependent loads of one warp, bodies of two lengths",
          "Cycles of a load from shared memory whose result is the next address.",
          {Field::memory_shared_latency_cycles});
  for (int bytes : {4, 16})
    f.figure(row(fmt::format("shared.read{}_bytes_per_cycle", bytes), "bytes per cycle and SM",
                 "16 warps, lanes beside each other, bodies of two lengths",
                 fmt::format("Shared memory bandwidth of an SM, loads of {} bytes.", bytes),
                 bytes == 4 ? std::vector{Field::memory_shared_bandwidth_bytes_per_unit} : std::vector<Field>{}),
             f.pair(fmt::format("shared.read{}", bytes)), rate(f.items_between(fmt::format("shared.read{}", bytes))),
             false, no_difference);
  // Time of a load by the distance of the lanes' words: it doubles from where two lanes meet in a bank, until all do.
  std::vector<Source> sources;
  std::vector<double> strides;
  for (int stride = 4; stride <= 512; stride *= 2) {
    strides.push_back(stride);
    for (const Source& s : f.pair(fmt::format("shared.stride.{}", stride))) sources.push_back(s);
  }
  const auto times = [](const View& v, const Handles& h) {
    std::vector<double> out;
    for (std::size_t i = 0; i + 1 < h.size(); i += 2) out.push_back(v(h[i + 1]) - v(h[i]));
    return out;
  };
  const auto bank_bytes = [strides](const std::vector<double>& t) {
    std::size_t i = 0;
    while (i + 1 < t.size() && t[i + 1] <= 1.3 * t.front()) ++i;
    return strides[i];
  };
  const std::string method = "16 warps, loads of 4 bytes at strides from 4 to 512 bytes, bodies of two lengths";
  f.figure(
      row("shared.bank_bytes", "bytes", method, "The largest distance of lanes without conflict: width of a bank.",
          {Field::memory_shared_bank_bytes}),
      sources, [=](const View& v, const Handles& h) -> std::optional<double> { return bank_bytes(times(v, h)); }, true);
  f.figure(
      row("shared.banks", "", method, "Distance at which all lanes meet in one bank, in widths of a bank.",
          {Field::memory_shared_banks}),
      sources,
      [=](const View& v, const Handles& h) -> std::optional<double> {
        const std::vector<double> t = times(v, h);
        const double most = *std::ranges::max_element(t);
        for (std::size_t i = 0; i < t.size(); ++i)
          if (t[i] > 0.9 * most)
            return most > 1.5 * t.front() ? std::optional(strides[i] / bank_bytes(t)) : std::nullopt;
        return std::nullopt;
      },
      true, "no stride takes longer than another");
  latency("atomic.global_latency_cycles", "atomic.global", "one thread, each adds what the one before returned",
          "Cycles of an atomic addition in global memory whose result is needed.", {});
  latency("atomic.shared_latency_cycles", "atomic.shared", "one thread, each adds what the one before returned",
          "Cycles of an atomic addition in shared memory whose result is needed.", {});
  for (const auto& [apart, id, words] :
       {std::tuple{0, "atomic.same_address_per_s", "all threads add to one word"},
        std::tuple{4, "atomic.neighbours_per_s", "each thread adds to a word of its own, words beside each other"},
        std::tuple{128, "atomic.apart_per_s", "each thread adds to a word of its own, 128 bytes apart"}}) {
    const std::string of = fmt::format("atomic.wide.{}", apart);
    f.figure(row(id, "additions/s", fmt::format("all SMs, {}, no result needed, two lengths, time by events", words),
                 "Atomic additions of 32 bits in a second."),
             f.pair(of, Metric::device_s), rate(f.items_between(of)), false, no_difference);
  }
  std::vector<Source> barriers;
  for (int threads = 32; threads <= 1024; threads *= 2)
    for (const Source& s : f.pair(fmt::format("barrier.{}", threads))) barriers.push_back(s);
  const double each = f.items_between("barrier.32");
  f.table(row("barrier.cycles_by_threads", "threads, cycles", "one block, bodies of two lengths",
              "Cycles of a barrier by the threads of the block: threads, then cycles."),
          barriers, [each](const View& v, const Handles& h) {
            std::vector<std::vector<double>> out(2);
            for (std::size_t i = 0; i + 1 < h.size(); i += 2) {
              out[0].push_back(32.0 * static_cast<double>(1U << (i / 2)));
              out[1].push_back((v(h[i + 1]) - v(h[i])) / each);
            }
            return out;
          });
}

double bytes_of_name(const std::string& name) { return std::strtod(name.substr(name.rfind('.') + 1).c_str(), nullptr); }

void memory(Figures& f, const Record& record) {
  const double l2 = record.info.l2_bytes;
  for (const auto& [level, title] : {std::pair{"l1", "L1"}, std::pair{"l2", "L2"}}) {
    const std::vector<std::string> names = f.beginning(fmt::format("chase.{}.", level));
    std::vector<Source> sources;
    std::vector<double> sizes, items;
    for (const std::string& n : names) {
      sources.push_back({n});
      sizes.push_back(bytes_of_name(n));
      items.push_back(f.launch(n)->items);
    }
    if (sources.empty()) sources.push_back({fmt::format("chase.{}.16384", level)});
    const auto curve = [sizes, items](const View& v, const Handles& h) {
      std::vector<std::vector<double>> out(2);
      for (std::size_t i = 0; i < h.size(); ++i) {
        out[0].push_back(sizes[i]);
        out[1].push_back(v(h[i]) / items[i]);
      }
      return out;
    };
    const std::string method =
        fmt::format("one thread walks at random through blocks of each size, lines of 128 bytes, {}",
                    level == std::string("l1") ? "through L1" : "past L1");
    f.table(row(fmt::format("memory.{}_latency_by_size", level), "bytes, cycles", method,
                "Cycles of a load by the size of the block: sizes, then cycles."),
            sources, curve);
    f.figure(
        row(fmt::format("{}.size_bytes", level), "bytes", method + "; last size before the curve climbs",
            fmt::format("Size of {} as one thread finds it, to the step of the curve.", title)),
        sources,
        [curve](const View& v, const Handles& h) -> std::optional<double> {
          const auto lists = curve(v, h);
          std::vector<CurvePoint> points;
          for (std::size_t i = 0; i < lists[0].size(); ++i) points.push_back({lists[0][i], lists[1][i]});
          const std::vector<Plateau> found = plateaus(points);
          return found.size() > 1 ? std::optional(found.front().last_bytes) : std::nullopt;
        },
        true, "the curve of latency has no step");
    const auto at = [&](const std::string& id, double bytes, Field field, const std::string& what) {
      std::size_t best = 0;
      for (std::size_t i = 1; i < sizes.size(); ++i)
        if (std::abs(std::log(sizes[i] / bytes)) < std::abs(std::log(sizes[best] / bytes))) best = i;
      const double loads = items.empty() ? 1 : items[best];
      f.figure(row(id, "cycles", fmt::format("{}; here {:.0f} KiB", method, sizes.empty() ? 0 : sizes[best] / 1024),
                   what, {field}),
               {sources[best]},
               [loads](const View& v, const Handles& h) -> std::optional<double> { return v(h[0]) / loads; });
    };
    if (level == std::string("l1")) {
      at("l1.latency_cycles", 8192, Field::memory_l1_latency_cycles, "Cycles of a load that hits L1.");
    } else {
      at("l2.latency_cycles", std::max(65536.0, l2 / 8), Field::memory_l2_latency_cycles,
         "Cycles of a load that hits L2.");
      at("dram.latency_cycles", 1e15, Field::memory_dram_latency_cycles,
         "Cycles of a load from device memory, the translation of a far address included.");
    }
    std::vector<Source> fills;
    std::vector<double> strides;
    for (const std::string& n : f.beginning(fmt::format("fill.{}.", level))) {
      fills.push_back({n});
      strides.push_back(bytes_of_name(n));
    }
    if (fills.empty()) fills.push_back({fmt::format("fill.{}.32", level)});
    f.figure(
        row(fmt::format("{}.fill_bytes", level), "bytes",
            "one thread walks in order through what the cache does not hold, strides from 8 (L2: 32) to 256 bytes",
            fmt::format("What a miss brings into {}: the stride from which every load misses.", title),
            level == std::string("l1") ? std::vector{Field::memory_sector_bytes} : std::vector<Field>{}),
        fills,
        [strides](const View& v, const Handles& h) -> std::optional<double> {
          if (v(h.front()) > 0.9 * v(h.back())) return std::nullopt;
          std::size_t i = 0;
          while (v(h[i]) < 0.9 * v(h.back())) ++i;
          return strides[i];
        },
        true, "the smallest stride takes as long as the largest");
  }
  const auto bandwidth = [&](const std::string& id, const std::string& of, Metric metric, const std::string& unit,
                             const std::string& what, std::vector<Field> fields) {
    f.figure(row(id, unit, "loads of 16 bytes, four at a time, two lengths", what, std::move(fields)),
             f.pair(of, metric), rate(f.items_between(of)), false, no_difference);
  };
  bandwidth("l1.read_bytes_per_cycle", "read.l1", Metric::cycles, "bytes per cycle and SM", "L1 bandwidth of an SM.",
            {Field::memory_l1_bandwidth_bytes_per_unit});
  bandwidth("l2.read_bandwidth_bytes_per_s", "read.l2", Metric::device_s, "bytes/s", "L2 bandwidth of all SMs.",
            {Field::memory_l2_bandwidth_bytes_per_s});
  bandwidth("dram.read_bandwidth_bytes_per_s", "read.dram", Metric::device_s, "bytes/s",
            "Bytes read a second from device memory.", {Field::memory_sustained_dram_bandwidth_bytes_per_s});
  bandwidth("dram.copy_bandwidth_bytes_per_s", "copy.dram", Metric::device_s, "bytes/s",
            "Bytes read and written a second in device memory.", {});
}

// LogGP (Alexandrov et al. 1995): o until the host is free again, g between messages, L + o until one has arrived, G
// from two large ones.
void host(Figures& f) {
  const auto one = [](const View& v, const Handles& h) -> std::optional<double> { return v(h[0]); };
  f.figure(row("launch.wall_s", "s", "a kernel that does nothing, between two events, until the host has seen its end",
               "Time of an empty launch as the host sees it.", {Field::system_launch_overhead_s}),
           {{"launch.one", Metric::wall_s}}, one);
  f.figure(row("launch.gap_s", "s", "64 empty kernels back to back", "Time between two empty launches."),
           {{"launch.many", Metric::wall_s}}, one);
  f.figure(row("launch.issue_s", "s", "64 empty kernels back to back, until the last call returns",
               "Time that the host spends on a launch."),
           {{"launch.many", Metric::issue_s}}, one);
  constexpr double copies = 32, between = 24.0 * (1U << 20);
  for (const char* way : {"to", "from"}) {
    const std::string words = way == std::string("to") ? "to the device" : "from the device";
    for (const char* kind : {"pinned", "pageable"}) {
      const std::string of = fmt::format("{}.{}.", way, kind);
      const bool pinned = kind == std::string("pinned");
      const std::string id = fmt::format("transfer.{}_{}", way, pinned ? "" : "pageable_");
      const auto fields = [&](const std::string& key) {
        return link(fmt::format("{}_{}{}", way, pinned ? "" : "pageable_", key));
      };
      f.figure(
          row(id + "bandwidth_bytes_per_s", "bytes/s", fmt::format("copies of 8 and 32 MiB {}, {} memory", words, kind),
              "LogGP's 1/G: bytes a second of large copies.", fields("bandwidth_bytes_per_s")),
          {{of + "middle"}, {of + "large"}}, rate(between), false, no_difference);
      if (!pinned) continue;
      f.figure(row(id + "overhead_s", "s", fmt::format("32 copies of 64 bytes {}, until the last call returns", words),
                   "LogGP's o: time that the host spends on starting a copy.", fields("overhead_s")),
               {{of + "many", Metric::issue_s}},
               [](const View& v, const Handles& h) -> std::optional<double> { return v(h[0]) / copies; });
      f.figure(row(id + "gap_s", "s", fmt::format("32 copies of 64 bytes {}, until the last has arrived", words),
                   "LogGP's g: time between two small copies.", fields("gap_s")),
               {{of + "many"}},
               [](const View& v, const Handles& h) -> std::optional<double> { return v(h[0]) / copies; });
      f.figure(row(id + "latency_s", "s", fmt::format("one copy of 64 bytes {} until it has arrived, less o", words),
                   "LogGP's L: time of the smallest copy beyond o.", fields("latency_s")),
               {{of + "one"}, {of + "many", Metric::issue_s}},
               [](const View& v, const Handles& h) -> std::optional<double> {
                 return std::max(0.0, v(h[0]) - v(h[1]) / copies);
               });
    }
  }
}

}  // namespace

void ptx_figures(Figures& f, const Record& record) {
  arithmetic(f, record);
  costs(f);
  shared(f);
  memory(f, record);
  host(f);
}

}  // namespace kernelcast::probe::cuda
