// The weights are times relative to that of a lane of an arithmetic instruction (1.5 to 2 ns), rounded, from runs of
// the kernels of bench/speed_cases.cpp and of examples/. They move how many blocks are run, never what is counted.
#include "execute/block_runner.h"

namespace kernelcast::interpreter {
namespace {

constexpr double instruction_lanes = 16;  // what a warp instruction costs besides its lanes
constexpr double lane = 8, shared_atomic_lane = 16, global_atomic_lane = 60, sector = 12, recorded_sector = 100;
constexpr double product = 10;  // lanes' values are fetched from where the instruction has them
constexpr double page_byte = 0.5, updated_word = 300;

}  // namespace

double work_of(const BlockCounts& counts, const KernelProfile& profile, int warp_size, bool locality) {
  double work = counts.warp_instructions * (warp_size + instruction_lanes);
  std::size_t k = 0;
  for (const Block& b : profile.blocks)
    for (const Access& a : b.accesses) {
      const AccessCount& c = counts.accesses[k++];
      const double atomic = a.space == MemorySpace::shared ? shared_atomic_lane : global_atomic_lane;
      work += c.lanes * (a.kind == AccessKind::atomic ? atomic : lane);
      work += c.sectors * (locality && a.space != MemorySpace::local ? recorded_sector : sector);
    }
  return work;
}

double work_of_products(double multiply_adds) { return multiply_adds * product; }

double work_of_updated_words(std::size_t words) { return static_cast<double>(words) * updated_word; }

double work_of_pages(std::int64_t bytes) { return static_cast<double>(bytes) * page_byte; }

}  // namespace kernelcast::interpreter
