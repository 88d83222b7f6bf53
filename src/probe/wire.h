// Messages between processes of ours: every field is its length in decimal, a colon and its bytes; fields come in a
// fixed order.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "kernelcast/error.h"

namespace kernelcast::probe {

class Writer {
 public:
  void text(std::string_view s) { out_ += std::to_string(s.size()) + ":" + std::string(s); }
  void number(std::size_t n) { text(std::to_string(n)); }
  void real(double x) {
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, x).ptr;
    text({buffer, static_cast<std::size_t>(end - buffer)});
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

/// Throws LimitError for bytes that are no such message. `who` is named in it.
class Reader {
 public:
  explicit Reader(std::string_view bytes, std::string who = "its OpenCL runner") : rest_(bytes), who_(std::move(who)) {}
  std::string text() {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), length);
    const auto digits = static_cast<std::size_t>(end - rest_.data());
    if (error != std::errc{} || digits >= rest_.size() || *end != ':' || length > rest_.size() - digits - 1)
      throw LimitError("the message between kernelcast and " + who_ + " is damaged");
    std::string out(rest_.substr(digits + 1, length));
    rest_.remove_prefix(digits + 1 + length);
    return out;
  }
  std::size_t number() { return value<std::size_t>(); }
  double real() { return value<double>(); }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  template <class T>
  T value() {
    const std::string s = text();
    T n{};
    if (std::from_chars(s.data(), s.data() + s.size(), n).ec != std::errc{})
      throw LimitError("the message between kernelcast and " + who_ + " holds no number where one is due");
    return n;
  }
  std::string_view rest_;
  std::string who_;
};

}  // namespace kernelcast::probe
