// Copying a workload is several times cheaper than counting it, but storing every one would slow down the search over
// launches that are all different; hence the table of hashes that decides what is worth keeping.
#include "profile/launch_memo.h"

#include <algorithm>

namespace kernelcast {

const Workload* LaunchMemo::find(std::span<const std::int64_t> key) {
  std::uint64_t h = 0x9e3779b97f4a7c15ULL;
  for (std::int64_t v : key) {
    h = (h ^ static_cast<std::uint64_t>(v)) * 0xff51afd7ed558ccdULL;
    h ^= h >> 32U;
  }
  hash_ = h;
  if (table_.empty()) return nullptr;
  const Entry& e = table_[h % entries];
  return std::equal(key.begin(), key.end(), e.key.begin(), e.key.end()) ? &e.workload : nullptr;
}

void LaunchMemo::remember(std::span<const std::int64_t> key, const Workload& workload) {
  if (seen_.empty()) seen_.resize(seen);
  std::uint64_t& last = seen_[hash_ % seen];
  if (last != hash_) {
    last = hash_;
    return;
  }
  if (table_.empty()) table_.resize(entries);
  Entry& e = table_[hash_ % entries];
  e.key.assign(key.begin(), key.end());
  e.workload = workload;
}

void LaunchMemo::clear() {
  table_.clear();
  seen_.clear();
}

}  // namespace kernelcast
