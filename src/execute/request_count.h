// What one memory request of a warp costs: distinct sectors, segments, passes through the banks. By definition
// (kernelcast/bind.h), on the addresses as executed; written apart from the closed forms, which it checks.
#pragma once

#include <cstdint>
#include <vector>

#include "kernelcast/profile.h"
#include "kernelcast/workload.h"

namespace kernelcast::interpreter {

class RequestCounter {
 public:
  explicit RequestCounter(const MemoryGeometry& geometry);

  /// Global, texture and constant memory: `address[l]` of the active lanes, `bytes` each. Adds to `out`; `sectors()`
  /// then holds the distinct sectors, ascending.
  void global(const std::uint64_t* address, std::uint64_t active, int bytes, AccessCount& out);
  /// The same, also counting distinct addresses as passes (the constant port serves one at a time).
  void constant(const std::uint64_t* address, std::uint64_t active, int bytes, AccessCount& out);
  /// Private memory: offsets within each lane's own, interleaved by words over the warp.
  void local(const std::uint64_t* offset, std::uint64_t active, int bytes, AccessCount& out);
  /// Shared memory; atomics serve one lane at a time.
  void shared(const std::uint64_t* offset, std::uint64_t active, int bytes, AccessKind kind, AccessCount& out);
  /// Whether the passes of a shared access depend on which lanes read one address (MemoryGeometry::shared_pairs).
  [[nodiscard]] bool returns_pairs(int bytes, AccessKind kind) const {
    return geometry_.shared_pairs != 0 && kind == AccessKind::load && bytes > geometry_.bank_bytes;
  }

  /// The usual patterns, told by the caller: `count` lanes at one address, or at consecutive places from `first` on.
  /// In global memory at most 4 bytes a lane, so that the warp goes at once, and without groups (l1_group).
  void global_range(std::uint64_t first, std::uint64_t past, double lanes, int bytes, AccessCount& out);
  void shared_regular(std::uint64_t active, int bytes, AccessCount& out);

  /// A copy in bulk: whole pieces of memory, no lanes. Bytes are the caller's.
  void bulk_global(std::uint64_t first, std::int64_t bytes, AccessCount& out);
  void bulk_shared(std::int64_t bytes, AccessCount& out) const;

  [[nodiscard]] const std::vector<std::uint64_t>& sectors() const { return sectors_; }

 private:
  void add_distinct(AccessCount& out);
  void distinct(const std::uint64_t* address, std::uint64_t active, int bytes, AccessCount& out);
  double segments_of_parts(const std::uint64_t* address, std::uint64_t active, int bytes);
  double l1_passes(const std::uint64_t* address, std::uint64_t active, int bytes, double segments);
  double grouped_passes(const std::uint64_t* address, std::uint64_t active, int bytes);
  [[nodiscard]] bool side_by_side(const std::uint64_t* address, std::uint64_t group, int bytes) const;
  int split_passes(const std::uint64_t* address, std::uint64_t group, int bytes);
  int pieces_of_one_bank(const std::uint64_t* address, std::uint64_t lanes, int bytes, int shift, std::uint64_t banks);
  void find_segments(const std::uint64_t* address, std::uint64_t lanes, int bytes);
  [[nodiscard]] int lanes_a_part(int bytes) const;
  double passes(const std::uint64_t* offset, std::uint64_t part, int bytes, bool atomic);

  MemoryGeometry geometry_;
  int sector_shift_, segment_shift_, bank_shift_;
  std::vector<std::uint64_t> sectors_, segments_, words_;
  std::vector<int> tag_banks_;
  struct Bank {  // what one part of a request asks of it
    std::uint64_t first = 0, part = 0;
    int words = 0, chain = -1;  // distinct words; the latest in chained_
  };
  struct Chained {
    std::uint64_t word;
    int next;
  };
  std::vector<Bank> banks_;
  std::uint64_t part_ = 0;  // number of the part at hand
  std::vector<Chained> chained_;
};

}  // namespace kernelcast::interpreter
