// The loops themselves. KC_SET names the instruction set that this compilation is for. Every value goes through an
// empty asm statement after each operation, in its register: the compiler can neither drop it, nor move it out of the
// loop, nor join two of them into one. No header with inline functions is included: the linker keeps one copy of those,
// and it could be one with instructions that the processor lacks.
#include <cstddef>
#include <cstdint>

#include "probe/native/native.h"

#if defined(__x86_64__)
#ifdef __AVX512F__
#define KC_VECTOR "+v"
#define KC_VECTOR_IN "v"
#else
#define KC_VECTOR "+x"
#define KC_VECTOR_IN "x"
#endif
#elif defined(__aarch64__)
#define KC_VECTOR "+w"
#define KC_VECTOR_IN "w"
#endif

#ifdef KC_VECTOR

namespace kernelcast::probe::native {
namespace {

constexpr int bits = KC_BITS;

// Scalars of floating point live in the vector registers too.
#define KC_KEEP(type, constraint) \
  __attribute__((always_inline)) inline void keep(type& x) { asm volatile("" : constraint(x)); }

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(bits / 8)));
};
using F32 = VectorOf<float>::type;
using F64 = VectorOf<double>::type;
using I32 = VectorOf<std::uint32_t>::type;
KC_KEEP(float, KC_VECTOR)
KC_KEEP(double, KC_VECTOR)
KC_KEEP(F32, KC_VECTOR)
KC_KEEP(F64, KC_VECTOR)
KC_KEEP(I32, KC_VECTOR)
KC_KEEP(std::uint32_t, "+r")
KC_KEEP(std::uint64_t, "+r")

struct Any {
  static constexpr bool by_minus_one = false;
};
struct Add : Any {
  template <class V>
  static V apply(V x, V a, V, int) {
    return x + a;
  }
};
struct Mul {
  static constexpr bool by_minus_one = true;
  template <class V>
  static V apply(V x, V, V b, int) {
    return x * b;
  }
};
struct Fma : Any {
  template <class V>
  static V apply(V x, V a, V b, int) {
    return x * a + b;  // -ffp-contract=fast
  }
};
// x becomes a / x, which is neither 0 nor infinite nor a power of two.
struct Div : Any {
  template <class V>
  static V apply(V x, V a, V, int) {
    return a / x;
  }
};
// With an addition in front, without which the values run into 1: some cores are done sooner there.
struct Sqrt : Any {
  static float apply(float x, float a, float, int) { return __builtin_sqrtf(x + a); }
  static double apply(double x, double a, double, int) { return __builtin_sqrt(x + a); }
};
// As many adders as multipliers?
struct FmaAndAdd : Any {
  template <class V>
  static V apply(V x, V a, V b, int i) {
    return i % 2 == 0 ? x * a + b : x + a;
  }
};

template <class V, class T>
__attribute__((always_inline)) inline void fill(V& to, T value) {
  if constexpr (sizeof(V) == sizeof(T)) {
    to = value;
  } else {
    to = V{} + value;
  }
  keep(to);
}

template <int... i>
struct Indices {};
template <int n, int... i>
struct MakeIndices : MakeIndices<n - 1, n - 1, i...> {};
template <int... i>
struct MakeIndices<0, i...> {
  using type = Indices<i...>;
};

// Constant indices only: an array that is indexed by a variable stays in memory.
template <class V, class T, int... i>
__attribute__((always_inline)) inline void fill_all(V* x, T value, Indices<i...>) {
  (fill(x[i], value), ...);
}
template <class O, class V, int... i>
__attribute__((always_inline)) inline void turn(V* x, V a, V b, Indices<i...>) {
  ((x[i] = O::apply(x[i], a, b, i), keep(x[i])), ...);
}

/// `chains` values side by side, `times` operations on each in a turn.
template <class O, class V, class T, int chains, int times>
void loop(std::int64_t n) {
  V x[chains], a, b;
  // Neither zero, nor small, nor exact in a few bits; a / x of integers has a quotient of half the bits.
  constexpr bool integer = T(0.5) == T(0);
  constexpr T start = integer ? T(sizeof(T) == 8 ? 1000003 : 1009) : T(1.2345678);
  // A multiplication is by -1: any other factor leads to infinity or to denormal numbers, which are slow.
  constexpr T second = O::by_minus_one ? T(0) - T(1) : start;
  constexpr T factor = integer ? T(sizeof(T) == 8 ? 1000036000099 : 1022117) : T(0.7654321);
  constexpr typename MakeIndices<chains>::type each{};
  fill(a, factor);
  fill(b, second);
  fill_all(x, start, each);
  for (; n > 0; --n)
    for (int k = 0; k < times; ++k) turn<O>(x, a, b, each);
}

template <class O, class V, class T, int chains, int times>
constexpr Loop entry(Op op, Type type) {
  constexpr std::size_t bytes = sizeof(V), lane_bytes = sizeof(T);
  return {op,
          type,
          static_cast<int>(bytes / lane_bytes),
          loop<O, V, T, 1, 32>,
          32,
          loop<O, V, T, chains, times>,
          chains * times};
}

// Twelve chains and two operands fit the sixteen registers of SSE and AVX2, and cover two units of a latency of six.
constexpr Loop loops[] = {
    entry<Add, float, float, 12, 4>(Op::add, Type::f32),
    entry<Mul, float, float, 12, 4>(Op::mul, Type::f32),
    entry<Fma, float, float, 12, 4>(Op::fma, Type::f32),
    entry<Div, float, float, 12, 4>(Op::div, Type::f32),
    entry<Sqrt, float, float, 12, 4>(Op::sqrt, Type::f32),
    entry<Add, double, double, 12, 4>(Op::add, Type::f64),
    entry<Mul, double, double, 12, 4>(Op::mul, Type::f64),
    entry<Fma, double, double, 12, 4>(Op::fma, Type::f64),
    entry<Div, double, double, 12, 4>(Op::div, Type::f64),
    entry<Sqrt, double, double, 12, 4>(Op::sqrt, Type::f64),
    entry<Add, std::uint32_t, std::uint32_t, 8, 8>(Op::add, Type::i32),
    entry<Mul, std::uint32_t, std::uint32_t, 8, 8>(Op::mul, Type::i32),
    entry<Div, std::uint32_t, std::uint32_t, 8, 8>(Op::div, Type::i32),
    entry<Add, std::uint64_t, std::uint64_t, 8, 8>(Op::add, Type::i64),
    entry<Mul, std::uint64_t, std::uint64_t, 8, 8>(Op::mul, Type::i64),
    entry<Div, std::uint64_t, std::uint64_t, 8, 8>(Op::div, Type::i64),
    entry<Add, F32, float, 12, 4>(Op::add, Type::f32),
    entry<Mul, F32, float, 12, 4>(Op::mul, Type::f32),
    entry<Fma, F32, float, 12, 4>(Op::fma, Type::f32),
    entry<Div, F32, float, 12, 4>(Op::div, Type::f32),
    entry<FmaAndAdd, F32, float, 12, 4>(Op::fma_and_add, Type::f32),
    entry<Add, F64, double, 12, 4>(Op::add, Type::f64),
    entry<Mul, F64, double, 12, 4>(Op::mul, Type::f64),
    entry<Fma, F64, double, 12, 4>(Op::fma, Type::f64),
    entry<Div, F64, double, 12, 4>(Op::div, Type::f64),
    entry<Add, I32, std::uint32_t, 12, 4>(Op::add, Type::i32),
    entry<Mul, I32, std::uint32_t, 12, 4>(Op::mul, Type::i32),
};

using Line = VectorOf<std::uint64_t>::type;
constexpr std::size_t per_block = stream_block / sizeof(Line);

void read(const void* from, std::size_t bytes) {
  const Line* p = static_cast<const Line*>(from);
  for (const Line* end = p + bytes / sizeof(Line); p != end; p += per_block)
    for (std::size_t i = 0; i < per_block; ++i) {
      const Line value = p[i];
      asm volatile("" ::KC_VECTOR_IN(value));
    }
}

void write(void* to, std::size_t bytes) {
  Line value{};
  asm volatile("" : KC_VECTOR(value));
  Line* p = static_cast<Line*>(to);
  for (Line* end = p + bytes / sizeof(Line); p != end; p += per_block) {
    for (std::size_t i = 0; i < per_block; ++i) p[i] = value;
    asm volatile("" ::: "memory");
  }
}

void copy(void* to, const void* from, std::size_t bytes) {
  Line* p = static_cast<Line*>(to);
  const Line* q = static_cast<const Line*>(from);
  for (Line* end = p + bytes / sizeof(Line); p != end; p += per_block, q += per_block) {
    for (std::size_t i = 0; i < per_block; ++i) p[i] = q[i];
    asm volatile("" ::: "memory");
  }
}

#ifdef __FMA__
constexpr bool fused = true;
#elif defined(__aarch64__)
constexpr bool fused = true;
#else
constexpr bool fused = false;
#endif

}  // namespace

extern const Kernels KC_SET;
const Kernels KC_SET = {KC_NAME, bits, fused, loops, sizeof loops / sizeof loops[0], {read, write, copy}};

}  // namespace kernelcast::probe::native

#endif
