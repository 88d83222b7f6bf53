// Patterns: read, generated, measured.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "io/nearest.h"
#include "kernelcast/converge.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast {
namespace {

constexpr Policy all_policies[] = {Policy::plain, Policy::majority, Policy::round_robin, Policy::advance,
                                   Policy::advance_in_order};

double fraction(std::mt19937_64& random) { return static_cast<double>(random() >> 11U) * 0x1p-53; }

void check_sizes(int width, std::int64_t iterations) {
  if (width < 1 || iterations < 0) throw UserError("a pattern needs at least one lane and no negative iterations");
}

void check_share(const char* what, double value, double largest) {
  if (!(value >= 0 && value <= largest)) {
    throw UserError(fmt::format("{} = {}: expected a number from 0 to {}", what, value, largest));
  }
}

}  // namespace

std::string_view name_of(Policy p) {
  switch (p) {
    case Policy::plain:
      return "plain";
    case Policy::majority:
      return "majority";
    case Policy::round_robin:
      return "round-robin";
    case Policy::advance:
      return "advance";
    case Policy::advance_in_order:
      return "advance-in-order";
  }
  return "?";
}

Policy policy_named(std::string_view name) {
  std::vector<std::string> names;
  for (const Policy p : all_policies) {
    if (name_of(p) == name) return p;
    names.emplace_back(name_of(p));
  }
  throw UsageError(fmt::format(KC_SETTING(policy) " {}: expected {}", name, fmt::join(names, ", ")));
}

std::int64_t BranchPattern::iterations() const {
  std::size_t longest = 0;
  for (const auto& lane : lanes) longest = std::max(longest, lane.size());
  return static_cast<std::int64_t>(longest);
}

BranchPattern parse_pattern(std::string_view text, const std::string& path) {
  BranchPattern pattern;
  int line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::vector<std::uint8_t> lane;
    for (std::size_t i = 0; i < line.size() && line[i] != '#'; ++i) {
      const char c = line[i];
      if (c == ' ' || c == '\t' || c == '\r') continue;
      if (c != 'T' && c != 'F') {
        throw UserError(
            fmt::format("{}:{}:{}: expected T or F for each iteration of a lane", path, line_number, i + 1));
      }
      lane.push_back(c == 'T' ? 1 : 0);
    }
    if (!lane.empty()) pattern.lanes.push_back(std::move(lane));
  }
  if (pattern.lanes.empty()) throw UserError(path + ": no lane; expected one line a lane, a T or F an iteration");
  return pattern;
}

PatternStatistics statistics_of(const BranchPattern& pattern) {
  double taken = 0, all = 0, flips = 0, pairs = 0;
  for (const auto& lane : pattern.lanes) {
    for (std::size_t i = 0; i < lane.size(); ++i) {
      taken += lane[i];
      ++all;
      if (i == 0) continue;
      flips += lane[i] != lane[i - 1] ? 1 : 0;
      ++pairs;
    }
  }
  PatternStatistics s;
  s.width = pattern.width();
  if (all > 0) s.p = taken / all;
  if (pairs > 0) s.f = flips / pairs;
  s.f = std::min(s.f, 2 * std::min(s.p, 1 - s.p));  // ends of short lanes can exceed what lasts
  if (s.width > 0) s.iterations = all / s.width;
  return s;
}

BranchPattern independent_pattern(int width, std::int64_t iterations, double p, std::uint64_t seed) {
  return flipping_pattern(width, iterations, p, 2 * p * (1 - p), seed);
}

BranchPattern flipping_pattern(int width, std::int64_t iterations, double p, double f, std::uint64_t seed) {
  check_sizes(width, iterations);
  check_share("p", p, 1);
  check_share("f", f, 2 * std::min(p, 1 - p));
  const double leave_taken = p > 0 ? f / (2 * p) : 1, leave_other = p < 1 ? f / (2 * (1 - p)) : 1;
  std::mt19937_64 random(seed);
  BranchPattern pattern;
  pattern.lanes.resize(static_cast<std::size_t>(width));
  for (auto& lane : pattern.lanes) {
    lane.reserve(static_cast<std::size_t>(iterations));
    bool taken = fraction(random) < p;
    for (std::int64_t i = 0; i < iterations; ++i) {
      lane.push_back(taken ? 1 : 0);
      if (fraction(random) < (taken ? leave_taken : leave_other)) taken = !taken;
    }
  }
  return pattern;
}

// A run of one path ends in a pair of neighbours that differ, which advance runs in one step; after it comes a run of
// the second of these paths. What is owed is carried on, so that every stretch of a lane has the same share.
BranchPattern advanceable_pattern(int width, std::int64_t iterations, double a, std::uint64_t seed) {
  check_sizes(width, iterations);
  check_share("a", a, 0.5);
  std::mt19937_64 random(seed);
  BranchPattern pattern;
  pattern.lanes.resize(static_cast<std::size_t>(width));
  for (auto& lane : pattern.lanes) {
    const auto n = static_cast<std::size_t>(iterations);
    bool now = (random() & 1U) != 0;
    double owed = fraction(random);
    while (lane.size() < n) {
      lane.push_back(now ? 1 : 0);
      owed += a;
      if (owed < 1 || lane.size() >= n) continue;
      owed += a - 1;
      now = !now;
      lane.push_back(now ? 1 : 0);  // borrowed by the iteration before
    }
  }
  return pattern;
}

}  // namespace kernelcast
