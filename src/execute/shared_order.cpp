#include "execute/shared_order.h"

#include <algorithm>

namespace kernelcast::interpreter {

namespace {

constexpr std::uint32_t most_stamp = std::uint32_t{1} << 31;

}  // namespace

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
      copies_(static_cast<std::size_t>(threads)),
      bulk_(static_cast<std::size_t>(threads)) {}

std::int64_t SharedOrder::bytes_per_unit(int threads, int warp_size) {
  const auto warps = static_cast<std::int64_t>((threads + warp_size - 1) / warp_size);
  return static_cast<std::int64_t>(sizeof(Unit) + sizeof(BulkRead)) + warps * static_cast<std::int64_t>(sizeof(Read));
}

void SharedOrder::begin_block() {
  ++block_;
  if (stamp_ > most_stamp) {  // long before it runs over
    stamp_ = 1;
    std::fill(reads_.begin(), reads_.end(), Read{});
  }
  first_stamp_ = ++stamp_;
  met_.clear();
  for (Clock& c : clocks_) c.clear();
  for (Copies& c : copies_) c = {};
  for (Copies& c : bulk_) c = {};
}

/// Lanes of a warp that are independent see each other's copies behind a barrier of the warp.
void SharedOrder::show_copies(int warp) {
  Clock& clock = clocks_[static_cast<std::size_t>(warp)];
  for (int t = warp * warp_size_; t < std::min((warp + 1) * warp_size_, threads_); ++t) {
    clock.raise(copies_of(t), copies_[static_cast<std::size_t>(t)].done);
    clock.raise(bulk_of(t), bulk_[static_cast<std::size_t>(t)].done);
  }
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

bool SharedOrder::Copies::wait(std::uint64_t left) {
  if (groups.size() <= left) return false;
  const std::size_t complete = groups.size() - static_cast<std::size_t>(left);
  done = groups[complete - 1];
  groups.erase(groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(complete));
  return true;
}

void SharedOrder::wait_for_copies(int thread, std::uint64_t left) {
  Copies& c = copies_[static_cast<std::size_t>(thread)];
  if (c.wait(left) && !independent_)
    clocks_[static_cast<std::size_t>(thread / warp_size_)].raise(copies_of(thread), c.done);
}

void SharedOrder::wait_for_bulk(int thread, std::uint64_t left) {
  Copies& c = bulk_[static_cast<std::size_t>(thread)];
  if (c.wait(left) && !independent_)
    clocks_[static_cast<std::size_t>(thread / warp_size_)].raise(bulk_of(thread), c.done);
}

/// Lanes of one warp that are independent are taken to have met before one of them arrives for all.
void SharedOrder::release(int warp, Clock& into) {
  if (independent_) show_copies(warp);
  into.join(clocks_[static_cast<std::size_t>(warp)]);
  into.raise(static_cast<std::size_t>(warp), stamp_);
}

void SharedOrder::release_copies(int thread, Clock& into) const {
  into.raise(copies_of(thread), copies_[static_cast<std::size_t>(thread)].begun);
}

/// Of a plain or atomic write by another thread.
bool SharedOrder::in_order(const Unit& u, int thread, int warp) const {
  if (u.thread == thread) return true;
  if (u.warp == warp) return independent_ ? u.sub != sub_ : u.stamp != stamp_;
  return seen(warp, u.warp, u.stamp);
}

SharedTrouble SharedOrder::trouble_with_write(const Unit& u, int thread, int warp) const {
  if (u.writer == Writer::bulk)
    return seen(warp, phases_of(u.warp), u.stamp) ? SharedTrouble::none : SharedTrouble::bulk_pending;
  if (u.writer != Writer::copy) return in_order(u, thread, warp) ? SharedTrouble::none : SharedTrouble::race;
  if (seen(warp, copies_of(u.thread), u.stamp)) return SharedTrouble::none;
  if (copies_[static_cast<std::size_t>(u.thread)].done < u.stamp) return SharedTrouble::copy_pending;
  return u.thread == thread ? SharedTrouble::none : SharedTrouble::copy_unordered;
}

SharedTrouble SharedOrder::trouble_with_read(std::int64_t unit, int thread, int warp, int& other) const {
  const Unit& u = units_[static_cast<std::size_t>(unit)];
  SharedTrouble trouble = SharedTrouble::none;
  if (!written(u))
    trouble = SharedTrouble::uninitialised;
  else if (!u.quiet)
    trouble = trouble_with_write(u, thread, warp);
  if (trouble != SharedTrouble::none && written(u)) other = u.thread;
  return trouble;
}

SharedTrouble SharedOrder::load(std::int64_t unit, int thread, int warp, int& other) {
  const SharedTrouble trouble = trouble_with_read(unit, thread, warp, other);
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
  if (bulk_reads_.empty()) return SharedTrouble::none;
  const BulkRead& b = bulk_reads_[static_cast<std::size_t>(unit)];
  if (b.block != block_ || seen(warp, bulk_of(b.thread), b.number)) return SharedTrouble::none;
  if (b.thread == thread && bulk_[static_cast<std::size_t>(thread)].done >= b.number) return SharedTrouble::none;
  other = b.thread;
  return SharedTrouble::read_pending;
}

SharedTrouble SharedOrder::write(std::int64_t unit, Writer as, int thread, int warp, bool& changes, int& other) {
  Unit& u = units_[static_cast<std::size_t>(unit)];
  const bool first = !written(u);
  changes = changes || first;
  SharedTrouble trouble = first ? SharedTrouble::none : trouble_with_write(u, thread, warp);
  const std::size_t by = u.writer == Writer::copy   ? copies_of(u.thread)
                         : u.writer == Writer::bulk ? phases_of(u.warp)
                                                    : u.warp;
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

SharedTrouble SharedOrder::bulk_write(std::int64_t unit, int thread, int warp, int mbarrier, std::uint32_t phase,
                                      int& other) {
  bool changes = true;
  const SharedTrouble trouble = write(unit, Writer::bulk, thread, warp, changes, other);
  Unit& u = units_[static_cast<std::size_t>(unit)];
  u.stamp = phase + 1;
  u.warp = static_cast<std::uint16_t>(mbarrier);
  return trouble;
}

SharedTrouble SharedOrder::bulk_read(std::int64_t unit, int thread, int warp, int& other) {
  const SharedTrouble trouble = trouble_with_read(unit, thread, warp, other);
  if (bulk_reads_.empty()) bulk_reads_.resize(units_.size());
  bulk_reads_[static_cast<std::size_t>(unit)] = {block_, bulk_[static_cast<std::size_t>(thread)].begun,
                                                 static_cast<std::int16_t>(thread)};
  return trouble;
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
