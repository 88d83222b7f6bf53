// Damaged inputs: whatever the text, the answer is a result or an Error, never a dead process, a hang, another
// exception or a count that is no number. Seeds and numbers of mutations are fixed, and so a run finds the same on a
// slow machine; sanitizers end after a minute. KERNELCAST_FUZZ_SECONDS sets a time instead, KERNELCAST_FUZZ_SEED begins
// elsewhere; a failure prints the seed and the text.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontend/code/amd/amdgcn.h"
#include "frontend/code/nvidia/ptx_analysis.h"
#include "frontend/pipeline/code_of_source.h"
#include "frontend/source/compile.h"
#include "kernelcast/bind.h"
#include "kernelcast/device.h"
#include "kernelcast/error.h"
#include "kernelcast/frontend.h"
#include "kernelcast/model.h"
#include "mutate.h"

namespace kernelcast::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Sample {
  std::string path, text;
};

std::vector<Sample> samples_in(const std::vector<std::string>& folders) {
  std::vector<Sample> samples;
  for (const std::string& folder : folders)
    for (const auto& file : std::filesystem::directory_iterator(std::string(KERNELCAST_SOURCE_DIR) + "/" + folder))
      if (file.is_regular_file()) samples.push_back({file.path().filename().string(), read(file.path())});
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.path < b.path; });
  return samples;
}

/// Runs `try_one(sample, mutated text, random)` for so many mutations.
template <class Try>
void fuzz(const std::vector<Sample>& samples, std::uint64_t mutations, const Try& try_one) {
  ASSERT_FALSE(samples.empty());
  const std::uint64_t seconds = environment("KERNELCAST_FUZZ_SECONDS", 0);
  const auto end = Clock::now() + std::chrono::seconds(seconds > 0 ? seconds : 60);
  std::uint64_t seed = environment("KERNELCAST_FUZZ_SEED", 1);
  const std::uint64_t last = seconds > 0 ? ~0ull : seed + mutations;
  for (; seed < last && Clock::now() < end && !::testing::Test::HasFailure(); ++seed) {
    Random random(seed);
    const Sample& sample = random.pick(samples);
    const std::string text = mutate(sample.text, random);
    const auto start = Clock::now();
    try {
      try_one(sample, text, random);
    } catch (const Error&) {
      // what a damaged input deserves
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    EXPECT_LT(took, 20) << "too slow";
    if (::testing::Test::HasFailure())
      ADD_FAILURE() << "KERNELCAST_FUZZ_SEED=" << seed << ", " << sample.path << ":\n" << text;
  }
  ::testing::Test::RecordProperty("mutations", static_cast<int>(seed - environment("KERNELCAST_FUZZ_SEED", 1)));
}

void expect_counts(const Workload& w) {
  auto sound = [](double x) { return std::isfinite(x) && x >= 0; };
  for (double x : w.warp_ops.n) EXPECT_TRUE(sound(x));
  for (double x : w.thread_ops.n) EXPECT_TRUE(sound(x));
  for (const BlockCount& b : w.block_counts) {
    EXPECT_TRUE(sound(b.warps) && sound(b.lanes));
    EXPECT_LE(b.warps, b.lanes * (1 + 1e-9));
  }
  for (const AccessCount& a : w.access_counts)
    EXPECT_TRUE(sound(a.requests) && sound(a.lanes) && sound(a.sectors) && sound(a.segments) && sound(a.bytes));
}

void forecast(const Source& source, const FrontendOptions& options, const Device& device, Random& random) {
  const KernelProfile profile = analyze(source, options).profile;
  Launch launch;
  launch.grid = {4, 1, 1};
  launch.block = {64, 1, 1};
  if (profile.required_block.count() > 0) launch.block = profile.required_block;
  for (const Parameter& p : profile.parameters)
    if (p.integer) launch.args[p.name] = random.pick(std::vector<std::int64_t>{0, 1, 7, 64, 100, -3, 1 << 20});
  Binder binder(profile, device.geometry());
  binder.set_work_limit(2e5);
  const Workload workload = binder.bind(launch);
  expect_counts(workload);
  for (const Model* model : all_models()) {
    try {
      const Estimate estimate = model->estimate(profile, workload, device);
      const double time = estimate.time_s.value.value_or(0);
      EXPECT_TRUE(std::isfinite(time) && time >= 0) << model->name();
    } catch (const Error&) {
      continue;
    }
  }
}

std::string some_kernel(const Source& source, const std::string& target, Random& random) {
  FrontendOptions options;
  options.target = target;
  const auto names = kernels_in(source, options);
  return names.empty() ? "" : random.pick(names);
}

const Device& device_of(const std::string& target) {
  static const DeviceCatalog catalog(std::string(KERNELCAST_SOURCE_DIR) + "/devices");
  static const Device nvidia = catalog.find("v100"), amd = catalog.find("mi210");
  return target.starts_with("sm_") ? nvidia : amd;
}

TEST(Fuzz, Sources) {
  fuzz(samples_in({"examples", "test/data/kernels"}), 300,
       [](const Sample& sample, const std::string& text, Random& r) {
         Source source;
         source.path = sample.path;
         source.text = text;
         FrontendOptions options;
         options.target = r.below(3) == 0 ? "gfx90a" : "sm_70";
         if (sample.path.ends_with(".c")) options.map = {"i", "j"};
         options.kernel = some_kernel(source, options.target, r);
         forecast(source, options, device_of(options.target), r);
       });
}

TEST(Fuzz, IntermediateCode) {
  std::vector<Sample> modules;
  for (const Sample& s : samples_in({"examples"})) {
    if (s.path.ends_with(".c")) continue;
    Source source;
    source.path = s.path;
    source.text = s.text;
    modules.push_back({s.path + ".ll", frontend::module_text(frontend::compile_unit(source, "sm_70", 30))});
  }
  fuzz(modules, 250, [](const Sample& sample, const std::string& text, Random& r) {
    Source source;
    source.path = sample.path;
    source.text = text;
    FrontendOptions options;
    options.kernel = some_kernel(source, options.target, r);
    forecast(source, options, device_of(options.target), r);
  });
}

std::vector<Sample> assembly_for(const std::string& target) {
  std::vector<Sample> result;
  for (const Sample& s : samples_in({"examples"})) {
    if (s.path.ends_with(".c")) continue;
    Source source;
    source.path = s.path;
    source.text = s.text;
    const std::string kernel = frontend::kernel_symbols(source, target)[0];
    result.push_back({kernel, frontend::code_of_source(source, kernel, target).assembly});
  }
  return result;
}

std::vector<std::string> some_blocks() { return {"kc0", "kc1", "kc2", "kc3", "kc4", "kc5", "kc6"}; }

TEST(Fuzz, Ptx) {
  fuzz(assembly_for("sm_70"), 1000, [](const Sample& sample, const std::string& text, Random&) {
    try {
      frontend::analyze_ptx(text, sample.path, 70, 0, some_blocks());
    } catch (const InternalError&) {  // no such kernel
      return;
    }
  });
}

TEST(Fuzz, Amdgcn) {
  fuzz(assembly_for("gfx90a"), 1000, [](const Sample& sample, const std::string& text, Random&) {
    try {
      frontend::analyze_amdgcn(text, sample.path, some_blocks());
    } catch (const InternalError&) {  // no such kernel
      return;
    }
  });
}

TEST(Fuzz, DeviceFiles) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "kernelcast_fuzz_device.toml";
  std::vector<Sample> samples;
  for (Sample& s : samples_in({"devices"}))
    if (s.path.ends_with(".toml")) samples.push_back(std::move(s));
  fuzz(samples, 3000, [&](const Sample&, const std::string& text, Random&) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    load_device(path.string());
  });
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace kernelcast::fuzz
