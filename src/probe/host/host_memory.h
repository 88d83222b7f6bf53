// Memory to walk through, on large pages where the system gives them.
#pragma once

#include <cstddef>
#include <vector>

namespace kernelcast::probe::host {

class Pages {
 public:
  /// Mapped and touched. Throws LimitError when there is not so much.
  explicit Pages(std::size_t bytes);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  [[nodiscard]] char* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  char *mapping_ = nullptr, *data_ = nullptr;
  std::size_t bytes_ = 0, mapped_ = 0;
};

inline constexpr std::size_t line_bytes = 64;

/// Writes into word `slot` (0 to 7) of each line of the first `bytes` of `at` the address of the same word in the next
/// line of one closed walk through all lines, in an order that no prefetcher knows. The number of lines must be a power
/// of two, or three times one.
void link(char* at, std::size_t bytes, int slot);
/// The order of that walk by itself: from line i of n to the next one.
std::size_t next_line(std::size_t i, std::size_t n);

/// Sizes for a curve of latency: powers of two and the sizes half way between them, from `from` to `to`, the ones in
/// the middle only up to `halves_to`.
std::vector<std::size_t> walk_sizes(std::size_t from, std::size_t to, std::size_t halves_to);

/// What is walked through to measure an L3: well beyond the L2, and no more. Most of an L3 belongs to whoever else uses
/// it, and lines that wait long for their turn are gone.
double block_of_l3(double l2_bytes, double l3_bytes);

}  // namespace kernelcast::probe::host
