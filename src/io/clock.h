// The clock that never runs backwards, in seconds.
#pragma once

#include <chrono>

namespace kernelcast {

inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace kernelcast
