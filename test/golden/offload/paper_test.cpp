// The published table (Roofline + LogGP + power, 2017; test/data/offload-2017.csv): what its print says of itself.
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

TEST(PublishedTable, ThePrintedDecisionsAreRightIn33Of39) {
  const ReplayScore s = scored(cells(), [](const ReplayCell& c) { return c.printed; });
  EXPECT_EQ(s.cells, 39);
  EXPECT_EQ(s.right, 33);
  EXPECT_EQ(s.cpu_cells, 3);
  EXPECT_EQ(s.cpu_found, 0);
  EXPECT_NEAR(s.loss, 1.13, 0.005);
}

TEST(PublishedTable, TheConstantAnswerIsRightIn36AndCosts1Point8Percent) {
  const ReplayScore s = scored(cells(), [](const ReplayCell&) { return Decision::gpu; });
  EXPECT_EQ(s.right, 36);
  EXPECT_NEAR(s.loss, 1.018, 0.0005);
}

TEST(PublishedTable, OnlyThreeCellsFavourTheCpu) {
  std::string names;
  for (const ReplayCell& c : cells())
    if (c.cheaper() == Decision::cpu) names += c.program + std::to_string(c.size_mib).substr(0, 3) + " ";
  EXPECT_EQ(names, "3DCONV0.5 3DCONV2.0 GESUMMV0.5 ");
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
