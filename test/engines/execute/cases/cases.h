// Kernels with their launches and inputs, and how closely two engines must agree on each buffer afterwards.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernelcast/launch.h"

namespace kernelcast::agreement {

enum class Element : std::uint8_t { raw, f32, f64 };  // raw: integers and structures, compared byte by byte

/// One argument of a kernel, in the order of its parameters.
struct Argument {
  enum class Kind : std::uint8_t { buffer, scalar, local, structure } kind = Kind::buffer;
  Element element = Element::raw;
  std::size_t element_bytes = 4;
  std::vector<unsigned char> bytes;  // contents of the buffer, or the scalar or structure
  std::int64_t local_elements = 0;
  ArgValue value{std::int64_t{0}};
  std::vector<std::pair<int, ArgValue>> fields;  // structure: byte and value

  // Floating point: the parts of the buffer may differ by these many units in the last place; 0: the same bits (any NaN
  // is as good as another). The unit is that of the larger value, but at least that of the part's scale: rounding
  // errors of a sum are as large as its largest summand's.
  std::vector<double> ulps{0};
  std::vector<double> scales{0};
  std::size_t period = 0, compared = 0;  // of each `period` elements only the first `compared` are defined

  Argument within(double bound, double smallest_scale = 0) && {
    ulps = {bound};
    scales = {smallest_scale};
    return std::move(*this);
  }
  /// One bound for each of the equal parts of the buffer.
  Argument each(std::vector<double> bounds, std::vector<double> smallest_scales = {}) && {
    scales = smallest_scales.empty() ? std::vector<double>(bounds.size(), 0.0) : std::move(smallest_scales);
    ulps = std::move(bounds);
    return std::move(*this);
  }
  Argument first_of(std::size_t defined, std::size_t of) && {
    compared = defined;
    period = of;
    return std::move(*this);
  }
};

struct Case {
  std::string kernel;
  Dim3 grid, block;  // in blocks, in threads
  std::vector<Argument> arguments;
  int only_warp = 0;  // 0: the result does not depend on the number of lanes in a warp
};

/// Kernels of one file. `opencl` is what the OpenCL device runs, `interpreted` what we interpret: the same file, but
/// for CUDA's own functions, which have a twin in OpenCL C.
struct CaseFile {
  std::string interpreted, opencl;
  std::vector<Case> (*cases)();
};
std::vector<CaseFile> all_files();

/// The next of a sequence of random bits, the same in every run.
std::uint64_t random_bits();
/// Starts the sequence anew.
void restart_random();

template <class T>
Argument values(const std::vector<T>& v) {
  Argument a;
  a.element = std::is_same_v<T, float> ? Element::f32 : std::is_same_v<T, double> ? Element::f64 : Element::raw;
  a.element_bytes = sizeof(T);
  a.bytes.resize(v.size() * sizeof(T));
  std::memcpy(a.bytes.data(), v.data(), a.bytes.size());
  return a;
}

template <class T>
Argument made(std::int64_t n, const std::function<T(std::int64_t)>& element) {
  std::vector<T> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(element(i));
  return values(v);
}

template <class T>
Argument filled(std::int64_t n, T value = T{}) {
  return values(std::vector<T>(static_cast<std::size_t>(n), value));
}

/// Between the bounds, for integers both included.
template <class T>
T between(T low, T high) {
  const std::uint64_t bits = random_bits();
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(low + (high - low) * (static_cast<double>(bits >> 11) * 0x1p-53));
  else
    return static_cast<T>(
        static_cast<std::int64_t>(low) +
        static_cast<std::int64_t>(
            bits % (static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - static_cast<std::int64_t>(low)) + 1)));
}

template <class T>
Argument uniform(std::int64_t n, T low, T high) {
  return made<T>(n, [&](std::int64_t) { return between(low, high); });
}

/// Integers of all magnitudes with the extremes among them.
template <class T>
Argument all_sizes(std::int64_t n, bool zero = true) {
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  const std::vector<T> special{1,
                               static_cast<T>(-1),
                               2,
                               static_cast<T>(-2),
                               most,
                               static_cast<T>(most - 1),
                               static_cast<T>(least + 1),
                               7,
                               16,
                               static_cast<T>(zero ? least : 3),
                               static_cast<T>(zero ? 0 : 5)};
  return made<T>(n, [&](std::int64_t i) {
    const std::uint64_t bits = random_bits();
    if (i % 5 == 0) return special[static_cast<std::size_t>(bits % special.size())];
    const T v = static_cast<T>(static_cast<std::int64_t>(bits) >> (bits % (8 * sizeof(T)) + 64 - 8 * sizeof(T)));
    return !zero && (v == 0 || v == least) ? T{3} : v;
  });
}

/// Floating-point numbers with zeros, infinities, NaN, denormals and ties among them.
template <class T>
Argument with_specials(std::int64_t n, T low, T high) {
  using L = std::numeric_limits<T>;
  const std::vector<T> special{
      0,         -T{0},    1,           -1,     L::infinity(), -L::infinity(), L::quiet_NaN(), L::denorm_min(),
      -L::min(), L::max(), L::lowest(), T(0.5), T(-2.5),       T(1.5),         T(-0.5),        L::min() / 4};
  return made<T>(n, [&](std::int64_t i) {
    return i % 3 == 0 ? special[static_cast<std::size_t>(random_bits() % special.size())] : between(low, high);
  });
}

template <class T>
Argument scalar(T v) {
  Argument a = values(std::vector<T>{v});
  a.kind = Argument::Kind::scalar;
  if constexpr (std::is_floating_point_v<T>)
    a.value = static_cast<double>(v);
  else
    a.value = static_cast<std::int64_t>(v);
  return a;
}

template <class T>
Argument local(std::int64_t elements) {
  Argument a;
  a.kind = Argument::Kind::local;
  a.element_bytes = sizeof(T);
  a.local_elements = elements;
  return a;
}

}  // namespace kernelcast::agreement
