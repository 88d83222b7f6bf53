#include "validate/forecast_rows.h"

#include <filesystem>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "profile/launch_check.h"

namespace kernelcast::validate {
namespace {

namespace fs = std::filesystem;

/// A fill with its file as a path that opens from here.
std::string resolved_fill(const std::string& fill, const std::string& folder) {
  constexpr std::string_view prefix = "file:";
  if (!fill.starts_with(prefix)) return fill;
  const fs::path path = fill.substr(prefix.size());
  return std::string(prefix) + (path.is_absolute() ? path : fs::path(folder) / path).string();
}

void convert_buffers(const Measurement& row, const KernelProfile& profile, Launch& launch) {
  for (const auto& [given, bytes] : row.element_bytes) {
    const std::string name = parameter_named(profile, given);
    const auto buffer = launch.buffers.find(name);
    if (buffer == launch.buffers.end()) continue;
    for (const Parameter& p : profile.parameters) {
      if (p.name == name) buffer->second.elements = tune::elements_of(p, buffer->second.elements, bytes);
    }
  }
}

}  // namespace

Launch launch_for(const Measurement& row, const KernelEntry& kernel, const KernelProfile& profile,
                  const std::string& folder) {
  Launch launch = row.launch;
  if (kernel.cache_state == "warm") launch.cache = CacheState::warm;
  if (row.block_of_kernel) {
    if (profile.required_block.x == 0) {
      throw UserError(
          "no block is given, and the kernel requires none (reqd_work_group_size): give " KC_SETTING(block));
    }
    launch.block = profile.required_block;
  }
  name_positions(profile, launch);
  convert_buffers(row, profile, launch);
  if (!row.positional.empty()) tune::place_arguments(row.positional, profile, launch);
  for (auto& [name, buffer] : launch.buffers) {
    for (const auto& [pattern, fill] : kernel.fills) {
      if (!matches(pattern, name)) continue;
      buffer.fill = resolved_fill(fill, folder);
      break;
    }
  }
  return launch;
}

}  // namespace kernelcast::validate
