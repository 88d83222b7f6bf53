// Definitions follow include/kernelcast/expr.h: floor division and the matching modulo over the mathematical integers,
// bit operations on 64-bit two's complement.
#include "core/op_semantics.h"

#include <algorithm>

#include "kernelcast/error.h"

namespace kernelcast {

int arity(Op op) {
  if (op == Op::bit_width) return 1;
  return op == Op::select ? 3 : 2;
}

bool is_commutative(Op op) {
  switch (op) {
    case Op::min:
    case Op::max:
    case Op::equal:
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
      return true;
    default:
      return false;
  }
}

std::optional<std::int64_t> apply_op(Op op, std::int64_t a, std::int64_t b, std::int64_t c) {
  switch (op) {
    case Op::floor_div:
      if (b == 0) return std::nullopt;
      return narrow(floor_quotient(a, b));
    case Op::ceil_div:
      if (b == 0) return std::nullopt;
      return narrow(ceil_quotient(a, b));
    case Op::mod:
      if (b == 0) return std::nullopt;
      return narrow(floor_remainder(a, b));
    case Op::min:
      return std::min(a, b);
    case Op::max:
      return std::max(a, b);
    case Op::less:
      return a < b ? 1 : 0;
    case Op::less_equal:
      return a <= b ? 1 : 0;
    case Op::equal:
      return a == b ? 1 : 0;
    case Op::select:
      return a != 0 ? b : c;
    case Op::bit_and:
      return a & b;
    case Op::bit_or:
      return a | b;
    case Op::bit_xor:
      return a ^ b;
    case Op::shift_left:
      if (b < 0 || b > 62) return std::nullopt;
      return narrow(static_cast<Int128>(a) * (std::int64_t{1} << b));
    case Op::shift_right:
      if (b < 0) return std::nullopt;
      return a >> std::min<std::int64_t>(b, 63);
    case Op::bit_width:
      return a <= 0 ? 0 : 64 - __builtin_clzll(static_cast<unsigned long long>(a));
  }
  throw InternalError("apply_op: unknown operation");
}

const char* failure_reason(Op op, std::int64_t b) {
  if (b == 0 && (op == Op::floor_div || op == Op::ceil_div || op == Op::mod)) return "division by zero";
  if ((op == Op::shift_left || op == Op::shift_right) && (b < 0 || b > 62)) return "shift amount out of range";
  return "result beyond 64 bits";
}

}  // namespace kernelcast
