// Spec files: numbers of an instruction, inheritance, and what is refused.
#include <gtest/gtest.h>

#include <fstream>

#include "kernelcast/error.h"
#include "kernelcast/sm.h"

namespace {

using kernelcast::UserError;
namespace sm = kernelcast::sm;

const std::string folder = std::string(KERNELCAST_SOURCE_DIR) + "/devices/sm/";

std::string refusal(const std::string& addition) {
  const std::string file = testing::TempDir() + "/refused.toml";
  std::ifstream in(folder + "nvidia-gh100.toml");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  text.replace(text.find("\"nvidia-gh100\""), 14, "\"refused\"");
  text.replace(text.find("inherits = \"nvidia-ga100\""), 25, "inherits = \"" + folder + "nvidia-ga100\"");
  std::ofstream(file) << text << addition;
  try {
    sm::load_spec(file);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(SpecFile, AnIntervalOfAnInstructionIsInheritedAndReplaced) {
  const auto interval = [](const std::string& id, sm::Op op) {
    const sm::Spec spec = sm::load_spec(folder + id + ".toml");
    return spec.interval_of(spec.units.front(), op);
  };
  EXPECT_EQ(interval("amd-gcn1", sm::Op::ffma), 4);
  EXPECT_EQ(interval("amd-gcn1", sm::Op::dfma), 16);
  EXPECT_EQ(interval("amd-gcn5", sm::Op::special), 16) << "of GCN 1";
  EXPECT_EQ(interval("amd-gcn5", sm::Op::dfma), 8) << "its own";
}

TEST(SpecFile, EveryNumberHasASourceOrIsAHypothesis) {
  for (const char* id : {"amd-gcn1", "amd-gcn2", "amd-gcn4", "amd-gcn5", "nvidia-gk110", "nvidia-gt200"})
    for (const sm::SpecNumber& n : sm::load_spec(folder + id + ".toml").numbers)
      EXPECT_NE(n.source.empty(), n.hypothesis.empty()) << id << " " << n.key;
}

TEST(SpecFile, BadIntervalsAreRefusedWithTheirLine) {
  EXPECT_EQ(refusal(""), "");
  const std::string cited = ", source = \"somewhere\" }\n";
  EXPECT_NE(refusal("[interval]\nLDG = { value = 4" + cited).find("follows from its unit and [memory]"),
            std::string::npos);
  EXPECT_EQ(refusal("[interval]\nATOMS = { value = 4" + cited), "") << "lanes may take longer for atomic operations";
  EXPECT_NE(refusal("[interval]\nFFMA = { value = 0" + cited).find("is outside 1..1024"), std::string::npos);
  EXPECT_NE(refusal("[interval]\nFFMA = { value = 4 }\n").find("needs either a source or a hypothesis"),
            std::string::npos);
  EXPECT_NE(refusal("[interval]\nFFMAA = { value = 4" + cited).find("did you mean"), std::string::npos);
  EXPECT_NE(refusal("[interval]\nFFMA = { value = 4 }\n").find("refused.toml:"), std::string::npos);
}

}  // namespace
