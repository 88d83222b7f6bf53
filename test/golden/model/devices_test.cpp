// The device files against the pages of the models: constants of GeForce GTX 280, and which GPUs the models answer for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../../unit/model/hand_made.h"
#include "kernelcast/device.h"
#include "kernelcast/model.h"
#include "model/opencl_quantitative_device.h"
#include "model/opencl_quantitative_paper.h"
#include "model/roofline.h"
#include "model/ske_device.h"

namespace kernelcast {
namespace {

Device device(const char* name) { return DeviceCatalog(std::string(KERNELCAST_SOURCE_DIR) + "/devices").find(name); }

TEST(DeviceFiles, Gtx280HasTheConstantsOfTheOpenclPaper) {
  namespace oq = opencl_quantitative;
  const oq::QuantitativeDevice file = oq::machine_of(device("gtx280")), paper = oq::paper::gtx_280();
  EXPECT_EQ(file.compute_units, paper.compute_units);
  EXPECT_EQ(file.processing_elements, paper.processing_elements);
  EXPECT_EQ(file.batch, paper.batch);
  EXPECT_EQ(file.banks, paper.banks);
  EXPECT_EQ(file.shader_clock, paper.shader_clock);
  EXPECT_EQ(file.memory_clock, paper.memory_clock);
  EXPECT_EQ(file.add, paper.add);
  EXPECT_EQ(file.mul, paper.mul);
  EXPECT_EQ(file.div, paper.div);
  EXPECT_EQ(file.special, paper.special);
  EXPECT_EQ(file.global_latency, paper.global_latency);
  EXPECT_EQ(file.local_latency, paper.local_latency);
  EXPECT_TRUE(oq::machine_assumptions(device("gtx280")).empty());
}

TEST(DeviceFiles, Gtx670HasTheCoresAndUnitsOfTheSkePaper) {
  const ske::SkeDevice m = ske::machine_of(device("gtx670"));
  EXPECT_EQ(m.multiprocessors, 7);
  EXPECT_EQ(m.cores, 192);
  EXPECT_EQ(m.load_store_units, 32);
  EXPECT_EQ(m.max_registers_per_thread, 63);
  EXPECT_EQ(m.constant_bytes, 64 * 1024);  // real; the paper's constraint (15) says 48 KB
}

// Peaks as the makers print them, from lanes and clocks of the device files.
TEST(DeviceFiles, PeaksOfTheRoofline) {
  EXPECT_NEAR(roofline::peaks_of(device("gtx280")).fp32_flops_per_s, 622e9, 1e9);
  EXPECT_NEAR(roofline::peaks_of(device("Tesla P100")).fp64_flops_per_s, 4.7e12, 0.1e12);
  EXPECT_NEAR(roofline::peaks_of(device("Tesla K40")).fp32_flops_per_s, 5.04e12, 0.1e12);
}

Workload example() {
  Workload w = hand_made::launch(1000, 128);
  w.geometry.shared_banks = 32;
  hand_made::execute(w, OpClass::fp32_fma, 100);
  hand_made::execute(w, OpClass::int_add, 50);
  hand_made::access(w, MemorySpace::global, AccessKind::load, 10, 1);
  hand_made::access(w, MemorySpace::shared, AccessKind::load, 10, 0, 1);
  w.footprint_bytes = w.footprint_read_bytes = 4e6;
  return w;
}

// A GPU without an answer must say what to set. Only opencl-quantitative lacks answers, and only for want of an
// arithmetic latency (HD 5870, for which the paper gives no costs, and GPUs whose device file knows none) or of the
// memory clock, which data sheets of recent GPUs leave out.
TEST(DeviceFiles, WhichGpusHaveAnAnswer) {
  const DeviceCatalog catalog(std::string(KERNELCAST_SOURCE_DIR) + "/devices");
  std::vector<std::string> unknown;
  int gpus = 0;
  for (const std::string& id : catalog.ids()) {
    const Device d = catalog.find(id);
    if (d.kind != "gpu") continue;
    ++gpus;
    for (const Model* m : all_models()) {
      const Estimate e = m->estimate({}, example(), d);
      if (e.time_s.value) {
        EXPECT_GT(*e.time_s.value, 0) << id;
      } else {
        EXPECT_EQ(m->name(), "opencl-quantitative") << id;
        const bool clock = e.time_s.reason.find("; set clock.memory_clock_hz in ") != std::string::npos;
        EXPECT_EQ(clock, !d.get(Field::clock_memory_clock_hz)) << id;
        if (clock) continue;
        EXPECT_THAT(e.time_s.reason, testing::HasSubstr("; set opencl_quantitative.add_cycles in ")) << id;
        unknown.push_back(id);
      }
    }
  }
  EXPECT_GE(gpus, 55);
  EXPECT_THAT(unknown, testing::Contains("amd-radeon-hd-5870"));
  EXPECT_LE(unknown.size(), 7U);
}

}  // namespace
}  // namespace kernelcast
