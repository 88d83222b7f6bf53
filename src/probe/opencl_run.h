// Runs one kernel on an OpenCL device and times it. The loader is opened at run time: a machine without OpenCL loses
// nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernelcast::probe {

/// A kernel argument: a buffer of so many bytes (pseudo-random contents), local memory, or the bytes of a scalar.
struct OpenclArgument {
  enum class Kind : unsigned char { buffer, local, scalar } kind = Kind::buffer;
  std::size_t bytes = 0;               // buffer, local
  std::vector<unsigned char> value{};  // scalar
  bool real = true;                    // buffer: elements are floats in [0, 1), otherwise small whole numbers
  bool walk = false;  // buffer: the first 32-bit number of each 64 bytes is the index of that of the next, one closed
                      // walk (host/memory.h); in place of the above
};

struct OpenclLaunch {
  std::string source, options, kernel;  // options as clBuildProgram takes them
  std::array<std::size_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::vector<OpenclArgument> arguments;
};

struct OpenclTiming {
  double median_s = 0, fastest_s = 0,
         slowest_s = 0;  // of the device's own clock where it has one, of the host's otherwise
  int runs = 0;
};

/// What the device says of itself.
struct OpenclInfo {
  std::string name;
  bool cpu = false, doubles = false;
  double units = 1, clock_hz = 0;  // clock_hz: its largest clock
  double memory_bytes = 0, largest_buffer_bytes = 0;
};

/// One run: seconds by the device's own clock (by the host's where it has none), and as the host saw it.
struct OpenclSeconds {
  double device_s = 0, wall_s = 0;
  double beside_s = 0;  // of a batch: device_s of its clock launch just before
};

class OpenclRunner {
 public:
  /// Opens the loader and takes the first device of the first platform that has one. Never throws for a machine without
  /// OpenCL: see unavailable().
  OpenclRunner();
  ~OpenclRunner();
  OpenclRunner(const OpenclRunner&) = delete;
  OpenclRunner& operator=(const OpenclRunner&) = delete;

  /// Why there is no device; empty: there is one.
  [[nodiscard]] const std::string& unavailable() const;
  [[nodiscard]] const std::string& device_name() const;
  /// Builds, runs once to warm up and then at least `runs` times. Throws LimitError with the failing call, and the
  /// build log where there is one.
  OpenclTiming time(const OpenclLaunch& launch, int runs = 7);

  [[nodiscard]] OpenclInfo info() const;
  /// Builds, makes the buffers and runs once; the handle of run(). Launches of the same source share its program.
  /// Throws as time() does. All buffers live as long as the runner.
  int prepare(const OpenclLaunch& launch);
  OpenclSeconds run(int prepared);
  /// Seconds of `count` copies of `bytes` between host and device, one after the other, until the last has arrived;
  /// `started_s`: until the host had given all of them away.
  struct Transfer {
    double done_s = 0, started_s = 0;
  };
  Transfer transfer(std::size_t bytes, bool to_device, int count);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelcast::probe
