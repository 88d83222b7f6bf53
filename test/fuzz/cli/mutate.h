// Random damage to texts: the same seed gives the same damage on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kernelcast::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  /// A number in [0, n).
  std::size_t below(std::size_t n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return n == 0 ? 0 : static_cast<std::size_t>((state_ >> 11) % n);
  }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

 private:
  std::uint64_t state_;
};

/// Words, numbers, blanks and single characters, which joined are the text again.
std::vector<std::string> tokens_of(const std::string& text);

/// One to four mutations: tokens deleted, doubled, swapped, replaced by others of their kind (operators, numbers up to
/// beyond 64 bits), lines deleted or doubled, random bytes, the end cut off. Mild damage (replacements within a kind,
/// after which most texts still compile) is three times as likely as the rest.
std::string mutate(const std::string& text, Random& random);

}  // namespace kernelcast::fuzz
