// Three streams of the same requests: each block alone, the blocks of one SM request by request in turn, and all blocks
// wave by wave. Turns by request are what equal warps under a fair scheduler come to; real interleavings differ.
#include "execute/locality.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <map>

namespace kernelcast::interpreter {
namespace {

/// Collects requests so that the distances are taken many sectors at a time.
class Stream {
 public:
  explicit Stream(memory::StackDistances& distances) : distances_(distances) {}
  void operator()(std::span<const std::uint64_t> request) {
    batch_.insert(batch_.end(), request.begin(), request.end());
    if (batch_.size() >= 512) flush();
  }
  void flush() {
    distances_.touch(batch_);
    batch_.clear();
  }

 private:
  memory::StackDistances& distances_;
  std::vector<std::uint64_t> batch_;
};

void add(ReuseDistances& to, const ReuseDistances& from) {
  if (to.nearer.size() < from.nearer.size()) to.nearer.resize(from.nearer.size());
  for (std::size_t k = 0; k < from.nearer.size(); ++k) to.nearer[k] += from.nearer[k];
  to.cold += from.cold;
  to.touches += from.touches;
}

std::vector<const Trace*> traces_of(const std::vector<const BlockTrace*>& blocks) {
  std::vector<const Trace*> traces;
  for (const BlockTrace* b : blocks) traces.push_back(&b->trace);
  return traces;
}

double touches_of(const std::vector<const BlockTrace*>& blocks) {
  double sum = 0;
  for (const BlockTrace* b : blocks) sum += b->touches;
  return sum;
}

/// The least sampling that brings the touches below the limit and holds for every trace.
int common_shift(const std::vector<const BlockTrace*>& blocks, std::int64_t max_touches) {
  int shift = 0;
  for (const BlockTrace* b : blocks) shift = std::max(shift, b->shift);
  const double touches = touches_of(blocks);
  while (shift < 40 && std::ldexp(touches, -shift) > static_cast<double>(max_touches)) ++shift;
  return shift;
}

void add_blocks(const std::vector<const BlockTrace*>& blocks, LocalityResult& result) {
  for (const BlockTrace* b : blocks) {
    add(result.locality.block, b->alone);
    result.locality.block_sectors += b->sectors / static_cast<double>(blocks.size());
    result.block_rate = std::min(result.block_rate, b->alone_rate);
  }
}

void add_residents(const std::vector<std::vector<const BlockTrace*>>& groups, const LocalityLimits& limits,
                   LocalityResult& result) {
  if (groups.empty()) return;
  std::vector<const BlockTrace*> all;
  for (const auto& g : groups) all.insert(all.end(), g.begin(), g.end());
  const int shift = common_shift(all, limits.max_touches);
  memory::StackDistances distances(limits.max_keys);
  Stream stream(distances);
  const auto n = static_cast<double>(groups.size());
  for (const auto& g : groups) {
    distances.clear(shift);
    interleave(traces_of(g), stream);
    stream.flush();
    add(result.locality.resident, distances.distances(touches_of(g)));
    result.locality.resident_sectors += distances.distinct() / n;
    result.resident_rate = std::min(result.resident_rate, distances.rate());
  }
  result.locality.resident_blocks = static_cast<double>(all.size()) / n;
}

void add_grid(const std::vector<const BlockTrace*>& blocks, std::int64_t wave_blocks, const LocalityLimits& limits,
              LocalityResult& result) {
  if (blocks.empty()) return;
  memory::StackDistances distances(limits.max_keys, common_shift(blocks, limits.max_touches));
  Stream stream(distances);
  const std::int64_t size = std::max<std::int64_t>(wave_blocks, 1);
  std::vector<const BlockTrace*> wave;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    wave.push_back(blocks[i]);
    if (static_cast<std::int64_t>(wave.size()) < size && i + 1 < blocks.size()) continue;
    interleave(traces_of(wave), stream);
    wave.clear();
  }
  stream.flush();
  result.locality.grid = distances.distances(touches_of(blocks));
  result.grid_rate = distances.rate();
}

}  // namespace

LocalityLimits LocalityLimits::of(std::int64_t bytes, std::int64_t blocks) {
  LocalityLimits limits;
  // A quarter for the tables of the distances: 24 bytes a line of the table, half of them in use, and room to grow.
  limits.max_keys = std::clamp<std::int64_t>(bytes / 4 / 100, 1024, limits.max_keys);
  limits.block_bytes =
      std::clamp<std::int64_t>(bytes / 2 / std::max<std::int64_t>(blocks, 1), 4096, std::int64_t{64} << 20);
  return limits;
}

LocalityRecorder::LocalityRecorder(const LocalityLimits& limits) : limits_(limits), distances_(limits.max_keys) {}

void LocalityRecorder::begin_block(std::int64_t block) {
  current_ = BlockTrace{};
  current_.block = block;
  for (Trace& t : warps_) t.clear();
  pending_bytes_ = 0;
}

void LocalityRecorder::touch(int warp, std::span<const std::uint64_t> sectors) {
  if (static_cast<std::size_t>(warp) >= warps_.size()) warps_.resize(static_cast<std::size_t>(warp) + 1);
  current_.touches += static_cast<double>(sectors.size());
  Trace& trace = warps_[static_cast<std::size_t>(warp)];
  pending_bytes_ -= trace.bytes();
  if (current_.shift == 0) {
    trace.append(sectors);
  } else {
    kept_.clear();
    for (const std::uint64_t s : sectors)
      if (memory::in_sample(s, current_.shift)) kept_.push_back(s);
    trace.append(kept_);
  }
  pending_bytes_ += trace.bytes();
  while (pending_bytes_ + current_.trace.bytes() > limits_.block_bytes && current_.shift < 40) halve();
}

/// Follows half of the sectors from here on, and drops the other half of what is recorded.
void LocalityRecorder::halve() {
  const int shift = ++current_.shift;
  const auto thin = [&](Trace& trace) {
    Trace less;
    const Trace* one[] = {&trace};
    interleave(one, [&](std::span<const std::uint64_t> request) {
      kept_.clear();
      for (const std::uint64_t s : request)
        if (memory::in_sample(s, shift)) kept_.push_back(s);
      less.append(kept_);
    });
    trace = std::move(less);
  };
  thin(current_.trace);
  pending_bytes_ = 0;
  for (Trace& t : warps_) {
    thin(t);
    pending_bytes_ += t.bytes();
  }
}

void LocalityRecorder::barrier() {
  std::vector<const Trace*> traces;
  for (const Trace& t : warps_)
    if (t.requests() > 0) traces.push_back(&t);
  interleave(traces, [&](std::span<const std::uint64_t> request) { current_.trace.append(request); });
  for (Trace& t : warps_) t.clear();
  pending_bytes_ = 0;
}

BlockTrace LocalityRecorder::end_block() {
  barrier();
  current_.trace.shrink();
  distances_.clear(current_.shift);
  Stream stream(distances_);
  const Trace* one[] = {&current_.trace};
  interleave(one, stream);
  stream.flush();
  current_.alone = distances_.distances(current_.touches);
  current_.sectors = distances_.distinct();
  current_.alone_rate = distances_.rate();
  return std::move(current_);
}

std::vector<std::vector<std::int64_t>> resident_groups(std::span<const std::int64_t> blocks, std::int64_t resident,
                                                       std::int64_t processors) {
  const std::int64_t sms = std::max<std::int64_t>(processors, 1);
  const std::int64_t wave = sms * std::max<std::int64_t>(resident, 1);
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> place;
  std::vector<std::vector<std::int64_t>> groups;
  for (const std::int64_t b : blocks) {
    const auto [at, added] = place.try_emplace({b / wave, b % wave % sms}, groups.size());
    if (added) groups.emplace_back();
    groups[at->second].push_back(b);
  }
  return groups;
}

LocalityResult locality_of(std::vector<BlockTrace> traces, const std::vector<std::vector<std::int64_t>>& residents,
                           std::int64_t wave_blocks, const LocalityLimits& limits, int threads) {
  std::sort(traces.begin(), traces.end(), [](const BlockTrace& a, const BlockTrace& b) { return a.block < b.block; });
  std::map<std::int64_t, const BlockTrace*> by_index;
  std::vector<const BlockTrace*> blocks;
  for (const BlockTrace& t : traces) {
    blocks.push_back(&t);
    by_index[t.block] = &t;
  }
  std::vector<std::vector<const BlockTrace*>> groups;
  for (const auto& r : residents) {
    std::vector<const BlockTrace*> group;
    for (const std::int64_t b : r)
      if (const auto at = by_index.find(b); at != by_index.end()) group.push_back(at->second);
    if (!group.empty()) groups.push_back(std::move(group));
  }
  LocalityResult result;
  add_blocks(blocks, result);
  // Each reads the traces and writes figures of its own.
  auto residents_later = std::async(threads > 1 ? std::launch::async : std::launch::deferred,
                                    [&] { add_residents(groups, limits, result); });
  add_grid(blocks, wave_blocks, limits, result);
  residents_later.get();
  return result;
}

}  // namespace kernelcast::interpreter
