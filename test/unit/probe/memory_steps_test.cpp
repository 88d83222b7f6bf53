// The steps of memory on machines made for the purpose: what they find must follow the spec.
#include <gtest/gtest.h>

#include "probe/memory_steps.h"
#include "unit/probe/machines.h"

namespace {

using namespace kernelcast;
using namespace kernelcast::probe;

sm::Spec with_memory() {
  sm::Spec spec = sm::load_spec(std::string(KERNELCAST_SOURCE_DIR) + "/devices/sm/nvidia-gk110.toml");
  spec.l1_bytes = 16384;
  spec.l2_bytes = 65536;
  spec.l1_latency = 30;
  spec.l2_latency = 200;
  return spec;
}

TEST(MemorySteps, FindAnySharedMemory) {
  // Wider banks show only where there are as many as lanes: otherwise lanes 8 bytes apart need a second pass.
  const std::vector<std::pair<int, int>> kinds = {{8, 4}, {16, 4}, {32, 4}, {32, 8}};
  for (const auto& [banks, bytes] : kinds)
    for (int latency : {11, 24, 59}) {
      sm::Spec spec = with_memory();
      spec.shared_latency = latency;
      spec.shared_banks = banks;
      spec.shared_bank_bytes = bytes;
      spec.shared_bytes_per_cycle = banks * bytes;
      const TestedSm m = machine_on(spec);
      EXPECT_EQ(shared_latency_cycles(m), latency);
      EXPECT_EQ(shared_banks(m).banks, banks);
      EXPECT_EQ(shared_banks(m).bank_bytes, bytes);
    }
}

TEST(MemorySteps, FindAnyLatencyOfCachesAndDram) {
  for (const int more : {0, 7, 100}) {
    sm::Spec spec = with_memory();
    spec.l1_latency += more;
    spec.l2_latency += more;
    spec.dram_latency += 2 * more;
    const TestedSm m = machine_on(spec);
    EXPECT_EQ(cold_latency_cycles(m, 128), spec.dram_latency);
    const std::vector<CurvePoint> curve = latency_by_size(m, 128, 131072);
    for (const CurvePoint& p : curve) {
      SCOPED_TRACE(p.bytes);
      if (p.bytes <= spec.l1_bytes) {
        EXPECT_EQ(p.latency, spec.l1_latency);
      } else if (p.bytes >= 2 * spec.l1_bytes && p.bytes <= spec.l2_bytes) {
        EXPECT_EQ(p.latency, spec.l2_latency);
      } else if (p.bytes >= 2 * spec.l2_bytes) {
        EXPECT_EQ(p.latency, spec.dram_latency);
      }
    }
    EXPECT_EQ(curve.back().bytes, 131072);
  }
}

TEST(MemorySteps, WithoutConflictsThereAreNoBanks) {
  sm::Spec spec = with_memory();
  spec.shared_banks = 1;
  spec.shared_bank_bytes = 4;
  spec.shared_bytes_per_cycle = 4;
  EXPECT_EQ(shared_banks(machine_on(spec)).banks, 0);
}

TEST(MemorySteps, AStreamIsAsFastAsItsNarrowestQueue) {
  sm::Spec spec = with_memory();
  spec.max_requests = 10000;
  spec.dram_bytes_per_cycle = 6;
  spec.l2_bytes_per_cycle = 64;
  EXPECT_NEAR(stream_bytes_per_cycle(machine_on(spec), 16), 6, 0.1);
  spec.l2_bytes_per_cycle = 3;
  EXPECT_NEAR(stream_bytes_per_cycle(machine_on(spec), 16), 3, 0.1);
}

}  // namespace
