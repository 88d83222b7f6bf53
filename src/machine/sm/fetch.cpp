// Instructions come in lines of the instruction cache. A line that is absent takes icache_miss_cycles; the least
// recently used one makes room for it.
#include <algorithm>

#include "machine/sm/stages.h"

namespace kernelcast::sm {

Cycle fetch(SmState& m, Warp& w) {
  const int line = m.code[w.pc].line;
  if (line == w.line) return m.now;
  InstructionCache& cache = m.icache;
  const auto index = static_cast<std::size_t>(line);
  if (cache.ready_at[index] == never) {
    if (cache.resident.size() >= cache.capacity) {
      const auto oldest = std::ranges::min_element(cache.resident, {},
                                                   [&](int l) { return cache.used_at[static_cast<std::size_t>(l)]; });
      cache.ready_at[static_cast<std::size_t>(*oldest)] = never;
      *oldest = line;
    } else {
      cache.resident.push_back(line);
    }
    cache.ready_at[index] = m.now + static_cast<Cycle>(m.spec->icache_miss_cycles);
    ++m.result.icache_misses;
  }
  cache.used_at[index] = m.now;
  if (cache.ready_at[index] <= m.now) w.line = line;
  return std::max(m.now, cache.ready_at[index]);
}

}  // namespace kernelcast::sm
