#include "execute/shared_memory.h"

#include <cstring>
#include <limits>

namespace kernelcast::interpreter {

SharedMemory::SharedMemory(std::int64_t bytes, int unit, bool watch, bool independent_threads)
    : data_(static_cast<std::size_t>(bytes)),
      unit_shift_(std::countr_zero(static_cast<unsigned>(unit))),
      watching_(watch),
      independent_(independent_threads) {
  if (watch) watch_.resize(static_cast<std::size_t>((bytes + unit - 1) / unit));
}

std::int64_t SharedMemory::bytes_for(std::int64_t bytes, int unit, bool watch) {
  std::int64_t all = 0;
  const auto each = watch ? static_cast<std::int64_t>(sizeof(Watch)) / unit + 1 : 1;
  return __builtin_mul_overflow(bytes, each, &all) ? std::numeric_limits<std::int64_t>::max() / 2 : all;
}

void SharedMemory::keep_order(int threads, int warp_size) {
  if (!watching_) return;
  order_ = std::make_unique<SharedOrder>(static_cast<std::int64_t>(watch_.size()), threads, warp_size, independent_);
  watch_ = {};
}

void SharedMemory::begin_block() {
  if (!data_.empty()) std::memset(data_.data(), 0, data_.size());
  if (order_) order_->begin_block();
  first_epoch_ = ++epoch_;
}

SharedTrouble SharedMemory::load(std::int64_t at, int bytes, int thread, int warp, int& other) {
  SharedTrouble trouble = SharedTrouble::none;
  if (!watching_) return trouble;
  if (order_) return each_unit(at, bytes, [&](auto u) { return order_->load(u, thread, warp, other); });
  for (std::int64_t u = at >> unit_shift_; u <= (at + bytes - 1) >> unit_shift_; ++u) {
    Watch& w = watch_[static_cast<std::size_t>(u)];
    const SharedTrouble t = note_load(w, thread, warp);
    if (t == SharedTrouble::race) other = w.writer;
    if (t != SharedTrouble::none) trouble = t;
  }
  return trouble;
}

bool SharedMemory::load_lanes_in_order(const std::uint64_t* at, std::uint64_t lanes, int bytes, int first, int warp) {
  bool trouble = false;
  int other = -1;
  for (; lanes != 0; lanes &= lanes - 1) {
    const int l = std::countr_zero(lanes);
    trouble |= load(static_cast<std::int64_t>(at[l]), bytes, first + l, warp, other) != SharedTrouble::none;
  }
  return trouble;
}

SharedTrouble SharedMemory::copy(std::int64_t at, int bytes, int thread, int warp, bool changes, int& other) {
  if (!order_) return store(at, bytes, thread, warp, changes, other);
  order_->begin_copy(thread);
  return each_unit(at, bytes, [&](auto u) { return order_->copy(u, thread, warp, changes, other); });
}

SharedTrouble SharedMemory::bulk_write(std::int64_t at, int bytes, int thread, int warp, int mbarrier,
                                       std::uint32_t phase, int& other) {
  if (!order_) return SharedTrouble::none;
  return each_unit(at, bytes, [&](auto u) { return order_->bulk_write(u, thread, warp, mbarrier, phase, other); });
}

SharedTrouble SharedMemory::bulk_read(std::int64_t at, int bytes, int thread, int warp, int& other) {
  if (!order_) return SharedTrouble::none;
  order_->begin_bulk(thread);
  return each_unit(at, bytes, [&](auto u) { return order_->bulk_read(u, thread, warp, other); });
}

SharedTrouble SharedMemory::atomic(std::int64_t at, int bytes, int thread, int warp, int& other) {
  SharedTrouble trouble = SharedTrouble::none;
  if (!watching_) return trouble;
  if (order_) return each_unit(at, bytes, [&](auto u) { return order_->atomic(u, thread, warp, other); });
  for (std::int64_t u = at >> unit_shift_; u <= (at + bytes - 1) >> unit_shift_; ++u) {
    Watch& w = watch_[static_cast<std::size_t>(u)];
    if (!written(w)) {
      trouble = SharedTrouble::uninitialised;
    } else if (w.write_epoch == epoch_ && w.writer != thread && w.writer != atomics && !w.quiet &&
               !write_ordered(w, warp)) {
      other = w.writer;
      trouble = SharedTrouble::race;
    }
    w.writer = atomics;
    w.writer_warp = static_cast<std::uint16_t>(w.write_epoch == epoch_ && w.writer_warp != warp ? several_warps : warp);
    w.write_epoch = epoch_;
    w.write_order = moment();
    w.quiet = false;
  }
  return trouble;
}

}  // namespace kernelcast::interpreter
