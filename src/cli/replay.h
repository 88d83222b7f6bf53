// `replay`: one function a published system makes its tables.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"
#include "kernelcast/device.h"
#include "report/replay_views.h"

namespace kernelcast::cli {

struct ReplayFlags {
  std::string name, device, format = "text", output, devices_dir;
  std::string examples = "examples", table = "test/data/offload-2017.csv";
  std::string draws = "0", seed = "1";
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
