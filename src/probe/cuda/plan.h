// What is run on a CUDA device, and what came of it, as plain data and as bytes: a plan can be carried to the machine
// that has the GPU, the record back.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::probe::cuda {

struct Info {
  std::string name;
  int driver_version = 0;  // 12040: CUDA 12.4
  int architecture = 0;    // 90: compute capability 9.0
  int units = 0, warp_size = 32;
  double clock_hz = 0, memory_clock_hz = 0, bus_bits = 0;
  double memory_bytes = 0, l2_bytes = 0;
};

/// Device memory. Buffers live as long as their phase.
struct Buffer {
  enum class Fill : unsigned char { zero, data, repeat, walk } fill = Fill::zero;
  std::size_t bytes = 0;
  std::string data{};       // data: the first bytes, the rest is zero; repeat: all of it, over and over
  std::size_t stride = 0;   // walk: a random closed walk over all multiples of it by 64-bit addresses; the first word
                            // after `bytes` holds the address to begin at
  bool sequential = false;  // walk: in rising order instead
};

struct Argument {
  int buffer = -1;         // its address; -1: `value`
  std::size_t offset = 0;  // added to the address
  std::string value{};     // bytes of a scalar
};

struct PlannedLaunch {
  std::string name;  // of the series: "chain.ffma.long"
  int image = 0;     // index in Phase::images
  std::string kernel;
  std::array<unsigned, 3> grid{1, 1, 1}, block{32, 1, 1};
  unsigned shared_bytes = 0;
  std::vector<Argument> arguments;
  int clocks = -1;           // buffer whose beginning holds result and clocks of `block` (ptx.h); -1: none
  int before = -1;           // launch of the phase that is run just before; -1: none
  bool only_before = false;  // it is only run so
  int repeat = 1;            // back to back, times are of one
  double items = 1;          // what the kernel does: operations, loads, bytes
};

struct Transfer {
  std::string name;
  std::size_t bytes = 0;
  bool to_device = true, pinned = true;
  int count = 1;
};

/// Launches and transfers that take turns. A phase has a context of its own: what breaks one leaves the others alone.
struct Phase {
  std::string name;
  std::vector<std::string> images;  // PTX or cubins
  std::vector<Buffer> buffers;
  std::vector<PlannedLaunch> launches;
  std::vector<Transfer> transfers;
  int min_rounds = 6, max_rounds = 60;
  double seconds = 10;  // no further round after that
};

struct Plan {
  Info info;                       // the device that it was made for
  std::vector<std::string> notes;  // why something is not in it
  std::vector<Phase> phases;
};

/// One run. Seconds on the device (by events, or by CUPTI if it is named, then without the gaps between repeats) and by
/// the host's clock, per repeat; cycles of block 0.
struct Run {
  double device_s = 0, wall_s = 0, issue_s = 0;  // issue_s: until the last launch call returned
  double cycles = 0;
  std::uint64_t result = 0;
};
struct TransferRun {
  double done_s = 0, issue_s = 0;
};
template <class R>
struct Series {
  std::string name;
  std::string failure;  // empty: it ran
  double items = 1;
  std::vector<R> runs;
};
struct Record {
  Info info;
  std::string failure;  // there is no record; why
  bool no_device = false;
  std::vector<std::string> notes;
  std::vector<Series<Run>> launches;
  std::vector<Series<TransferRun>> transfers;
};

/// Readers throw LimitError for bytes that are no plan or record.
std::string bytes_of(const Plan& plan);
Plan plan_of(std::string_view bytes);
std::string bytes_of(const Record& record);
Record record_of(std::string_view bytes);

/// Never throws for a machine without a device or for what fails on it: see the record's failures. `keep` is given the
/// record after each phase, so that a device that hangs takes only the rest with it. `library`: path of the driver
/// library, libcuda.so.1 if empty.
Record run_plan(const Plan& plan, const std::string& library, const std::function<void(const Record&)>& keep);

}  // namespace kernelcast::probe::cuda
