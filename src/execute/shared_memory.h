// The shared memory of one block, and who touched what since the last barrier.
//
// A conflict is two accesses to the same bytes by different threads, at least one of them a plain write that changes
// the value, with no barrier between. Threads of one warp run in lock-step, so that only conflicts within one
// instruction count there, unless threads are independent.
#pragma once

#include <cstdint>
#include <vector>

namespace kernelcast::interpreter {

enum class SharedTrouble : std::uint8_t { none, uninitialised, race };

class SharedMemory {
 public:
  /// `unit`: bytes that are watched together: 4, or 1 when some access is narrower.
  SharedMemory(std::int64_t bytes, int unit, bool watch, bool independent_threads);

  void begin_block();
  void barrier() { ++epoch_; }
  void warp_barrier() { ++sub_epoch_; }  // independent threads: orders the lanes of a warp
  void instruction() { ++instruction_; }

  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(data_.size()); }
  unsigned char* data() { return data_.data(); }

  /// Notes an access of `thread` in `warp`; `other` is set to the other thread of a race. Call before the data change;
  /// `changes`: a write of another value than is there.
  SharedTrouble load(std::int64_t at, int bytes, int thread, int warp, int& other);
  /// The same for the lanes of a warp whose first thread is `first`, at `at[lane]`; true when some lane has trouble,
  /// which calling load() again for it tells.
  bool load_lanes(const std::uint64_t* at, std::uint64_t lanes, int bytes, int first, int warp);
  SharedTrouble store(std::int64_t at, int bytes, int thread, int warp, bool changes, int& other);
  SharedTrouble atomic(std::int64_t at, int bytes, int thread, int warp, int& other);

 private:
  struct Watch {
    std::uint32_t write_epoch = 0, read_epoch = 0;
    std::int16_t writer = -1, reader = -1;  // -2: several; writer -3: atomics only
    std::uint16_t writer_warp = 0, reader_warp = 0;
    std::uint32_t write_instruction = 0;
    std::uint32_t read_sub = 0, write_sub = 0;
    std::uint32_t written_block = 0;  // number of the block that wrote it last
    bool quiet = false;               // the write left the value as it was
  };
  [[nodiscard]] bool orders(const Watch& w, int warp, bool reading) const;

  std::vector<unsigned char> data_;
  std::vector<Watch> watch_;
  int unit_;
  bool watching_, independent_;
  std::uint32_t epoch_ = 1, sub_epoch_ = 1, instruction_ = 1, block_ = 0;
};

}  // namespace kernelcast::interpreter
