// The CUDA back end against a driver library of the tests' own (support/fake_cuda.h): call order, failures, estimates
// from clock readings, the device file.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "io/text_file.h"
#include "kernelcast/error.h"
#include "kernelcast/probe.h"
#include "machine/sass/cubin.h"
#include "probe/cuda/assemble_ptx.h"
#include "probe/cuda/figures.h"
#include "probe/cuda/make_plan.h"
#include "probe/cuda/plan.h"
#include "probe/cuda/ptx.h"
#include "probe/cuda/tensor_ptx.h"
#include "support/fake_cuda.h"

namespace {

using namespace kernelcast;
using namespace kernelcast::probe;
using namespace kernelcast::probe::cuda;
namespace fake = kernelcast::fake_cuda;
using CudaBuffer = kernelcast::probe::cuda::Buffer;
using CudaLaunch = kernelcast::probe::cuda::PlannedLaunch;
using CudaRun = kernelcast::probe::cuda::Run;

/// Scripts the fake driver for as long as it lives.
class Script {
 public:
  explicit Script(const char* text) { setenv("KERNELCAST_FAKE_CUDA", text, 1); }
  ~Script() { unsetenv("KERNELCAST_FAKE_CUDA"); }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
};

Device h200() { return DeviceCatalog(std::string(KERNELCAST_SOURCE_DIR) + "/devices").find("h200"); }

std::optional<std::string> installed_ptxas() {
  const char* named = std::getenv("KERNELCAST_PTXAS");
  return sass::find_ptxas(named != nullptr ? named : "");
}

Options fake_options() {
  Options o;
  o.cuda_library = KERNELCAST_FAKE_CUDA_LIBRARY;
  o.cuda_runner = KERNELCAST_CUDA_RUNNER;
  o.time_limit_s = 3;
  return o;
}

Plan small_plan() {
  Plan plan;
  Phase p;
  p.name = "one";
  p.min_rounds = p.max_rounds = 4;
  p.buffers = {{CudaBuffer::Fill::zero, 520}, {CudaBuffer::Fill::data, 1024, operand_bytes()}};
  const std::vector<Operation> all = operations(90);
  for (const char* name : {"fadd", "dfma"}) {
    const auto o = std::ranges::find_if(all, [&](const Operation& x) { return x.name == std::string(name); });
    CudaLaunch l;
    l.name = name;
    l.image = static_cast<int>(p.images.size());
    p.images.push_back(chain_module(*o, 64));
    l.kernel = "chain";
    l.arguments = arguments_of({0, 1, -1, 10, 0});
    l.clocks = 0;
    l.items = 640;
    p.launches.push_back(l);
  }
  p.transfers = {{"to", 64, true, true, 3}};
  plan.phases = {p, p};
  return plan;
}

int left_over() {
  void* library = dlopen(KERNELCAST_FAKE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  const auto count = reinterpret_cast<int (*)()>(dlsym(library, "fake_cuda_left_over"));
  return count == nullptr ? -1 : count();
}

TEST(CudaRecord, LaunchesTakeTurnsAndEverythingIsGivenBack) {
  int kept = 0;
  const Record r = run_plan(small_plan(), KERNELCAST_FAKE_CUDA_LIBRARY, [&](const Record&) { ++kept; });
  EXPECT_EQ(r.failure, "");
  EXPECT_EQ(r.info.name, fake::device_name);
  EXPECT_EQ(r.info.architecture, 90);
  EXPECT_EQ(r.info.units, fake::units);
  EXPECT_EQ(kept, 2);
  ASSERT_EQ(r.launches.size(), 4U);
  for (const auto& s : r.launches) {
    EXPECT_EQ(s.failure, "");
    ASSERT_EQ(s.runs.size(), 4U);
    // 25 + 10 * (9 + 64 * latency) cycles, some runs disturbed.
    const double clean = 25 + 10 * (9 + 64 * (s.name == "fadd" ? 4 : 8));
    double least = 1e9;
    for (const CudaRun& run : s.runs) {
      EXPECT_GE(run.cycles, clean);
      EXPECT_LE(run.cycles, 1.03 * clean);
      EXPECT_GT(run.wall_s, 0);
      EXPECT_GT(run.device_s, 0);
      EXPECT_EQ(run.result, 42U);
      least = std::min(least, run.cycles);
    }
    EXPECT_EQ(least, clean);
  }
  ASSERT_EQ(r.transfers.size(), 2U);
  EXPECT_EQ(r.transfers[0].runs.size(), 4U);
  EXPECT_EQ(left_over(), 0);
}

TEST(CudaRecord, WithoutLibraryOrDeviceItSaysWhatToUseInstead) {
  const auto failure = [](const std::string& library) {
    const Record r = run_plan({}, library, nullptr);
    EXPECT_TRUE(r.no_device);
    return plain_text(r.failure);
  };
  const std::string none = failure("/no/such/libcuda.so.1");
  EXPECT_NE(none.find("cannot be opened"), std::string::npos) << none;
  EXPECT_NE(none.find("/no/such/libcuda.so.1"), std::string::npos) << none;
  EXPECT_NE(none.find("backend sim"), std::string::npos) << none;
  {
    const Script script("no-device");
    EXPECT_NE(failure(KERNELCAST_FAKE_CUDA_LIBRARY).find("no NVIDIA GPU"), std::string::npos);
  }
  const Script script("no-driver");
  EXPECT_NE(failure(KERNELCAST_FAKE_CUDA_LIBRARY).find("CUDA_ERROR_UNKNOWN (999)"), std::string::npos);
}

TEST(CudaRecord, ARefusedModuleLosesOnlyItself) {
  const Script script("refuse=fma.rn.f64");
  const Record r = run_plan(small_plan(), KERNELCAST_FAKE_CUDA_LIBRARY, nullptr);
  ASSERT_EQ(r.launches.size(), 4U);
  EXPECT_EQ(r.launches[0].runs.size(), 4U);
  EXPECT_EQ(r.launches[1].runs.size(), 0U);
  EXPECT_EQ(r.launches[1].failure,
            "cuModuleLoadDataEx failed: CUDA_ERROR_INVALID_IMAGE (200): ptxas error   : scripted");
}

TEST(CudaRecord, ALostContextLosesOnlyItsPhase) {
  Plan plan = small_plan();
  plan.phases[0].images[1] = barrier_module(4);
  plan.phases[0].launches[1].kernel = "barriers";
  const Script script("lose=barriers");
  const Record r = run_plan(plan, KERNELCAST_FAKE_CUDA_LIBRARY, nullptr);
  ASSERT_EQ(r.launches.size(), 4U);
  EXPECT_NE(r.launches[1].failure.find("CUDA_ERROR_LAUNCH_FAILED (719)"), std::string::npos) << r.launches[1].failure;
  EXPECT_TRUE(r.launches[0].runs.empty());
  EXPECT_FALSE(r.launches[0].failure.empty());
  EXPECT_EQ(r.launches[2].runs.size(), 4U);
  EXPECT_EQ(r.launches[3].runs.size(), 4U);
  EXPECT_EQ(left_over(), 0);
}

TEST(CudaPlan, PlansAndRecordsComeBackAndDamageIsRefused) {
  Info info;
  info.architecture = 90;
  info.units = 132;
  info.l2_bytes = 1 << 20;
  info.memory_bytes = 1e9;
  const Plan plan = make_plan(info, {});
  const std::string bytes = bytes_of(plan);
  EXPECT_EQ(bytes_of(plan_of(bytes)), bytes);
  Record record = run_plan(small_plan(), KERNELCAST_FAKE_CUDA_LIBRARY, nullptr);
  record.notes = {"a note"};
  const std::string recorded = bytes_of(record);
  EXPECT_EQ(bytes_of(record_of(recorded)), recorded);
  EXPECT_THROW((void)plan_of(recorded), LimitError);
  for (std::size_t n = 0; n < recorded.size(); n += 7)
    EXPECT_THROW((void)record_of(recorded.substr(0, n)), LimitError) << n;
  Plan wild = small_plan();
  wild.phases[0].launches[0].image = 9;
  EXPECT_THROW((void)plan_of(bytes_of(wild)), LimitError);
}

TEST(CudaPlan, EveryModuleAssembles) {
  const auto ptxas = installed_ptxas();
  if (!ptxas) GTEST_SKIP() << "ptxas is not installed";
  int made = 0, unknown = 0;
  for (int architecture : {50, 60, 70, 75, 80, 86, 89, 90}) {
    Info info;
    info.architecture = architecture;
    info.units = 8;
    info.memory_bytes = 1e9;
    const Plan plan = make_plan(info, {});
    // All in one file would need other names; one after the other is slow, so every sixth of them, another sixth each.
    bool known = true;
    int count = 0;
    for (const Phase& p : plan.phases)
      for (const std::string& image : p.images) {
        if (!known || (++count + architecture) % 6 != 0) continue;
        const Assembled a = assemble(*ptxas, image, architecture);
        if (a.cubin.empty() && a.message.find("gpu-name") != std::string::npos) known = false;
        if (!known) continue;
        ASSERT_NE(a.cubin, "") << "sm_" << architecture << ": " << a.message << image;
        ++made;
      }
    if (!known) ++unknown;
  }
  EXPECT_GT(made, 60);
  EXPECT_LT(unknown, 4);
}

const Result& of(const Report& report, const std::string& id) {
  const Result* r = report.find(id);
  EXPECT_NE(r, nullptr) << id;
  static const Result none;
  return r == nullptr ? none : *r;
}

Plan plan_for(int architecture) {
  Info info;
  info.architecture = architecture;
  info.units = 8;
  info.memory_bytes = 1e9;
  return make_plan(info, {});
}

bool has_phase(const Plan& plan, const std::string& name) {
  return std::ranges::any_of(plan.phases, [&](const Phase& p) { return p.name == name; });
}

TEST(CudaPlan, AnArchitectureGetsTheInstructionsThatItHas) {
  EXPECT_FALSE(has_phase(plan_for(60), "atomics by type, stores, launches"));
  EXPECT_TRUE(has_phase(plan_for(70), "atomics by type, stores, launches"));
  EXPECT_FALSE(has_phase(plan_for(75), "matrix instructions"));
  EXPECT_TRUE(has_phase(plan_for(80), "matrix instructions"));
  EXPECT_FALSE(has_phase(plan_for(89), "clusters"));
  const Plan hopper = plan_for(90);
  for (const char* name : {"matrix instructions of warp groups", "bulk copies", "clusters"})
    EXPECT_TRUE(has_phase(hopper, name)) << name;
  EXPECT_FALSE(has_phase(plan_for(100), "matrix instructions of warp groups"));
  for (const Phase& p : hopper.phases)
    for (const std::string& image : p.images) {
      if (image.find(".version") != 0) continue;  // a cubin
      EXPECT_EQ(std::ranges::count(image, '{'), std::ranges::count(image, '}')) << image;
      EXPECT_EQ(image.find('$'), std::string::npos) << image;
    }
}

TEST(CudaPlan, AThreadsOperandsAreFinite) {
  for (const std::string& kind : matrix_kinds()) {
    const std::string data = matrix_data(kind);
    ASSERT_EQ(data.size(), 16384U);
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(data[i]); };
    // The highest byte holds the sign and the exponent, or most of it: all ones would be no number.
    const std::size_t step = kind == "e4m3" || kind == "s8" ? 1 : kind == "f64" ? 8 : kind == "tf32" ? 4 : 2;
    if (kind == "s8") continue;  // each is a number
    for (std::size_t i = step - 1; i < data.size(); i += step) ASSERT_LT(byte(i) & 0x7fU, 0x40U) << kind << " " << i;
  }
}

TEST(CudaFigures, OfMatrixInstructionsComeFromTheDifferenceOfTwoLengths) {
  Record record;
  record.info.architecture = 90;
  record.info.units = 8;
  const auto add = [&](const std::string& name, double items, double cycles, double seconds) {
    Series<CudaRun> s;
    s.name = name;
    s.items = items;
    for (int i = 0; i < 6; ++i) {
      CudaRun run;
      run.cycles = cycles;
      run.device_s = seconds;
      s.runs.push_back(run);
    }
    record.launches.push_back(std::move(s));
  };
  add("mma.chain.f16_f32.short", 128, 1000 + 128 * 32, 1);
  add("mma.chain.f16_f32.long", 384, 1000 + 384 * 32, 1);
  add("wgmma.wide2.bf16_f32.n256.ss.short", 1e6, 700, 1);
  add("wgmma.wide2.bf16_f32.n256.ss.long", 3e6, 1700, 1);
  add("device.mma.f16_f32.short", 1e12, 1e7, 0.01);
  add("device.mma.f16_f32.long", 5e12, 4e7, 0.05);
  add("blocks.256.100", 800, 0, 1e-4);
  add("blocks.256.1000", 8000, 0, 1e-4 + 900 * 2e-7);
  const Report report = report_of(record, h200());
  EXPECT_DOUBLE_EQ(*of(report, "mma.f16_f32.latency_cycles").value, 32);
  EXPECT_DOUBLE_EQ(*of(report, "wgmma.bf16_f32.n256.ss.groups2.fma_per_cycle").value, 2000);
  EXPECT_NEAR(*of(report, "device.mma.f16_f32_flops_per_s").value, 2e14, 1e6);  // twice 4e12 in 0.04 s
  EXPECT_NEAR(*of(report, "device.mma.f16_f32.core_hz").value, 1.5e9, 10);      // two passes of 3e7 cycles in 0.04 s
  EXPECT_NEAR(*of(report, "launch.block256_s").value, 2e-7, 1e-15);
  EXPECT_FALSE(of(report, "cluster.latency_cycles").value.has_value());
}

void expect_near(const Report& report, const std::string& id, double value, double share = 0.005) {
  const Result& r = of(report, id);
  ASSERT_TRUE(r.value.has_value()) << id << ": " << r.reason;
  EXPECT_NEAR(*r.value, value, share * value) << id;
  EXPECT_EQ(r.confidence, "high") << id << ": " << r.reason;
}

TEST(CudaProbe, FindsWhatTheDriverWasScriptedWith) {
  Options options = fake_options();
  options.ptxas = "/usr/bin/true";  // no assembler: patched cubins have a test of their own
  const Report report = probe_cuda(h200(), options);
  EXPECT_NE(of(report, "register.banks").reason.find("patched cubins: /usr/bin/true"), std::string::npos)
      << of(report, "register.banks").reason;
  EXPECT_EQ(report.backend, "cuda");
  expect_near(report, "ffma.latency_cycles", 4);
  expect_near(report, "dfma.latency_cycles", 8);
  expect_near(report, "iadd.latency_cycles", 4.5);
  expect_near(report, "mufu.latency_cycles", 18);
  expect_near(report, "hfma2.latency_cycles", 5);
  expect_near(report, "ffma.throughput_per_cycle", 128);
  expect_near(report, "dfma.throughput_per_cycle", 64);
  expect_near(report, "mufu.throughput_per_cycle", 16);
  expect_near(report, "hfma2.throughput_per_cycle", 256);
  expect_near(report, "clock.core_hz", fake::clock_hz);
  // 192 FFMA of 1,024 threads take 1,536 cycles, the loop around them 9.
  expect_near(report, "device.ffma_flops_per_s", 2 * 128 * fake::units * fake::clock_hz * 1536 / 1545);
  expect_near(report, "cost.add_cycles", 4, 0.02);
  expect_near(report, "cost.div_cycles", 80, 0.02);
  expect_near(report, "shared.latency_cycles", fake::shared_cycles);
  expect_near(report, "shared.read4_bytes_per_cycle", 128);
  expect_near(report, "shared.banks", fake::shared_banks);
  expect_near(report, "shared.bank_bytes", fake::shared_bank_bytes);
  expect_near(report, "atomic.global_latency_cycles", fake::atomic_global_cycles);
  expect_near(report, "atomic.shared_latency_cycles", fake::atomic_shared_cycles);
  expect_near(report, "atomic.same_address_per_s", fake::same_address_per_s);
  expect_near(report, "l1.latency_cycles", fake::l1_cycles);
  expect_near(report, "l2.latency_cycles", fake::l2_cycles);
  expect_near(report, "dram.latency_cycles", fake::dram_cycles);
  expect_near(report, "l1.fill_bytes", fake::l1_sector);
  expect_near(report, "l2.fill_bytes", fake::l2_sector);
  expect_near(report, "l1.read_bytes_per_cycle", fake::l1_bytes_per_cycle);
  expect_near(report, "l2.read_bandwidth_bytes_per_s", fake::l2_bytes_per_s);
  expect_near(report, "dram.read_bandwidth_bytes_per_s", fake::dram_bytes_per_s);
  expect_near(report, "dram.copy_bandwidth_bytes_per_s", fake::dram_bytes_per_s);
  EXPECT_EQ(of(report, "l1.size_bytes").value, 192 * 1024);
  EXPECT_EQ(of(report, "l2.size_bytes").value, fake::l2_bytes);
  const auto& barriers = of(report, "barrier.cycles_by_threads").lists;
  ASSERT_EQ(barriers.size(), 2U);
  EXPECT_NEAR(barriers[1][3], fake::barrier_cycles(8), 0.5);
  for (const char* id :
       {"launch.wall_s", "transfer.to_bandwidth_bytes_per_s", "transfer.from_pageable_bandwidth_bytes_per_s",
        "transfer.to_overhead_s", "transfer.from_gap_s"})
    EXPECT_GT(of(report, id).value.value_or(0), 0) << id;
  std::set<std::string> ids;
  for (const Result& r : report.results) {
    EXPECT_TRUE(ids.insert(r.id).second) << r.id;
    EXPECT_FALSE(r.what.empty() || r.unit.find('\n') != std::string::npos) << r.id;
    EXPECT_TRUE(r.value || !r.lists.empty() || !r.reason.empty()) << r.id;
  }
  // The device file stands alone, with what was measured in it.
  const std::string file = device_file(report, "my-h200");
  EXPECT_NE(file.find("l2_latency_cycles = { value = 260"), std::string::npos) << file;
  const std::string folder = testing::TempDir();
  write_text_file(folder + "/my-h200.toml", file);
  const Device back = load_device(folder + "/my-h200.toml");
  EXPECT_NEAR(back.get(Field::memory_dram_latency_cycles).value_or(0), fake::dram_cycles, 5);
}

TEST(CudaProbe, PatchedCubinsRecoverBanksStallsAndTheBestOrder) {
  const auto ptxas = installed_ptxas();
  if (!ptxas) GTEST_SKIP() << "ptxas is not installed";
  Info info;
  info.name = fake::device_name;
  info.architecture = 90;
  info.units = fake::units;
  info.memory_bytes = 4e9;
  Plan plan;
  plan.info = info;
  PlanOptions options;
  options.ptxas = *ptxas;
  add_patched(plan, options);
  ASSERT_EQ(plan.phases.size(), 3U) << (plan.notes.empty() ? "" : plan.notes.front());
  for (Phase& p : plan.phases) p.min_rounds = p.max_rounds = 6;
  const Record record = run_plan(plan, KERNELCAST_FAKE_CUDA_LIBRARY, nullptr);
  for (const auto& s : record.launches) ASSERT_EQ(s.failure, "") << s.name;
  const Report report = report_of(record, h200());
  // Two banks by the lowest bit.
  const Result& banks = of(report, "register.banks");
  EXPECT_EQ(banks.confidence, "high") << banks.reason;
  ASSERT_EQ(banks.lists.size(), 2U);
  for (const auto& bank : banks.lists)
    for (double r : bank) EXPECT_EQ(static_cast<int>(r) % 2, static_cast<int>(bank.front()) % 2);
  EXPECT_NEAR(of(report, "control.stall_slope").value.value_or(0), 1, 1e-9);
  EXPECT_NEAR(of(report, "control.least_right_stall").value.value_or(0), fake::ffma_cycles, 1e-9);
  EXPECT_NEAR(of(report, "control.intervals").lists.at(0).at(9), 9, 0.2);
  EXPECT_LT(of(report, "ffma.conflict_3way.fraction_of_peak").value.value_or(1), 0.55);
  EXPECT_GT(of(report, "ffma.conflict_free.fraction_of_peak").value.value_or(0), 0.95);
  EXPECT_GT(of(report, "ffma.best_order.fraction_of_peak").value.value_or(0), 0.98);
  const auto& reuse_table = of(report, "reuse.fraction_of_peak").lists;
  ASSERT_EQ(reuse_table.size(), 2U);
  EXPECT_LT(reuse_table[1][0], 0.55);
  EXPECT_GT(reuse_table[1][1], 0.95);
}

TEST(CudaProbe, FailuresNameTheReason) {
  const auto message = [](const Options& options, const Device& base) {
    try {
      (void)probe_cuda(base, options);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  Options options = fake_options();
  options.cuda_library = "/no/such/libcuda.so.1";
  EXPECT_NE(message(options, h200()).find("backend cuda: NVIDIA's driver library cannot be opened"), std::string::npos);
  options = fake_options();
  const Device k20 = DeviceCatalog(std::string(KERNELCAST_SOURCE_DIR) + "/devices").find("k20");
  EXPECT_NE(message(options, k20).find("compute capability 3.5, \"NVIDIA H200\" has 9.0"), std::string::npos);
  options.cuda_runner = "/no/such/kernelcast-cuda";
  EXPECT_NE(message(options, h200()).find("cannot be started"), std::string::npos);
  options = fake_options();
  options.ptxas = "/no/such/ptxas";
  EXPECT_NE(message(options, h200()).find("ptxas /no/such/ptxas"), std::string::npos);
  // A driver that crashes: what was kept by then is evaluated, the rest says why not.
  options = fake_options();
  options.ptxas = "/usr/bin/true";
  options.quick = true;
  options.time_limit_s = 1;
  const Script script("crash=stream");
  const Report report = probe_cuda(h200(), options);
  EXPECT_TRUE(of(report, "ffma.latency_cycles").value.has_value());
  EXPECT_NE(of(report, "dram.read_bandwidth_bytes_per_s").reason.find("the CUDA driver crashed"), std::string::npos)
      << of(report, "dram.read_bandwidth_bytes_per_s").reason;
}

TEST(CudaProbe, AnOldArchitectureHasNoPatchedCubins) {
  Info info;
  info.architecture = 61;
  info.units = 8;
  info.memory_bytes = 1e9;
  PlanOptions options;
  options.ptxas = "/usr/bin/true";
  const Plan plan = make_plan(info, options);
  EXPECT_EQ(plan.phases.size(), 3U);
  ASSERT_EQ(plan.notes.size(), 1U);
  EXPECT_NE(plan.notes[0].find("7.0"), std::string::npos);
}

}  // namespace
