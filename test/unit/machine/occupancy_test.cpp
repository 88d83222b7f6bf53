// Occupancy against values worked out by hand with the published formulas of NVIDIA's CUDA Occupancy Calculator, and
// against a slow twin that adds blocks to a compute unit until one no longer fits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "kernelcast/error.h"
#include "kernelcast/model.h"
#include "machine/occupancy.h"
#include "unit/model/hand_made.h"

namespace kernelcast {
namespace {

UnitLimits unit(double threads, double warps, double blocks, double registers, double per_thread, double register_unit,
                bool per_block, double granularity, double shared, double shared_unit, double reserved = 0) {
  UnitLimits u;
  u.threads = threads;
  u.warps = warps;
  u.blocks = blocks;
  u.registers = registers;
  u.registers_per_thread = per_thread;
  u.register_allocation_unit = register_unit;
  u.registers_per_block = per_block;
  u.warp_allocation_granularity = granularity;
  u.shared_bytes = shared;
  u.shared_allocation_unit = shared_unit;
  u.shared_reserved_per_block = reserved;
  return u;
}

// The calculator's columns.
const UnitLimits cc_1_0 = unit(768, 24, 8, 8192, 124, 256, true, 2, 16384, 512);
const UnitLimits cc_1_3 = unit(1024, 32, 8, 16384, 124, 512, true, 2, 16384, 512);
const UnitLimits cc_2_0 = unit(1536, 48, 8, 32768, 63, 64, false, 2, 49152, 128);
const UnitLimits cc_3_0 = unit(2048, 64, 16, 65536, 63, 256, false, 4, 49152, 256);
const UnitLimits cc_3_5 = unit(2048, 64, 16, 65536, 255, 256, false, 4, 49152, 256);
const UnitLimits k20 = unit(2048, 64, 16, 65536, 255, 256, false, 4, 49152, 256, 256);
const UnitLimits cc_5_2 = unit(2048, 64, 32, 65536, 255, 256, false, 4, 98304, 256);
const UnitLimits cc_6_0 = unit(2048, 64, 32, 65536, 255, 256, false, 2, 65536, 256);
const UnitLimits cc_7_0 = unit(2048, 64, 32, 65536, 255, 256, false, 4, 98304, 256);
const UnitLimits cc_7_5 = unit(1024, 32, 16, 65536, 255, 256, false, 4, 65536, 256);
const UnitLimits cc_8_0 = unit(2048, 64, 32, 65536, 255, 256, false, 4, 167936, 128, 1024);
const UnitLimits cc_8_6 = unit(1536, 48, 16, 65536, 255, 256, false, 4, 102400, 128, 1024);
const UnitLimits cc_9_0 = unit(2048, 64, 32, 65536, 255, 256, false, 4, 233472, 128, 1024);

struct Case {
  const char* name;
  UnitLimits unit;
  BlockDemand block;
  double blocks;
  Limiter limiter;
};

class OccupancyCases : public testing::TestWithParam<Case> {};

TEST_P(OccupancyCases, AsWorkedOutByHand) {
  const ResidentBlocks r = resident_blocks(GetParam().unit, GetParam().block);
  EXPECT_EQ(r.blocks, GetParam().blocks);
  EXPECT_EQ(name_of(r.limiter), name_of(GetParam().limiter));
}

const Case cases[] = {
    // 1.x allocates registers for whole blocks of an even number of warps.
    {"G80_256x10", cc_1_0, {256, 10, 0}, 3, Limiter::warps},                // 24/8 warps; 8192/2560 = 3 registers
    {"G80_256x11", cc_1_0, {256, 11, 0}, 2, Limiter::registers},            // 8192/2816 = 2
    {"G80_32x32", cc_1_0, {32, 32, 0}, 4, Limiter::registers},              // 2 warps * 32 * 32 = 2048
    {"GT200_256x16", cc_1_3, {256, 16, 0}, 4, Limiter::warps},              // 32/8; 16384/4096 = 4
    {"GT200_256x17", cc_1_3, {256, 17, 0}, 3, Limiter::registers},          // 4352 -> 4608: 3
    {"GT200_96x30", cc_1_3, {96, 30, 0}, 4, Limiter::registers},            // 4 warps * 960 = 3840 -> 4096: 4
    {"GT200_64_shared", cc_1_3, {64, 8, 4100}, 3, Limiter::shared_memory},  // 4608: 16384/4608 = 3
    {"GT200_64", cc_1_3, {64, 8, 0}, 8, Limiter::blocks},
    // 2.x: warps of 64-register units, an even number of them.
    {"Fermi_256x20", cc_2_0, {256, 20, 0}, 6, Limiter::warps},      // 48/8; 32768/640 = 51 -> 50/8 = 6
    {"Fermi_256x21", cc_2_0, {256, 21, 0}, 5, Limiter::registers},  // 672 -> 704: 46/8 = 5
    {"Fermi_192x32", cc_2_0, {192, 32, 0}, 5, Limiter::registers},  // 1024: 32/6 = 5
    {"Fermi_128_shared", cc_2_0, {128, 16, 12288}, 4, Limiter::shared_memory},
    // 3.x and later: 256-register units, four partitions.
    {"Kepler_256x32", cc_3_0, {256, 32, 0}, 8, Limiter::warps},      // 64/8; 65536/1024 = 64/8 = 8
    {"Kepler_256x33", cc_3_0, {256, 33, 0}, 6, Limiter::registers},  // 1056 -> 1280: 51 -> 48/8 = 6
    {"Kepler_64", cc_3_0, {64, 20, 0}, 16, Limiter::blocks},
    {"GK110_1024x64", cc_3_5, {1024, 64, 0}, 1, Limiter::registers},  // 2048: 32/32
    {"GK110_1024x65", cc_3_5, {1024, 65, 0}, 0, Limiter::registers},  // 2304: 28/32
    {"GK110_128x255", cc_3_5, {128, 255, 0}, 2, Limiter::registers},  // 8192: 8/4
    {"K20FullBlocks", k20, {64, 32, 24576}, 1, Limiter::shared_memory},
    {"K20LargestBlock", k20, {64, 32, 49152}, 1, Limiter::shared_memory},
    {"Maxwell_128_shared", cc_5_2, {128, 32, 12288}, 8, Limiter::shared_memory},
    {"Maxwell_64x40", cc_5_2, {64, 40, 0}, 24, Limiter::registers},  // 1280: 51 -> 48/2 = 24
    {"P100_64x40", cc_6_0, {64, 40, 0}, 25, Limiter::registers},     // two partitions: 51 -> 50/2 = 25
    {"V100_32", cc_7_0, {32, 16, 0}, 32, Limiter::blocks},
    {"V100_256x64", cc_7_0, {256, 64, 0}, 4, Limiter::registers},  // 2048: 32/8
    {"V100_1024x32", cc_7_0, {1024, 32, 0}, 2, Limiter::warps},
    {"Turing_512x64", cc_7_5, {512, 64, 0}, 2, Limiter::warps},                  // 32/16; 2048: 32/16 = 2
    {"Turing_128_shared", cc_7_5, {128, 32, 20000}, 3, Limiter::shared_memory},  // 20224: 3
    // 8.x reserves 1 KB of shared memory for each block.
    {"A100_256_shared", cc_8_0, {256, 32, 40960}, 4, Limiter::shared_memory},       // 41984: 167936/41984 = 4
    {"A100_256_shared_more", cc_8_0, {256, 32, 40961}, 3, Limiter::shared_memory},  // 42112: 3
    {"GA102_512x48", cc_8_6, {512, 48, 0}, 2, Limiter::registers},                  // 1536: 42 -> 40/16 = 2
    {"GA102_256x40", cc_8_6, {256, 40, 0}, 6, Limiter::warps},                      // 48/8; 1280: 48/8 = 6
    {"H100_384x168", cc_9_0, {384, 168, 0}, 1, Limiter::registers},                 // 5376: 12/12
    {"H100_128_shared", cc_9_0, {128, 64, 232448}, 1, Limiter::shared_memory},      // 233472
    {"partial_warp", cc_7_0, {33, 32, 0}, 32, Limiter::blocks},                     // 2 warps each
};
INSTANTIATE_TEST_SUITE_P(Calculator, OccupancyCases, testing::ValuesIn(cases),
                         [](const auto& one) { return std::string(one.param.name); });

/// Adds blocks one by one, each resource in its own pool, until one does not fit.
struct Twin {
  UnitLimits u;
  BlockDemand b;
  int warps() const {
    int w = 0;
    for (double t = b.threads; t > 0; t -= u.warp_size) ++w;
    return w;
  }
  static double in_units(double amount, double unit) {
    double allocated = 0;
    while (allocated < amount) allocated += unit;
    return allocated;
  }
  double count() const {
    double threads = 0, used_warps = 0, shared = 0, registers = 0;
    const auto partitions = static_cast<std::size_t>(u.warp_allocation_granularity);
    std::vector<double> file(partitions, std::floor(u.registers / u.warp_allocation_granularity));
    for (double n = 0;; ++n) {
      threads += b.threads;
      used_warps += warps();
      const double asked = b.shared_bytes + u.shared_reserved_per_block;
      const bool alone = n == 0 && in_units(b.shared_bytes, u.shared_allocation_unit) <= u.shared_bytes;
      shared += in_units(asked, u.shared_allocation_unit);
      if (alone) shared = std::min(shared, u.shared_bytes);
      if (n + 1 > u.blocks || threads > u.threads || used_warps > u.warps || shared > u.shared_bytes) return n;
      if (u.registers_per_block) {
        int w = warps();
        while (w % static_cast<int>(partitions) != 0) ++w;
        registers += in_units(w * b.registers_per_thread * u.warp_size, u.register_allocation_unit);
        if (registers > u.registers) return n;
        continue;
      }
      for (int w = 0; w < warps(); ++w) {  // each warp goes to any partition that has room
        const double need = in_units(b.registers_per_thread * u.warp_size, u.register_allocation_unit);
        auto room = std::find_if(file.begin(), file.end(), [need](double free) { return free >= need; });
        if (room == file.end()) return n;
        *room -= need;
      }
    }
  }
};

RC_GTEST_PROP(Occupancy, AgreesWithAddingBlocksOneByOne, ()) {
  const double granularity = *rc::gen::element(1.0, 2.0, 4.0);
  const bool per_block = *rc::gen::arbitrary<bool>();
  const double warps = *rc::gen::inRange(8, 65);
  const UnitLimits u =
      unit(32 * warps - *rc::gen::inRange(0, 40), warps, *rc::gen::inRange(1, 33), 4096 * *rc::gen::inRange(1, 17), 255,
           *rc::gen::element(64.0, 256.0, 512.0), per_block, granularity, 1024 * *rc::gen::inRange(8, 200),
           *rc::gen::element(128.0, 256.0, 512.0), *rc::gen::element(0.0, 1024.0));
  const BlockDemand b{static_cast<double>(*rc::gen::inRange(1, 1025)), static_cast<double>(*rc::gen::inRange(1, 256)),
                      static_cast<double>(*rc::gen::oneOf(rc::gen::just(0), rc::gen::inRange(0, 65536)))};
  RC_ASSERT(resident_blocks(u, b).blocks == (Twin{u, b}.count()));
}

TEST(Occupancy, OfAWorkload) {
  const Device d = hand_made::device();
  Workload w = hand_made::launch(1000, 256);
  w.registers_per_thread = 17;  // 4608 of 16384 registers a block
  const Occupancy o = occupancy(w, d);
  EXPECT_EQ(o.blocks_per_unit, 3);
  EXPECT_EQ(o.warps_per_unit, 24);
  EXPECT_EQ(o.fraction, 0.75);
  EXPECT_EQ(o.limiter, "registers");
}

// Two units together have registers for seven such blocks, each alone for three; and they run a block that one of them
// could not hold.
TEST(Occupancy, UnitsThatHoldBlocksTogether) {
  Device d = hand_made::device();
  hand_made::set(d, Field::limits_units_per_block, 2);
  Workload w = hand_made::launch(1000, 256);
  w.registers_per_thread = 17;
  const Occupancy o = occupancy(w, d);
  EXPECT_EQ(o.blocks_per_unit, 3.5);
  EXPECT_EQ(o.warps_per_unit, 28);
  EXPECT_EQ(o.fraction, 0.875);
  EXPECT_EQ(resident_warps(w, d), 28);
  Workload wide = hand_made::launch(1000, 512);
  wide.registers_per_thread = 34;  // 18432 of 32768
  EXPECT_EQ(occupancy(wide, d).blocks_per_unit, 0.5);
  EXPECT_EQ(occupancy(wide, d).limiter, "registers");
  EXPECT_EQ(occupancy(hand_made::launch(11, 256), d).blocks_per_unit, 1.5);  // five pairs, the busiest has three
}

TEST(Occupancy, ASmallGridIsALimitToo) {
  const Occupancy o = occupancy(hand_made::launch(20, 256), hand_made::device());  // 10 units
  EXPECT_EQ(o.blocks_per_unit, 2);
  EXPECT_EQ(o.warps_per_unit, 16);
  EXPECT_EQ(o.limiter, "grid");
  EXPECT_EQ(occupancy(hand_made::launch(1, 32), hand_made::device()).blocks_per_unit, 1);
}

TEST(Occupancy, UnknownLimitsDoNotLimit) {
  Device d = hand_made::device();
  d.values = {};
  hand_made::set(d, Field::compute_units, 4);
  EXPECT_EQ(occupancy(hand_made::launch(100, 256), d).blocks_per_unit, 1);
  EXPECT_EQ(occupancy(hand_made::launch(100, 256), d).limiter, "none known");
}

std::string refusal(const Workload& w, const Device& d = hand_made::device()) {
  try {
    static_cast<void>(occupancy(w, d));
  } catch (const UserError& e) {
    return e.what();
  }
  return "accepted";
}

using testing::AllOf;
using testing::HasSubstr;

TEST(LaunchCheck, NamesLimitDeviceAndFlag) {
  EXPECT_EQ(refusal(hand_made::launch(10, 512)), "accepted");
  EXPECT_THAT(refusal(hand_made::launch(10, 513)),
              AllOf(HasSubstr("513"), HasSubstr("512"), HasSubstr("limits.max_threads_per_block"),
                    HasSubstr("Hand Made 1"), HasSubstr("block")));
  EXPECT_THAT(refusal(hand_made::launch(65536, 64)),
              AllOf(HasSubstr("grid size in x"), HasSubstr("65535"), HasSubstr("grid")));
  Workload deep = hand_made::launch(10, 65);
  deep.block = {1, 1, 65};
  EXPECT_THAT(refusal(deep), AllOf(HasSubstr("block size in z"), HasSubstr("limits.max_block_z"), HasSubstr("block")));
  Workload shared = hand_made::launch(10, 64);
  shared.shared_bytes_per_block = 16385;
  EXPECT_THAT(refusal(shared),
              AllOf(HasSubstr("16385"), HasSubstr("limits.shared_bytes_per_block"), HasSubstr("shared")));
}

TEST(LaunchCheck, AnEstimateOfRegistersNeverRefuses) {
  Workload w = hand_made::launch(10, 512);
  w.registers_per_thread = 33;  // 16 warps * 32 * 33 = 16896 of 16384
  EXPECT_EQ(refusal(w), "accepted");
  Estimate e;
  put_occupancy(w, hand_made::device(), e);
  EXPECT_EQ(e.occupancy.blocks_per_unit, 1);
  EXPECT_EQ(e.occupancy.limiter, "registers");
  ASSERT_EQ(e.assumptions.size(), 1u);
  EXPECT_THAT(e.assumptions[0].what, AllOf(HasSubstr("the launch may fail"), HasSubstr("33 registers")));
  w.registers_per_thread = 32;
  e.assumptions.clear();
  put_occupancy(w, hand_made::device(), e);
  EXPECT_TRUE(e.assumptions.empty());
}

TEST(LaunchCheck, SharedMemoryThatDoesNotFitRefusesWhateverTheRegisters) {
  Workload w = hand_made::launch(10, 512);
  w.registers_per_thread = 33;
  w.shared_bytes_per_block = 16385;
  EXPECT_THAT(refusal(w), HasSubstr("limits.shared_bytes_per_block"));
}

TEST(LaunchCheck, MoreThreadsThanAUnitHolds) {
  Device d = hand_made::device();
  hand_made::set(d, Field::limits_max_threads_per_unit, 256);
  EXPECT_THAT(refusal(hand_made::launch(10, 512), d), HasSubstr("limits.max_threads_per_unit"));
}

}  // namespace
}  // namespace kernelcast
