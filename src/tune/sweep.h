// All configurations of a space on several devices as columns: for files of results, which hold more of them than
// anybody reads.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tune/trial.h"

namespace kernelcast::tune {

/// One row for each configuration and device, the devices of a configuration behind each other. Of the same length.
struct SweepRows {
  std::vector<std::int64_t> configuration;
  std::vector<std::int32_t> device;                   // number in TuneOptions::devices
  std::vector<std::vector<std::int32_t>> parameters;  // by parameter: number of its value
  std::vector<std::int64_t> grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;  // 0: not known
  std::vector<double> time_s;                                                                 // 0: none
  std::vector<std::int32_t> reason;  // number in `reasons`; -1: it has a time
  std::vector<std::string> reasons;  // "registers: 1024 threads may have 64 registers each, ..."
};

/// Thread-safe: rows() may run in any number of threads at once.
class Sweep {
 public:
  /// The options' devices, model, source, launch and risk matter. Throws UserError for a space that is too large.
  Sweep(Space space, TuneOptions options, AnalysisMemory& memory);
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;
  [[nodiscard]] std::uint64_t configurations() const { return combinations_; }
  /// Name and values of each parameter.
  [[nodiscard]] std::vector<std::pair<std::string, std::vector<std::string>>> parameters() const;
  /// Configurations `begin` to `end` (exclusive) that satisfy the constraints. The same to the last bit however the
  /// whole is divided. What is wrong with a configuration is its row's reason; throws nothing but bugs.
  [[nodiscard]] SweepRows rows(std::uint64_t begin, std::uint64_t end) const;

 private:
  Space space_;
  TuneOptions options_;
  std::uint64_t combinations_;
  TrialContext context_;
};

}  // namespace kernelcast::tune
