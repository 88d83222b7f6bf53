// Reductions, scans, atomics, sorting, functions of a warp.
#include <algorithm>

#include "engines/execute/cases/case_files.h"

namespace kernelcast::agreement {
namespace {

template <class T>
Argument sorted(std::int64_t n, T low, T high) {
  std::vector<T> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(between(low, high));
  std::sort(v.begin(), v.end());
  return values(v);
}

}  // namespace

std::vector<Case> reductions() {
  return {
      {"reduce_sequential", {4}, {128}, {uniform(512, -1000, 1000), filled<int>(4), local<int>(128)}},
      {"reduce_interleaved", {3}, {64}, {uniform(192, -1000, 1000), filled<int>(3), scalar(150)}},
      {"reduce_conflicts", {3}, {128}, {all_sizes<std::uint32_t>(384), filled<std::uint32_t>(3)}},
      {"reduce_grid_stride", {2}, {64}, {uniform(1000, -1000000000, 1000000000), filled<std::int64_t>(2), scalar(999)}},
      {"reduce_float", {3}, {128}, {uniform(384, -1.0F, 1.0F), uniform(384, -1.0F, 1.0F), filled<float>(3)}},
      {"reduce_argmin", {2}, {100}, {uniform(950, -5.0F, 5.0F), filled<float>(2), filled<int>(2), scalar(950)}},
      {"reduce_atomic", {3}, {70}, {all_sizes<int>(500), filled<int>(1), scalar(500)}},
      {"reduce_vectors", {3}, {64}, {uniform(768, -9999, 9999), filled<int>(12)}},
      {"reduce_rows",
       {9},
       {32},
       {all_sizes<std::int16_t>(9 * 77), filled<int>(9), filled<std::int16_t>(9), filled<std::int16_t>(9), scalar(77)}},
      {"reduce_any_all", {8}, {48}, {uniform(384, 0, 99), filled<int>(8), filled<int>(8)}},
  };
}

std::vector<Case> scans() {
  return {
      {"scan_inclusive", {3}, {128}, {uniform(384, -50, 50), filled<int>(384)}},
      {"scan_exclusive",
       {3},
       {64},
       {all_sizes<std::uint32_t>(384), filled<std::uint32_t>(384), filled<std::uint32_t>(3),
        local<std::uint32_t>(128)}},
      {"scan_padded", {2}, {128}, {uniform(512, 0, 9), filled<int>(512)}},
      {"scan_chunks", {2}, {64}, {uniform(128 * 5, -9, 9), filled<int>(128 * 5), scalar(5)}},
      {"scan_segmented",
       {3},
       {64},
       {uniform(192, 0, 20), made<std::uint8_t>(192, [](std::int64_t i) { return i % 7 == 3 || i % 11 == 0; }),
        filled<int>(192)}},
      {"scan_maximum", {2}, {96}, {all_sizes<int>(192), filled<int>(192)}},
      {"compact", {3}, {128}, {uniform(384, -50, 50), filled<int>(384, -1), filled<int>(3), scalar(10)}},
      {"add_block_sums", {5}, {33}, {uniform(165, 0, 9), uniform(5, 0, 99)}},
      {"run_lengths", {3}, {64}, {uniform<std::uint8_t>(180, 0, 1), filled<int>(192), scalar(180)}},
  };
}

std::vector<Case> atomics() {
  return {
      {"histogram_global", {2}, {64}, {uniform<std::uint8_t>(999, 0, 255), filled<std::uint32_t>(256), scalar(999)}},
      {"histogram_local", {2}, {96}, {uniform<std::uint8_t>(2000, 10, 60), filled<std::uint32_t>(256), scalar(500)}},
      {"histogram_private",
       {2},
       {64},
       {uniform<std::uint8_t>(2 * 64 * 9, 0, 255), filled<std::uint32_t>(32), scalar(9)}},
      {"histogram_two_dimensional",
       {4},
       {64},
       {uniform(500, -0.1F, 1.1F), filled<int>(63), scalar(250), scalar(9), scalar(7)}},
      {"atomic_int", {2}, {80}, {all_sizes<int>(160), filled<int>(169, 100)}},
      {"atomic_uint", {2}, {80}, {all_sizes<std::uint32_t>(160), filled<std::uint32_t>(9)}},
      {"atomic_local", {3}, {64}, {all_sizes<int>(192), filled<int>(24)}},
      {"atomic_long",
       {2},
       {64},
       {all_sizes<std::int64_t>(128), filled<std::int64_t>(6), filled<std::uint64_t>(130, ~std::uint64_t{0})}},
      {"work_queue", {2}, {64}, {filled<int>(1), uniform(300, 1, 1000), filled<int>(300), scalar(300)}},
      {"float_add_by_exchange", {2}, {40}, {all_sizes<int>(80), filled<float>(1)}},
      {"slots", {3}, {128}, {uniform(384, 0, 5000), filled<int>(384), scalar(128)}},
  };
}

std::vector<Case> sorting() {
  return {
      {"bitonic_local", {3}, {128}, {all_sizes<int>(768), filled<int>(768)}},
      {"bitonic_global_step",
       {4},
       {64},
       {all_sizes<std::uint32_t>(512), all_sizes<std::uint32_t>(512), scalar(64U), scalar(16U)}},
      {"odd_even", {3}, {45}, {all_sizes<std::int16_t>(90 * 3), scalar(90)}},
      {"radix_pass", {3}, {64}, {all_sizes<std::uint32_t>(192), filled<std::uint32_t>(192), scalar(4)}},
      {"rank_sort", {3}, {64}, {uniform(150, -9.0F, 9.0F), filled<float>(150), scalar(150)}},
      {"insertion_sort", {2}, {40}, {all_sizes<int>(80 * 12)}},
      {"heap_sort", {2}, {32}, {uniform(64 * 21, -99, 99), scalar(21)}},
      {"quick_sort", {2}, {32}, {uniform(64 * 40, -999, 999), scalar(40)}},
      {"search", {3}, {64}, {sorted(300, 0, 900), uniform(192, 0, 900), filled<int>(192), scalar(300)}},
      {"merge_path",
       {1},
       {64},
       {sorted(200, -500, 500), sorted(171, -500, 500), filled<int>(371), scalar(200), scalar(171), scalar(7)}},
      {"merge_by_rank",
       {6},
       {64},
       {sorted(200, -500, 500), sorted(171, -500, 500), filled<int>(371), scalar(200), scalar(171)}},
  };
}

std::vector<Case> warps() {
  return {
      {"shuffle_down_sum", {3}, {128}, {uniform(384, -999, 999), filled<int>(12)}},
      {"shuffle_xor_max", {2}, {96}, {all_sizes<int>(192), filled<int>(192)}},
      {"shuffle_up_scan", {2}, {128}, {uniform(256, -1.0F, 1.0F), filled<float>(256)}},
      {"shuffle_gather", {2}, {64}, {all_sizes<std::int16_t>(256), uniform(128, 0, 7), filled<int>(128)}},
      {"shuffle_wide", {2}, {64}, {uniform(128, -1.0, 1.0), all_sizes<std::int64_t>(128), filled<double>(128)}},
      {"group_sum", {4}, {256}, {uniform(1024, -999, 999), filled<int>(4)}},
      {"votes", {3}, {96}, {uniform(288, 0, 99), filled<int>(288), filled<int>(288), scalar(96)}, 32},
      {"ballot_compact", {2}, {128}, {uniform(256, 0, 99), filled<int>(256), filled<int>(8)}, 32},
      // for AMD these are calls into a library that the interpreter does not have
      {"barrier_counts", {6}, {50}, {uniform(300, 0, 99), filled<int>(300)}, 32},
      {"bit_functions",
       {2},
       {64},
       {all_sizes<std::uint32_t>(128), all_sizes<std::uint32_t>(128), filled<std::uint32_t>(7 * 128)}},
  };
}

}  // namespace kernelcast::agreement
