// Time is a row of bits: a bit is set where some key was touched last. A key's stack distance is the number of bits set
// after its own (Bennett, Kruskal, "LRU stack processing", 1975; Olken, "Efficient methods for calculating the success
// function of fixed space replacement policies", 1981). Near ones are counted in the bits themselves; for far ones
// blocks of 512 bits are summed in a Fenwick tree, which for a million keys is 32 KB. The block being filled is not in
// the tree yet. When the row is full, the bits are moved together, which leaves every distance as it is.
//
// Beyond max_keys, keys are followed by a hash of the key (Waldspurger, Park, Garthwaite, Ahmad, "Efficient MRC
// construction with SHARDS", FAST 2015): distances among one in 2^s keys are 2^s times too small, and each touch stands
// for 2^s. Their correction is applied: touches that the sample has too few or too many of go to the nearest bucket.
#include "memory/stack_distances.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/mix_bits.h"

// Counting bits is most of the work, and plain x86-64 has no instruction for it: what counts is compiled twice,
// together with all that it calls on the way (a function by itself would be there once, without the instruction).
// ThreadSanitizer's runtime is not there yet when the loader chooses between the two.
#if defined(__SANITIZE_THREAD__)
#define KERNELCAST_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KERNELCAST_THREAD_SANITIZER
#endif
#endif
#if defined(__x86_64__) && defined(__GNUC__) && !defined(KERNELCAST_THREAD_SANITIZER)
#define KERNELCAST_COUNTS_BITS __attribute__((target_clones("default", "popcnt")))
#define KERNELCAST_PART_OF_CALLER __attribute__((always_inline)) inline
#else
#define KERNELCAST_COUNTS_BITS
#define KERNELCAST_PART_OF_CALLER inline
#endif

namespace kernelcast::memory {
namespace {

constexpr std::uint32_t block_bits = 512;
constexpr std::uint32_t near_bits = 2048;  // counted bit by bit
constexpr std::size_t first_lines = 1024;
constexpr std::uint32_t first_times = 4096;
constexpr std::size_t ahead = 6;  // keys of which the table is fetched before they are looked up

}  // namespace

bool in_sample(std::uint64_t key, int shift) { return shift == 0 || (random_bits(key, 0) >> (64 - shift)) == 0; }

StackDistances::StackDistances(std::int64_t max_keys, int shift)
    : max_keys_(std::max<std::int64_t>(max_keys, 16)),
      shift_(shift),
      table_(first_lines),
      live_bits_(first_times / 64),
      blocks_(first_times / block_bits + 1) {}

void StackDistances::clear(int shift) {
  std::fill(table_.begin(), table_.end(), Line{});
  std::fill(live_bits_.begin(), live_bits_.end(), 0);
  std::fill(blocks_.begin(), blocks_.end(), 0);
  lines_ = 0;
  now_ = 0;
  live_ = 0;
  shift_ = shift;
  touches_ = cold_ = 0;
  nearer_.fill(0);
}

double StackDistances::rate() const { return std::ldexp(1.0, -shift_); }

std::int64_t StackDistances::memory_bytes() const {
  return static_cast<std::int64_t>(table_.capacity() * sizeof(Line) + live_bits_.capacity() * 8 +
                                   blocks_.capacity() * 4);
}

/// Eight lines that are neighbours lie side by side.
inline std::size_t StackDistances::home(std::uint64_t tag) const {
  const std::uint64_t group = ((tag >> 3) * 0x9e3779b97f4a7c15U) >> 20;
  return static_cast<std::size_t>((group << 3) | (tag & 7)) & (table_.size() - 1);
}

inline StackDistances::Line& StackDistances::find(std::uint64_t tag) {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = home(tag);
  while (table_[at].tag != tag && table_[at].tag != 0) at = (at + 1) & mask;
  return table_[at];
}

/// A table of `lines` places with what `kept` makes of the old one's. The old table is gone before the new one is
/// there.
template <class F>
void StackDistances::renew_table(std::size_t lines, F kept) {
  std::vector<Line> used;
  used.reserve(lines_);
  for (Line line : table_)
    if (line.tag != 0 && kept(line)) used.push_back(line);
  std::vector<Line>().swap(table_);
  table_.resize(lines);
  for (const Line& line : used) find(line.tag) = line;
  lines_ = used.size();
}

void StackDistances::grow_table() {
  renew_table(table_.size() * 2, [](const Line&) { return true; });
}

inline void StackDistances::add_to_blocks(std::size_t block, std::int32_t count) {
  for (std::size_t i = block + 1; i < blocks_.size(); i += i & (~i + 1)) blocks_[i] += count;
}

/// The block of the time before now_ is full: its bits go to the tree.
KERNELCAST_PART_OF_CALLER void StackDistances::finish_block() {
  const std::size_t block = now_ / block_bits - 1;
  std::int32_t count = 0;
  for (std::size_t w = block * (block_bits / 64); w < (block + 1) * (block_bits / 64); ++w)
    count += std::popcount(live_bits_[w]);
  add_to_blocks(block, count);
}

/// Moves the bits together and renumbers the keys' times; a longer row when a quarter of it is still in use.
KERNELCAST_COUNTS_BITS void StackDistances::make_room() {
  std::vector<std::uint32_t> before(live_bits_.size());
  std::uint32_t sum = 0;
  for (std::size_t w = 0; w < live_bits_.size(); ++w) {
    before[w] = sum;
    sum += static_cast<std::uint32_t>(std::popcount(live_bits_[w]));
  }
  for (Line& line : table_) {
    for (std::uint32_t& time : line.time) {
      if (time == 0) continue;
      const std::uint32_t t = time - 1;
      time = before[t / 64] +
             static_cast<std::uint32_t>(std::popcount(live_bits_[t / 64] & ((std::uint64_t{1} << (t % 64)) - 1))) + 1;
    }
  }
  std::size_t bits = live_bits_.size() * 64;
  while (bits < std::size_t{4} * sum) bits *= 2;
  live_bits_.assign(bits / 64, 0);
  blocks_.assign(bits / block_bits + 1, 0);
  for (std::size_t w = 0; w < sum / 64; ++w) live_bits_[w] = ~std::uint64_t{0};
  if (sum % 64 != 0) live_bits_[sum / 64] = (std::uint64_t{1} << (sum % 64)) - 1;
  for (std::size_t b = 0; b < sum / block_bits; ++b) add_to_blocks(b, block_bits);
  now_ = sum;
  live_ = sum;
}

void StackDistances::lower_rate() {
  ++shift_;
  renew_table(table_.size(), [&](Line& line) {
    bool any = false;
    for (unsigned i = 0; i < 4; ++i) {
      if (line.time[i] == 0) continue;
      if (in_sample((line.tag - 1) * 4 + i, shift_)) {
        any = true;
      } else {
        live_bits_[(line.time[i] - 1) / 64] &= ~(std::uint64_t{1} << ((line.time[i] - 1) % 64));
        line.time[i] = 0;
      }
    }
    return any;
  });
  make_room();
}

/// Removes the bit of a time and says how many later ones there are.
KERNELCAST_PART_OF_CALLER std::int64_t StackDistances::take_out(std::uint32_t time) {
  const std::size_t word = time / 64;
  const std::uint64_t bit = std::uint64_t{1} << (time % 64);
  const std::size_t block = time / block_bits;
  live_bits_[word] &= ~bit;
  const std::uint64_t later = live_bits_[word] & ~(bit | (bit - 1));
  std::int64_t after = 0;
  if (now_ - time < near_bits) {
    after = std::popcount(later);
    for (std::size_t w = word + 1; w <= now_ / 64 && w < live_bits_.size(); ++w) after += std::popcount(live_bits_[w]);
  } else {
    // live_ counts the bit that is being removed.
    std::int64_t upto = std::popcount(live_bits_[word]) - std::popcount(later) + 1;
    for (std::size_t w = block * (block_bits / 64); w < word; ++w) upto += std::popcount(live_bits_[w]);
    for (std::size_t i = block; i > 0; i &= i - 1) upto += blocks_[i];
    after = live_ - upto;
  }
  if (block != now_ / block_bits) add_to_blocks(block, -1);
  --live_;
  return after;
}

KERNELCAST_COUNTS_BITS void StackDistances::touch(std::span<const std::uint64_t> keys) {
  touches_ += static_cast<double>(keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (k + ahead < keys.size()) __builtin_prefetch(&table_[home(keys[k + ahead] / 4 + 1)]);
    const std::uint64_t key = keys[k];
    if (!in_sample(key, shift_)) continue;
    Line* line = &find(key / 4 + 1);
    if (line->tag == 0) {
      if ((lines_ + 1) * 4 > table_.size() * 3) {
        grow_table();
        line = &find(key / 4 + 1);
      }
      line->tag = key / 4 + 1;
      ++lines_;
    }
    const double weight = static_cast<double>(std::uint64_t{1} << shift_);
    std::uint32_t& time = line->time[key % 4];
    if (time == 0) {
      cold_ += weight;
    } else {
      const auto distance = static_cast<std::uint64_t>(take_out(time - 1));
      nearer_[distance == 0 ? 0 : static_cast<std::size_t>(std::bit_width(distance) - 1 + shift_)] += weight;
    }
    live_bits_[now_ / 64] |= std::uint64_t{1} << (now_ % 64);
    time = ++now_;
    ++live_;
    if (now_ % block_bits == 0) {
      if (now_ == live_bits_.size() * 64) {
        make_room();
      } else {
        finish_block();
      }
    }
    if (live_ > max_keys_) lower_rate();
  }
}

ReuseDistances StackDistances::distances(double touches) const {
  ReuseDistances r;
  r.touches = touches < 0 ? touches_ : touches;
  r.cold = cold_;
  std::size_t used = nearer_.size();
  while (used > 0 && nearer_[used - 1] == 0) --used;
  r.nearer.assign(nearer_.begin(), nearer_.begin() + static_cast<std::ptrdiff_t>(used));
  double sum = cold_;
  for (const double n : r.nearer) sum += n;
  if (sum == r.touches) return r;
  if (r.nearer.empty()) r.nearer.push_back(0);
  r.nearer[0] += r.touches - sum;
  if (r.nearer[0] >= 0) return r;
  // The sample has more far touches than there were touches at all: keep their shares.
  sum -= nearer_[0];
  r.nearer[0] = 0;
  const double scale = sum > 0 ? r.touches / sum : 0;
  for (double& n : r.nearer) n *= scale;
  r.cold *= scale;
  return r;
}

}  // namespace kernelcast::memory
