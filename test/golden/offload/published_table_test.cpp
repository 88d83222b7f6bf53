// The published table (Roofline + LogGP + power, 2017): our copy, test/data/offload-2017.csv, against the totals that
// the text states, and our programs against its rows. What we decide in its cells: test/cli/offload_test.py.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "kernelcast/offload_replay.h"

namespace kernelcast::offload {
namespace {

std::vector<ReplayCell> cells() {
  const std::string path = std::string(KERNELCAST_SOURCE_DIR) + "/test/data/offload-2017.csv";
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return parse_replay(text.str(), path);
}

template <class F>
ReplayScore scored(const std::vector<ReplayCell>& c, F decision) {
  std::vector<Decision> d;
  for (const ReplayCell& cell : c) d.push_back(decision(cell));
  return score(c, d);
}

TEST(PublishedTable, OurCopyHasTheTotalsOfTheText) {
  const ReplayScore s = scored(cells(), [](const ReplayCell& c) { return c.printed; });
  EXPECT_EQ(s.cells, 39);
  EXPECT_EQ(s.right, 33);
  EXPECT_EQ(s.cpu_cells, 3);
  EXPECT_EQ(s.cpu_found, 0);
  EXPECT_NEAR(s.loss, 1.13, 0.005);
}

TEST(PublishedTable, EveryProgramHasLoopNestsOfOurs) {
  for (const ReplayCell& c : cells()) {
    const auto all = replay_programs();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const ReplayProgram& p) { return p.name == c.program; }))
        << c.program;
  }
}

}  // namespace
}  // namespace kernelcast::offload
