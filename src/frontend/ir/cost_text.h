// Costs as people write them: "fp32_fma:5 compare" is five fused multiply-adds and a comparison.
#pragma once

#include <string_view>

#include "kernelcast/ops.h"

namespace kernelcast::frontend {

/// Parses a list of `class` or `class:count`, separated by blanks. Throws InternalError for unknown classes: the
/// texts are tables in the source.
OpCounts parse_cost(std::string_view text);

/// Adds what one matrix instruction multiplies. False: the opcode does not say its type or its shape.
bool count_products(std::string_view opcode, OpCounts& ops);

}  // namespace kernelcast::frontend
