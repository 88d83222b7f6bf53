// A launch as bytes, for the process of its own that runs it: drivers bring their own compilers, which must not meet
// ours (two versions of LLVM in one process break each other), and may crash.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "probe/opencl_run.h"

namespace kernelcast::probe {

/// What the runner's process answers.
struct OpenclReply {
  std::string device;
  OpenclTiming timing;
  std::string failure;     // instead of a timing
  bool no_device = false;  // the failure is that there is none
};

std::string bytes_of(const OpenclLaunch& launch);
/// Throws LimitError for bytes that are no launch.
OpenclLaunch launch_of(std::string_view bytes);
std::string bytes_of(const OpenclReply& reply);
OpenclReply reply_of(std::string_view bytes);

/// Launches and transfers that take turns, for as many rounds as there is time for.
struct OpenclBatch {
  struct Transfer {
    std::size_t bytes = 0;
    bool to_device = true;
    int count = 1;
  };
  std::vector<OpenclLaunch> launches;
  std::vector<Transfer> transfers;
  int clock = -1;  // launch that runs before each other one; -1: none
  int min_rounds = 6, max_rounds = 40;
  double seconds = 30;  // no further round after that
};
struct OpenclBatchReply {
  OpenclInfo info;
  std::string failure;
  bool no_device = false;
  std::vector<std::vector<OpenclSeconds>> launches;            // by launch, by round; none: see failures
  std::vector<std::string> failures;                           // by launch; empty: it ran
  std::vector<std::vector<OpenclRunner::Transfer>> transfers;  // by transfer, by round
};
std::string bytes_of(const OpenclBatch& batch);
OpenclBatch batch_of(std::string_view bytes);
std::string bytes_of(const OpenclBatchReply& reply);
OpenclBatchReply batch_reply_of(std::string_view bytes);
/// What the runner's process does with a batch.
OpenclBatchReply run_batch(const OpenclBatch& batch);
/// As run_in_process, killed after `seconds`.
OpenclBatchReply run_batch_in_process(const std::string& runner, const OpenclBatch& batch, double seconds);

/// Runs `launch` by the program `runner` (kernelcast-opencl), which is given at most `seconds`. Never throws for what
/// goes wrong over there: see OpenclReply::failure.
OpenclReply run_in_process(const std::string& runner, const OpenclLaunch& launch, double seconds = 120);

}  // namespace kernelcast::probe
