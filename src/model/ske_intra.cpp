#include "model/ske_intra.h"

#include <cmath>
#include <numeric>

#include "model/ske_paper.h"

namespace kernelcast::ske::intra {
namespace {

constexpr double value_cycles = 5 * cost::simple;

std::vector<Placement> placements(const SkeDevice& m, double threads, double instructions, const DataSet& inputs,
                                  const DataSet& outputs) {
  Kernel k;
  k.instruction_cycles = Cycles<per::Thread>(instructions);
  k.registers = registers;
  const std::vector<DataSet> sets{inputs, outputs};
  return choose_memory(m, k, sets, threads, cost::uncoalesced, all_sizes(m));
}

}  // namespace

Capacity capacity(const SkeDevice& m) {
  const double sm = std::floor(m.shared_bytes_per_sm / macroblock_bytes);
  return {sm, sm * m.multiprocessors, std::floor(m.shared_bytes_per_sm * m.multiprocessors / macroblock_bytes)};
}

std::vector<double> all_sizes(const SkeDevice& m) {
  std::vector<double> sizes(static_cast<std::size_t>(m.max_threads_per_block));
  std::iota(sizes.begin(), sizes.end(), 1.0);
  return sizes;
}

std::vector<Placement> thread_per_macroblock(const SkeDevice& m) {
  return placements(m, streams, 16 * 7 * value_cycles, {"inputs", input_bytes, 33, 16 * 7 * 3, 0, 0},
                    {"outputs", output_bytes, 0, 0, 256, 256});
}

// 256 threads a macroblock; each loads at most one of the 33 inputs, reads three, writes one output.
std::vector<Placement> thread_per_pixel(const SkeDevice& m) {
  return placements(m, 256 * streams, value_cycles, {"inputs", input_bytes / 256, 1, 3, 0, 0},
                    {"outputs", output_bytes / 256, 0, 0, 1, 1});
}

std::vector<Plan> plans() {
  const auto memory = [](double loads, double reads, double writes) {
    return Cycles<per::Thread>(loads * (cost::uncoalesced + cost::shared) + reads * cost::shared +
                               writes * cost::uncoalesced);
  };
  const double bytes = 8 * 4;  // the neighbours of a block
  return {
      {"macroblock", streams, Cycles<per::Thread>(7 * value_cycles), memory(8, 21, 16), bytes},
      {"pixel", 16 * streams, Cycles<per::Thread>(value_cycles), memory(1, 3, 1), bytes / 16},
      // The longest of the seven sets has four pixels, and its lanes keep the warp busy; 8 loads by 7 threads: 2
      // rounds.
      {"set of equal pixels", 7 * streams, Cycles<per::Thread>(value_cycles), memory(2, 3, 4), bytes / 7},
  };
}

}  // namespace kernelcast::ske::intra
