// What a caller decides: the launch configuration, the arguments and the answers to what analysis cannot know.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace kernelcast {

/// Three sizes, x fastest.
struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;
  [[nodiscard]] std::int64_t count() const { return x * y * z; }
  [[nodiscard]] std::array<std::int64_t, 3> array() const { return {x, y, z}; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// A declared buffer: element count and, for the executing engine, what it is filled with.
struct BufferSpec {
  std::int64_t elements = 0;
  std::string fill;  // empty: not given
};

/// What the caches hold when a launch starts: nothing of it (cold), or what an earlier launch over the same buffers left
/// there (warm).
enum class CacheState : std::uint8_t { cold, warm };

using ArgValue = std::variant<std::int64_t, double>;

/// A structure that a kernel takes by value, as far as it is known.
struct StructureSpec {
  std::string bytes, known;                     // as many in both; a byte is known where `known` is not 0
  std::map<std::int64_t, BufferSpec> pointers;  // by their offset in bytes
};

/// One launch: grid in blocks, block in threads. Ordered maps, so that output is stable.
struct Launch {
  Dim3 grid;
  Dim3 block;
  std::int64_t dynamic_shared_bytes = 0;
  Dim3 cluster{0, 0, 0};                       // blocks of a cluster where the launch says it; 0: the code does, or there is none
  std::map<std::string, ArgValue> args;        // scalar parameters by name
  std::map<std::string, BufferSpec> buffers;   // pointer parameters by name
  std::map<std::string, StructureSpec> structures;  // by name; a field at byte 8 of p that `args` or `buffers` have as "p+8" is theirs
  std::map<std::string, BufferSpec> globals;   // contents of variables of the source, by name; those that the kernel does not use are passed over
  std::map<std::string, double> assume;        // "trips:LINE" -> count, "branch:LINE" -> probability, ...
  CacheState cache = CacheState::cold;
  double launch_overhead_s = 0;                // of the host: added to the GPU's duration
};

/// Something that was taken for granted, and the setting that replaces it. Programs go by kind and subject; the rest is for readers.
struct Assumption {
  enum class Kind : std::uint8_t {
    other,
    unknown,       // of the profile; subject: its key, "trips:14"
    sampled,       // counted on a sample of iterations or addresses
    machine_code,  // the target's own code could not be had; subject: why
    contents,      // generated contents of a buffer on which executed counts rest; subject: the buffer
    narrows,       // of a model: defaults make its interval wide; the value names the settings that narrow it
  };
  std::string what;     // "trip count of the loop at spmv.cl:14"
  std::string value;    // "16"
  std::string replace;  // setting (kernelcast/setting.h) and value, "assume trips:14=VALUE"; empty when nothing can be given
  Kind kind = Kind::other;
  std::string subject = {};
  /// Whether it stands for something that data decide and nobody gave: counts rest on it.
  [[nodiscard]] bool is_default() const { return kind == Kind::unknown || kind == Kind::contents; }
  friend bool operator==(const Assumption&, const Assumption&) = default;
};

}  // namespace kernelcast
