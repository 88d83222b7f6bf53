// Divergent loops and what the rewriter makes of them: one is interpreted while the other runs natively.
#include "engines/execute/cases/case_files.h"

namespace kernelcast::agreement {

std::vector<Case> divergent() {
  const auto usual = [](const char* kernel, int n) {
    return Case{kernel, {2}, {64}, {uniform(128, -100000, 100000), filled<int>(128), scalar(n)}};
  };
  return {usual("collatz", 400),
          usual("escape_time", 60),
          usual("random_walk", 70),
          usual("march", 61),
          {"align_scores", {2}, {64}, {uniform(128, -99, 99), filled<int>(128 * 20), scalar(20)}},
          usual("queens", 33),
          usual("histogram_of_two", 40),
          usual("count_if", 50),
          usual("subtractive_gcd", 3),
          usual("filter", 45),
          usual("rounds", 25)};
}

}  // namespace kernelcast::agreement
