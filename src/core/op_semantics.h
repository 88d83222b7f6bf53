// What each opaque operation means on 64-bit values: the one definition that constant folding, Expr::evaluate and the
// careful mode of CompiledExprs share.
#pragma once

#include <cstdint>
#include <optional>

#include "core/int_math.h"
#include "kernelcast/expr.h"

namespace kernelcast {

/// Number of operands; min and max take two or more (this returns 2 for them).
int arity(Op op);

/// True for operations whose operands may be swapped.
bool is_commutative(Op op);

/// The exact result, or nothing when it is undefined (division by zero, shift amount out of range) or leaves 64 bits.
std::optional<std::int64_t> apply_op(Op op, std::int64_t a, std::int64_t b = 0, std::int64_t c = 0);

/// Why `apply_op` gave nothing: "division by zero", "shift amount out of range" or "result beyond 64 bits".
const char* failure_reason(Op op, std::int64_t b);

}  // namespace kernelcast
