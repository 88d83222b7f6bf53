// Programs of loads, stores and atomic operations whose addresses follow from how often they ran.
//
// A timed loop runs twice; only its second pass counts, so that caches of instructions and of data are as a pass leaves
// them. A chain waits for its last load before the clock is read. What a pass takes beside its loads does not depend on
// their number: it is found once from two lengths.
#pragma once

#include <cstdint>
#include <string>

#include "probe/steps.h"

namespace kernelcast::probe {

inline constexpr int unrolled = 64;
inline constexpr int side_by_side = 8;  // loads of a warp that do not wait for each other

/// Cycles of the second pass of `body`, for one warp. `access`: the text that names the access `a`.
double second_pass(const TestedSm& m, const std::string& access, const std::string& body);

/// `count` chained loads, a multiple of 64 or below it.
std::string chained(const char* load, std::int64_t count);

struct Chain {
  double per_load = 0, beside = 0;  // cycles of a load; of a pass beside its loads
};
Chain chain_of(const TestedSm& m, const std::string& access, const char* load, std::int64_t count);

/// Cycles a load when many warps load: 128 and 256 of each, so that beginning and end cancel.
double cycles_per_load(const TestedSm& m, const std::string& access, const char* load, int warps);
/// The same of `loads` and twice as many, in the second of two passes.
double warm_cycles_per_load(const TestedSm& m, const std::string& access, const char* load, int warps, int loads);

}  // namespace kernelcast::probe
