// Round trips of what nvcc makes of the repository's CUDA examples: parse, print, parse is the identity, no opcode is
// unknown, and ptxas accepts what is printed. KERNELCAST_NVCC names another nvcc.
#include <unistd.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ptx/parse.h"
#include "ptx/print.h"

namespace kernelcast::ptx {
namespace {

namespace fs = std::filesystem;

std::string nvcc() {
  if (const char* named = std::getenv("KERNELCAST_NVCC")) return named;
  return "/usr/local/cuda/bin/nvcc";
}

bool runs(const std::string& command) { return std::system((command + " > /dev/null 2>&1").c_str()) == 0; }

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class PtxOfNvcc : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!fs::exists(nvcc())) GTEST_SKIP() << "nvcc is not installed";
    folder_ = fs::path(testing::TempDir()) / ("kernelcast_ptx_" + GetParam() + "_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  /// ptxas takes the printed text.
  void round_trip(const std::string& text, const std::string& name) {
    const Module module = parse(text, name);
    for (const Function& function : module.functions)
      for (const Instruction& instruction : function.body)
        EXPECT_NE(instruction.op, Op::unknown) << name << ": " << print(instruction, function);
    const std::string printed = print(module);
    EXPECT_TRUE(same(module, parse(printed, name))) << name;
    const fs::path path = folder_ / "printed.ptx";
    std::ofstream(path) << printed;
    const std::string ptxas = (fs::path(nvcc()).parent_path() / "ptxas").string();
    EXPECT_TRUE(runs(ptxas + " -arch=" + GetParam() + " " + path.string() + " -o " + (folder_ / "out.cubin").string()))
        << name;
  }

  fs::path folder_;
};

TEST_P(PtxOfNvcc, ExamplesComeBackAndAssemble) {
  for (const std::string name : {"reduce", "matmul_tiled", "intra_prediction"}) {
    const fs::path source = fs::path(KERNELCAST_SOURCE_DIR) / "examples" / (name + ".cu"),
                   made = folder_ / (name + ".ptx");
    ASSERT_TRUE(runs(nvcc() + " -ptx -lineinfo -arch=" + GetParam() + " " + source.string() + " -o " + made.string()))
        << name;
    round_trip(text_of(made), name);
  }
}

TEST_P(PtxOfNvcc, SamplesOfTheArchitectureAssemble) {
  for (const std::string name : {"ampere", "hopper", "blackwell"}) {
    const std::string text = text_of(fs::path(KERNELCAST_SOURCE_DIR) / "test/data/ptx" / (name + ".ptx"));
    if (text.find(".target " + GetParam() + "\n") != std::string::npos) round_trip(text, name);
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, PtxOfNvcc, testing::Values("sm_80", "sm_90a", "sm_100a", "sm_120a"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace kernelcast::ptx
