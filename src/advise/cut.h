// Whether the threads of a launch can be cut into blocks of another size.
#pragma once

#include <string>

#include "advise/subject.h"

namespace kernelcast::advice {

/// Whether every expression depends on ids along the axis through blockDim * blockIdx + threadIdx alone, and nothing is
/// shared within a block: moving one block up and as many threads down changes nothing.
bool cut_freely(const Subject& subject, int axis = 0);

/// Why a launch of as many threads in x in other blocks is another computation, or cannot be counted; empty: it is the
/// same.
std::string why_blocks_are_fixed(const Subject& subject);

/// Whether blocks of two dimensions can have another shape: both axes are cut freely.
bool shape_is_free(const Subject& subject);

}  // namespace kernelcast::advice
