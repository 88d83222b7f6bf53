// Files count elements of the buffer as the benchmark declared it, the binder those of the kernel's parameter type: a
// matrix of floats may be read through float4 pointers.
#include "validate/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "kernelcast/error.h"

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

std::int64_t elements_of(const Parameter& parameter, std::int64_t elements, std::int64_t element_bytes) {
  if (parameter.bytes <= 0) return elements;
  return (elements * element_bytes + parameter.bytes - 1) / parameter.bytes;
}

void place_arguments(std::vector<PositionalArgument> arguments, const KernelProfile& profile, Launch& launch) {
  if (arguments.size() != profile.parameters.size()) {  // constant memory may be a symbol instead of a parameter
    std::erase_if(arguments, [](const PositionalArgument& a) { return a.constant_memory; });
  }
  if (arguments.size() != profile.parameters.size()) {
    throw UserError(fmt::format("the file lists {} arguments, kernel {} has {}", arguments.size(), profile.kernel,
                                profile.parameters.size()));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const PositionalArgument& a = arguments[i];
    const Parameter& p = profile.parameters[i];
    if (a.scalar == p.pointer) {
      throw UserError(fmt::format("argument {} \"{}\" of the file is {}, parameter \"{}\" of kernel {} is not", i + 1,
                                  a.name, a.scalar ? "a scalar" : "a buffer", p.name, profile.kernel));
    }
    if (!a.scalar) {
      launch.buffers[p.name] = {elements_of(p, a.elements, a.element_bytes), ""};
    } else if (p.integer && a.value == std::floor(a.value)) {
      launch.args[p.name] = static_cast<std::int64_t>(a.value);
    } else {
      launch.args[p.name] = a.value;
    }
  }
}

void convert_buffers(const Measurement& row, const KernelProfile& profile, Launch& launch) {
  for (const auto& [name, bytes] : row.element_bytes) {
    const auto buffer = launch.buffers.find(name);
    if (buffer == launch.buffers.end()) continue;
    for (const Parameter& p : profile.parameters) {
      if (p.name == name) buffer->second.elements = elements_of(p, buffer->second.elements, bytes);
    }
  }
}

}  // namespace

Launch launch_for(const Measurement& row, const KernelEntry& kernel, const KernelProfile& profile,
                  const std::string& folder) {
  Launch launch = row.launch;
  if (row.block_of_kernel) {
    if (profile.required_block.x == 0) {
      throw UserError("no block is given, and the kernel requires none (reqd_work_group_size): give --block");
    }
    launch.block = profile.required_block;
  }
  convert_buffers(row, profile, launch);
  if (!row.positional.empty()) place_arguments(row.positional, profile, launch);
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
