#include "execute/shared_order.h"

#include <algorithm>

namespace kernelcast::interpreter {

void Clock::raise(std::size_t component, std::uint32_t to) {
  if (at(component) >= to) return;
  if (component >= counts_.size()) counts_.resize(component + 1);
  counts_[component] = to;
  first_ = past_ == 0 ? component : std::min(first_, component);
  past_ = std::max(past_, component + 1);
}

void Clock::join(const Clock& other) {
  if (other.past_ == 0) return;
  if (other.past_ > counts_.size()) counts_.resize(other.past_);
  for (std::size_t k = other.first_; k < other.past_; ++k) counts_[k] = std::max(counts_[k], other.counts_[k]);
  first_ = past_ == 0 ? other.first_ : std::min(first_, other.first_);
  past_ = std::max(past_, other.past_);
}

void Clock::clear() {
  std::fill(counts_.begin() + static_cast<std::ptrdiff_t>(first_), counts_.begin() + static_cast<std::ptrdiff_t>(past_),
            0U);
  first_ = past_ = 0;
}

SharedOrder::SharedOrder(std::int64_t units, int threads, int warp_size, bool independent_threads)
    : threads_(threads),
      warp_size_(warp_size),
      warps_((threads + warp_size - 1) / warp_size),
      independent_(independent_threads),
      units_(static_cast<std::size_t>(units)),
      reads_(static_cast<std::size_t>(units * warps_)),
      clocks_(static_cast<std::size_t>(warps_)),
      copies_(static_cast<std::size_t>(threads)) {}

std::int64_t SharedOrder::bytes_per_unit(int threads, int warp_size) {
  const auto warps = static_cast<std::int64_t>((threads + warp_size - 1) / warp_size);
  return static_cast<std::int64_t>(sizeof(Unit)) + warps * static_cast<std::int64_t>(sizeof(Read));
}

void SharedOrder::begin_block() {
  ++block_;
  first_stamp_ = ++stamp_;
  met_.clear();
  for (Clock& c : clocks_) c.clear();
  for (Copies& c : copies_) c = {};
}

/// Lanes of a warp that are independent see each other's copies behind a barrier of the warp.
void SharedOrder::show_copies(int warp) {
  Clock& clock = clocks_[static_cast<std::size_t>(warp)];
  for (int t = warp * warp_size_; t < std::min((warp + 1) * warp_size_, threads_); ++t)
    clock.raise(copies_of(t), copies_[static_cast<std::size_t>(t)].done);
}

void SharedOrder::warp_barrier(int warp) {
  ++sub_;
  if (independent_) show_copies(warp);
}

void SharedOrder::barrier() {
  for (int w = 0; w < warps_; ++w) {
    if (independent_) show_copies(w);
    Clock& clock = clocks_[static_cast<std::size_t>(w)];
    met_.join(clock);
    met_.raise(static_cast<std::size_t>(w), stamp_);
    clock.clear();
  }
  ++sub_;
}

void SharedOrder::barrier(std::uint64_t warps) {
  Clock all;
  for (int w = 0; w < warps_; ++w) {
    if ((warps >> w & 1U) == 0) continue;
    if (independent_) show_copies(w);
    all.join(clocks_[static_cast<std::size_t>(w)]);
    all.raise(static_cast<std::size_t>(w), stamp_);
  }
  for (int w = 0; w < warps_; ++w)
    if ((warps >> w & 1U) != 0) clocks_[static_cast<std::size_t>(w)].join(all);
  ++sub_;
}

void SharedOrder::wait_for_copies(int thread, std::uint64_t left) {
  Copies& c = copies_[static_cast<std::size_t>(thread)];
  if (c.groups.size() <= left) return;
  const std::size_t complete = c.groups.size() - static_cast<std::size_t>(left);
  c.done = c.groups[complete - 1];
  c.groups.erase(c.groups.begin(), c.groups.begin() + static_cast<std::ptrdiff_t>(complete));
  if (!independent_) clocks_[static_cast<std::size_t>(thread / warp_size_)].raise(copies_of(thread), c.done);
}

/// Of a plain or atomic write by another thread.
bool SharedOrder::in_order(const Unit& u, int thread, int warp) const {
  if (u.thread == thread) return true;
  if (u.warp == warp) return independent_ ? u.sub != sub_ : u.stamp != stamp_;
  return seen(warp, u.warp, u.stamp);
}

SharedTrouble SharedOrder::trouble_with_write(const Unit& u, int thread, int warp) const {
  if (u.writer != Writer::copy) return in_order(u, thread, warp) ? SharedTrouble::none : SharedTrouble::race;
  const bool waited = copies_[static_cast<std::size_t>(u.thread)].done >= u.stamp;
  if (!waited) return SharedTrouble::copy_pending;
  return u.thread == thread || seen(warp, copies_of(u.thread), u.stamp) ? SharedTrouble::none
                                                                        : SharedTrouble::copy_unordered;
}

SharedTrouble SharedOrder::load(std::int64_t unit, int thread, int warp, int& other) {
  const Unit& u = units_[static_cast<std::size_t>(unit)];
  SharedTrouble trouble = SharedTrouble::none;
  if (!written(u))
    trouble = SharedTrouble::uninitialised;
  else if (!u.quiet)
    trouble = trouble_with_write(u, thread, warp);
  if (trouble != SharedTrouble::none && written(u)) other = u.thread;
  Read& r = reads_[static_cast<std::size_t>(unit * warps_ + warp)];
  const bool with_others = independent_ && r.stamp > first_stamp_ && r.sub == sub_ && r.thread != thread;
  r.thread = with_others ? several : static_cast<std::int16_t>(thread);
  r.stamp = stamp_;
  r.sub = sub_;
  return trouble;
}

SharedTrouble SharedOrder::trouble_with_reads(std::int64_t unit, int thread, int warp, int& other) const {
  for (int v = 0; v < warps_; ++v) {
    const Read& r = reads_[static_cast<std::size_t>(unit * warps_ + v)];
    if (r.stamp <= first_stamp_) continue;
    const bool ordered = v != warp ? seen(warp, static_cast<std::size_t>(v), r.stamp)
                                   : r.thread == thread || !independent_ || r.sub != sub_;
    if (ordered) continue;
    other = r.thread;
    return SharedTrouble::race;
  }
  return SharedTrouble::none;
}

SharedTrouble SharedOrder::write(std::int64_t unit, Writer as, int thread, int warp, bool& changes, int& other) {
  Unit& u = units_[static_cast<std::size_t>(unit)];
  const bool first = !written(u);
  changes = changes || first;
  SharedTrouble trouble = first ? SharedTrouble::none : trouble_with_write(u, thread, warp);
  const std::size_t by = u.writer == Writer::copy ? copies_of(u.thread) : u.warp;
  const bool calm = u.quiet || (!first && met_.at(by) >= u.stamp);  // all threads have seen who has changed it
  // Copies of one value to one place do no harm, whoever makes them; a plain write beside a copy may come too early.
  if (!changes && (as == Writer::copy || trouble == SharedTrouble::race)) trouble = SharedTrouble::none;
  if (trouble != SharedTrouble::none) other = u.thread;
  if (changes)
    if (const SharedTrouble t = trouble_with_reads(unit, thread, warp, other); t != SharedTrouble::none) trouble = t;
  u.quiet = as == Writer::plain && !changes && calm;
  u.block = block_;
  u.stamp = as == Writer::copy ? copies_[static_cast<std::size_t>(thread)].begun : stamp_;
  u.sub = sub_;
  u.thread = static_cast<std::int16_t>(thread);
  u.warp = static_cast<std::uint16_t>(warp);
  u.writer = as;
  return trouble;
}

SharedTrouble SharedOrder::store(std::int64_t unit, int thread, int warp, bool& changes, int& other) {
  return write(unit, Writer::plain, thread, warp, changes, other);
}

SharedTrouble SharedOrder::copy(std::int64_t unit, int thread, int warp, bool& changes, int& other) {
  return write(unit, Writer::copy, thread, warp, changes, other);
}

SharedTrouble SharedOrder::atomic(std::int64_t unit, int thread, int warp, int& other) {
  Unit& u = units_[static_cast<std::size_t>(unit)];
  SharedTrouble trouble = SharedTrouble::none;
  if (!written(u))
    trouble = SharedTrouble::uninitialised;
  else if (u.writer != Writer::atomic && !u.quiet)
    trouble = trouble_with_write(u, thread, warp);
  if (trouble != SharedTrouble::none && written(u)) other = u.thread;
  u.quiet = false;
  u.block = block_;
  u.stamp = stamp_;
  u.sub = sub_;
  u.thread = static_cast<std::int16_t>(thread);
  u.warp = static_cast<std::uint16_t>(warp);
  u.writer = Writer::atomic;
  return trouble;
}

}  // namespace kernelcast::interpreter
