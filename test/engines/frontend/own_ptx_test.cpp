// Two roads, one answer: kernels from source, and from the PTX that our own code generation makes of them. Bytes,
// sectors and bank passes of every kind of access are the same, instructions within 2 %.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "frontend/lower/lower_kernel.h"
#include "frontend/pipeline/pipeline.h"
#include "frontend/source/compile.h"
#include "frontend/source/kernels.h"
#include "kernelcast/bind.h"
#include "kernelcast/frontend.h"
#include "profile/launch_check.h"

namespace kernelcast {
namespace {

const char* const architecture = "sm_80";

std::string ptx_of(const Source& source) {
  frontend::CompiledUnit unit = frontend::compile_unit(source, architecture, 30, "");
  const auto kernels = frontend::list_kernels(*unit.module, unit.language);
  frontend::lower_kernel(unit, kernels.at(0).symbol, architecture, false, {});
  return frontend::generate_target_code(*unit.module, kernels.at(0).symbol, architecture, false).assembly;
}

Analysis analysed_for(const Source& source) {
  FrontendOptions options;
  options.target = architecture;
  return analyze(source, options);
}

std::map<std::string, double> counts_of(const Analysis& a, Launch launch) {
  name_positions(a.profile, launch);
  const Workload w = Binder(a.profile, MemoryGeometry{}).bind(launch);
  std::map<std::string, double> out;
  std::size_t number = 0;
  for (const Block& block : a.profile.blocks)
    for (const Access& access : block.accesses) {
      const std::string what = std::string(name_of(access.space)) + " " + std::string(name_of(access.kind));
      const AccessCount& c = w.access_counts[number++];
      out[what + " bytes"] += c.lanes * access.bytes;
      out[what + " sectors"] += c.sectors;
      out[what + " passes"] += c.bank_passes;
    }
  out["instructions"] = w.warp_ops.total();
  return out;
}

struct Example {
  const char* file;
  Dim3 grid, block;
  std::map<std::string, ArgValue> scalars;  // by position
  bool same_instructions = true;
};

class OwnPtx : public ::testing::TestWithParam<Example> {};

TEST_P(OwnPtx, HasTheAccessesOfItsSource) {
  const Example& example = GetParam();
  Source source, own;
  source.path =
      (std::filesystem::path(KERNELCAST_SOURCE_DIR) / "examples" / (std::string(example.file) + ".cu")).string();
  std::ifstream file(source.path);
  source.text.assign(std::istreambuf_iterator<char>(file), {});
  own.path = "own.ptx";
  own.text = ptx_of(source);
  const Analysis from_source = analysed_for(source), from_ptx = analysed_for(own);
  EXPECT_TRUE(from_ptx.profile.unmodeled.empty());
  EXPECT_EQ(from_ptx.profile.loops.size(), from_source.profile.loops.size());
  Launch launch;
  launch.grid = example.grid;
  launch.block = example.block;
  for (const auto& [position, value] : example.scalars) launch.args[position] = value;
  std::map<std::string, double> want = counts_of(from_source, launch), got = counts_of(from_ptx, launch);
  if (example.same_instructions) EXPECT_NEAR(got["instructions"], want["instructions"], 0.02 * want["instructions"]);
  want.erase("instructions");
  got.erase("instructions");
  EXPECT_FALSE(want.empty());
  EXPECT_EQ(got, want);
}

const Example own_examples[] = {
    {"saxpy", {4096, 1, 1}, {256, 1, 1}, {{"0", std::int64_t{1048500}}, {"1", 2.0}}},
    {"stencil5", {128, 256, 1}, {32, 8, 1}, {{"2", std::int64_t{4096}}, {"3", std::int64_t{2048}}, {"4", 1.0}}, false},
    {"matmul_naive", {64, 64, 1}, {16, 16, 1}, {{"3", std::int64_t{1000}}}, false},
    {"matmul_tiled", {64, 64, 1}, {16, 16, 1}, {{"3", std::int64_t{1024}}}},
    {"reduce", {512, 1, 1}, {256, 1, 1}, {{"2", std::int64_t{1 << 24}}}},
    {"resize",
     {60, 135, 1},
     {32, 8, 1},
     {{"2", std::int64_t{1920}},
      {"3", std::int64_t{1080}},
      {"4", std::int64_t{960}},
      {"5", std::int64_t{540}},
      {"6", std::int64_t{512}},
      {"7", std::int64_t{512}}}},
};

void PrintTo(const Example& e, std::ostream* out) { *out << e.file; }

INSTANTIATE_TEST_SUITE_P(Examples, OwnPtx, ::testing::ValuesIn(own_examples),
                         [](const auto& tested) { return std::string(tested.param.file); });

}  // namespace
}  // namespace kernelcast
