// Operand collection. A bank delivers ports_per_bank registers a cycle, so an instruction needs as many cycles as its
// busiest bank has registers to read. What the operand cache holds is not read:
//   last_read_per_bank: the register that a bank read last for this scheduler; of a pair the second instruction uses
//   what
//                       was held before both, and what the first one reads (zhang-2017, section 4.2 and figure 7);
//   by_reuse_flags:     operand slot k of the last instruction of the same warp if that carried reuse flag k.
#include <algorithm>

#include "machine/sm/stages.h"

namespace kernelcast::sm {
namespace {

/// Distinct registers only: one read serves several operands.
bool repeated(const Decoded& d, std::size_t k) {
  for (std::size_t i = 0; i < k; ++i)
    if (d.sources[i] == d.sources[k]) return true;
  return false;
}

bool cached(const Spec& spec, const Scheduler& s, const Warp& w, const Decoded& d, std::size_t k,
            const Collection& together) {
  const std::pair<int, int> wanted{w.number, d.sources[k]};
  if (spec.operand_cache == OperandCache::by_reuse_flags) return s.last_read[k] == wanted;
  if (spec.operand_cache == OperandCache::none) return false;
  const auto bank = static_cast<std::size_t>(d.banks[k]);
  if (s.last_read[bank] == wanted) return true;
  if (together.first == nullptr) return false;
  return (*together.held)[bank] == wanted ||
         std::ranges::find(together.first->sources, d.sources[k]) != together.first->sources.end();
}

}  // namespace

int collect_operands(const Spec& spec, Scheduler& s, const Warp& w, const Decoded& d, Collection& together) {
  if (spec.ports_per_bank == 0) return 1;
  std::array<bool, 3> hit{};
  for (std::size_t k = 0; k < 3; ++k) hit[k] = d.sources[k] >= 0 && cached(spec, s, w, d, k, together);
  int most = 1;
  for (std::size_t k = 0; k < 3; ++k) {
    if (d.sources[k] < 0 || hit[k] || repeated(d, k)) continue;
    const auto bank = static_cast<std::size_t>(d.banks[k]);
    most = std::max(most, ++together.reads[bank]);
    if (spec.operand_cache == OperandCache::last_read_per_bank) s.last_read[bank] = {w.number, d.sources[k]};
  }
  if (spec.operand_cache == OperandCache::by_reuse_flags)
    for (std::size_t k = 0; k < 3; ++k) {
      const bool kept = ((d.control.reuse >> k) & 1) != 0 && d.sources[k] >= 0;
      s.last_read[k] = kept ? std::pair<int, int>{w.number, d.sources[k]} : std::pair<int, int>{-1, -1};
    }
  return (most + spec.ports_per_bank - 1) / spec.ports_per_bank;
}

}  // namespace kernelcast::sm
