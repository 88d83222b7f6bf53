// Forecasts of one variant on one device that are kept between runs.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

#include "kernelcast/device.h"
#include "kernelcast/launch.h"
#include "tune/analysis_memory.h"
#include "tune/space.h"
#include "tune/trial_time.h"

namespace kernelcast::tune {

/// Everything of a device that a forecast can depend on, as a digest.
std::string digest_of(const Device& device);
/// Arguments, buffers and answers of a launch, as a digest; grid and block are left out.
std::string digest_of(const Launch& launch);

/// Not thread-safe; several may write the same file, each complete.
class KeptForecasts {
 public:
  /// `name`: a digest of all that the forecasts depend on beside the launch's shape. Reads what an earlier run kept
  /// under it; a damaged file holds nothing.
  KeptForecasts(AnalysisMemory& memory, std::string name);
  /// Null: not kept. The pointer holds until add().
  [[nodiscard]] const TrialTime* find(const LaunchShape& shape) const;
  void add(const LaunchShape& shape, const TrialTime& answer);
  /// Writes the file again if something was added; trouble is AnalysisMemory's.
  void flush();

 private:
  AnalysisMemory& memory_;
  std::string name_;
  std::unordered_map<LaunchShape, TrialTime, ShapeHash> answers_;
  bool added_ = false;
};

}  // namespace kernelcast::tune
