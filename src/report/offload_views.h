// Views of `offload`.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/offload_region.h"
#include "kernelcast/offload_replay.h"
#include "report/results.h"
#include "report/style.h"

namespace kernelcast::report {

struct OffloadRow {
  Device cpu, gpu;
  offload::OffloadDecision answer;
  std::vector<offload::Change> changes;
  offload::BreakEven break_even;
  struct LoopOfKernel {
    std::string kernel;
    CpuLoopCode loop;
  };
  std::vector<LoopOfKernel> loops;
  /// The same question to other models.
  struct Beside {
    offload::DecisionModel model;
    std::vector<std::string> faults;  // of the print, that are in
    std::optional<offload::OffloadDecision> answer;
    std::string reason;  // why there is none
  };
  std::vector<Beside> beside;
};

struct OffloadReport {
  Head head;
  std::string source;
  offload::OffloadRequest question;
  bool ranking = false;          // several GPUs were asked for, whatever number of them has an answer
  std::vector<OffloadRow> rows;  // cheapest GPU first
};

std::string offload_text(const OffloadReport& report, const Style& style);
std::string offload_json(const OffloadReport& report);
std::string offload_html(const OffloadReport& report);

/// The published table on one platform: decisions of each model, cell by cell.
struct OffloadReplayPlatform {
  std::string cpu, gpu;  // ids
  struct Cell {
    offload::ReplayCell cell;
    std::int64_t n = 0;
    offload::Decision as_printed, corrected;  // the model of 2017 with our counts
    offload::Verdict ours;
    double cpu_s = 0, gpu_s = 0, transfer_s = 0;
  };
  std::vector<Cell> cells;
  struct Line {
    std::string name;
    offload::ReplayScore score;
  };
  std::vector<Line> scores;
};

struct OffloadReplayReport {
  Head head;
  std::string table;
  std::string cpu_code;  // how the CPU's side was compiled
  std::vector<OffloadReplayPlatform> platforms;
};

std::string offload_replay_text(const OffloadReplayReport& report, const Style& style);
std::string offload_replay_json(const OffloadReplayReport& report);

}  // namespace kernelcast::report
