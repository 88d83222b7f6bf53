// The published cells of the model of 2017, prepared once for a pair of devices and asked as often as wanted.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/offload.h"
#include "kernelcast/offload_replay.h"
#include "report/offload_views.h"

namespace kernelcast::cli {

struct DevicePair {
  std::string cpu, gpu;
};
/// The source does not say which of them gave the table.
const std::vector<DevicePair>& published_pairs();
/// The code that the source describes: no optimisation, no target flags, one thread.
CpuSettings published_settings();

/// The programs of the cells, analysed for the code of two devices.
class PreparedCells {
 public:
  /// `folder` has the loop nests. Throws UserError for a program that is not among them.
  PreparedCells(Device cpu, Device gpu, const std::vector<offload::ReplayCell>& cells, const std::string& folder,
                const CpuSettings& settings, bool progress);
  /// All cells on devices of the same code, with scores.
  [[nodiscard]] report::OffloadReplayPlatform answers(const Device& cpu, const Device& gpu) const;
  [[nodiscard]] report::OffloadReplayPlatform answers() const { return answers(cpu_, gpu_); }
  /// Our decision in each cell, alone: the quick form.
  [[nodiscard]] std::vector<offload::Verdict> verdicts(const Device& cpu, const Device& gpu) const;
  [[nodiscard]] const std::vector<offload::ReplayCell>& cells() const { return cells_; }
  [[nodiscard]] const Device& cpu() const { return cpu_; }
  [[nodiscard]] const Device& gpu() const { return gpu_; }

 private:
  struct Asked {
    const offload::Region* region;
    offload::OffloadRequest question;
    std::int64_t n;
  };
  Device cpu_, gpu_;
  std::vector<offload::ReplayCell> cells_;
  std::map<std::string, std::unique_ptr<offload::Region>> regions_;
  std::vector<Asked> asked_;
};

}  // namespace kernelcast::cli
