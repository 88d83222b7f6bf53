// Variants found by what was asked for, against a preprocessor that is a random tree of questions: what is found must
// be what the tree says.
#include "tune/alike_variants.h"

#include <gtest/gtest.h>

#include <random>

namespace kernelcast::tune {
namespace {

constexpr int macro_count = 5, value_count = 3, most_questions = 4;

std::shared_ptr<const KernelProfile> profile_named(const std::string& name) {
  KernelProfile p;
  p.kernel = name;
  return std::make_shared<const KernelProfile>(p);
}

/// Asks for a macro that the answers so far choose, or ends; the text is the questions with their answers.
class RandomPreprocessor {
 public:
  explicit RandomPreprocessor(unsigned seed) : seed_(seed) {}
  std::string run(const std::vector<std::string>& defines, std::vector<std::string>& asked) const {
    std::string text;
    for (int question = 0; question < most_questions; ++question) {
      std::mt19937 choose(seed_ + static_cast<unsigned>(std::hash<std::string>{}(text)));
      const std::size_t macro = choose() % (macro_count + 1);
      if (macro == macro_count) break;
      asked.push_back(std::string(1, static_cast<char>('A' + macro)));
      text += defines[macro] + ";";
    }
    return text;
  }

 private:
  unsigned seed_;
};

TEST(AlikeVariants, WhatIsFoundIsWhatTheTextSays) {
  std::size_t found = 0, all = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const RandomPreprocessor preprocessor(seed);
    AlikeVariants variants;
    std::mt19937 random(seed);
    std::map<std::string, int> texts;
    for (int i = 0; i < 300; ++i) {
      std::vector<std::string> defines;
      for (int m = 0; m < macro_count; ++m)
        defines.push_back(std::string(1, static_cast<char>('A' + m)) + "=" + std::to_string(random() % value_count));
      std::vector<std::string> asked;
      const std::string text = preprocessor.run(defines, asked);
      const AlikeAnalysis* again = variants.find(defines);
      ++all;
      EXPECT_EQ(again != nullptr, texts.contains(text)) << "seed " << seed << " text " << text;
      if (again != nullptr) {
        ++found;
        EXPECT_EQ(again->profile->kernel, text);
      } else {
        variants.add(defines, asked, {profile_named(text), ""});
      }
      ++texts[text];
    }
    EXPECT_EQ(variants.size(), texts.size());
  }
  EXPECT_GT(found, all / 4);
  EXPECT_LT(found, all);
}

TEST(AlikeVariants, MacrosWithArgumentsAndWithoutValues) {
  AlikeVariants variants;
  variants.add({"F(x)=x", "ON", "N=4"}, {"F", "ON"}, {profile_named("first"), ""});
  EXPECT_NE(variants.find({"F(x)=x", "ON", "N=8"}), nullptr);
  EXPECT_EQ(variants.find({"F(x)=2*x", "ON", "N=4"}), nullptr);
  EXPECT_EQ(variants.find({"F(x)=x", "ON=0", "N=4"}), nullptr);
}

TEST(AlikeVariants, OfTwoDefinesOfOneNameBothCount) {
  AlikeVariants variants;
  variants.add({"N=4", "N=8"}, {"N"}, {profile_named("first"), ""});
  EXPECT_EQ(variants.find({"N=4", "N=16"}), nullptr);
  EXPECT_EQ(variants.find({"N=2", "N=8"}), nullptr);
  EXPECT_NE(variants.find({"N=4", "N=8"}), nullptr);
}

TEST(AlikeVariants, NamesEndAtTheFirstSign) {
  EXPECT_EQ(names_of({"A=1", "F(x)=x=1", "ON"}), (std::vector<std::string>{"A", "F(x)", "ON"}));
}

}  // namespace
}  // namespace kernelcast::tune
