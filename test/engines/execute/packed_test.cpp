// Intrinsics on lanes of 8 and 16 bits of a word under the interpreter, against one lane at a time on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "engines/execute/interpreter.h"

namespace kernelcast::agreement {
namespace {

using Lane = std::int64_t (*)(std::int64_t, std::int64_t, int bits);

struct Intrinsic {
  const char* name;  // before the number of lanes, or whole where `lanes` is given
  bool is_signed;
  Lane lane;
  int operands = 2, lanes = 0;
};

std::int64_t highest(int bits) { return (std::int64_t{1} << (bits - 1)) - 1; }
std::int64_t saturated(std::int64_t x, int bits) { return std::clamp(x, -highest(bits) - 1, highest(bits)); }
std::int64_t all_of(bool holds) { return holds ? -1 : 0; }

const Intrinsic intrinsics[] = {
    {"__vadd", false, [](std::int64_t a, std::int64_t b, int) { return a + b; }},
    {"__vsub", false, [](std::int64_t a, std::int64_t b, int) { return a - b; }},
    {"__vaddss", true, [](std::int64_t a, std::int64_t b, int n) { return saturated(a + b, n); }},
    {"__vsubss", true, [](std::int64_t a, std::int64_t b, int n) { return saturated(a - b, n); }},
    {"__vaddus", false, [](std::int64_t a, std::int64_t b, int n) { return std::min(a + b, 2 * highest(n) + 1); }},
    {"__vsubus", false, [](std::int64_t a, std::int64_t b, int) { return std::max(a - b, std::int64_t{0}); }},
    {"__vmaxs", true, [](std::int64_t a, std::int64_t b, int) { return std::max(a, b); }},
    {"__vmaxu", false, [](std::int64_t a, std::int64_t b, int) { return std::max(a, b); }},
    {"__vmins", true, [](std::int64_t a, std::int64_t b, int) { return std::min(a, b); }},
    {"__vminu", false, [](std::int64_t a, std::int64_t b, int) { return std::min(a, b); }},
    {"__vhaddu", false, [](std::int64_t a, std::int64_t b, int) { return (a + b) >> 1; }},
    {"__vavgu", false, [](std::int64_t a, std::int64_t b, int) { return (a + b + 1) >> 1; }},
    {"__vavgs", true, [](std::int64_t a, std::int64_t b, int) { return (a + b + (a + b >= 0 ? 1 : 0)) >> 1; }},
    {"__vabsdiffu", false, [](std::int64_t a, std::int64_t b, int) { return std::abs(a - b); }},
    {"__vabsdiffs", true, [](std::int64_t a, std::int64_t b, int) { return std::abs(a - b); }},
    {"__vneg", true, [](std::int64_t a, std::int64_t, int) { return -a; }, 1},
    {"__vnegss", true, [](std::int64_t a, std::int64_t, int n) { return saturated(-a, n); }, 1},
    {"__vabs", true, [](std::int64_t a, std::int64_t, int) { return std::abs(a); }, 1},
    {"__vabsss", true, [](std::int64_t a, std::int64_t, int n) { return saturated(std::abs(a), n); }, 1},
    {"__vcmpeq", true, [](std::int64_t a, std::int64_t b, int) { return all_of(a == b); }},
    {"__vcmpne", true, [](std::int64_t a, std::int64_t b, int) { return all_of(a != b); }},
    {"__vcmpges", true, [](std::int64_t a, std::int64_t b, int) { return all_of(a >= b); }},
    {"__vcmpgeu", false, [](std::int64_t a, std::int64_t b, int) { return all_of(a >= b); }},
    {"__vcmpgts", true, [](std::int64_t a, std::int64_t b, int) { return all_of(a > b); }},
    {"__vcmpgtu", false, [](std::int64_t a, std::int64_t b, int) { return all_of(a > b); }},
    {"__vcmples", true, [](std::int64_t a, std::int64_t b, int) { return all_of(a <= b); }},
    {"__vcmpltu", false, [](std::int64_t a, std::int64_t b, int) { return all_of(a < b); }},
    {"__vsetlts", true, [](std::int64_t a, std::int64_t b, int) { return std::int64_t{a < b}; }},
    {"__vsetleu", false, [](std::int64_t a, std::int64_t b, int) { return std::int64_t{a <= b}; }},
    {"__vimax_s16x2", true, [](std::int64_t a, std::int64_t b, int) { return std::max(a, b); }, 2, 2},
    {"__vimin_u16x2", false, [](std::int64_t a, std::int64_t b, int) { return std::min(a, b); }, 2, 2},
    {"__vimin_s16x2_relu", true,
     [](std::int64_t a, std::int64_t b, int) { return std::max(std::min(a, b), std::int64_t{0}); }, 2, 2},
    {"__viaddmax_s16x2", true,
     [](std::int64_t a, std::int64_t b, int) { return std::max<std::int64_t>(static_cast<std::int16_t>(a + b), b); }, 3,
     2},
};

std::string call(const Intrinsic& f, int lanes) {
  const char* operands[] = {"", "a[i]", "a[i], b[i]", "a[i], b[i], b[i]"};
  return f.name + (f.lanes == 0 ? std::to_string(lanes) : "") + "(" + operands[f.operands] + ")";
}

std::uint32_t by_lanes(const Intrinsic& f, std::uint32_t a, std::uint32_t b, int bits) {
  std::uint32_t all = 0;
  const std::uint32_t mask = (1U << bits) - 1;
  for (int at = 0; at < 32; at += bits) {
    const auto lane = [&](std::uint32_t word) {
      const auto v = static_cast<std::int64_t>(word >> at & mask);
      return f.is_signed && v > highest(bits) ? v - 2 * (highest(bits) + 1) : v;
    };
    all |= (static_cast<std::uint32_t>(f.lane(lane(a), lane(b), bits)) & mask) << at;
  }
  return all;
}

TEST(PackedIntrinsics, AreThoseOfEachLane) {
  std::vector<std::pair<const Intrinsic*, int>> calls;
  for (const Intrinsic& f : intrinsics)
    for (const int lanes : {2, 4})
      if (f.lanes == 0 || f.lanes == lanes) calls.emplace_back(&f, lanes);
  Source source;
  source.path = "packed.cu";
  source.text =
      "__global__ void packed(const unsigned* a, const unsigned* b, unsigned* out) {\n  const int i = threadIdx.x;\n";
  for (std::size_t k = 0; k < calls.size(); ++k)
    source.text += "  out[" + std::to_string(k) + " * 256 + i] = " + call(*calls[k].first, calls[k].second) + ";\n";
  source.text += "}\n";
  FrontendOptions options;
  options.target = "sm_90";
  options.program = true;
  const Analysis analysis = analyze(source, options);
  restart_random();
  Argument left = uniform<int>(256, -1, 1), right = left;
  constexpr unsigned char corners[] = {0, 1, 0x7e, 0x7f, 0x80, 0x81, 0xfe, 0xff};
  for (std::size_t i = 0; i < left.bytes.size(); ++i) {  // all pairs of corners in each lane of eight bits
    left.bytes[i] = corners[(i / 4 + i) % 8];
    right.bytes[i] = corners[(i / 32 + 3 * (i % 4)) % 8];
  }
  const Case c{"packed", {1, 1, 1}, {256, 1, 1}, {left, right, filled<int>(256 * static_cast<int>(calls.size()))}};
  const auto buffers = interpret(c, analysis, 32, false);
  const auto word = [](const std::vector<unsigned char>& bytes, std::size_t i) {
    std::uint32_t w = 0;
    std::memcpy(&w, bytes.data() + 4 * i, 4);
    return w;
  };
  for (std::size_t k = 0; k < calls.size(); ++k)
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint32_t a = word(left.bytes, i), b = word(right.bytes, i);
      ASSERT_EQ(word(buffers.at(2), k * 256 + i), by_lanes(*calls[k].first, a, b, 32 / calls[k].second))
          << call(*calls[k].first, calls[k].second) << " " << std::hex << a << " " << b;
    }
}

}  // namespace
}  // namespace kernelcast::agreement
