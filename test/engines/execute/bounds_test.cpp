// Which buffers bound loops, in kernels as people write them, and what default contents follow from that.
#include <gtest/gtest.h>

#include "execute/buffer_roles.h"
#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"

namespace kernelcast::interpreter {
namespace {

struct BoundCase {
  const char* name;
  const char* parameters;
  const char* body;
  std::vector<BoundRole> roles;  // of the parameters that are buffers, as far as they are not `none`
};

using enum BoundRole;

const BoundCase cases[] = {
    {"rows",
     "const int* start, const float* v, float* y",
     "float s = 0; for (int k = start[i]; k < start[i + 1]; ++k) s += v[k]; y[i] = s;",
     {offsets}},
    {"rows_unsigned",
     "const unsigned* start, const float* v, float* y",
     "float s = 0; for (unsigned k = start[i]; k < start[i + 1]; ++k) s += v[k]; y[i] = s;",
     {offsets}},
    {"rows_of_64_bits",
     "const unsigned long* start, const float* v, float* y",
     "float s = 0; const unsigned long end = start[i + 1]; for (unsigned long k = start[i]; k < end; ++k) s += v[k];"
     "y[i] = s;",
     {offsets}},
    {"rows_by_warp",
     "const int* start, const float* v, float* y",
     "float s = 0; const int last = start[i / 32 + 1];"
     "for (int k = start[i / 32] + i % 32; k < last; k += 32) s += v[k]; y[i] = s;",
     {offsets}},
    {"rows_from_the_end",
     "const int* start, const float* v, float* y",
     "float s = 0; for (int k = start[i + 1] - 1; k >= start[i]; --k) s = s * 0.5f + v[k]; y[i] = s;",
     {offsets}},
    {"rows_that_are_written_to",
     "const int* start, int* v, int* y",
     "for (int k = start[i]; k < start[i + 1]; ++k) v[k] += y[k];",
     {offsets}},
    {"rows_unrolled",
     "const int* start, const float* v, float* y",
     "float s = 0; _Pragma(\"unroll 4\") for (int k = start[i]; k < start[i + 1]; ++k) s += v[k]; y[i] = s;",
     {offsets}},
    {"rows_of_the_largest_mask",
     "const long* start, const float* v, float* y",
     "float s = 0; for (long k = start[i] & 0x7fffffffffffffffL; k < start[i + 1]; ++k) s += v[k]; y[i] = s;",
     {offsets}},
    {"rows_that_end_early",
     "const int* start, const float* v, float* y",
     "float s = 0; for (int k = start[i]; k < start[i + 1] && s < 9; ++k) s += v[k]; y[i] = s;",
     {offsets}},
    {"rows_in_a_loop",
     "const int* start, const float* v, float* y, int n",
     "float s = 0; for (int r = i; r < n; r += 1000) for (int k = start[r]; k < start[r + 1]; ++k) s += v[k];"
     "y[i] = s;",
     {offsets}},
    {"pairs",
     "const int2* cell, const float* v, float* y",
     "float s = 0; for (int k = cell[i].x; k < cell[i].y; ++k) s += v[k]; y[i] = s;",
     {offsets}},
    {"first_and_last",
     "const int* first, const int* last, const float* v, float* y",
     "float s = 0; for (int k = first[i]; k < last[i]; ++k) s += v[k]; y[i] = s;",
     {offsets, next_offsets}},
    {"lengths",
     "const int* length, const float* v, float* y, int n",
     "float s = 0; for (int k = 0; k < length[i]; ++k) s += v[k * n + i]; y[i] = s;",
     {length}},
    {"begin_and_length",
     "const int* begin, const int* length, const float* v, float* y",
     "float s = 0; for (int k = begin[i]; k < begin[i] + length[i]; ++k) s += v[k]; y[i] = s;",
     {none, length}},
    {"begin_and_length_loaded_again",
     "int2* node, const int* v, const bool* seen, int* cost",
     "for (int k = node[i].x; k < node[i].y + node[i].x; ++k) { int to = v[k]; if (!seen[to]) cost[to] = cost[i] + 1; "
     "}",
     {length}},
    {"indices",
     "const int* index, const float* v, float* y, int n",
     "float s = 0; for (int k = 0; k < n; ++k) s += v[index[k]]; y[i] = s;",
     {}},
    {"keys",
     "const int* x, int* y, int key, int n",
     "int s = 0; for (int k = 0; k < n; ++k) if (x[k] < key) s += k; y[i] = s;",
     {}},
    {"no_test_of_the_loop",
     "const int* length, int* y, int n",
     "int s = 0; for (int k = 0; k < n; ++k) { if (k < length[i]) s += y[k] * 3; else s ^= y[n - k]; } y[i] = s;",
     {}},
    {"falling",
     "const int* length, const float* v, float* y",
     "float s = 0; for (int k = length[i]; k > 0; --k) s += v[k]; y[i] = s;",
     {length}},
    {"lists", "const int* next, int* y", "int k = i; while (k > 0) k = next[k]; y[i] = k;", {}},
};

Analysis analysis_of(const BoundCase& c) {
  Source source;
  source.path = "bounds.cu";
  source.text = std::string("__global__ void bounds(") + c.parameters +
                ") {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " + c.body + "\n}\n";
  FrontendOptions options;
  options.target = "sm_70";
  options.program = true;
  return analyze(source, options);
}

void PrintTo(const BoundCase& c, std::ostream* out) { *out << c.name; }

class Bounds : public ::testing::TestWithParam<BoundCase> {};

class BoundContents : public ::testing::TestWithParam<BoundCase> {};

TEST_P(Bounds, AreFound) {
  const BoundCase& c = GetParam();
  const Analysis analysis = analysis_of(c);
  ASSERT_TRUE(analysis.program) << analysis.no_program;
  std::vector<BoundRole> expected = c.roles;
  expected.resize(analysis.profile.buffers.size(), none);
  EXPECT_EQ(bound_roles(*analysis.program, analysis.profile.buffers.size()), expected);
}

/// With nothing said about the buffers, loops run 16 times on average, whatever bounds them.
TEST_P(BoundContents, AreOfLoopsThatRunSixteenTimes) {
  const BoundCase& c = GetParam();
  const Analysis analysis = analysis_of(c);
  ASSERT_TRUE(analysis.program) << analysis.no_program;
  Launch launch;
  launch.grid = {8, 1, 1};
  launch.block = {256, 1, 1};
  ExecuteOptions options;
  options.sample = -1;
  const Execution e = execute(analysis.profile, *analysis.program, launch, MemoryGeometry{}, options);
  for (const Finding& f : e.findings) EXPECT_EQ(f.kind, Finding::Kind::race) << f.text;  // random indices collide
  double lanes = 0;  // iterations over all lanes: those of the load of v, or the store
  std::size_t k = 0;
  for (const Block& b : analysis.profile.blocks)
    for (const Access& a : b.accesses) {
      const double n = e.workload.access_counts[k++].lanes;
      if (a.buffer >= 0 && analysis.profile.buffers[static_cast<std::size_t>(a.buffer)].name == "v" &&
          a.kind == AccessKind::load)
        lanes += n;
    }
  const std::string name = c.name;
  const double rows = name == "rows_by_warp" ? 2048.0 / 32 : 2048.0;
  EXPECT_NEAR(lanes / rows, 16, name == "rows_by_warp" ? 3 : name == "rows_that_end_early" ? 4 : 0.5);
}

/// Those that need no argument.
std::vector<BoundCase> bounding() {
  std::vector<BoundCase> some;
  for (const BoundCase& c : cases)
    if (!c.roles.empty() && std::string(c.parameters).find("int n") == std::string::npos) some.push_back(c);
  return some;
}

std::string name_of_case(const ::testing::TestParamInfo<BoundCase>& test) { return test.param.name; }
INSTANTIATE_TEST_SUITE_P(Execute, Bounds, ::testing::ValuesIn(cases), name_of_case);
INSTANTIATE_TEST_SUITE_P(Execute, BoundContents, ::testing::ValuesIn(bounding()), name_of_case);

}  // namespace
}  // namespace kernelcast::interpreter
