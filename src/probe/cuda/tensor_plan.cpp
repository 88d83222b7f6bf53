#include <fmt/format.h>

#include <map>

#include "probe/cuda/maker.h"
#include "probe/cuda/ptx.h"
#include "probe/cuda/tensor_ptx.h"

namespace kernelcast::probe::cuda {
namespace {

/// Buffers of operands, one for each kind.
class Operands {
 public:
  explicit Operands(Maker& m) : m_(m) {}
  int of(const std::string& kind) {
    const auto found = buffers_.find(kind);
    if (found != buffers_.end()) return found->second;
    return buffers_[kind] =
               m_.buffer({Buffer::Fill::repeat, std::size_t{wide_threads} * matrix_thread_bytes, matrix_data(kind)});
  }

 private:
  Maker& m_;
  std::map<std::string, int> buffers_;
};

Phase mma_phase(const Info& info) {
  Maker m(info, "matrix instructions");
  Operands operands(m);
  for (const Mma& i : mmas(info.architecture))
    for (int longer = 0; longer < 2; ++longer) {
      const int chain = longer != 0 ? 48 : 16, wide = longer != 0 ? 96 : 32;
      const unsigned turns = 8;
      m.launch(fmt::format("mma.chain.{}.{}", i.name, lengths[longer]), "mma_chain", mma_chain_module(i, chain),
               {0, operands.of(i.data), -1, turns, 0}, 1, 32, chain * turns);
      m.launch(fmt::format("mma.wide.{}.{}", i.name, lengths[longer]), "mma_wide", mma_wide_module(i, wide),
               {0, operands.of(i.data), -1, turns, 0}, 1, wide_threads, wide * turns * (wide_threads / 32) * i.fma);
    }
  return m.take();
}

Phase wgmma_phase(const Info& info) {
  Maker m(info, "matrix instructions of warp groups");
  Operands operands(m);
  for (const Wgmma& w : wgmmas(info.architecture))
    for (int longer = 0; longer < 2; ++longer) {
      const unsigned turns = 8;
      const int groups = longer != 0 ? 12 : 4, texts = longer != 0 ? 24 : 8;
      m.launch(fmt::format("wgmma.wait.{}.{}", w.id(), lengths[longer]), "wgmma", wgmma_module(w, groups, 1),
               {0, operands.of(w.data), -1, turns, 0}, 1, 128, groups * turns);
      for (unsigned warpgroups : {1U, 2U})
        m.launch(fmt::format("wgmma.wide{}.{}.{}", warpgroups, w.id(), lengths[longer]), "wgmma",
                 wgmma_module(w, 1, texts), {0, operands.of(w.data), -1, turns, 0}, 1, 128 * warpgroups,
                 64.0 * w.n * w.k * texts * turns * warpgroups);
    }
  return m.take();
}

/// All SMs on matrix instructions until the clock has settled; one block each, whose clock is that of all.
Phase sustained(const Info& info) {
  Maker m(info, "matrix instructions, all SMs");
  Operands operands(m);
  for (int longer = 0; longer < 2; ++longer) {
    const unsigned turns = longer != 0 ? 32000 : 8000;
    for (const Mma& i : mmas(info.architecture))
      if (i.name == "f16_f32")
        m.launch(fmt::format("device.mma.{}.{}", i.name, lengths[longer]), "mma_wide", mma_wide_module(i, 96),
                 {0, operands.of(i.data), -1, turns, 0}, m.units(), wide_threads,
                 2.0 * 96 * turns * (wide_threads / 32) * i.fma * m.units());
    for (const Wgmma& w : wgmmas(info.architecture))
      if (w.id() == "bf16_f32.n256.ss")
        m.launch(fmt::format("device.wgmma.{}.{}", w.id(), lengths[longer]), "wgmma", wgmma_module(w, 1, 24),
                 {0, operands.of(w.data), -1, turns, 0}, m.units(), 256,
                 2.0 * 64 * w.n * w.k * 24 * turns * 2 * m.units());
  }
  return m.take();
}

Phase atomics_and_moves(const Info& info) {
  Maker m(info, "atomics by type, stores, launches");
  const int counters = m.buffer({Buffer::Fill::zero, std::size_t{64} << 20U});
  const std::size_t large = std::size_t{512} << 20U;
  const int data = m.buffer({Buffer::Fill::zero, large});
  const double l2 = info.l2_bytes > 0 ? info.l2_bytes : 4.0 * (1U << 20U);
  for (int longer = 0; longer < 2; ++longer) {
    const std::string length = lengths[longer];
    const int few = longer != 0 ? 48 : 16;
    for (const Atomic& a : global_atomics())
      for (unsigned apart : {0U, 128U}) {
        const unsigned turns = longer != 0 ? 12 : 4, blocks = m.units(), threads = 256;
        m.launch(fmt::format("atomics.{}.{}.{}", a.name, apart, length), "atomics", atomics_module(a),
                 {0, -1, counters, turns, apart}, blocks, threads, 8.0 * turns * blocks * threads);
      }
    for (const Atomic& a : shared_atomics())
      for (unsigned apart : {0U, 4U}) {
        const int texts = longer != 0 ? 12 : 4;
        m.launch(fmt::format("shared_atomics.{}.{}.{}", a.name, apart, length), "shared_atomics",
                 shared_atomics_module(a, texts), {0, -1, -1, 4, apart}, 1, wide_threads, 4.0 * texts * wide_threads);
      }
    const double bytes = 16.0 * few * (wide_threads / 32) * 512;
    for (unsigned apart : {16U, 128U}) {
      m.launch(fmt::format("ldmatrix.{}.{}", apart, length), "matrix_move", matrix_move_module(false, few),
               {0, -1, -1, 16, apart}, 1, wide_threads, bytes);
      if (info.architecture >= 90)
        m.launch(fmt::format("stmatrix.{}.{}", apart, length), "matrix_move", matrix_move_module(true, few),
                 {0, -1, -1, 16, apart}, 1, wide_threads, bytes);
    }
    for (unsigned width : {4U, 16U})
      m.launch(fmt::format("shared.write{}.{}", width, length), "shared_write",
               shared_write_module(few, static_cast<int>(width)), {0, -1, -1, 16, width}, 1, wide_threads,
               16.0 * few * wide_threads * width);
    if (info.architecture >= 80) {
      const int copies = longer != 0 ? 24 : 8;
      m.launch("async_copy.chain." + length, "async_copy", async_copy_module(copies, true), {0, data, -1, 8, 0}, 1, 32,
               copies * 8.0);
      for (unsigned blocks : {1U, m.units()})
        m.launch(fmt::format("async_copy.{}.{}", blocks == 1 ? "one" : "all", length), "async_copy",
                 async_copy_module(copies, false), {0, data, -1, 64, blocks * wide_threads * 16}, blocks, wide_threads,
                 (blocks == 1 ? 1.0 : 2.0) * copies * 64.0 * wide_threads * 16 * blocks);
    }
    // What a pass reads: all of the buffer, or half of L2.
    for (const auto& [loads, width] :
         {std::pair{1U, 16U}, {2U, 16U}, {4U, 16U}, {8U, 16U}, {1U, 4U}, {2U, 4U}, {4U, 4U}}) {
      // Eight loads of 16 bytes take more than 32 registers: half the threads are resident.
      const unsigned blocks = (loads * width > 64 ? 2 : 4) * m.units();
      const double turn = static_cast<double>(blocks) * wide_threads * loads * width;
      const auto all = static_cast<unsigned>(static_cast<double>(large) / turn);
      const auto half = static_cast<unsigned>(std::max(1.0, l2 / 2 / turn));
      const std::string text = reads_module(static_cast<int>(loads), static_cast<int>(width));
      const unsigned part = longer != 0 ? all : std::max(1U, all / 3);
      m.launch(fmt::format("reads.dram.{}x{}.{}", loads, width, length), "reads", text, {0, data, -1, part, 0}, blocks,
               wide_threads, turn * part);
      const unsigned passes = longer != 0 ? 24 : 8;
      m.launch(fmt::format("reads.l2.{}x{}.{}", loads, width, length), "reads", text,
               {0, data, -1, half * passes, half}, blocks, wide_threads, turn * half * passes);
    }
    const unsigned blocks = 4 * m.units();
    const double turn = static_cast<double>(blocks) * wide_threads * 64;
    const auto all = static_cast<unsigned>(static_cast<double>(large) / turn);
    const unsigned part = longer != 0 ? all : std::max(1U, all / 3);
    m.launch("write.dram." + length, "writes", writes_module(), {0, data, -1, part, 0}, blocks, wide_threads,
             turn * part);
  }
  for (unsigned threads : {32U, 256U, 1024U})
    for (unsigned of_unit : {0U, 1U, 10U, 100U, 1000U}) {
      const unsigned blocks = std::max(1U, of_unit * m.units());
      m.launch(fmt::format("blocks.{}.{}", threads, of_unit), "empty", empty_module(), {}, blocks, threads, blocks)
          .clocks = -1;
    }
  return m.take();
}

Phase bulk(const Info& info) {
  Maker m(info, "bulk copies");
  const int data = m.buffer({Buffer::Fill::zero, std::size_t{600} << 20U});
  for (int longer = 0; longer < 2; ++longer) {
    const std::string length = lengths[longer];
    const int texts = longer != 0 ? 12 : 4;
    for (int bytes : {128, 1024, 8192})
      m.launch(fmt::format("bulk.wait.{}.{}", bytes, length), "bulk_wait", bulk_wait_module(texts, bytes),
               {0, data, -1, 8, 0}, 1, 1, texts * 8.0);
    const unsigned turns = longer != 0 ? 96 : 32;
    const double piece = static_cast<double>(bulk_stages) * bulk_bytes;
    m.launch("bulk.one." + length, "bulk_ring", bulk_ring_module(), {0, data, -1, turns, 63}, 1, 1, turns * piece);
    const unsigned blocks = 2 * m.units();
    const auto pieces = static_cast<unsigned>((std::size_t{600} << 20U) / bulk_bytes / blocks);
    unsigned mask = 1;
    while (2 * mask <= pieces) mask *= 2;
    m.launch("bulk.dram." + length, "bulk_ring", bulk_ring_module(), {0, data, -1, 4 * turns, mask - 1}, blocks, 1,
             2.0 * 4 * turns * piece * blocks);
  }
  return m.take();
}

Phase clusters(const Info& info) {
  Maker m(info, "clusters");
  for (int longer = 0; longer < 2; ++longer) {
    const std::string length = lengths[longer];
    const int many = longer != 0 ? 192 : 64, few = longer != 0 ? 48 : 16;
    m.launch("cluster.chase." + length, "cluster_chase", cluster_chase_module(many), {0, -1, -1, 4, 0}, 2, 32,
             many * 4.0);
    for (bool neighbour : {true, false})
      m.launch(fmt::format("cluster.read.{}.{}", neighbour ? "neighbour" : "own", length), "cluster_read",
               cluster_read_module(few, neighbour), {0, -1, -1, 16, 0}, 2, wide_threads,
               16.0 * few * wide_threads * 16);
  }
  return m.take();
}

}  // namespace

void add_tensor(Plan& plan, const PlanOptions& options) {
  const Info info = plan.info;
  const auto add = [&](Phase p) {
    p.seconds = options.seconds / 15;
    p.max_rounds = std::clamp(options.max_rounds, p.min_rounds, 20);
    plan.phases.push_back(std::move(p));
  };
  if (info.architecture < 70) return;
  // What may lose its context comes last, and each in a phase of its own.
  add(atomics_and_moves(info));
  if (info.architecture >= 80) add(mma_phase(info));
  if (info.architecture == 90) add(wgmma_phase(info));
  if (info.architecture >= 80) add(sustained(info));
  if (info.architecture >= 90) {
    add(bulk(info));
    add(clusters(info));
  }
}

}  // namespace kernelcast::probe::cuda
