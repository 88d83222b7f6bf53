// Which buffers kernels search by halves, and what default contents follow from that.
#include <gtest/gtest.h>

#include "execute/buffer_roles.h"
#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"

namespace kernelcast::interpreter {
namespace {

struct SearchCase {
  const char* name;
  const char* body;
  bool searched = false;  // x
};

const SearchCase search_cases[] = {
    {"lower_bound",
     "int lo = 0, hi = n; while (lo < hi) { int mid = (lo + hi) / 2; if (x[mid] < key[i]) lo = mid + 1; else hi = mid; "
     "}"
     "y[i] = lo;",
     true},
    {"unsigned_distance",
     "unsigned lo = 0, hi = n; while (hi - lo > 1) { unsigned mid = lo + (hi - lo) / 2; if (key[i] < x[mid]) hi = mid;"
     "else lo = mid; } y[i] = lo;",
     true},
    {"ends_where_it_is_found",
     "int lo = 0, hi = n - 1, at = -1; while (lo <= hi) { int mid = (lo + hi) >> 1; if (x[mid] == key[i]) { at = mid;"
     "break; } if (x[mid] < key[i]) lo = mid + 1; else hi = mid - 1; } y[i] = at;",
     true},
    {"first_and_length",
     "int first = 0, len = n; while (len > 0) { int half = len / 2; if (x[first + half] < key[i]) { first += half + 1;"
     "len -= half + 1; } else len = half; } y[i] = first;",
     true},
    {"bit_by_bit",
     "int at = 0; for (int k = 1 << m; k > 0; k >>= 1) { int r = at | k; if (r < n && x[r] <= key[i]) at = r; } y[i] = "
     "at;",
     true},
    {"in_a_function", "y[i] = place(x, n, key[i]);", true},
    {"merge_path",
     "int lo = 0, hi = n; while (lo < hi) { int mid = (lo + hi) / 2; if (x[mid] <= key[i + n - mid]) lo = mid + 1;"
     "else hi = mid; } y[i] = lo;",
     true},
    {"scan", "int k = 0; while (k < n && x[k] < key[i]) ++k; y[i] = k;"},
    {"list", "int k = i; while (k > 0) k = (int)x[k]; y[i] = k;"},
    {"largest", "int at = 0; for (int k = 0; k < n; ++k) if (x[k] > x[at]) at = k; y[i] = at;"},
    {"up_a_heap", "int k = i; while (k > 0 && x[(k - 1) / 2] < key[i]) k = (k - 1) / 2; y[i] = k;"},
    {"down_a_tree", "int k = 1; while (k < n) k = 2 * k + (x[k] < key[i]); y[i] = k;"},
    {"halving_strides", "for (int s = n; s > 0; s >>= 1) if (i < s && x[i] < x[i + s]) y[i] = s;"},
};

void PrintTo(const SearchCase& c, std::ostream* out) { *out << c.name; }

Analysis analysis_of_search(const SearchCase& c) {
  Source source;
  source.path = "search.cu";
  source.text = std::string(R"(
__device__ int place(const float* x, int n, float key) {
  int lo = 0, hi = n;
  while (lo < hi) { int mid = (lo + hi) / 2; if (x[mid] < key) lo = mid + 1; else hi = mid; }
  return lo;
}
__global__ void search(const float* x, const float* key, int* y, int n, int m) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  )") + c.body + "\n}\n";
  FrontendOptions options;
  options.target = "sm_70";
  options.program = true;
  options.kernel = "search";
  return analyze(source, options);
}

class Searches : public ::testing::TestWithParam<SearchCase> {};

TEST_P(Searches, AreFound) {
  const SearchCase& c = GetParam();
  const Analysis a = analysis_of_search(c);
  ASSERT_TRUE(a.program) << a.no_program;
  const std::vector<bool> searched = searched_buffers(*a.program, a.profile.buffers.size());
  for (std::size_t b = 0; b < searched.size(); ++b) {
    const std::string name = a.profile.buffers[b].name;
    const bool both = name == "key" && std::string(c.name) == "merge_path";
    EXPECT_EQ(searched[b], both || (name == "x" && c.searched)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Searches, ::testing::ValuesIn(search_cases),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// Keys between 0 and 1 end at their own places in as many elements, not all at a few.
TEST(SearchContents, AreSorted) {
  const Analysis a = analysis_of_search(search_cases[0]);
  Launch launch;
  launch.grid = {8, 1, 1};
  launch.block = {256, 1, 1};
  launch.args["n"] = std::int64_t{65536};
  launch.buffers["x"] = BufferSpec{65536, ""};
  ExecuteOptions options;
  options.sample = -1;
  const Execution e = execute(a.profile, *a.program, launch, MemoryGeometry{}, options);
  const auto listed = std::find_if(e.workload.assumptions.begin(), e.workload.assumptions.end(),
                                   [](const Assumption& s) { return s.subject == "x"; });
  ASSERT_NE(listed, e.workload.assumptions.end());
  EXPECT_EQ(listed->value, "sorted(0,1) for a binary search");
}

}  // namespace
}  // namespace kernelcast::interpreter
