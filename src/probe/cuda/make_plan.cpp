#include "probe/cuda/make_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "probe/cuda/maker.h"
#include "probe/cuda/ptx.h"

namespace kernelcast::probe::cuda {
namespace {

constexpr std::size_t kib = 1024, mib = kib * kib;

template <class T>
std::string scalar(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

Phase arithmetic(const Info& info) {
  Maker m(info, "arithmetic");
  const int data = m.buffer({Buffer::Fill::data, operand_bytes().size(), operand_bytes()});
  for (const Operation& o : operations(info.architecture))
    for (int longer = 0; longer < 2; ++longer) {
      const int chain = body_texts(o, false, longer != 0), wide = body_texts(o, true, longer != 0);
      const unsigned turns = o.expanded ? 4 : 8, wide_turns = o.expanded ? 4 : 16;
      m.launch(fmt::format("chain.{}.{}", o.name, lengths[longer]), "chain", chain_module(o, chain),
               {0, data, -1, turns, 0}, 1, 32, chain * o.operations * turns);
      m.launch(fmt::format("wide.{}.{}", o.name, lengths[longer]), "wide", wide_module(o, wide),
               {0, data, -1, wide_turns, 0}, 1, wide_threads, wide * o.operations * wide_turns * wide_threads);
    }
  const auto all = operations(info.architecture);
  const Operation& ffma = *std::ranges::find_if(all, [](const Operation& o) { return o.name == std::string("ffma"); });
  const int texts = body_texts(ffma, true, true);
  // One block an SM: of two, the one that started first would be faster than the mean, and its clock is read.
  for (int longer = 0; longer < 2; ++longer) {
    const unsigned turns = longer != 0 ? 4000 : 1000;
    m.launch(fmt::format("device.ffma.{}", lengths[longer]), "wide", wide_module(ffma, texts), {0, data, -1, turns, 0},
             m.units(), 2 * wide_threads, 2.0 * turns * texts * wide_threads * 2 * m.units());
  }
  return m.take();
}

Phase on_chip(const Info& info) {
  Maker m(info, "shared memory, atomics, barriers, launches");
  const int counters = m.buffer({Buffer::Fill::zero, std::size_t{64} * mib});
  for (int longer = 0; longer < 2; ++longer) {
    const int many = longer != 0 ? 192 : 64, few = longer != 0 ? 48 : 16;
    const std::string length = lengths[longer];
    const auto both = [&](const std::string& name, const std::string& kernel, const std::string& text, unsigned turns,
                          unsigned extra, unsigned threads, double items) {
      m.launch(name + "." + length, kernel, text, {0, -1, counters, turns, extra}, 1, threads, items);
    };
    both("shared.chase", "shared_chase", shared_chase_module(many), 8, 0, 32, many * 8.0);
    for (int bytes : {4, 16})
      both(fmt::format("shared.read{}", bytes), "shared_read", shared_read_module(few, bytes), 16,
           static_cast<unsigned>(bytes), wide_threads, static_cast<double>(few) * 16 * wide_threads * bytes);
    // Many warps: one alone waits long enough for a load to hide a second pass.
    for (unsigned words = 1; words <= 128; words *= 2)
      both(fmt::format("shared.stride.{}", 4 * words), "shared_read", shared_read_module(few, 4), 16, 4 * words,
           wide_threads, few * 16.0);
    both("atomic.global", "atomic_chain", atomic_chain_module("global", few), 4, 0, 1, few * 4.0);
    both("atomic.shared", "atomic_chain", atomic_chain_module("shared", few), 4, 0, 1, few * 4.0);
    for (unsigned threads = 32; threads <= 1024; threads *= 2)
      both(fmt::format("barrier.{}", threads), "barriers", barrier_module(many), 8, 0, threads, many * 8.0);
    for (unsigned apart : {0U, 4U, 128U}) {
      const unsigned turns = longer != 0 ? 12 : 4, blocks = m.units(), threads = 256;
      m.launch(fmt::format("atomic.wide.{}.{}", apart, length), "atomic_wide", atomic_wide_module(),
               {0, -1, counters, turns, apart}, blocks, threads, 8.0 * turns * blocks * threads);
    }
  }
  PlannedLaunch& one = m.launch("launch.one", "empty", empty_module(), {}, 1, 32, 1);
  one.clocks = -1;
  PlannedLaunch& many = m.launch("launch.many", "empty", empty_module(), {}, 1, 32, 1);
  many.clocks = -1;
  many.repeat = 64;
  for (bool to : {true, false})
    for (bool pinned : {true, false}) {
      const std::string name = fmt::format("{}.{}.", to ? "to" : "from", pinned ? "pinned" : "pageable");
      m.phase().transfers.push_back({name + "one", 64, to, pinned, 1});
      m.phase().transfers.push_back({name + "many", 64, to, pinned, 32});
      m.phase().transfers.push_back({name + "middle", 8 * mib, to, pinned, 1});
      m.phase().transfers.push_back({name + "large", 32 * mib, to, pinned, 1});
    }
  return m.take();
}

/// Sizes of walks: 4 KiB to 1 MiB through L1, 64 KiB to 8 times L2 past it.
std::vector<std::size_t> walk_sizes(bool cached, const Info& info) {
  std::vector<std::size_t> out;
  if (cached) {
    for (std::size_t k : {4, 8, 16, 24, 32, 48, 64, 96, 128, 160, 192, 224, 256, 288, 320, 384, 512, 1024})
      out.push_back(k * kib);
    return out;
  }
  const double l2 = info.l2_bytes > 0 ? info.l2_bytes : 4.0 * mib;
  const double most = std::min(8 * l2, info.memory_bytes / 16);
  for (std::size_t bytes = 64 * kib; static_cast<double>(bytes) <= most; bytes *= 2) {
    out.push_back(bytes);
    if (bytes >= mib) out.push_back(bytes / 2 * 3);
  }
  return out;
}

Phase memory(const Info& info) {
  Maker m(info, "memory");
  const std::string read = stream_module(false, false);
  const unsigned blocks = 4 * m.units(), piece = blocks * wide_threads * 64;  // bytes of a turn of all threads
  const auto turns_for = [&](std::size_t bytes) {
    return static_cast<unsigned>(std::max<std::size_t>(1, bytes / piece));
  };
  const double l2 = info.l2_bytes > 0 ? info.l2_bytes : 4.0 * mib;
  std::size_t large = 64 * mib;
  while (static_cast<double>(large) < 8 * l2 && static_cast<double>(large) < info.memory_bytes / 16) large *= 2;
  large = std::max<std::size_t>(large, piece);
  const int source = m.buffer({Buffer::Fill::zero, large}), target = m.buffer({Buffer::Fill::zero, large});
  // Reads that fill L2 with other data, or with the buffer that is walked through next.
  const auto reading = [&](const std::string& name, int of, std::size_t bytes) {
    const std::size_t block = wide_threads * 64;  // bytes of a turn
    const auto some = static_cast<unsigned>(std::clamp<std::size_t>(bytes / block, 1, blocks));
    m.launch(name, "stream", read,
             {0, of, -1, static_cast<unsigned>(std::max<std::size_t>(1, bytes / block / some)), 1}, some, wide_threads,
             1)
        .only_before = true;
    return m.last();
  };
  const int flush = reading("flush", source, large);
  for (bool cached : {true, false}) {
    std::size_t previous = 0;
    for (std::size_t bytes : walk_sizes(cached, info)) {
      if (bytes <= previous) continue;
      previous = bytes;
      const int walk = m.buffer({Buffer::Fill::walk, bytes, "", 128});
      const auto once = static_cast<unsigned>(bytes / 128 / 8);
      // What fits L1 is walked through once before; more is brought into L2 by all threads.
      const int before = bytes > mib ? reading("read", walk, bytes) : -1;
      PlannedLaunch& l = m.launch(fmt::format("chase.{}.{}", cached ? "l1" : "l2", bytes), "chase",
                                  chase_module(cached), {0, walk, -1, 128, bytes > mib ? 16 : once, bytes}, 1, 1, 1024);
      l.before = before;
    }
  }
  // Where every load opens a new sector, the time stops growing with the stride.
  for (std::size_t stride : {8, 16, 32, 64, 128, 256}) {
    const int walk = m.buffer({Buffer::Fill::walk, 512 * stride, "", stride, true});
    m.launch(fmt::format("fill.l1.{}", stride), "chase", chase_module(true), {0, walk, -1, 64, 0, 512 * stride}, 1, 1,
             512);
    if (stride < 32) continue;
    m.launch(fmt::format("fill.l2.{}", stride), "chase", chase_module(false), {0, walk, -1, 64, 0, 512 * stride}, 1, 1,
             512)
        .before = flush;
  }
  for (int longer = 0; longer < 2; ++longer) {
    const std::string length = lengths[longer];
    const unsigned passes = longer != 0 ? 40 : 8;
    m.launch("read.l1." + length, "stream", stream_module(true, false), {0, source, -1, 1, passes}, 1, 256,
             256.0 * 64 * passes);
    // Half of L2, in small blocks so that all units take part also where it is small.
    const unsigned small = 128, of_block = small * 64;
    const auto half = static_cast<unsigned>(std::clamp(l2 / 2 / of_block, 1.0, 16.0 * m.units()));
    m.launch("read.l2." + length, "stream", read,
             {0, source, -1, static_cast<unsigned>(std::max(1.0, l2 / 2 / of_block / half)), passes}, half, small,
             std::max(1.0, std::floor(l2 / 2 / of_block / half)) * half * of_block * passes);
    const unsigned all = turns_for(large), part = longer != 0 ? all : std::max(1U, all / 3);
    m.launch("read.dram." + length, "stream", read, {0, source, -1, part, 1}, blocks, wide_threads,
             static_cast<double>(piece) * part);
    m.launch("copy.dram." + length, "stream", stream_module(false, true), {0, source, target, part, 1}, blocks,
             wide_threads, 2.0 * piece * part);
  }
  return m.take();
}

}  // namespace

std::vector<Argument> arguments_of(const OurArguments& a) {
  const auto pointer = [](int buffer, std::size_t offset) {
    Argument out;
    out.buffer = buffer;
    out.offset = offset;
    if (buffer < 0) out.value = scalar(std::uint64_t{0});
    return out;
  };
  return {pointer(a.out, 0),
          pointer(a.data, a.data_offset),
          pointer(a.more, 0),
          {-1, 0, scalar(a.turns)},
          {-1, 0, scalar(a.extra)}};
}

Plan make_plan(const Info& info, const PlanOptions& options) {
  Plan plan;
  plan.info = info;
  plan.phases.push_back(arithmetic(info));
  plan.phases.push_back(on_chip(info));
  plan.phases.push_back(memory(info));
  add_patched(plan, options);
  for (Phase& p : plan.phases) {
    p.seconds = options.seconds / static_cast<double>(plan.phases.size());
    p.max_rounds = std::max(p.min_rounds, options.max_rounds);
  }
  add_tensor(plan, options);
  return plan;
}

}  // namespace kernelcast::probe::cuda
