// `replay`: one function a published system makes its tables.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"
#include "kernelcast/device.h"
#include "report/replay_views.h"

namespace kernelcast::cli {

struct ReplayFlags {
  std::string name, device, examples, table, draws, seed;  // empty: not given
  std::string format = "text", output, devices_dir;
};

/// What a table is made from beside the paper's stated inputs.
struct ReplayInputs {
  const ReplayFlags* flags;
  const DeviceCatalog* catalog;
  bool progress = false;
};

std::vector<report::ReplayTable> replay_opencl_quantitative(const ReplayInputs& in);
std::vector<report::ReplayTable> replay_ske(const ReplayInputs& in);
std::vector<report::ReplayTable> replay_ffma(const ReplayInputs& in);
std::vector<report::ReplayTable> replay_divergence(const ReplayInputs& in);
std::vector<report::ReplayTable> replay_offload(const ReplayInputs& in);

}  // namespace kernelcast::cli
