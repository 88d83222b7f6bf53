// How many sectors a regular set of addresses touches.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace kernelcast {

/// `count` values that are `stride` bytes apart.
struct Stride {
  std::int64_t stride = 0, count = 1;
  friend bool operator==(const Stride&, const Stride&) = default;
};

/// A stride whose count may differ from case to case.
struct CaseStride {
  std::int64_t stride = 0, count = 1;
  const std::int64_t* counts = nullptr;  // by case; null: `count` in all of them
};

/// A run of bytes, and how many copies of it the strides of groups of runs have made.
struct Run {
  std::int64_t low = 0, length = 0;
  double copies = 1;
};

/// Runs of bytes to which strides have been added.
template <class Runs, class Strides>
struct SectorSet {
  Runs runs;
  Strides outer;  // those that made copies
  int sector = 32;
};
using ManyRuns = SectorSet<std::vector<Run>, std::vector<Stride>>;

/// Counts distinct aligned sectors of { offset + sum of i_k * stride_k, 0 <= i_k < count_k, over all offsets }, each
/// element `bytes` long. Exact when every stride is a multiple of or lies inside what the smaller ones cover; else an
/// estimate.
class SectorCounter {
 public:
  /// One number for each case. Offsets are sorted; strides too, by their absolute values.
  void count(std::span<const std::int64_t> offsets, int bytes, int sector, std::span<const CaseStride> strides,
             std::span<double> sectors);

 private:
  ManyRuns kept_, now_;
};

/// The same for one case and strides in any order.
double distinct_sectors(std::span<const Stride> strides, std::span<const std::int64_t> offsets, int bytes, int sector);

}  // namespace kernelcast
