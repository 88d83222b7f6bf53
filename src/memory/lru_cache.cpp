#include "memory/lru_cache.h"

#include <algorithm>

namespace kernelcast::memory {

LruCache::LruCache(double bytes, int line_bytes, int sector_bytes)
    : sets_(static_cast<std::uint64_t>(bytes / (static_cast<double>(line_bytes) * ways))),
      line_bytes_(static_cast<std::uint64_t>(line_bytes)),
      sector_bytes_(static_cast<std::uint64_t>(sector_bytes)),
      lines_(static_cast<std::size_t>(sets_) * ways) {}

bool LruCache::touch(std::uint64_t address) {
  if (sets_ == 0) return false;
  const std::uint64_t tag = address / line_bytes_;
  const auto sector = std::uint32_t{1} << (address % line_bytes_ / sector_bytes_);
  const auto first = lines_.begin() + static_cast<std::ptrdiff_t>(tag % sets_ * ways);
  auto line = std::find_if(first, first + ways, [&](const Line& l) { return l.tag == tag; });
  if (line == first + ways) {
    line = std::min_element(first, first + ways, [](const Line& a, const Line& b) { return a.used < b.used; });
    *line = {tag, 0, 0};
  }
  line->used = ++clock_;
  const bool hit = (line->sectors & sector) != 0;
  line->sectors |= sector;
  return hit;
}

}  // namespace kernelcast::memory
