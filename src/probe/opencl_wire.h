// A launch as bytes, for the process of its own that runs it: drivers bring their own compilers, which must not meet
// ours (two versions of LLVM in one process break each other), and may crash.
#pragma once

#include <string>
#include <string_view>

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

/// Runs `launch` by the program `runner` (kernelcast-opencl), which is given at most `seconds`. Never throws for what
/// goes wrong over there: see OpenclReply::failure.
OpenclReply run_in_process(const std::string& runner, const OpenclLaunch& launch, double seconds = 120);

}  // namespace kernelcast::probe
