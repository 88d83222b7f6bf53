#include "kernelcast/program.h"

namespace kernelcast {

int size_of(ValueType t) {
  switch (t) {
    case ValueType::i1:
    case ValueType::i8:
      return 1;
    case ValueType::i16:
    case ValueType::f16:
      return 2;
    case ValueType::i32:
    case ValueType::f32:
      return 4;
    case ValueType::i64:
    case ValueType::f64:
      return 8;
    case ValueType::i128:
      return 16;
  }
  return 0;
}

bool is_float(ValueType t) { return t == ValueType::f16 || t == ValueType::f32 || t == ValueType::f64; }

int arguments_of(MathFunction f) {
  static constexpr int count[] = {
#define KERNELCAST_MATH(name, arguments) arguments,
#include "kernelcast/math_functions.def"
#undef KERNELCAST_MATH
  };
  return count[static_cast<int>(f)];
}

}  // namespace kernelcast
