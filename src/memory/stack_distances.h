// LRU stack distances of a stream of sectors: how many others were touched since a sector's last touch.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernelcast/workload.h"

namespace kernelcast::memory {

/// Whether a key belongs to the sample of one in 2^shift, chosen by a hash of the key alone. Samples are nested.
bool in_sample(std::uint64_t key, int shift);

/// Takes a stream of keys and keeps the histogram of their stack distances. Exact while there are at most `max_keys`
/// distinct keys; beyond that one key in two is followed further, then one in four and so on (SHARDS). Not thread-safe.
class StackDistances {
 public:
  static constexpr std::int64_t default_max_keys = std::int64_t{1} << 22;

  /// Starts with one key in 2^shift.
  explicit StackDistances(std::int64_t max_keys = default_max_keys, int shift = 0);

  /// Keys below 2^62, in the order of touching.
  void touch(std::span<const std::uint64_t> keys);

  /// Of everything so far. `touches`: how many there were, when some were left out before touch(); negative: those
  /// seen.
  [[nodiscard]] ReuseDistances distances(double touches = -1) const;
  /// Distinct keys so far; an estimate when sampled.
  [[nodiscard]] double distinct() const { return cold_; }
  /// Part of the keys that is followed: 1 means exact.
  [[nodiscard]] double rate() const;
  [[nodiscard]] std::int64_t memory_bytes() const;

  /// Forgets everything but keeps the memory, and starts with one key in 2^shift again.
  void clear(int shift);

 private:
  /// When four neighbouring keys were last touched: time + 1, 0: never.
  struct Line {
    std::uint64_t tag = 0;  // key / 4 + 1, 0: free
    std::uint32_t time[4] = {0, 0, 0, 0};
  };

  [[nodiscard]] std::size_t home(std::uint64_t tag) const;
  Line& find(std::uint64_t tag);
  template <class F>
  void renew_table(std::size_t lines, F kept);
  void grow_table();
  void make_room();
  void lower_rate();
  void finish_block();
  std::int64_t take_out(std::uint32_t time);
  void add_to_blocks(std::size_t block, std::int32_t count);

  std::int64_t max_keys_;
  int shift_;
  std::vector<Line> table_;
  std::size_t lines_ = 0;                 // in use
  std::vector<std::uint64_t> live_bits_;  // by time: a key's latest touch
  std::vector<std::int32_t> blocks_;      // Fenwick tree: live bits of finished blocks of 512
  std::uint32_t now_ = 0;
  std::int64_t live_ = 0;
  double touches_ = 0, cold_ = 0;
  std::array<double, 64> nearer_{};
};

}  // namespace kernelcast::memory
