// What LLVM says about a kernel reaches the user once, as a warning of the analysis; nothing goes to standard error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

using testing::HasSubstr;

/// No pass can do what the pragmas ask: the trip count of each loop is known to data alone and its body has a barrier.
constexpr const char* unrollable = R"(
kernel void walk(global int* a, local int* s) {
  int i = get_local_id(0);
#pragma unroll 4
  while (s[i] > 0) {
    barrier(CLK_LOCAL_MEM_FENCE);
    s[i] = a[s[i]];
  }
  a[get_global_id(0)] = s[i];
}
)";

TEST(PassMessages, BecomeWarningsOnce) {
  Source source;
  source.path = "walk.cl";
  source.text = unrollable;
  testing::internal::CaptureStderr();
  const Analysis analysis = analyze(source, FrontendOptions{});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  int found = 0;
  for (const Diagnostic& d : analysis.diagnostics) {
    EXPECT_EQ(d.severity, Diagnostic::Severity::warning);
    if (d.text.find("loop not unrolled") == std::string::npos) continue;
    ++found;
    EXPECT_THAT(d.text, HasSubstr("walk.cl:5"));
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace kernelcast
