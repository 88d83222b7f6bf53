// What a launch touches of its buffers whose sizes are known, where closed forms prove it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernelcast/launch.h"
#include "kernelcast/profile.h"

namespace kernelcast {

struct BufferReach {
  /// An access that is sure to happen and does not lie inside.
  struct Beyond {
    std::int64_t at = 0;  // bytes from the buffer's base
    int bytes = 0;
    AccessKind kind = AccessKind::load;
    SourceLine line;
    Dim3 block{0, 0, 0}, thread{0, 0, 0};
  };
  int buffer = -1;                           // index into KernelProfile::buffers
  std::int64_t bytes = 0;                    // its size
  bool accessed = false, by_thread = false;  // by_thread: threads of a block access different elements
  std::optional<Interval> touched;           // by the accesses; nothing outside these bytes is. Nothing: not known
  std::optional<Beyond> beyond;
};

/// The subject of the profile's assumption that data, the same for a whole block, move the accesses of a line: their
/// offsets are without them.
std::string data_base_key(SourceLine line);

/// Of each parameter's buffer to which the launch gives a size and the profile an element.
std::vector<BufferReach> buffer_reaches(const KernelProfile& profile, const Launch& launch);

/// "thread 31,0,0 of block 7,0,0 stores 4 bytes at byte 4096 of out, which has 4096"; the access must be one.
std::string beyond_text(const BufferReach& reach, const std::string& buffer);

/// How many of the buffer's bytes are touched at most, where these are less than half of a large one; nothing: they are
/// not, or it is not known.
std::optional<std::int64_t> mostly_untouched(const std::optional<Interval>& touched, std::int64_t bytes);
std::string untouched_text(std::int64_t touched, const std::string& buffer, std::int64_t bytes);

}  // namespace kernelcast
