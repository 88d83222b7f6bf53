// A what-if: profile and counts with one change, and the model's answer to them.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "advise/subject.h"

namespace kernelcast::advice {

/// What a change may touch. Sums over blocks and accesses are added up again afterwards, so a change edits the parts:
/// operations, stalls and accesses of a block, how often it runs, what an access costs. `launch` is read by bind_again.
struct Variant {
  KernelProfile profile;
  Workload workload;
  Launch launch;
  bool near_counted = false;  // Reuse::near is of these accesses, see bind_again
};

using Change = std::function<void(Variant&)>;

struct VariantForecast {
  double seconds = 0;
  std::string limiter;
  bool local_memory = false;  // keeps values there: ratios are less certain
};

/// Adds up what Workload sums over blocks and accesses, from block_counts and access_counts. Where a warp's accesses to
/// one sector were joined by the L1 already (Reuse::near), fewer sectors asked for do not make it fewer still.
void add_up(Variant& variant);

/// Counts the variant's addresses again, in closed form; accesses that were executed keep their counts, scaled by what
/// the closed form of the same access says.
void bind_again(Variant& variant, const Subject& subject);

/// The model's answer; nothing where it has none (a block that no longer fits).
std::optional<VariantForecast> forecast_variant(const Subject& subject, const Change& change);

/// Whether a change that gains at most what `at_best` does can be worth showing: rules ask it before they compile.
bool could_gain(const Subject& subject, const Change& at_best);

/// No arithmetic in these lines, and no waiting for any in their blocks: the most that another form of it can gain.
Change without_arithmetic(std::set<SourceLine> lines);

/// Replaces the counts of one access by those of as many bytes side by side, from aligned addresses.
AccessCount coalesced(const AccessCount& count, int bytes, const MemoryGeometry& geometry);

/// The same work in another number of blocks. Traffic of a window of blocks is of so much work, not of so many blocks.
void spread_over(Variant& variant, double blocks);

}  // namespace kernelcast::advice
