// The whole text of a small validation, letter by letter: test/golden/report/validate.txt.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "report/validate_views.h"
#include "validate/summary.h"

namespace kernelcast::report {
namespace {

using validate::RowResult;

RowResult row(const std::string& kernel, const std::string& gpu, double measured, double first, double second,
              std::vector<std::string> flags = {}) {
  RowResult r;
  r.row.place = "rows.csv:2";
  r.row.kernel_id = kernel;
  r.row.gpu = gpu;
  r.row.problem = "n = 1024";
  r.row.measured_s = measured;
  r.row.flags = std::move(flags);
  r.models.resize(2);
  r.models[0].time_s = first;
  r.models[0].lo_s = first / 2;
  r.models[0].hi_s = first * 2;
  if (second > 0) {
    r.models[1].time_s = second;
  } else {
    r.models[1].failure = "memory.l2_bytes is unknown";
  }
  return r;
}

validate::Report small_report() {
  validate::Report report;
  report.models = {"first", "second"};
  for (int i = 1; i <= 8; ++i) report.rows.push_back(row("conv_a", "v100", i * 1e-3, i * 1.1e-3, (9 - i) * 1e-3));
  report.rows.push_back(row("conv_b", "v100", 1e-3, 0.9e-3, 4e-3));
  report.rows.push_back(row("gemm", "a100", 1e-3, 5e-3, 0));
  report.rows.push_back(row("gemm", "a100", 1e-6, 2e-6, 1e-7, {"launch_overhead"}));
  RowResult lost = row("gemm", "a100", 1e-3, 1, 1);
  lost.models.assign(2, {});
  lost.failure = "gemm.cu:3: unknown type name 'real'";
  report.rows.push_back(lost);
  RowResult broken = row("gemm", "a100", 1e-3, 1, 1);
  broken.row.measured_s.reset();
  report.rows.push_back(broken);
  validate::score(report);
  return report;
}

TEST(ValidateText, IsWhatItWas) {
  std::ifstream file(KERNELCAST_SOURCE_DIR "/test/golden/report/validate.txt");
  const std::string expected((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(validate_text(small_report(), Style(false)), expected);
}

}  // namespace
}  // namespace kernelcast::report
