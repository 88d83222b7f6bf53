// Choices and numbers drawn from the bytes of a fuzzer; zero once they are used up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace kernelcast::fuzz {

class Drawn {
 public:
  Drawn(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  [[nodiscard]] bool empty() const { return left_ == 0; }

  template <class T>
  T value() {
    T v{};
    const std::size_t n = std::min(sizeof v, left_);
    std::memcpy(&v, data_, n);
    skip(n);
    return v;
  }
  std::size_t below(std::size_t n) { return value<std::uint16_t>() % n; }
  std::string text(std::size_t most) {
    const std::size_t wanted = below(most + 1), n = std::min(wanted, left_);
    std::string t(reinterpret_cast<const char*>(data_), n);
    skip(n);
    return t;
  }

 private:
  void skip(std::size_t n) {
    data_ += n;
    left_ -= n;
  }
  const std::uint8_t* data_;
  std::size_t left_;
};

}  // namespace kernelcast::fuzz
