// The figures of tensor_plan.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "probe/cuda/figures.h"
#include "probe/cuda/make_plan.h"
#include "probe/cuda/tensor_ptx.h"

namespace kernelcast::probe::cuda {
namespace {

using View = Figures::View;
using Handles = Figures::Handles;

/// Figures of pairs of lengths, by the names of their series.
class Pairs {
 public:
  explicit Pairs(Figures& f) : f_(f) {}
  /// Cycles of one more item.
  void latency(const std::string& id, const std::string& of, const std::string& method, const std::string& what) {
    f_.figure(row(id, "cycles", method, what), f_.pair(of), slope(f_.items_between(of)));
  }
  /// Items in a cycle, or in a second of events.
  void rate(const std::string& id, const std::string& unit, const std::string& of, Metric metric,
            const std::string& method, const std::string& what, std::vector<Field> fields = {}) {
    f_.figure(row(id, unit, method, what, std::move(fields)), f_.pair(of, metric), cuda::rate(f_.items_between(of)),
              false, no_difference);
  }

 private:
  Figures& f_;
};

std::vector<Field> tensor_field(const std::string& name) {
  for (const auto& [figure, type] :
       {std::pair{"f16_f16", TensorType::f16_f16}, std::pair{"f16_f32", TensorType::f16_f32},
        std::pair{"bf16_f32", TensorType::bf16_f32}, std::pair{"tf32_f32", TensorType::tf32_f32},
        std::pair{"s8_s32", TensorType::s8_s32}, std::pair{"e4m3_f32", TensorType::f8_f32}})
    if (name == figure) return {tensor_rate_field(type)};
  return {};
}

void matrices(Figures& f, int architecture) {
  Pairs p(f);
  for (const Mma& m : mmas(architecture)) {
    const std::string words = fmt::format("mma.sync.{}{}", m.shape, m.types);
    p.latency(fmt::format("mma.{}.latency_cycles", m.name), "mma.chain." + m.name,
              "one warp, one accumulator, bodies of two lengths",
              "Cycles of a " + words + " whose sum the next needs.");
    // What wgmma reaches is the peak where there is one.
    std::vector<Field> fields;
    if (architecture < 90) fields = tensor_field(m.name);
    if (m.name == (architecture >= 90 ? "f64_f64_k16" : "f64_f64")) fields = {tensor_rate_field(TensorType::f64_f64)};
    p.rate(fmt::format("mma.{}.fma_per_cycle", m.name), "multiply-adds per cycle and SM", "mma.wide." + m.name,
           Metric::cycles, "16 warps, four accumulators each, bodies of two lengths, random operands",
           "Dense multiply-adds of " + words + ".", fields);
  }
  for (const Wgmma& w : wgmmas(architecture)) {
    const std::string words = fmt::format("wgmma m64n{}k{}{}, A from {}", w.n, w.k, w.types,
                                          w.from_registers ? "registers" : "shared memory");
    p.latency(fmt::format("wgmma.{}.latency_cycles", w.id()), "wgmma.wait." + w.id(),
              "one warp group: fence, wgmma, commit, wait for it; bodies of two lengths",
              "Cycles of one " + words + ".");
    for (int groups : {1, 2})
      p.rate(fmt::format("wgmma.{}.groups{}.fma_per_cycle", w.id(), groups), "multiply-adds per cycle and SM",
             fmt::format("wgmma.wide{}.{}", groups, w.id()), Metric::cycles,
             fmt::format("{} warp group{} on one SM, one accumulator each, 8 and 24 wgmma before a wait, "
                         "random operands",
                         groups, groups == 1 ? "" : "s"),
             "Dense multiply-adds of " + words + ".",
             groups == 2 && w.n == 256 && !w.from_registers ? tensor_field(w.name) : std::vector<Field>{});
  }
  std::vector<std::string> whole;
  if (architecture >= 80) whole.emplace_back("mma.f16_f32");
  if (architecture == 90) whole.emplace_back("wgmma.bf16_f32.n256.ss");
  for (const std::string& name : whole) {
    const std::string of = "device." + name;
    const std::string method = "all SMs, launches of two lengths (some tenths of a second), random operands";
    const double items = f.items_between(of);
    std::vector<Figures::Source> both = f.pair(of, Metric::device_s);
    f.figure(row(of + "_flops_per_s", "FLOP/s", method + ", time by events", "Sustained rate of " + name + "."), both,
             rate(2 * items), false, no_difference);
    for (const Figures::Source& s : f.pair(of)) both.push_back(s);
    f.figure(row(of + ".core_hz", "Hz", method + ", cycles of an SM over seconds by events",
                 "Clock of the SMs under " + name + "."),
             both, clock_rate(), false, no_difference);
  }
}

void atomics_and_moves(Figures& f, const Record& record) {
  Pairs p(f);
  for (const Atomic& a : global_atomics())
    for (const auto& [apart, id, words] :
         {std::tuple{0, "same_address", "one word"}, std::tuple{128, "apart", "words 128 bytes apart"}})
      p.rate(fmt::format("atomic.{}.{}_per_s", a.name, id), "operations/s", fmt::format("atomics.{}.{}", a.name, apart),
             Metric::device_s, fmt::format("all SMs, 256 threads each, {}, two lengths, time by events", words),
             fmt::format("{}, a second.", a.words));
  for (const Atomic& a : shared_atomics())
    for (const auto& [apart, id, words] :
         {std::tuple{0, "same_word", "one word"}, std::tuple{4, "apart", "a word each"}})
      p.rate(fmt::format("atomic.shared_{}.{}_per_cycle", a.name, id), "operations per cycle and SM",
             fmt::format("shared_atomics.{}.{}", a.name, apart), Metric::cycles,
             fmt::format("shared memory, 16 warps on one SM, {}, bodies of two lengths", words),
             fmt::format("{}, a cycle.", a.words));
  const auto bytes = [&](const std::string& id, const std::string& of, const std::string& method,
                         const std::string& what) {
    p.rate(id, "bytes per cycle and SM", of, Metric::cycles, method, what);
  };
  for (const char* name : {"ldmatrix", "stmatrix"}) {
    if (name == std::string("stmatrix") && record.info.architecture < 90) continue;
    for (const auto& [apart, id, words] : {std::tuple{16, "", "rows beside each other"},
                                           std::tuple{128, "conflict8_", "rows 128 bytes apart: eight meet in a bank"}})
      bytes(fmt::format("shared.{}.{}bytes_per_cycle", name, id), fmt::format("{}.{}", name, apart),
            fmt::format("16 warps, {}.x4, {}, bodies of two lengths", name, words),
            fmt::format("Shared memory bandwidth of an SM by {}.", name));
  }
  for (int width : {4, 16})
    bytes(fmt::format("shared.write{}_bytes_per_cycle", width), fmt::format("shared.write{}", width),
          "16 warps, lanes beside each other, bodies of two lengths",
          fmt::format("Shared memory bandwidth of an SM, stores of {} bytes.", width));
  if (record.info.architecture >= 80) {
    p.latency("async_copy.latency_cycles", "async_copy.chain", "one warp, 16 bytes a lane, commit and wait for each",
              "Cycles of a cp.async from L2 to shared memory until it has arrived.");
    bytes("async_copy.bytes_per_cycle", "async_copy.one",
          "16 warps on one SM, 16 bytes a lane, up to 16 in flight, two lengths", "cp.async from L2 to shared memory.");
    p.rate("async_copy.device_bytes_per_s", "bytes/s", "async_copy.all", Metric::device_s,
           "all SMs, 16 warps each, 16 bytes a lane, from L2, two lengths, time by events",
           "cp.async from L2 to shared memory, all SMs.");
  }
  for (const auto& [loads, width] : {std::pair{1, 16}, {2, 16}, {4, 16}, {8, 16}, {1, 4}, {2, 4}, {4, 4}})
    for (const char* level : {"dram", "l2"})
      p.rate(fmt::format("{}.read_{}x{}_bytes_per_s", level, loads, width), "bytes/s",
             fmt::format("reads.{}.{}x{}", level, loads, width), Metric::device_s,
             fmt::format("{} loads of {} bytes in flight a thread, {} threads an SM, {}, two lengths, time by events",
                         loads, width, loads * width > 64 ? 1024 : 2048,
                         level == std::string("l2") ? "half of L2" : "512 MiB"),
             "Read bandwidth of all SMs.");
  p.rate("dram.write_bandwidth_bytes_per_s", "bytes/s", "write.dram", Metric::device_s,
         "stores of 16 bytes, 2048 threads an SM, two lengths, time by events",
         "Bytes written a second to device memory.");
  for (unsigned threads : {32U, 256U, 1024U}) {
    std::vector<Figures::Source> sources;
    std::vector<double> blocks;
    for (unsigned of_unit : {0U, 1U, 10U, 100U, 1000U}) {
      sources.push_back({fmt::format("blocks.{}.{}", threads, of_unit), Metric::device_s});
      const Series<Run>* s = f.launch(sources.back().name);
      blocks.push_back(s == nullptr ? 0 : s->items);
    }
    const std::string method = fmt::format("empty kernel, blocks of {} threads, time by events", threads);
    f.table(row(fmt::format("launch.device_s_by_blocks.{}", threads), "blocks, s", method,
                "Duration of an empty kernel by its blocks: blocks, then seconds."),
            sources, [blocks](const View& v, const Handles& h) {
              std::vector<std::vector<double>> out{blocks, {}};
              for (const auto handle : h) out[1].push_back(v(handle));
              return out;
            });
    f.figure(row(fmt::format("launch.block{}_s", threads), "s per block and SM", method + ", 100 and 1000 blocks an SM",
                 "Time of one more empty block on each SM."),
             {sources[3], sources[4]}, [](const View& v, const Handles& h) -> std::optional<double> {
               return std::max(0.0, v(h[1]) - v(h[0])) / 900;
             });
  }
}

void bulk_and_clusters(Figures& f) {
  Pairs p(f);
  for (int bytes : {128, 1024, 8192})
    p.latency(fmt::format("bulk_copy.latency_cycles.{}", bytes), fmt::format("bulk.wait.{}", bytes),
              "one thread: expect, copy, wait at the mbarrier; bodies of two lengths",
              fmt::format("Cycles of a cp.async.bulk of {} bytes from L2 to shared memory.", bytes));
  const std::string ring = fmt::format("{} copies of {} bytes in flight", bulk_stages, bulk_bytes);
  p.rate("bulk_copy.bytes_per_cycle", "bytes per cycle and SM", "bulk.one", Metric::cycles,
         "one SM, " + ring + ", 512 KiB in L2, two lengths", "cp.async.bulk from L2 to shared memory.");
  p.rate("bulk_copy.dram_bytes_per_s", "bytes/s", "bulk.dram", Metric::device_s,
         "two blocks an SM, each " + ring + ", two lengths, time by events",
         "cp.async.bulk from device memory, all SMs.");
  p.latency("cluster.latency_cycles", "cluster.chase", "one warp, dependent loads, bodies of two lengths",
            "Cycles of a load from the shared memory of the other block of a cluster of two.");
  for (const auto& [of, id, words] :
       {std::tuple{"neighbour", "cluster.read_bytes_per_cycle", "from the other block"},
        std::tuple{"own", "cluster.own_read_bytes_per_cycle", "from the own block by its address in the cluster"}})
    p.rate(id, "bytes per cycle and SM", fmt::format("cluster.read.{}", of), Metric::cycles,
           "both blocks of a cluster of two, 16 warps each, loads of 16 bytes, bodies of two lengths",
           fmt::format("Loads from shared memory {}.", words));
}

}  // namespace

void tensor_figures(Figures& f, const Record& record) {
  const int architecture = record.info.architecture;
  if (architecture < 70) return;
  matrices(f, architecture);
  atomics_and_moves(f, record);
  if (architecture >= 90) bulk_and_clusters(f);
}

}  // namespace kernelcast::probe::cuda
