// What kernels compare the whole numbers of their buffers with, as the default contents follow it.
#include <gtest/gtest.h>

#include "execute/buffer_roles.h"
#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"

namespace kernelcast::interpreter {
namespace {

struct NumberCase {
  const char* name;
  const char* parameters;
  const char* body;
  const char* below = "";  // of the buffer `number`
  bool size = false;
};

const NumberCase number_cases[] = {
    {"bounded_index", "const int* number, float* x, int m", "int j = number[i]; if (j >= 0 && j < m) x[j] += 1;", "m"},
    {"bounded_index_of_rows", "const int* number, float* x, int m, int c",
     "int j = number[i]; if (j >= m) return; for (int k = 0; k < c; ++k) x[j * c + k] += 1;", "m"},
    {"long_index", "const long* number, float* x, int m", "long j = number[i]; if (j < m) x[j] += 1;", "m"},
    {"threshold", "const int* number, float* x, int m", "if (number[i] < m) x[i] += 1;"},
    {"index_without_bound", "const int* number, float* x, int m", "if (i < m) x[number[i]] += 1;"},
    {"size", "const int* number, float* x", "if (i < *number) x[i] += 1;", "", true},
    {"size_in_structure", "const S* number, float* x", "if (i >= number->count) return; x[i] += number->weight;", "",
     true},
    {"size_of_strides", "const int* number, float* x",
     "for (int k = i; k < number[2]; k += blockDim.x * gridDim.x) x[k] += 1;", "", true},
    {"length_of_own_list", "const int* number, float* x",
     "float s = 0; for (int k = 0; k < number[i]; ++k) s += x[k]; x[i] = s;"},
    {"length_of_one_list", "const int* number, float* x",
     "float s = 0; for (int k = 0; k < *number; ++k) s += x[k]; x[i] = s;"},
    {"own_number", "const int* number, float* x", "if (i < number[i]) x[i] += 1;"},
};

void PrintTo(const NumberCase& c, std::ostream* out) { *out << c.name; }

Analysis analysis_of_numbers(const NumberCase& c) {
  Source source;
  source.path = "numbers.cu";
  source.text = std::string("struct S { int count; float weight; };\n__global__ void numbers(") + c.parameters +
                ") {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " + c.body + "\n}\n";
  FrontendOptions options;
  options.target = "sm_70";
  options.program = true;
  return analyze(source, options);
}

class Numbers : public ::testing::TestWithParam<NumberCase> {};

TEST_P(Numbers, AreUnderstood) {
  const NumberCase& c = GetParam();
  const Analysis a = analysis_of_numbers(c);
  ASSERT_TRUE(a.program) << a.no_program;
  const auto roles = number_roles(*a.program, a.profile.buffers.size());
  for (std::size_t b = 0; b < roles.size(); ++b) {
    const bool asked = a.profile.buffers[b].name == "number";
    std::string below;
    for (const std::string& name : roles[b].below) below += name;
    EXPECT_EQ(below, asked ? c.below : "") << a.profile.buffers[b].name;
    EXPECT_EQ(roles[b].size_of_launch, asked && c.size) << a.profile.buffers[b].name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Numbers, ::testing::ValuesIn(number_cases),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// Additions to x of a launch of 2,048 threads, by default contents.
double updates(const NumberCase& c) {
  const Analysis a = analysis_of_numbers(c);
  Launch launch;
  launch.grid = {8, 1, 1};
  launch.block = {256, 1, 1};
  if (!a.profile.parameters.empty() && a.profile.parameters.back().name == "m") launch.args["m"] = std::int64_t{40};
  ExecuteOptions options;
  options.sample = -1;
  const auto run = execute(a.profile, *a.program, launch, MemoryGeometry{}, options);
  return run.workload.at(MemorySpace::global, AccessKind::store).lanes;
}

TEST(NumberContents, LetTheThreadsWork) {
  EXPECT_EQ(updates(number_cases[0]), 2048);
  EXPECT_EQ(updates(number_cases[5]), 2048);
  EXPECT_EQ(updates(number_cases[6]), 2048);
}

}  // namespace
}  // namespace kernelcast::interpreter
