// Cells, sizes and scores.
#include "kernelcast/offload_replay.h"

#include <gtest/gtest.h>

#include "kernelcast/error.h"

namespace kernelcast::offload {
namespace {

constexpr const char* head = "program,size_mib,predicted,cpu_cost,gpu_cost\n";

TEST(ParseReplay, ReadsColumnsByName) {
  const auto cells = parse_replay("cpu_cost,x,program,size_mib,gpu_cost,predicted\n2,?,GEMM,0.5,1,CPU\n", "t.csv");
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].program, "GEMM");
  EXPECT_EQ(cells[0].printed, Decision::cpu);
  EXPECT_EQ(cells[0].cheaper(), Decision::gpu);
}

void refused(const std::string& text, const std::string& message) {
  try {
    parse_replay(text, "t.csv");
    FAIL() << "no error for " << text;
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
}

TEST(ParseReplay, NamesTheLineThatIsWrong) {
  refused("program,size_mib\n", "t.csv:1: no column 'predicted'");
  refused(std::string(head) + "A,1,GPU,1,1\nB,x,GPU,1,1\n", "t.csv:3: 'x'");
  refused(std::string(head) + "A,1,both,1,1\n", "t.csv:2: predicted is 'both'");
  refused(std::string(head) + "A,1,GPU,1\n", "t.csv:2: too few");
  refused(head, "no cells");
}

TEST(Sides, FollowTheDataOfThePage) {
  const auto side = [](const char* name, double mib) {
    for (const ReplayProgram& p : replay_programs())
      if (p.name == name) return side_of(p, mib);
    return std::int64_t{-1};
  };
  EXPECT_EQ(side("ATAX", 0.5), 256);   // 65536 doubles
  EXPECT_EQ(side("2MM", 10), 512);     // 1310720 / 5 = 512^2
  EXPECT_EQ(side("3DCONV", 0.5), 32);  // 65536 / 2 = 32^3
  EXPECT_EQ(side("GEMM", 0.5), 147);   // 147^2 <= 21845 < 148^2
}

TEST(Score, CountsTiesAndChargesTheDearerSide) {
  const std::vector<ReplayCell> cells{{"a", 1, Decision::gpu, 1.05, 1.0}, {"b", 1, Decision::gpu, 1, 2}};
  const ReplayScore close = score(cells, std::vector{Decision::too_close, Decision::too_close});
  EXPECT_EQ(close.right, 1);  // the first is a tie, the second is none
  EXPECT_EQ(close.too_close, 2);
  EXPECT_EQ(close.cpu_cells, 1);
  EXPECT_EQ(close.cpu_found, 1);
  EXPECT_DOUBLE_EQ(close.loss, std::sqrt(1.05 * 2));
  const ReplayScore right = score(cells, std::vector{Decision::gpu, Decision::cpu});
  EXPECT_EQ(right.right, 2);
  EXPECT_DOUBLE_EQ(right.loss, 1);
  const ReplayScore wrong = score(cells, std::vector{Decision::cpu, Decision::gpu});
  EXPECT_EQ(wrong.right, 0);
  EXPECT_EQ(wrong.cpu_found, 0);
}

}  // namespace
}  // namespace kernelcast::offload
