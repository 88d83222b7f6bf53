// What closed forms say of a launch's buffers, against executions of every block.
#include "profile/buffer_reach.h"

#include <gtest/gtest.h>

#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

struct ReachCase {
  const char* name;
  const char* body;
  bool proved = true;  // every size that is too small is seen
};

const ReachCase reach_cases[] = {
    {"every_thread", "o[i] = 1;"},
    {"guarded", "if (i < n) o[i] = 1;"},
    {"guarded_with_equal", "if (i <= n) o[i] = 1;"},
    {"returns", "if (i >= n) return; o[2 * i + 1] = 1;"},
    {"strided", "for (int k = i; k < n; k += blockDim.x * gridDim.x) o[k] = 1;", false},
    {"rows", "for (int k = 0; k < n; ++k) o[k * 64 + i] = 1;"},
    {"nested", "for (int r = 0; r < 3; ++r) for (int c = 0; c <= r; ++c) o[r * 100 + c * 7 + i] = 1;"},
    {"backwards", "o[n + 128 - i] = 1;"},
    {"unsigned_difference", "if ((unsigned long long)n - i >= 1) o[i] = 1;"},
    {"by_data", "if (a[i % 8] > 0.5f) o[i + n] = 1;", false},
    {"ends_early", "for (int k = 0; k < n; ++k) { if (a[k % 8] > 2) return; o[k * 4] = 1; }", false},
};

void PrintTo(const ReachCase& c, std::ostream* out) { *out << c.name; }

class Reach : public ::testing::TestWithParam<ReachCase> {
 protected:
  void SetUp() override {
    Source source;
    source.path = "reach.cu";
    source.text = std::string(
                      "__global__ void reach(const float* a, float* o, int n) {\n  const int i = blockIdx.x * "
                      "blockDim.x + threadIdx.x;\n  ") +
                  GetParam().body + "\n}\n";
    FrontendOptions options;
    options.target = "sm_70";
    options.program = true;
    analysis_ = analyze(source, options);
    launch_.grid = {3, 1, 1};
    launch_.block = {32, 1, 1};
    launch_.args["n"] = std::int64_t{75};
    launch_.buffers["a"] = BufferSpec{8, ""};
  }

  Execution executed() const {
    ExecuteOptions options;
    options.sample = -1;
    return execute(analysis_.profile, *analysis_.program, launch_, MemoryGeometry{}, options);
  }

  BufferReach reach() const {
    for (const BufferReach& r : buffer_reaches(analysis_.profile, launch_))
      if (analysis_.profile.buffers[static_cast<std::size_t>(r.buffer)].name == "o") return r;
    return {};
  }

  Analysis analysis_;
  Launch launch_;
};

TEST_P(Reach, NothingIsSaidThatDoesNotHappen) {
  ASSERT_TRUE(analysis_.program) << analysis_.no_program;
  const auto touched = executed().touched_elements;
  const std::int64_t end = touched.contains("o") ? touched.at("o") : 0;  // elements that o must have
  for (const std::int64_t elements : {end - 40, end - 1, end, end + 1, end + 50}) {
    if (elements < 1) continue;
    launch_.buffers["o"] = BufferSpec{elements, ""};
    const BufferReach r = reach();
    if (elements >= end) EXPECT_FALSE(r.beyond) << elements << " of " << end;
    if (elements < end && GetParam().proved) EXPECT_TRUE(r.beyond) << elements << " of " << end;
    if (r.touched) EXPECT_GE(r.touched->hi + 1, 4 * end);
    if (!r.beyond) continue;
    const auto findings = executed().findings;
    EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
      return f.kind == Finding::Kind::out_of_bounds;
    })) << beyond_text(r, "o");
  }
}

INSTANTIATE_TEST_SUITE_P(All, Reach, ::testing::ValuesIn(reach_cases),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace kernelcast
