// A 128-bit digest of texts: two FNV-1a digests with different offsets. Chance does not bring two of some ten thousand
// analyses together; it is no defence against forgery.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::tune {

class Digest {
 public:
  void add(std::string_view text) {
    for (char c : fmt::format("{}:", text.size())) step(c);
    for (char c : text) step(c);
  }
  void add(const std::vector<std::string>& texts) {
    add(fmt::format("{}", texts.size()));
    for (const std::string& text : texts) add(text);
  }
  [[nodiscard]] std::string str() const { return fmt::format("{:016x}{:016x}", a_, b_); }

 private:
  void step(char c) {
    a_ = (a_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    b_ = (b_ ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL + 1;
  }
  std::uint64_t a_ = 0xcbf29ce484222325ULL, b_ = 0x84222325cbf29ce4ULL;
};

inline std::string digest_of(std::string_view text) {
  Digest d;
  d.add(text);
  return d.str();
}

}  // namespace kernelcast::tune
