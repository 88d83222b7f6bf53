// Joins the two roads to a Workload: closed forms where they are exact, executed counts where data decide.
//
// A part (a block of code, an access, a branch) is in closed form when no Unknown decides it. Unknowns decide a block
// through its guard and through the loops around it, and an access also through its address. A part that involves an
// Unknown for which the user gave --assume stays in closed form as well, whole: the answer of the user wins.
#pragma once

#include <vector>

#include "kernelcast/profile.h"
#include "kernelcast/workload.h"

namespace kernelcast {

/// How a part was counted. `both`: how often in closed form, what one execution does (sectors, divergence) as executed.
enum class Origin : std::uint8_t { closed, executed, both };
std::string_view name_of(Origin o);

/// By which road each part came. Empty vectors: everything in closed form.
struct CountOrigin {
  std::vector<Origin> blocks;    // parallel to profile.blocks
  std::vector<Origin> accesses;  // blocks in order, accesses in order within them
  std::vector<Origin> branches;  // parallel to profile.branches
  [[nodiscard]] bool all_closed() const;
  [[nodiscard]] bool all_executed() const;
};

/// What closed forms leave open under this launch. `closed` is the launch bound by Binder: where it is a sample (see
/// Workload::assumptions), execution decides everything. Names no Unknown that the launch answers (Launch::assume).
CountOrigin count_origin(const KernelProfile& profile, const Launch& launch, const Workload& closed);

struct Mixed {
  Workload workload;   // counts_method "mixed", or "executed" where closed forms give nothing
  CountOrigin origin;  // as asked for, but closed where the blocks that ran never came by
};

/// Takes each part from where `origin` says and adds the totals up anew. Sizes, registers and footprints are those of
/// `closed`, locality, imbalance and sampling error those of `executed`. The workloads must be of this profile, launch
/// and one geometry; InternalError otherwise.
Mixed mixed(const KernelProfile& profile, const Launch& launch, const Workload& closed, const Workload& executed,
            CountOrigin origin);

/// Operations, stalls and memory counts of the whole launch from those of its blocks and accesses, in place.
void sum_parts(const KernelProfile& profile, Workload& w);

}  // namespace kernelcast
