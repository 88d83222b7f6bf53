// A set-associative cache of sectored lines with least-recently-used replacement.
#pragma once

#include <cstdint>
#include <vector>

namespace kernelcast::memory {

class LruCache {
 public:
  LruCache() = default;
  LruCache(double bytes, int line_bytes, int sector_bytes);
  /// Whether the sector is there; if not, it is from now on.
  bool touch(std::uint64_t address);
  [[nodiscard]] bool exists() const { return sets_ > 0; }

 private:
  static constexpr std::size_t ways = 16;
  struct Line {
    std::uint64_t tag = ~std::uint64_t{0}, used = 0;
    std::uint32_t sectors = 0;
  };
  std::uint64_t sets_ = 0, line_bytes_ = 0, sector_bytes_ = 0, clock_ = 0;
  std::vector<Line> lines_;
};

}  // namespace kernelcast::memory
