// A kernel whose results nobody could read, because no thread gets to a store, is forecast like any other; mostly a
// size was mistyped (`--arg n=-5`). Loops that run no times are no such sign: what unrolling leaves over often does not
// run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernelcast/error.h"
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

std::set<std::string> generated_contents(const Workload& work) {
  std::set<std::string> buffers;
  for (const Assumption& a : work.assumptions)
    if (a.kind == Assumption::Kind::contents) buffers.insert(a.subject);
  return buffers;
}

void refuse_idle_by_contents(const Workload& work) {
  throw UserError(
      fmt::format("no thread that was counted gets to a store, and which way threads go rests on generated "
                  "contents of {}: give the contents with " KC_SETTING(buffer) " NAME=COUNT:FILL",
                  fmt::join(generated_contents(work), ", ")));
}

}  // namespace kernelcast
