// Atomics and waits for other blocks.
//
// Updates of one word follow one another, whoever makes them. How many meet on one word is taken from the number of
// different words: from the addresses where they are known; else from the execution's most popular word; else from the
// bytes that the launch may write. Words of one buffer are taken to be updated alike, buffers at the same time.
//
// Shared memory has no instruction for most types: the target's code loads, computes, compares and swaps until it
// succeeds (cuobjdump -sass: ATOMS.CAST.SPIN). Of the lanes of a warp on one word one succeeds at a time; of c warps
// that try at once, one, so that the last of them needs c attempts and the mean one (1 + c) / 2. Warps of a block meet
// where they update the same words: all of them where a request updates as many lanes as there are words.
//
// In global memory a loop that compares and swaps succeeds on one word once in a round trip to the L2 at most, whoever
// tries: the value that it compares has to come back first. What failed attempts take of the L2 is not counted.
#include "profile/atomics.h"

#include <algorithm>
#include <set>
#include <vector>

namespace kernelcast {
namespace {

/// Updates of one buffer by atomics of one kind.
struct UpdatedBuffer {
  int buffer;
  AtomicKind kind;
  double hottest = 0, bytes = 0;
  double repeated = 0;  // of `hottest`, what a loop repeats until nobody was faster
};

double words_of_launch(const Access& a, const AccessCount& n, const Workload& w) {
  const double most = std::max(1.0, n.lanes);
  if (n.distinct > 0) return std::min(n.distinct, most);
  if (w.hottest_atomic_share > 0) return std::clamp(1 / w.hottest_atomic_share, 1.0, most);
  return std::clamp(w.footprint_write_bytes / a.bytes, 1.0, most);
}

void add_global(const Access& a, const AccessCount& n, bool repeated, Workload& w,
                std::vector<UpdatedBuffer>& buffers) {
  const double updates = a.joined ? n.requests : n.lanes;
  AtomicCount& sum = w.atomics[static_cast<std::size_t>(a.atomic)];
  sum.updates += updates;
  sum.sectors += n.sectors;
  auto b = std::find_if(buffers.begin(), buffers.end(),
                        [&a](const UpdatedBuffer& x) { return x.buffer == a.buffer && x.kind == a.atomic; });
  if (b == buffers.end()) b = buffers.insert(buffers.end(), UpdatedBuffer{a.buffer, a.atomic});
  if (a.bulk) {  // a reduction in bulk: whole pieces of memory, no lanes
    b->bytes = std::max(b->bytes, std::min(n.bytes, std::max(w.footprint_write_bytes, static_cast<double>(a.bytes))));
    return;
  }
  const double words = words_of_launch(a, n, w);
  b->hottest += updates / words;
  if (repeated) b->repeated += updates / words;
  b->bytes = std::max(b->bytes, words * a.bytes);
}

void add_retries(const KernelProfile& profile, const Access& a, const AccessCount& n, Workload& w) {
  const double lanes = n.lanes / n.requests;
  const double declared =
      a.buffer >= 0 ? static_cast<double>(profile.buffers[static_cast<std::size_t>(a.buffer)].bytes) : -1;
  const double room = (declared > 0 ? declared : w.shared_bytes_per_block) / a.bytes;
  const double words = std::max(1.0, n.distinct > 0 ? n.distinct : room);
  const double per_warp = a.joined         ? 1
                          : n.distinct > 0 ? lanes / std::min(words, lanes)
                                           : n.bank_passes / n.requests / words_of(a.bytes);
  const double warps = std::clamp(n.requests / w.blocks, 1.0, std::max(1.0, w.warps_per_block));
  const double trying = 1 + (warps - 1) * std::min(1.0, lanes / words);
  RetryCount& r = w.retries;
  const double rounds = n.requests * std::max(1.0, per_warp) * (1 + trying) / 2;
  r.requests += n.requests;
  r.passes += n.bank_passes;
  r.rounds += rounds;
  if (a.atomic == AtomicKind::real && a.bytes == 8) r.fp64 += rounds;
}

/// A flag is waited for once a block; a lock is taken by each lane. Inside of another loop of unknown length a flag is
/// that of a look-back, which goes on where another block's is missing: no chain.
double handovers_of(const KernelProfile& profile, const Workload& w) {
  double sum = 0;
  for (std::size_t l = 0; l < profile.loops.size(); ++l) {
    const Loop& loop = profile.loops[l];
    if (loop.wait == Loop::Wait::none) continue;
    const bool looks_back = loop.parent >= 0 && profile.loops[static_cast<std::size_t>(loop.parent)].unknown >= 0;
    if (loop.wait == Loop::Wait::flag && looks_back) continue;
    const auto body = std::find_if(profile.blocks.begin(), profile.blocks.end(),
                                   [l](const Block& b) { return b.loop == static_cast<int>(l); });
    if (body == profile.blocks.end()) continue;
    const BlockCount& n = w.block_counts.at(static_cast<std::size_t>(body - profile.blocks.begin()));
    sum += loop.wait == Loop::Wait::lock ? n.lanes : n.warps > 0 ? w.blocks : 0;
  }
  return sum;
}

bool compares_and_swaps(const Access& a) {
  return a.kind == AccessKind::atomic && a.space == MemorySpace::global && a.atomic == AtomicKind::compare;
}

/// Buffers in which a loop of unknown length compares and swaps: until the word was still what it had read. The first
/// attempt may stand before the loop.
std::set<int> repeatedly_swapped(const KernelProfile& profile) {
  std::set<int> buffers;
  for (const Block& block : profile.blocks) {
    if (block.loop < 0) continue;
    const Loop& loop = profile.loops[static_cast<std::size_t>(block.loop)];
    if (loop.unknown < 0 || loop.wait != Loop::Wait::none) continue;
    for (const Access& a : block.accesses)
      if (compares_and_swaps(a)) buffers.insert(a.buffer);
  }
  return buffers;
}

}  // namespace

void join_lanes(const Access& access, AccessCount& count) {
  if (access.joined) count.sectors = count.segments = count.bank_passes = count.requests;
}

void sum_atomics(const KernelProfile& profile, Workload& w) {
  w.atomics = {};
  w.retries = {};
  w.handovers = handovers_of(profile, w);
  // Attempts that are only assumed tell no successes.
  const std::set<int> swapped =
      w.counts_method == CountsMethod::symbolic ? std::set<int>{} : repeatedly_swapped(profile);
  std::vector<UpdatedBuffer> buffers;
  std::size_t k = 0;
  for (const Block& block : profile.blocks)
    for (const Access& a : block.accesses) {
      const AccessCount& n = w.access_counts.at(k++);
      if (a.kind != AccessKind::atomic || (n.requests <= 0 && !a.bulk)) continue;
      if (a.space == MemorySpace::global)
        add_global(a, n, compares_and_swaps(a) && swapped.contains(a.buffer), w, buffers);
      if (a.space == MemorySpace::shared && a.retried) add_retries(profile, a, n, w);
    }
  double one_after_another = 0;
  for (const UpdatedBuffer& b : buffers) {
    one_after_another = std::max(one_after_another, b.repeated);
    AtomicCount& sum = w.atomics[static_cast<std::size_t>(b.kind)];
    sum.hottest = std::max(sum.hottest, b.hottest);
    sum.bytes += b.bytes;
  }
  w.handovers += one_after_another / 2;  // one way each: who succeeds has asked after the success before
}

}  // namespace kernelcast
