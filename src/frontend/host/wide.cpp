// Whole numbers of 128 bits.
#include "frontend/host/interpreter.h"

namespace kernelcast::frontend::host {

bool Interpreter::is_wide(clang::QualType type) const {
  return !type.isNull() && !type->isDependentType() && type->isIntegerType() && !type->isBooleanType() &&
         !type->isEnumeralType() && context_.getIntWidth(type) > 64;
}

/// A wide number as one of the type.
Value Interpreter::narrowed(const Value& value, clang::QualType type) {
  if (is_wide(type)) return Value::of_wide(value.wide(), type->isSignedIntegerType());
  if (type->isIntegralOrEnumerationType()) return converted(Value::of(value.integer), type);
  if (type->isRealFloatingType()) return converted(Value::of_real(static_cast<double>(value.wide())), type);
  return value;
}

/// Both are of the type, but for the distance of a shift.
Value Interpreter::wide_binary(clang::BinaryOperatorKind kind, const Value& left, const Value& right,
                               clang::QualType type, int line) {
  const bool is_signed = type->isSignedIntegerType();
  const Wide a = left.wide(), b = right.wide();
  const auto sa = static_cast<SignedWide>(a), sb = static_cast<SignedWide>(b);
  const auto made = [&](Wide n) { return Value::of_wide(n, is_signed); };
  switch (kind) {
    case clang::BO_LT:
      return Value::of(is_signed ? sa < sb : a < b);
    case clang::BO_GT:
      return Value::of(is_signed ? sa > sb : a > b);
    case clang::BO_LE:
      return Value::of(is_signed ? sa <= sb : a <= b);
    case clang::BO_GE:
      return Value::of(is_signed ? sa >= sb : a >= b);
    case clang::BO_EQ:
      return Value::of(a == b);
    case clang::BO_NE:
      return Value::of(a != b);
    case clang::BO_Add:
      return made(a + b);
    case clang::BO_Sub:
      return made(a - b);
    case clang::BO_Mul:
      return made(a * b);
    case clang::BO_And:
      return made(a & b);
    case clang::BO_Or:
      return made(a | b);
    case clang::BO_Xor:
      return made(a ^ b);
    case clang::BO_Shl:
      return b > 127 ? Value::not_known("a shift beyond the type", line) : made(a << static_cast<unsigned>(b));
    case clang::BO_Shr:
      if (b > 127) return Value::not_known("a shift beyond the type", line);
      return made(is_signed ? static_cast<Wide>(sa >> static_cast<unsigned>(b)) : a >> static_cast<unsigned>(b));
    case clang::BO_Div:
    case clang::BO_Rem:
      if (b == 0) return Value::not_known("a division by zero", line);
      if (is_signed && sb == -1) return kind == clang::BO_Div ? made(0 - a) : Value::of(0);
      if (kind == clang::BO_Div) return made(is_signed ? static_cast<Wide>(sa / sb) : a / b);
      return made(is_signed ? static_cast<Wide>(sa % sb) : a % b);
    default:
      return Value::not_known("an operator", line);
  }
}

}  // namespace kernelcast::frontend::host
