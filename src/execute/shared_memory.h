// The shared memory of one block, and who touched what since the last barrier.
//
// A conflict is two accesses to the same bytes by different threads, at least one of them a plain write that changes
// the value, with no barrier between. Threads of one warp run in lock-step, so that only conflicts within one
// instruction count there, unless threads are independent.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "execute/shared_order.h"

namespace kernelcast::interpreter {

class SharedMemory {
 public:
  /// `unit`: bytes that are watched together, a power of two: 4, or 1 when some access is narrower.
  SharedMemory(std::int64_t bytes, int unit, bool watch, bool independent_threads);

  /// Memory that it takes. Saturates.
  static std::int64_t bytes_for(std::int64_t bytes, int unit, bool watch);

  /// For kernels that copy asynchronously or have mbarriers: watches by what each warp has seen, not by barriers of the
  /// block alone. Before the first block. Nothing where nothing is watched.
  void keep_order(int threads, int warp_size);
  /// Null: not kept.
  [[nodiscard]] SharedOrder* order() const { return order_.get(); }

  void begin_block();
  void barrier() {
    ++epoch_;
    if (order_) order_->barrier();
  }
  void warp_barrier(int warp) {  // independent threads: orders the lanes of a warp
    ++sub_epoch_;
    if (order_) order_->warp_barrier(warp);
  }
  void instruction() {
    ++instruction_;
    if (order_) order_->instruction();
  }

  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(data_.size()); }
  unsigned char* data() { return data_.data(); }

  /// Notes an access of `thread` in `warp`; `other` is set to the other thread of a race. Call before the data change;
  /// `changes`: a write of another value than is there.
  SharedTrouble load(std::int64_t at, int bytes, int thread, int warp, int& other);
  /// The same for the lanes of a warp whose first thread is `first`, at `at[lane]`; true when some lane has trouble,
  /// which calling load() again for it tells.
  bool load_lanes(const std::uint64_t* at, std::uint64_t lanes, int bytes, int first, int warp);
  SharedTrouble store(std::int64_t at, int bytes, int thread, int warp, bool changes, int& other);
  /// A store that is a copy by cp.async.
  SharedTrouble copy(std::int64_t at, int bytes, int thread, int warp, bool changes, int& other);
  /// Copies in bulk, kept in order: a write that mbarrier number `mbarrier` tells of when its phase is complete, and a
  /// read.
  SharedTrouble bulk_write(std::int64_t at, int bytes, int thread, int warp, int mbarrier, std::uint32_t phase,
                           int& other);
  SharedTrouble bulk_read(std::int64_t at, int bytes, int thread, int warp, int& other);
  SharedTrouble atomic(std::int64_t at, int bytes, int thread, int warp, int& other);

 private:
  static constexpr std::int16_t several = -2, atomics = -3;
  static constexpr std::uint16_t several_warps = 0xffff;
  // Epochs count barriers over all blocks: the last write was in this block if its epoch is not below the block's
  // first.
  struct alignas(32) Watch {
    std::uint32_t write_epoch = 0, read_epoch = 0;
    std::uint32_t write_order =
        0;  // number of the instruction, or of the warp's barriers where threads are independent
    std::uint32_t read_sub = 0;
    std::int16_t writer = -1, reader = -1;  // `several`; writer `atomics`: no other write
    std::uint16_t writer_warp = 0, reader_warp = 0;
    bool quiet = false;  // the write left the value as it was
  };

  [[nodiscard]] std::uint32_t moment() const { return independent_ ? sub_epoch_ : instruction_; }
  /// Whether the earlier write, or read, by another thread of `warp` happened before this access for certain.
  [[nodiscard]] bool write_ordered(const Watch& w, int warp) const {
    return w.writer_warp == warp && w.write_order != moment();
  }
  [[nodiscard]] bool read_ordered(const Watch& w, int warp) const {
    return w.reader_warp == warp && (!independent_ || w.read_sub != sub_epoch_);
  }
  [[nodiscard]] bool written(const Watch& w) const { return w.write_epoch >= first_epoch_; }
  /// `note` of every unit in [at, at + bytes); the last trouble.
  template <class Note>
  SharedTrouble each_unit(std::int64_t at, int bytes, Note note) const {
    SharedTrouble trouble = SharedTrouble::none;
    for (std::int64_t u = at >> unit_shift_; u <= (at + bytes - 1) >> unit_shift_; ++u)
      if (const SharedTrouble t = note(u); t != SharedTrouble::none) trouble = t;
    return trouble;
  }
  bool load_lanes_in_order(const std::uint64_t* at, std::uint64_t lanes, int bytes, int first, int warp);
  SharedTrouble note_load(Watch& w, int thread, int warp) const;
  SharedTrouble note_store(Watch& w, int thread, int warp, bool& changes, int& other) const;

  std::vector<unsigned char> data_;
  std::vector<Watch> watch_;
  int unit_shift_;
  std::unique_ptr<SharedOrder> order_;
  bool watching_, independent_;
  std::uint32_t epoch_ = 1, first_epoch_ = 1, sub_epoch_ = 1, instruction_ = 1;
};

inline SharedTrouble SharedMemory::note_load(Watch& w, int thread, int warp) const {
  SharedTrouble trouble = SharedTrouble::none;
  if (!written(w))
    trouble = SharedTrouble::uninitialised;
  else if (w.write_epoch == epoch_ && w.writer != thread && !w.quiet && !write_ordered(w, warp))
    trouble = SharedTrouble::race;
  if (w.read_epoch != epoch_) {
    w.reader = static_cast<std::int16_t>(thread);
    w.reader_warp = static_cast<std::uint16_t>(warp);
  } else if (w.reader != thread && read_ordered(w, warp)) {
    w.reader = static_cast<std::int16_t>(thread);  // whoever comes after this one comes after that one, too
  } else if (w.reader != thread) {
    w.reader = several;
    if (w.reader_warp != warp) w.reader_warp = several_warps;
  }
  w.read_epoch = epoch_;
  w.read_sub = sub_epoch_;
  return trouble;
}

inline SharedTrouble SharedMemory::note_store(Watch& w, int thread, int warp, bool& changes, int& other) const {
  SharedTrouble trouble = SharedTrouble::none;
  const bool first = !written(w);
  changes = changes || first;
  if (changes && !first && w.write_epoch == epoch_ && w.writer != thread && !write_ordered(w, warp)) {
    other = w.writer;
    trouble = SharedTrouble::race;
  }
  if (changes && w.read_epoch == epoch_ && w.reader != thread && !read_ordered(w, warp)) {
    other = w.reader;
    trouble = SharedTrouble::race;
  }
  w.quiet = !changes && (w.write_epoch != epoch_ || w.quiet);
  w.writer = static_cast<std::int16_t>(thread);
  w.writer_warp = static_cast<std::uint16_t>(warp);
  w.write_epoch = epoch_;
  w.write_order = moment();
  return trouble;
}

inline bool SharedMemory::load_lanes(const std::uint64_t* at, std::uint64_t lanes, int bytes, int first, int warp) {
  if (!watching_) return false;
  if (order_) return load_lanes_in_order(at, lanes, bytes, first, warp);
  bool trouble = false;
  const auto further = static_cast<std::uint64_t>(bytes) - 1;
  for (; lanes != 0; lanes &= lanes - 1) {
    const int l = std::countr_zero(lanes);
    const std::uint64_t last = (at[l] + further) >> unit_shift_;
    for (std::uint64_t u = at[l] >> unit_shift_; u <= last; ++u)
      trouble |= note_load(watch_[u], first + l, warp) != SharedTrouble::none;
  }
  return trouble;
}

inline SharedTrouble SharedMemory::store(std::int64_t at, int bytes, int thread, int warp, bool changes, int& other) {
  SharedTrouble trouble = SharedTrouble::none;
  if (!watching_) return trouble;
  if (order_) return each_unit(at, bytes, [&](auto u) { return order_->store(u, thread, warp, changes, other); });
  for (std::int64_t u = at >> unit_shift_; u <= (at + bytes - 1) >> unit_shift_; ++u)
    if (const SharedTrouble t = note_store(watch_[static_cast<std::size_t>(u)], thread, warp, changes, other);
        t != SharedTrouble::none)
      trouble = t;
  return trouble;
}

}  // namespace kernelcast::interpreter
