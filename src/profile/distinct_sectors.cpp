// Idea: the set of bytes that a box of strides touches is counted by adding one stride after the other, smallest first:
// a stride that is no longer than what is covered so far makes that longer, a larger one makes copies of it.
//
// Most accesses have one offset, and a tuner asks for millions of them: the same code is compiled for one run that
// stays in registers, and for any number of runs. Strides before the first whose count differs are added once.
#include "profile/distinct_sectors.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kernelcast {

namespace {

/// A list of at most so many, in place.
template <class T, std::size_t capacity>
struct Few {
  std::array<T, capacity> items;
  std::size_t n = 0;
  Few() {}  // NOLINT(modernize-use-equals-default): items stay as they are
  Few(const Few& o) : n(o.n) {
    for (std::size_t i = 0; i < n; ++i) items[i] = o.items[i];
  }
  Few& operator=(const Few&) = delete;
  [[nodiscard]] bool empty() const { return n == 0; }
  [[nodiscard]] std::size_t size() const { return n; }
  void push_back(const T& item) { items[n++] = item; }
  T& operator[](std::size_t i) { return items[i]; }
  T& back() { return items[n - 1]; }
};

constexpr std::size_t few = 12;
/// Stride without its initial values, which would be written twelve at a time.
struct Copied {
  std::int64_t stride, count;
};
using OneRun = SectorSet<std::array<Run, 1>, Few<Copied, few>>;

std::int64_t floor_mod(std::int64_t a, std::int64_t m) {
  const std::int64_t r = a % m;
  return r < 0 ? r + m : r;
}

void join(OneRun&) {}

/// Joins runs that overlap or lie within one sector of another. They are sorted.
void join(ManyRuns& set) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < set.runs.size(); ++i) {
    Run& before = set.runs[last];
    const Run& run = set.runs[i];
    if (run.low <= before.low + before.length + set.sector / 2 && run.copies == before.copies) {
      before.length = std::max(before.length, run.low + run.length - before.low);
    } else {
      set.runs[++last] = run;
    }
  }
  set.runs.resize(last + 1);
}

void copy(OneRun& set, const Stride& s) { set.runs[0].copies *= static_cast<double>(s.count); }

/// Copies every run `s.count` times, `s.stride` apart; runs that differ by multiples of the stride share copies.
void copy(ManyRuns& set, const Stride& s) {
  std::vector<Run>& runs = set.runs;
  if (runs.size() == 1) {
    runs[0].copies *= static_cast<double>(s.count);
    return;
  }
  std::size_t left = 0;
  std::vector<char> done(runs.size(), 0);
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (done[i] != 0) continue;
    places.clear();
    Run run = runs[i];
    for (std::size_t j = i; j < runs.size(); ++j) {
      if (done[j] != 0) continue;
      const std::int64_t apart = runs[j].low - runs[i].low, off = floor_mod(apart, s.stride);
      if (std::min(off, s.stride - off) >= std::max(1, set.sector / 2)) continue;
      done[j] = 1;
      places.push_back((apart + s.stride / 2) / s.stride);
      run.length = std::max(run.length, runs[j].length);
    }
    double copies = 0;
    std::int64_t covered = places.front() - 1;
    for (const std::int64_t p : places) {  // ascending, like the runs
      const std::int64_t first = std::max(p, covered + 1), last = p + s.count - 1;
      if (last >= first) copies += static_cast<double>(last - first + 1);
      covered = std::max(covered, last);
    }
    run.copies *= copies;
    runs[left++] = run;  // never ahead of i
  }
  runs.resize(left);
}

/// A stride that continues the copies of a smaller one makes their number larger.
template <class Set>
bool merge_into_copies(Set& set, const Stride& s) {
  for (std::size_t i = set.outer.size(); i-- > 0;) {
    auto& o = set.outer[i];
    const std::int64_t times = s.stride / o.stride;
    if (times > o.count || times * o.stride != s.stride) continue;
    const std::int64_t more = times * (s.count - 1);
    for (Run& r : set.runs) r.copies *= static_cast<double>(o.count + more) / static_cast<double>(o.count);
    o.count += more;
    return true;
  }
  return false;
}

/// Copies of runs that together are longer than the stride grow into one another.
template <class Set>
void overlap(Set& set, const Stride& s) {
  const auto& o = set.outer.back();
  const double grow = static_cast<double>(s.stride * (s.count - 1)) / static_cast<double>(o.stride);
  const double most = static_cast<double>(s.count);
  const double factor = std::min(most, 1 + grow / static_cast<double>(o.count));
  // Strides that are no multiples of one another fall between: all copies are distinct.
  const bool between = s.stride % o.stride != 0;
  for (Run& r : set.runs) r.copies *= between ? most : factor;
}

template <class Set>
bool covers(const Set& set, std::int64_t stride) {
  std::int64_t shortest = set.runs[0].length;
  for (const Run& r : set.runs) shortest = std::min(shortest, r.length);
  return stride <= std::max<std::int64_t>(shortest, set.sector);
}

template <class Set>
[[gnu::always_inline]] inline void add(Set& set, const Stride& s) {
  if (s.stride == 0 || s.count <= 1) return;
  if (set.outer.empty()) {
    if (covers(set, s.stride)) {
      for (Run& r : set.runs) r.length += s.stride * (s.count - 1);
      join(set);
      return;
    }
  } else {
    if (merge_into_copies(set, s)) return;
    if (s.stride < set.outer.back().stride * (set.outer.back().count - 1)) {
      overlap(set, s);
      return;
    }
  }
  copy(set, s);
  set.outer.push_back({s.stride, s.count});
}

template <class Set>
double sectors_of(const Set& set, std::int64_t shift) {
  const std::int64_t sector = set.sector;
  double sum = 0;
  // Sectors are powers of two on all devices: a mask takes a tenth of the time. (std::has_single_bit is a call on
  // machines that are not known to count bits.)
  if ((sector & (sector - 1)) == 0) {
    const int bits = std::countr_zero(static_cast<std::uint64_t>(sector));
    for (const Run& r : set.runs)
      sum += static_cast<double>(((((r.low + shift) & (sector - 1)) + r.length - 1) >> bits) + 1) * r.copies;
    return sum;
  }
  for (const Run& r : set.runs) {
    const std::int64_t touched = (floor_mod(r.low + shift, sector) + r.length - 1) / sector + 1;
    sum += static_cast<double>(touched) * r.copies;
  }
  return sum;
}

/// Adds a stride; one that goes down ends where the same going up would start, `lowest` further down.
template <class Set>
[[gnu::always_inline]] inline void add(Set& set, std::int64_t stride, std::int64_t count, std::int64_t& lowest) {
  if (stride < 0) lowest += stride * (count - 1);
  add(set, {std::abs(stride), count});
}

using Strides = std::span<const CaseStride>;

bool as_before(Strides strides, std::size_t i) {
  return std::all_of(strides.begin(), strides.end(),
                     [i](const CaseStride& s) { return s.counts == nullptr || s.counts[i] == s.counts[i - 1]; });
}

/// `restored` gives a set as it is after the strides that are the same in all cases.
template <class Restored>
void count_cases(Strides strides, std::int64_t lowest, std::span<double> sectors, Restored restored) {
  for (std::size_t i = 0; i < sectors.size(); ++i) {
    if (i > 0 && as_before(strides, i)) {
      sectors[i] = sectors[i - 1];
      continue;
    }
    auto&& set = restored();
    std::int64_t low = lowest;
    for (const CaseStride& s : strides) add(set, s.stride, s.counts == nullptr ? s.count : s.counts[i], low);
    sectors[i] = sectors_of(set, low);
  }
}

template <class Set>
Strides add_common(Set& set, Strides strides, std::int64_t& lowest) {
  while (!strides.empty() && (strides.front().counts == nullptr || strides.front().stride == 0)) {
    add(set, strides.front().stride, strides.front().count, lowest);
    strides = strides.subspan(1);
  }
  return strides;
}

}  // namespace

void SectorCounter::count(std::span<const std::int64_t> offsets, int bytes, int sector, Strides strides,
                          std::span<double> sectors) {
  std::int64_t lowest = 0;
  if (offsets.size() == 1 && strides.size() <= few) {
    OneRun set;
    set.runs[0] = {offsets[0], bytes, 1};
    set.sector = sector;
    strides = add_common(set, strides, lowest);
    count_cases(strides, lowest, sectors, [&] { return set; });
    return;
  }
  kept_.sector = sector;
  kept_.outer.clear();
  kept_.runs.clear();
  for (const std::int64_t o : offsets) kept_.runs.push_back({o, bytes, 1});
  join(kept_);
  strides = add_common(kept_, strides, lowest);
  count_cases(strides, lowest, sectors, [&]() -> ManyRuns& { return now_ = kept_; });
}

double distinct_sectors(std::span<const Stride> strides, std::span<const std::int64_t> offsets, int bytes, int sector) {
  std::vector<CaseStride> ascending;
  for (const Stride& s : strides) ascending.push_back({s.stride, s.count});
  std::sort(ascending.begin(), ascending.end(),
            [](const CaseStride& a, const CaseStride& b) { return std::abs(a.stride) < std::abs(b.stride); });
  double sectors = 0;
  SectorCounter().count(offsets, bytes, sector, ascending, std::span(&sectors, 1));
  return sectors;
}

}  // namespace kernelcast
