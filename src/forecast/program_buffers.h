// Buffers of a program's launches that sizes do not fit: accesses beyond them, and arrays that all launches together
// leave mostly untouched.
#pragma once

#include <string>
#include <vector>

#include "forecast/results.h"
#include "kernelcast/host.h"
#include "profile/buffer_reach.h"

namespace kernelcast {

struct BufferFinding {
  std::string rule;    // "beyond-buffer", "untouched-array"
  std::string buffer;  // the kernel's name for it; empty: not one buffer's
  std::string text;
};

/// A launch and what is known of it; null: it has no forecast.
struct LaunchOnDevice {
  const HostLaunch* launch = nullptr;
  const DeviceResult* result = nullptr;
};

struct BeyondBuffer {
  SourceLine line;
  std::string buffer;  // as in BufferFinding
  std::string text;
};
/// What the execution saw beyond buffers, unless it rests on generated contents of others, and what closed forms prove
/// at other lines. `reaches`: of the launch.
std::vector<BeyondBuffer> accesses_beyond(const DeviceResult& result, const std::vector<BufferReach>& reaches);

/// For each launch. `whole`: these are all of the program's launches that may happen; else another one may touch the
/// rest of an array.
std::vector<std::vector<BufferFinding>> buffer_findings(const std::vector<LaunchOnDevice>& launches, bool whole);

}  // namespace kernelcast
