// Operand collection. A bank delivers ports_per_bank registers a cycle, so an instruction needs as many cycles as its
// busiest bank has registers to read. What the operand cache holds is not read:
//   last_read_per_bank: the register that a bank read last for this scheduler;
//   by_reuse_flags:     operand slot k of the last instruction of the same warp if that carried reuse flag k.
#include <algorithm>

#include "sm/stages.h"

namespace kernelcast::sm {
namespace {

/// Distinct registers only: one read serves several operands.
bool repeated(const Decoded& d, std::size_t k) {
  for (std::size_t i = 0; i < k; ++i)
    if (d.sources[i] == d.sources[k]) return true;
  return false;
}

bool cached(const Spec& spec, const Scheduler& s, const Warp& w, const Decoded& d, std::size_t k) {
  const std::pair<int, int> wanted{w.number, d.sources[k]};
  if (spec.operand_cache == OperandCache::last_read_per_bank)
    return s.last_read[static_cast<std::size_t>(d.banks[k])] == wanted;
  return spec.operand_cache == OperandCache::by_reuse_flags && s.last_read[k] == wanted;
}

}  // namespace

int collect_operands(const Spec& spec, Scheduler& s, const Warp& w, const Decoded& d, std::array<int, 16>& reads) {
  if (spec.ports_per_bank == 0) return 1;
  std::array<bool, 3> hit{};
  for (std::size_t k = 0; k < 3; ++k) hit[k] = d.sources[k] >= 0 && cached(spec, s, w, d, k);
  int most = 1;
  for (std::size_t k = 0; k < 3; ++k) {
    if (d.sources[k] < 0 || hit[k] || repeated(d, k)) continue;
    const auto bank = static_cast<std::size_t>(d.banks[k]);
    most = std::max(most, ++reads[bank]);
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
