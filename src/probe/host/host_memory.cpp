// The walk is a linear congruential sequence over the line numbers, i -> (a i + c) mod n, which has full period when c
// and n have no common divisor, a - 1 is divisible by every prime that divides n, and by 4 if n is (Hull and Dobell
// 1962, "Random number generators", SIAM Review 4(3)). So a walk is written in one pass over the memory, without a
// shuffle.
#include "probe/host/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "kernelcast/error.h"

namespace kernelcast::probe::host {
namespace {

constexpr std::size_t large_page = std::size_t{2} << 20;
// a - 1 is divisible by 12; c by neither 2 nor 3.
constexpr std::uint64_t factor = 12 * 4019 + 1, addend = 10007;

}  // namespace

Pages::Pages(std::size_t bytes) : bytes_(bytes), mapped_(bytes + large_page) {
  void* p = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw LimitError(std::to_string(bytes) + " bytes of memory cannot be had");
  mapping_ = static_cast<char*>(p);
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  data_ = mapping_ + (large_page - address % large_page) % large_page;
#ifdef MADV_HUGEPAGE
  madvise(data_, bytes_, MADV_HUGEPAGE);
#endif
  std::memset(data_, 1, bytes_);
}

Pages::~Pages() { munmap(mapping_, mapped_); }

std::size_t next_line(std::size_t i, std::size_t n) { return static_cast<std::size_t>((factor * i + addend) % n); }

void link(char* at, std::size_t bytes, int slot) {
  const std::size_t lines = bytes / line_bytes, offset = static_cast<std::size_t>(slot) * sizeof(void*);
  for (std::size_t i = 0; i < lines; ++i) {
    char* const next = at + next_line(i, lines) * line_bytes + offset;
    std::memcpy(at + i * line_bytes + offset, &next, sizeof next);
  }
}

double block_of_l3(double l2_bytes, double l3_bytes) { return std::min(std::sqrt(l2_bytes * l3_bytes), 4 * l2_bytes); }

std::vector<std::size_t> walk_sizes(std::size_t from, std::size_t to, std::size_t halves_to) {
  std::vector<std::size_t> out;
  for (std::size_t size = from; size <= to; size *= 2) {
    out.push_back(size);
    if (size + size / 2 <= halves_to && size + size / 2 <= to) out.push_back(size + size / 2);
  }
  return out;
}

}  // namespace kernelcast::probe::host
