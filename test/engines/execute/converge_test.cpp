// The library for divergent loops under the interpreter: every policy gives what the plain loop gives, in lock-step and
// with independent threads, for warps of 32 and 64 lanes.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "engines/execute/cases/case_files.h"
#include "engines/execute/interpreter.h"

namespace kernelcast::agreement {
namespace {

Analysis analysis_of(const std::string& file, const std::string& kernel, const char* target) {
  std::ifstream in(KERNELCAST_SOURCE_DIR "/test/engines/execute/kernels/" + file);
  std::stringstream text;
  text << in.rdbuf();
  Source source;
  source.path = file;
  source.text = text.str();
  source.include_dirs = {KERNELCAST_SOURCE_DIR "/libconverge/include"};
  FrontendOptions options;
  options.kernel = kernel;
  options.target = target;
  options.program = true;
  return analyze(source, options);
}

void expect_like_plain(const std::string& file) {
  constexpr std::size_t out = 1, wrong = 2, policy = 6;  // buffers, and the argument of that name
  restart_random();
  for (const auto& [target, width] : {std::pair{"sm_70", 32}, std::pair{"gfx90a", 64}}) {
    std::map<std::string, Analysis> analyses;
    for (const Case& c : converge()) {
      if (!analyses.contains(c.kernel)) analyses.emplace(c.kernel, analysis_of(file, c.kernel, target));
      for (const bool independent : {false, true}) {
        const auto buffers = interpret(c, analyses.at(c.kernel), width, independent);
        const auto& w = buffers.at(wrong);
        EXPECT_TRUE(std::all_of(w.begin(), w.end(), [](unsigned char b) { return b == 0; }))
            << file << " " << c.kernel << " policy " << std::get<std::int64_t>(c.arguments[policy].value) << " on "
            << target;
        const auto& o = buffers.at(out);
        EXPECT_TRUE(std::any_of(o.begin(), o.end(), [](unsigned char b) { return b != 0; }));
      }
    }
  }
}

TEST(ConvergeLibrary, OpenclGivesWhatThePlainLoopGives) { expect_like_plain("converge.cl"); }
TEST(ConvergeLibrary, CudaGivesWhatThePlainLoopGives) { expect_like_plain("converge_device.cu"); }

}  // namespace
}  // namespace kernelcast::agreement
