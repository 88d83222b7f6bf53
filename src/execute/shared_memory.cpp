#include "execute/shared_memory.h"

#include <bit>
#include <cstring>

namespace kernelcast::interpreter {

namespace {
constexpr std::int16_t several = -2, atomics = -3;
}

SharedMemory::SharedMemory(std::int64_t bytes, int unit, bool watch, bool independent_threads)
    : data_(static_cast<std::size_t>(bytes)), unit_(unit), watching_(watch), independent_(independent_threads) {
  if (watch) watch_.resize(static_cast<std::size_t>((bytes + unit - 1) / unit));
}

void SharedMemory::begin_block() {
  if (!data_.empty()) std::memset(data_.data(), 0, data_.size());
  ++block_;
  ++epoch_;
}

/// Whether an earlier access by another thread of the same warp happened before this one for certain.
bool SharedMemory::orders(const Watch& w, int warp, bool reading) const {
  const std::uint16_t other = reading ? w.reader_warp : w.writer_warp;
  if (other != warp) return false;
  if (independent_) return (reading ? w.read_sub : w.write_sub) != sub_epoch_;
  return reading || w.write_instruction != instruction_;
}

SharedTrouble SharedMemory::load(std::int64_t at, int bytes, int thread, int warp, int& other) {
  if (!watching_) return SharedTrouble::none;
  SharedTrouble trouble = SharedTrouble::none;
  for (std::int64_t u = at / unit_; u <= (at + bytes - 1) / unit_; ++u) {
    Watch& w = watch_[static_cast<std::size_t>(u)];
    if (w.written_block != block_) {
      trouble = SharedTrouble::uninitialised;
    } else if (w.write_epoch == epoch_ && w.writer != thread && !w.quiet && !orders(w, warp, false)) {
      other = w.writer;
      trouble = SharedTrouble::race;
    }
    if (w.read_epoch != epoch_) {
      w.reader = static_cast<std::int16_t>(thread);
      w.reader_warp = static_cast<std::uint16_t>(warp);
    } else if (w.reader != thread) {
      w.reader = several;
      if (w.reader_warp != warp) w.reader_warp = 0xffff;
    }
    w.read_epoch = epoch_;
    w.read_sub = sub_epoch_;
  }
  return trouble;
}

bool SharedMemory::load_lanes(const std::uint64_t* at, std::uint64_t lanes, int bytes, int first, int warp) {
  if (!watching_) return false;
  bool trouble = false;
  for (; lanes != 0; lanes &= lanes - 1) {
    const int l = std::countr_zero(lanes);
    Watch& w = watch_[at[l] / static_cast<std::uint64_t>(unit_)];
    if (bytes <= unit_ && w.written_block == block_ && w.write_epoch != epoch_ && w.read_epoch == epoch_ &&
        w.reader == several && (w.reader_warp == warp || w.reader_warp == 0xffff)) {  // known: nothing changes
      w.read_sub = sub_epoch_;
      continue;
    }
    int other = -1;
    trouble |= load(static_cast<std::int64_t>(at[l]), bytes, first + l, warp, other) != SharedTrouble::none;
  }
  return trouble;
}

SharedTrouble SharedMemory::store(std::int64_t at, int bytes, int thread, int warp, bool changes, int& other) {
  if (!watching_) return SharedTrouble::none;
  SharedTrouble trouble = SharedTrouble::none;
  for (std::int64_t u = at / unit_; u <= (at + bytes - 1) / unit_; ++u) {
    Watch& w = watch_[static_cast<std::size_t>(u)];
    const bool first = w.written_block != block_;
    changes = changes || first;
    if (changes && !first && w.write_epoch == epoch_ && w.writer != thread && !orders(w, warp, false)) {
      other = w.writer;
      trouble = SharedTrouble::race;
    }
    if (changes && w.read_epoch == epoch_ && w.reader != thread && !orders(w, warp, true)) {
      other = w.reader;
      trouble = SharedTrouble::race;
    }
    w.quiet = !changes && (w.write_epoch != epoch_ || w.quiet);
    w.writer = static_cast<std::int16_t>(thread);
    w.writer_warp = static_cast<std::uint16_t>(warp);
    w.write_epoch = epoch_;
    w.write_sub = sub_epoch_;
    w.write_instruction = instruction_;
    w.written_block = block_;
  }
  return trouble;
}

SharedTrouble SharedMemory::atomic(std::int64_t at, int bytes, int thread, int warp, int& other) {
  if (!watching_) return SharedTrouble::none;
  SharedTrouble trouble = SharedTrouble::none;
  for (std::int64_t u = at / unit_; u <= (at + bytes - 1) / unit_; ++u) {
    Watch& w = watch_[static_cast<std::size_t>(u)];
    if (w.written_block != block_) {
      trouble = SharedTrouble::uninitialised;
    } else if (w.write_epoch == epoch_ && w.writer != thread && w.writer != atomics && !w.quiet &&
               !orders(w, warp, false)) {
      other = w.writer;
      trouble = SharedTrouble::race;
    }
    w.writer = atomics;
    w.writer_warp = static_cast<std::uint16_t>(w.write_epoch == epoch_ && w.writer_warp != warp ? 0xffff : warp);
    w.write_epoch = epoch_;
    w.write_sub = sub_epoch_;
    w.write_instruction = instruction_;
    w.written_block = block_;
    w.quiet = false;
  }
  return trouble;
}

}  // namespace kernelcast::interpreter
