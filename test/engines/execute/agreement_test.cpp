// What interpreted kernels compute equals what an OpenCL platform computes natively on the processor: the same bits for
// integers and for arithmetic that must be rounded correctly, within the specification's bounds for the rest. Each
// kernel is read for two targets, with warps of 32 and of 64 lanes, in lock-step and with independent threads.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "engines/execute/compare_buffers.h"
#include "engines/execute/interpreter.h"
#include "engines/execute/native/results.h"

namespace kernelcast::agreement {
namespace {

std::string contents_of(const std::string& name) {
  std::ifstream file(std::string(KERNELCAST_SOURCE_DIR "/test/engines/execute/kernels/") + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Target {
  const char* name;
  int warp_size;
};
constexpr Target targets[] = {{"sm_70", 32}, {"gfx90a", 64}};

Analysis analysis_of(const Case& c, const CaseFile& file, const Target& target) {
  Source source;
  source.path = file.interpreted;
  source.text = contents_of(file.interpreted);
  source.include_dirs = {KERNELCAST_SOURCE_DIR "/libconverge/include"};
  if (source.path.ends_with(".cl")) source.standard = "CL1.2";
  FrontendOptions options;
  options.kernel = c.kernel;
  options.target = target.name;
  options.program = true;
  return analyze(source, options);
}

std::string differences(const Case& c, const Buffers& got, const Buffers& native) {
  std::string text;
  std::size_t next = 0;
  for (std::size_t i = 0; i < c.arguments.size(); ++i) {
    if (c.arguments[i].kind != Argument::Kind::buffer) continue;
    const std::string d = differences(c.arguments[i], got.at(next), native.at(next));
    if (!d.empty()) text += " argument " + std::to_string(i) + ":\n" + d;
    ++next;
  }
  return text;
}

/// Empty when the interpreter's buffers agree with `native` in both ways of scheduling threads.
std::string disagreement(const Case& c, const CaseFile& file, const Target& target, const Buffers& native) {
  try {
    const Analysis analysis = analysis_of(c, file, target);
    std::string text = differences(c, interpret(c, analysis, target.warp_size, false), native);
    if (!text.empty()) return "\n" + text;
    text = differences(c, interpret(c, analysis, target.warp_size, true), native);
    return text.empty() ? "" : " with independent threads\n" + text;
  } catch (const std::exception& e) {
    return std::string(" ") + e.what() + "\n";
  }
}

#ifdef KERNELCAST_OPENCL_REFERENCE
/// Runs the program opencl_reference. Empty when there is no device; `reason` says why.
std::vector<Buffers> native_results(const CaseFile& file, std::string& reason) {
  std::string folder = (std::filesystem::temp_directory_path() / "kernelcast-agreement-XXXXXX").string();
  if (!mkdtemp(folder.data())) throw std::runtime_error("no temporary folder");
  const std::string out = folder + "/results", said = folder + "/said";
  const std::string command =
      std::string(KERNELCAST_OPENCL_REFERENCE) + " " + file.opencl + " " + out + " > " + said + " 2>&1";
  const int status = std::system(command.c_str());
  std::ifstream in(said);
  std::stringstream text;
  text << in.rdbuf();
  auto results = status == 0 ? read_results(out) : std::vector<Buffers>{};
  std::filesystem::remove_all(folder);
  if (status != 0 && WEXITSTATUS(status) != 3)
    throw std::runtime_error("opencl_reference " + file.opencl + " failed: " + text.str());
  if (status != 0) reason = text.str();
  return results;
}
#else
std::vector<Buffers> native_results(const CaseFile&, std::string& reason) {
  reason = "built without the OpenCL headers and loader";
  return {};
}
#endif

class Agreement : public ::testing::TestWithParam<CaseFile> {};

TEST_P(Agreement, WithTheNativeDevice) {
  const CaseFile& file = GetParam();
  std::string reason;
  const std::vector<Buffers> all_native = native_results(file, reason);
  if (!reason.empty()) GTEST_SKIP() << reason;
  restart_random();
  const std::vector<Case> cases = file.cases();
  ASSERT_EQ(cases.size(), all_native.size());
  int agreeing = 0, all = 0;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const Case& c = cases[k];
    const Buffers& native = all_native[k];
    for (const Target& target : targets) {
      if (c.only_warp && c.only_warp != target.warp_size) continue;
      const std::string text = disagreement(c, file, target, native);
      EXPECT_TRUE(text.empty()) << c.kernel << " for " << target.name << ":" << text;
      agreeing += text.empty();
      ++all;
    }
  }
  std::cout << file.interpreted << ": " << agreeing << " of " << all << " agree\n";
}

std::string test_name(const ::testing::TestParamInfo<CaseFile>& test) {
  return test.param.interpreted.substr(0, test.param.interpreted.find('.'));
}
INSTANTIATE_TEST_SUITE_P(Execute, Agreement, ::testing::ValuesIn(all_files()), test_name);

TEST(AgreementCases, AreMany) {
  std::size_t kernels = 0;
  for (const CaseFile& f : all_files()) kernels += f.cases().size();
  EXPECT_GE(kernels, 60U);
}

TEST(AgreementComparison, SeesWrongBitsAndRespectsBounds) {
  const Argument integers = filled<int>(2);
  EXPECT_EQ(differences(integers, values<int>({1, 2}).bytes, values<int>({1, 2}).bytes), "");
  EXPECT_NE(differences(integers, values<int>({1, 2}).bytes, values<int>({1, 3}).bytes), "");
  const Argument exact = filled<float>(1);
  EXPECT_NE(differences(exact, values<float>({1.0F}).bytes, values<float>({1.0F + 0x1p-23F}).bytes), "");
  EXPECT_NE(differences(exact, values<float>({0.0F}).bytes, values<float>({-0.0F}).bytes), "");
  const Argument close = filled<float>(1).within(2);
  EXPECT_EQ(differences(close, values<float>({1.0F}).bytes, values<float>({1.0F + 0x1p-22F}).bytes), "");
  EXPECT_NE(differences(close, values<float>({1.0F}).bytes, values<float>({1.0F + 0x1p-21F}).bytes), "");
  const Argument parts = filled<float>(2).each({0, 4});
  EXPECT_NE(differences(parts, values<float>({2.0F, 1.0F}).bytes, values<float>({2.0F + 0x1p-22F, 1.0F}).bytes), "");
  EXPECT_EQ(differences(parts, values<float>({2.0F, 1.0F}).bytes, values<float>({2.0F, 1.0F + 0x1p-23F}).bytes), "");
  const Argument packed = filled<int>(4).first_of(3, 4);
  EXPECT_EQ(differences(packed, values<int>({1, 2, 3, 4}).bytes, values<int>({1, 2, 3, 9}).bytes), "");
}

}  // namespace
}  // namespace kernelcast::agreement
