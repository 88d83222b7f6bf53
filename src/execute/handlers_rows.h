// Loops over the lanes of a row: plain ones, of which the compiler makes vector code. For handlers_impl.h alone.
#include <type_traits>

#include "execute/half.h"
#include "execute/prepared.h"

// Before a loop: no iteration reads what another writes. Clang has no word for that which does not also complain about
// loops that it leaves as they are.
#ifdef __clang__
#define KERNELCAST_INDEPENDENT
#else
#define KERNELCAST_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace kernelcast::interpreter::KERNELCAST_HANDLERS {
namespace {

__extension__ using U128 = unsigned __int128;
__extension__ using S128 = __int128;

template <class T>
struct SignedOf {
  using type = std::make_signed_t<T>;
};
template <>
struct SignedOf<U128> {
  using type = S128;
};
template <class T>
using Signed = typename SignedOf<T>::type;

template <class T>
constexpr int bits_of = static_cast<int>(sizeof(T)) * 8;

template <class T>
T* row(unsigned char* file, std::uint32_t at) {
  return reinterpret_cast<T*>(file + at);
}

template <class D, class A, class F>
void unary_row(unsigned char* file, const PreparedOp& op, F f) {
  D* d = row<D>(file, op.dst);
  const A* a = row<A>(file, op.a);
  for (int g = 0; g < op.groups; ++g, d += lanes_at_once, a += lanes_at_once) {
    KERNELCAST_INDEPENDENT
    for (int l = 0; l < lanes_at_once; ++l) d[l] = f(a[l]);
  }
}

template <class D, class A, class F>
void binary_row(unsigned char* file, const PreparedOp& op, F f) {
  D* d = row<D>(file, op.dst);
  const A* a = row<A>(file, op.a);
  const A* b = row<A>(file, op.b);
  for (int g = 0; g < op.groups; ++g, d += lanes_at_once, a += lanes_at_once, b += lanes_at_once) {
    KERNELCAST_INDEPENDENT
    for (int l = 0; l < lanes_at_once; ++l) d[l] = f(a[l], b[l]);
  }
}

template <class D, class A, class F>
void ternary_row(unsigned char* file, const PreparedOp& op, F f) {
  D* d = row<D>(file, op.dst);
  const A* a = row<A>(file, op.a);
  const A* b = row<A>(file, op.b);
  const A* c = row<A>(file, op.c);
  for (int g = 0; g < op.groups; ++g) {
    KERNELCAST_INDEPENDENT
    for (int l = 0; l < lanes_at_once; ++l) d[l] = f(a[l], b[l], c[l]);
    d += lanes_at_once;
    a += lanes_at_once;
    b += lanes_at_once;
    c += lanes_at_once;
  }
}

// Half arithmetic goes through float, all other types stay.
template <class T>
struct Wide {
  using type = T;
};
template <>
struct Wide<Half> {
  using type = float;
};

template <class T, class W>
T narrow(W v) {
  if constexpr (std::is_same_v<T, Half>)
    return Half(v);
  else
    return static_cast<T>(v);
}

}  // namespace
}  // namespace kernelcast::interpreter::KERNELCAST_HANDLERS
