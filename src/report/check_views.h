// Views of `check`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/ratio_error.h"
#include "report/results.h"
#include "report/style.h"

namespace kernelcast::report {

/// Base against new on one device.
struct CheckRow {
  std::string kernel, device;
  std::string file;  // of new; empty: CheckReport::changed
  std::optional<double> base_s, new_s;
  double ratio = 0;                   // new / base; > 1 is slower
  double ratio_lo = 0, ratio_hi = 0;  // 90 % interval
  RatioError error;                   // of ln(ratio); none: both forecasts are equal
  double probability_slower = 0;      // than base
  double probability_broken = 0;      // slower than the gate allows
  bool passed = false;
  bool accepted = false;                           // slower than the gate allows, and passed because it was accepted
  std::string launch;                              // "4096,1,1/256,1,1": grid and block of new
  int line = 1;                                    // first line of the kernel in new
  bool local_memory = false;                       // base or new probably keeps values there: the ratio is less certain
  std::string base_limiter, new_limiter, failure;  // failure: why there is no ratio; the gate then fails
  /// The kernel, with its file where there are several: what an accepted slowdown is recognised by.
  [[nodiscard]] std::string name() const { return file.empty() ? kernel : file + ": " + kernel; }
};

struct CheckReport {
  Head head;
  std::string base, changed;  // paths
  double max_slowdown = 0;    // 0.05: a ratio of 1.05 still passes
  // Of the least certain row without local memory; of a pair that differs much, where there is no such row.
  double visible_ratio = 0;  // the smallest that is slower with a probability of 90 %
  double ratio_factor = 0;   // nine in ten true ratios are within this factor of the forecast one
  std::vector<CheckRow> rows;
  [[nodiscard]] bool passed() const;
};

std::string check_text(const CheckReport& report, const Style& style);
/// A table for a comment on a pull request.
std::string check_markdown(const CheckReport& report);
std::string check_sarif(const CheckReport& report);
std::string check_json(const CheckReport& report);

}  // namespace kernelcast::report
