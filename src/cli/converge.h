// What `converge` was asked; one function for each of its uses.
#pragma once

#include <string>

#include "cli/commands.h"
#include "cli/request.h"

namespace kernelcast::cli {

/// Flags as typed.
struct ConvergeFlags {
  std::string replay, policy, first, flush;
  std::string loop;
  bool rewrite = false, diff = false;
  ForecastFlags forecast;  // source, launch, format, output
};

/// `--replay`: steps of a pattern under a policy.
int converge_replay(const ConvergeFlags& flags, const Environment& environment);
/// Verdicts, gains and, with `--rewrite`, the transformed source.
int converge_loops(const ConvergeFlags& flags, const Environment& environment);

}  // namespace kernelcast::cli
