// CSR SpMV on rows of known lengths: executed counts against a few lines that walk the matrix warp by warp, and the
// mixture of closed forms and execution against both.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "count/mix.h"
#include "io/text_file.h"
#include "kernelcast/bind.h"
#include "kernelcast/execute.h"
#include "kernelcast/frontend.h"

namespace kernelcast {
namespace {

constexpr int rows = 1000, block = 128, grid = 8, warp = 32;

struct Matrix {
  std::vector<std::int32_t> start{0}, column;
  Matrix() {
    for (int r = 0; r < rows; ++r) {
      for (int k = 0; k < r * 7 % 13; ++k) column.push_back((r * 31 + k * 97) % rows);
      start.push_back(static_cast<std::int32_t>(column.size()));
    }
  }
  [[nodiscard]] double nonzeros() const { return static_cast<double>(column.size()); }
};

/// What the loads of a loop over the rows of each warp amount to.
struct Twin {
  double iterations = 0;  // of warps
  double value_sectors = 0, column_sectors = 0, x_sectors = 0;
  explicit Twin(const Matrix& m) {
    for (int first = 0; first < rows; first += warp) {
      for (int k = 0;; ++k) {
        std::set<std::int64_t> at_value, at_x;
        for (int r = first; r < std::min(first + warp, rows); ++r) {
          if (m.start[r] + k >= m.start[r + 1]) continue;
          at_value.insert((m.start[r] + k) / 8);
          at_x.insert(m.column[m.start[r] + k] / 8);
        }
        if (at_value.empty()) break;
        ++iterations;
        value_sectors += static_cast<double>(at_value.size());
        x_sectors += static_cast<double>(at_x.size());
      }
    }
    column_sectors = value_sectors;  // elements of the same size at the same indices
  }
};

std::vector<unsigned char> bytes_of(const std::vector<std::int32_t>& v) {
  std::vector<unsigned char> bytes(v.size() * 4);
  std::memcpy(bytes.data(), v.data(), bytes.size());
  return bytes;
}

struct Spmv : testing::Test {
  Matrix matrix;
  Twin twin{matrix};
  Analysis analysis;
  Launch launch;
  Workload closed, executed;

  Spmv() {
    Source source;
    source.path = KERNELCAST_SOURCE_DIR "/examples/spmv_csr.cu";
    source.text = read_text_file(source.path);
    FrontendOptions options;
    options.program = true;
    analysis = analyze(source, options);
    launch.grid = {grid, 1, 1};
    launch.block = {block, 1, 1};
    launch.args["rows"] = std::int64_t{rows};
    ExecuteOptions run;
    run.sample = -1;
    run.contents["start"] = bytes_of(matrix.start);
    run.contents["column"] = bytes_of(matrix.column);
    closed = Binder(analysis.profile, MemoryGeometry{}).bind(launch);
    executed = execute(analysis.profile, *analysis.program, launch, MemoryGeometry{}, run).workload;
  }

  [[nodiscard]] AccessCount of_buffer(const Workload& w, const char* name) const {
    AccessCount sum;
    std::size_t k = 0;
    for (const Block& b : analysis.profile.blocks)
      for (const Access& a : b.accesses) {
        if (a.buffer >= 0 && analysis.profile.buffers[static_cast<std::size_t>(a.buffer)].name == name)
          sum += w.access_counts[k];
        ++k;
      }
    return sum;
  }
};

TEST_F(Spmv, ExecutedCountsAreThoseOfTheWalk) {
  EXPECT_EQ(executed.thread_ops[OpClass::fp32_fma], matrix.nonzeros());
  const AccessCount value = of_buffer(executed, "value"), column = of_buffer(executed, "column"),
                    x = of_buffer(executed, "x"), y = of_buffer(executed, "y");
  for (const AccessCount& c : {value, column, x}) {
    EXPECT_EQ(c.lanes, matrix.nonzeros());
    EXPECT_EQ(c.requests, twin.iterations);
  }
  EXPECT_EQ(value.sectors, twin.value_sectors);
  EXPECT_EQ(column.sectors, twin.column_sectors);
  EXPECT_EQ(x.sectors, twin.x_sectors);
  EXPECT_EQ(y.lanes, rows);
}

TEST_F(Spmv, ClosedFormsCannotKnow) { EXPECT_NE(of_buffer(closed, "x").lanes, matrix.nonzeros()); }

TEST_F(Spmv, TheMixtureIsTheExecutionWhenEveryBlockRan) {
  const Mixed m = mixed(analysis.profile, launch, closed, executed, count_origin(analysis.profile, launch, closed));
  EXPECT_EQ(m.workload.counts_method, CountsMethod::mixed);
  EXPECT_EQ(m.workload.access_counts, executed.access_counts);
  EXPECT_EQ(m.workload.warp_ops, executed.warp_ops);
  EXPECT_EQ(m.workload.thread_ops, executed.thread_ops);
  for (std::size_t b = 0; b < analysis.profile.blocks.size(); ++b) {
    EXPECT_EQ(m.workload.block_counts[b].warps, executed.block_counts[b].warps) << b;
    EXPECT_EQ(m.workload.block_counts[b].lanes, executed.block_counts[b].lanes) << b;
  }
  for (std::size_t b = 0; b < analysis.profile.branches.size(); ++b) {
    EXPECT_EQ(m.workload.branch_counts[b].warps, executed.branch_counts[b].warps) << b;
    EXPECT_EQ(m.workload.branch_counts[b].divergent, executed.branch_counts[b].divergent) << b;
  }
}

}  // namespace
}  // namespace kernelcast
