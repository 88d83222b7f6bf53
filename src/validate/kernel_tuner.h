// Files of Kernel Tuner: the space (T1), results (T4), and its own cache. The only reader of JSON in this folder.
#pragma once

#include <string>
#include <vector>

#include "validate/recorded_space.h"

namespace kernelcast::validate {

/// A T1 file ("ConfigurationSpace", "KernelSpecification"). Throws UserError with the file, and the position in broken
/// JSON.
SpaceDescription read_t1(const std::string& path, const std::string& text);

/// A T4 file ("results") or a cache ("cache", also one that Kernel Tuner has left open). Times are the median of the
/// single runs where they are listed, otherwise the objective "time"; milliseconds unless a T4 measurement says
/// otherwise. Throws UserError as above, and for JSON that is neither. Configurations that failed have a status and no
/// time. `gpu` is the cache's "device_name", empty for T4.
std::vector<Configuration> read_tuner_results(const std::string& path, const std::string& text);

}  // namespace kernelcast::validate
