#include "engines/execute/compare_buffers.h"

#include <cmath>
#include <sstream>

namespace kernelcast::agreement {
namespace {

/// Distance between `x` and the next number further from zero.
template <class T>
double unit(T x) {
  x = std::abs(x);
  return static_cast<double>(std::nextafter(x, std::numeric_limits<T>::infinity())) - static_cast<double>(x);
}

template <class T>
bool agrees(const unsigned char* got, const unsigned char* want, double ulps, double scale) {
  T a, b;
  std::memcpy(&a, got, sizeof a);
  std::memcpy(&b, want, sizeof b);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (ulps == 0 || std::isinf(a) || std::isinf(b)) return std::memcmp(&a, &b, sizeof a) == 0;
  const T largest = std::max({std::abs(a), std::abs(b), static_cast<T>(scale)});
  return std::abs(static_cast<double>(a) - static_cast<double>(b)) <= ulps * unit(largest);
}

template <class T>
std::string text(const unsigned char* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  std::ostringstream out;
  out.precision(17);
  out << +v;
  return out.str();
}

std::string text(const Argument& a, const unsigned char* at) {
  if (a.element == Element::f32) return text<float>(at);
  if (a.element == Element::f64) return text<double>(at);
  if (a.element_bytes == 8) return text<std::int64_t>(at);
  if (a.element_bytes == 4) return text<std::int32_t>(at);
  if (a.element_bytes == 2) return text<std::int16_t>(at);
  return text<std::int8_t>(at);
}

}  // namespace

std::string differences(const Argument& a, const std::vector<unsigned char>& got,
                        const std::vector<unsigned char>& want) {
  std::ostringstream out;
  if (got.size() != want.size()) {
    out << "  " << got.size() << " bytes, not " << want.size() << "\n";
    return out.str();
  }
  const std::size_t n = got.size() / a.element_bytes, part = n / a.ulps.size();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (a.period && i % a.period >= a.compared) continue;
    const unsigned char *g = got.data() + i * a.element_bytes, *w = want.data() + i * a.element_bytes;
    const std::size_t p = std::min(i / std::max<std::size_t>(part, 1), a.ulps.size() - 1);
    const bool same = a.element == Element::f32   ? agrees<float>(g, w, a.ulps[p], a.scales[p])
                      : a.element == Element::f64 ? agrees<double>(g, w, a.ulps[p], a.scales[p])
                                                  : std::memcmp(g, w, a.element_bytes) == 0;
    if (same) continue;
    if (++wrong <= 4) out << "  [" << i << "] (part " << p << "): " << text(a, g) << ", native " << text(a, w) << "\n";
  }
  if (wrong > 4) out << "  and " << wrong - 4 << " more\n";
  return out.str();
}

}  // namespace kernelcast::agreement
