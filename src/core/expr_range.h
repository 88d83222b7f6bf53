// Interval arithmetic over expressions: Expr::range, and the bounds that hold whatever the symbols are.
#pragma once

#include <functional>
#include <vector>

#include "core/expr_node.h"

namespace kernelcast {

/// Bounds of a polynomial when those of its atoms are known.
Bounds polynomial_bounds(const Expr& e, const std::function<Bounds(const Atom&)>& atom_bounds);

/// Bounds of an operation when those of its operands are known.
Bounds operation_bounds(Op op, const std::vector<Expr>& args, const std::function<Bounds(const Expr&)>& operand_bounds);

/// Bounds that hold for all 64-bit values of the symbols, such as [0, 7] of mod(x, 8).
Bounds static_bounds(const Expr& e);

}  // namespace kernelcast
