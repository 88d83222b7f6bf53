#include "execute/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/mix_bits.h"

namespace kernelcast::interpreter {
namespace {

struct Range {
  std::int64_t first, count;
};

std::vector<Range> parts(std::int64_t n) {
  if (n == 1) return {{0, 1}};
  if (n == 2) return {{0, 1}, {1, 1}};
  return {{1, n - 2}, {0, 1}, {n - 1, 1}};
}

struct Box {
  std::array<Range, 3> axis;
  [[nodiscard]] std::int64_t population() const { return axis[0].count * axis[1].count * axis[2].count; }
  [[nodiscard]] std::int64_t block(std::int64_t k, const Dim3& grid) const {
    const std::int64_t x = axis[0].first + k % axis[0].count;
    const std::int64_t y = axis[1].first + k / axis[0].count % axis[1].count;
    const std::int64_t z = axis[2].first + k / (axis[0].count * axis[1].count);
    return x + grid.x * (y + grid.y * z);
  }
};

}  // namespace

std::int64_t middle_block(const Dim3& grid) {
  const auto middle = [](std::int64_t n) { return n == 2 ? 0 : n / 2; };  // of two, that of the first stratum
  return middle(grid.x) + grid.x * (middle(grid.y) + grid.y * middle(grid.z));
}

std::vector<Stratum> choose_blocks(const Dim3& grid, std::int64_t wanted, std::uint64_t seed) {
  std::vector<Box> boxes;
  for (const Range& z : parts(grid.z))
    for (const Range& y : parts(grid.y))
      for (const Range& x : parts(grid.x)) boxes.push_back({{x, y, z}});
  const std::int64_t total = grid.count();
  if (wanted >= total) {
    Stratum all{total, std::vector<std::int64_t>(static_cast<std::size_t>(total))};
    std::iota(all.blocks.begin(), all.blocks.end(), 0);
    return {all};
  }
  wanted = std::max<std::int64_t>(wanted, 1);
  const auto with = [&](std::size_t n) { return std::min(n, boxes.size()); };
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const Box& a, const Box& b) { return a.population() > b.population(); });
  const std::size_t used = with(static_cast<std::size_t>(wanted));
  std::int64_t left_over = 0, covered = 0;
  for (std::size_t s = used; s < boxes.size(); ++s) left_over += boxes[s].population();
  std::vector<Stratum> strata(used);
  std::int64_t spare = wanted - static_cast<std::int64_t>(used);
  for (std::size_t s = 0; s < used; ++s) covered += boxes[s].population();
  const std::int64_t middle = middle_block(grid);
  for (std::size_t s = 0; s < used; ++s) {
    const std::int64_t here = boxes[s].population();
    const double share = static_cast<double>(here) / static_cast<double>(covered);
    std::int64_t n = 1 + static_cast<std::int64_t>(
                             std::floor(share * static_cast<double>(wanted - static_cast<std::int64_t>(used)) + 0.5));
    n = std::min({n, here, 1 + spare});
    spare -= n - 1;
    Stratum& out = strata[s];
    out.population = here + (s == 0 ? left_over : 0);
    for (std::int64_t k = 0; k < n; ++k) {
      const double u =
          static_cast<double>(random_bits(seed * 1315423911U + s * 7919U + static_cast<std::uint64_t>(k), 0) >> 11) *
          0x1p-53;
      const auto place =
          n == here ? k
                    : std::min(here - 1, static_cast<std::int64_t>((static_cast<double>(k) + u) /
                                                                   static_cast<double>(n) * static_cast<double>(here)));
      out.blocks.push_back(boxes[s].block(place, grid));
    }
    // The first box holds the middle: of boxes of one size it is the one of the first parts, which do.
    if (s == 0 && n < here && std::find(out.blocks.begin(), out.blocks.end(), middle) == out.blocks.end())
      out.blocks[out.blocks.size() / 2] = middle;
    std::sort(out.blocks.begin(), out.blocks.end());
    out.blocks.erase(std::unique(out.blocks.begin(), out.blocks.end()), out.blocks.end());
  }
  return strata;
}

double student_97_5(double freedom) {
  constexpr std::array<double, 30> table = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                            2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                            2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  const auto whole = static_cast<std::size_t>(std::max(1.0, freedom));
  // Beyond the table the first term of Fisher's expansion, right to 0.003.
  return whole <= table.size() ? table[whole - 1] : 1.96 + 2.372 / freedom;
}

double half_interval(const std::vector<Stratum>& strata, const std::vector<std::vector<double>>& values) {
  constexpr double least_freedom = 3;  // of equal values, to be taken for equal everywhere
  bool all_ran = true;
  double variance = 0, pooled = 0, freedom = 0, fourth = 0, borrowed = 0;
  std::vector<double> spread(strata.size(), -1);
  for (std::size_t s = 0; s < strata.size(); ++s) {
    const auto n = static_cast<double>(values[s].size());
    if (n < 2) continue;
    double mean = 0, squares = 0;
    for (double v : values[s]) mean += v / n;
    for (double v : values[s]) squares += (v - mean) * (v - mean);
    spread[s] = squares / (n - 1);
    pooled += squares;
    freedom += n - 1;
  }
  for (std::size_t s = 0; s < strata.size(); ++s) {
    const auto n = static_cast<double>(values[s].size());
    const auto all = static_cast<double>(strata[s].population);
    const double part = strata[s].part;
    if (n == 0 || n * part >= all) continue;
    all_ran = false;
    if (spread[s] < 0 && freedom == 0) return std::nan("");
    const double term = all * all * (1 - part * n / all) / n * (spread[s] >= 0 ? spread[s] : pooled / freedom);
    variance += term;
    if (spread[s] >= 0)
      fourth += term * term / (n - 1);
    else
      borrowed += term;
  }
  if (variance == 0) return all_ran || freedom >= least_freedom ? 0 : std::nan("");
  if (borrowed > 0) fourth += borrowed * borrowed / freedom;  // they all have the one pooled spread
  return student_97_5(variance * variance / fourth) * std::sqrt(variance);
}

}  // namespace kernelcast::interpreter
