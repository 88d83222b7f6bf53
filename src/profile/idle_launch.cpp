// A kernel whose results nobody could read, because no thread gets to a store, is forecast like any other; mostly a
// size was mistyped (`--arg n=-5`). Loops that run no times are no such sign: what unrolling leaves over often does not
// run.
#include <algorithm>

#include "kernelcast/profile.h"
#include "kernelcast/setting.h"
#include "kernelcast/workload.h"

namespace kernelcast {
namespace {

double stores(const OpCounts& ops) { return ops[OpClass::global_store] + ops[OpClass::global_atomic]; }

}  // namespace

std::optional<Assumption> note_on_idle_launch(const KernelProfile& profile, const Workload& work) {
  const bool could = std::ranges::any_of(profile.blocks, [](const Block& b) { return stores(b.ops) > 0; });
  if (!could || stores(work.warp_ops) > 0) return std::nullopt;
  const bool sized = std::ranges::any_of(profile.parameters, [](const Parameter& p) { return !p.pointer && p.used; });
  return Assumption{"no thread that was counted gets to a store: this launch writes nothing to global memory",
                    "the time of threads that end before", sized ? KC_SETTING(arg) " NAME=VALUE" : ""};
}

}  // namespace kernelcast
