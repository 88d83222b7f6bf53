// kernels/divergent_rewritten.cl is what the rewriter makes of kernels/divergent.cl; the agreement tests run the one
// natively and interpret the other, both ways round.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "kernelcast/loops.h"

namespace kernelcast::agreement::rewritten_test {
namespace {

std::string contents_of(const std::string& name) {
  std::ifstream file(std::string(KERNELCAST_SOURCE_DIR "/test/engines/execute/kernels/") + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Rewritten, IsWhatTheRewriterWrites) {
  const std::vector<std::pair<const char*, Policy>> kernels{{"collatz", Policy::round_robin},
                                                            {"escape_time", Policy::advance_in_order},
                                                            {"random_walk", Policy::advance},
                                                            {"march", Policy::advance},
                                                            {"align_scores", Policy::advance},
                                                            {"queens", Policy::advance},
                                                            {"histogram_of_two", Policy::advance},
                                                            {"count_if", Policy::round_robin},
                                                            {"subtractive_gcd", Policy::round_robin},
                                                            {"filter", Policy::advance_in_order},
                                                            {"rounds", Policy::advance}};
  Source source;
  source.path = "divergent.cl";
  source.text = contents_of("divergent.cl");
  for (const auto& [kernel, policy] : kernels) {
    FrontendOptions options;
    options.kernel = kernel;
    const std::vector<DivergentLoop> loops = divergent_loops(source, options);
    ASSERT_EQ(loops.size(), 1U) << kernel;
    source.text = rewritten(source, options, loops[0], policy);
  }
  const std::string kept = contents_of("divergent_rewritten.cl");
  if (source.text == kept) return;
  const auto written = std::filesystem::temp_directory_path() / "divergent_rewritten.cl";
  std::ofstream(written) << source.text;
  FAIL() << "the rewriter writes something else now: " << written;
}

}  // namespace
}  // namespace kernelcast::agreement::rewritten_test
