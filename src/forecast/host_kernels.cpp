// What host code asks of a kernel: registers as the code generator assigns them for the device, shared memory, and the
// largest block that these and the launch bounds allow.
#include <algorithm>
#include <cmath>

#include "forecast/code_target.h"
#include "forecast/pipeline.h"
#include "forecast/program_launches.h"
#include "io/text_file.h"
#include "kernelcast/error.h"
#include "machine/occupancy.h"

namespace kernelcast {
namespace {

BlockDemand demand_of(const HostKernel& kernel, std::int64_t threads, std::int64_t shared_bytes) {
  return {static_cast<double>(threads), static_cast<double>(kernel.registers),
          static_cast<double>(kernel.static_shared_bytes + shared_bytes)};
}

/// The largest block of whole warps that a compute unit holds; 0: none.
std::int64_t largest_block(const HostKernel& kernel, const Device& device) {
  const UnitLimits unit = unit_limits(device);
  const auto warp = static_cast<std::int64_t>(unit.warp_size);
  auto threads = static_cast<std::int64_t>(device.get_or(Field::limits_max_threads_per_block, 1024));
  while (threads > 0 && resident_blocks(unit, demand_of(kernel, threads, 0)).by_registers < 1) threads -= warp;
  return std::max<std::int64_t>(threads, 0);
}

}  // namespace

std::optional<HostKernel> kernel_resources(const Source& source, const HostKernelAsked& asked, const Device& device,
                                           double compile_seconds) {
  try {
    Source defined = source;
    if (!asked.kernel_file.empty()) {
      defined.path = asked.kernel_file;
      defined.text = read_text_file(asked.kernel_file);
    }
    FrontendOptions options;
    options.kernel = asked.kernel.find('<') == std::string::npos ? asked.symbol : asked.kernel;
    options.time_limit_s = compile_seconds;
    generate_for(device, options);
    const KernelProfile profile = analyze(defined, options).profile;
    HostKernel kernel;
    kernel.registers = static_cast<std::int64_t>(std::ceil(profile.registers.per_thread));
    kernel.static_shared_bytes = profile.static_shared_bytes;
    kernel.local_bytes = profile.stack_bytes + static_cast<std::int64_t>(profile.registers.spill_bytes);
    kernel.max_threads_per_block = largest_block(kernel, device);
    if (profile.max_threads_per_block > 0)
      kernel.max_threads_per_block = std::min(kernel.max_threads_per_block, profile.max_threads_per_block);
    return kernel;
  } catch (const Error&) {  // occupancy is then not known
    return std::nullopt;
  }
}

void put_occupancy_model(const Device& device, HostOptions& options) {
  options.resident_blocks = [unit = unit_limits(device)](const HostKernel& kernel, std::int64_t threads,
                                                         std::int64_t shared_bytes) {
    const double blocks = resident_blocks(unit, demand_of(kernel, threads, shared_bytes)).blocks;
    return std::isfinite(blocks) ? static_cast<std::int64_t>(blocks / unit.units) : 1;
  };
}

}  // namespace kernelcast
