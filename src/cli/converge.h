// What `converge` was asked; one function for each of its uses.
#pragma once

#include <string>

#include "cli/commands.h"

namespace kernelcast::cli {

/// Flags as typed.
struct ConvergeFlags {
  std::string replay, policy, first, flush, format = "text", output;
};

/// `--replay`: steps of a pattern under a policy.
int converge_replay(const ConvergeFlags& flags, const Environment& environment);

}  // namespace kernelcast::cli
