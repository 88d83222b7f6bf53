// How two buffers differ, within the bounds of a case.
#pragma once

#include <string>
#include <vector>

#include "engines/execute/cases/cases.h"

namespace kernelcast::agreement {

/// The first few differences with their place and both values; empty: none beyond the bounds.
std::string differences(const Argument& a, const std::vector<unsigned char>& got,
                        const std::vector<unsigned char>& want);

}  // namespace kernelcast::agreement
