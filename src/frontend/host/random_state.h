// Generators of random numbers of C, POSIX and C++ as they stand at a point of the evaluated program.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <variant>

namespace kernelcast::frontend::host {

/// rand(), random() and rand_r() of glibc: additive feedback of degree 31 behind a linear congruential start.
class CRandom {
 public:
  CRandom() { seed(1); }
  void seed(std::uint32_t value);
  /// 0 to 2^31 - 1
  std::int64_t next();

 private:
  std::array<std::uint32_t, 31> words_{};
  std::size_t front_ = 3, rear_ = 0;
};

/// rand_r() of glibc on its own state.
std::int64_t next_of(std::uint32_t& state);

/// The 48-bit generator that POSIX prescribes for drand48() and its kin.
class Random48 {
 public:
  void seed(std::uint32_t value) { state_ = (static_cast<std::uint64_t>(value) << 16U) | 0x330E; }
  double real() { return static_cast<double>(next()) * 0x1p-48; }
  std::int64_t non_negative() { return static_cast<std::int64_t>(next() >> 17U); }
  std::int64_t either_sign() { return static_cast<std::int32_t>(next() >> 16U); }

 private:
  std::uint64_t next() { return state_ = (0x5DEECE66DU * state_ + 0xB) & ((1ULL << 48U) - 1); }
  std::uint64_t state_ = 0;
};

using RandomEngine = std::variant<std::minstd_rand0, std::minstd_rand, std::mt19937, std::mt19937_64>;

/// A distribution draws as that of the C++ library that this program is built with.
using RandomDistribution =
    std::variant<std::uniform_int_distribution<std::int64_t>, std::uniform_int_distribution<std::uint64_t>,
                 std::uniform_real_distribution<float>, std::uniform_real_distribution<double>,
                 std::normal_distribution<float>, std::normal_distribution<double>,
                 std::exponential_distribution<float>, std::exponential_distribution<double>,
                 std::bernoulli_distribution>;

/// An object of <random>; copies of the object draw on by themselves.
struct RandomState {
  std::variant<RandomEngine, RandomDistribution> what;
};

}  // namespace kernelcast::frontend::host
