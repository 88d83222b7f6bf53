#include "validate/analysis_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kernelcast/error.h"

namespace kernelcast::validate {
namespace {

namespace fs = std::filesystem;

class AnalysisCache : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("kernelcast_cache_" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "sources");
    std::ofstream(folder_ / "sources" / "a.h") << "1";
    source_.path = "k.cu";
    source_.text = "text";
  }
  void TearDown() override { fs::remove_all(folder_); }
  Analyzer analyzer(const std::string& identity = "id") {
    const auto analyze = [this](const Source& s, const FrontendOptions&) {
      ++calls_;
      if (s.text == "bad") throw UserError("bad source");
      Analysis a;
      a.profile.kernel = s.text;
      return a;
    };
    return with_memory(analyze, (folder_ / "kept").string(), identity, (folder_ / "sources").string());
  }
  std::string kernel(const Analyzer& a) { return a(source_, options_).profile.kernel; }

  fs::path folder_;
  Source source_;
  FrontendOptions options_;
  int calls_ = 0;
};

TEST_F(AnalysisCache, TheSameIsNotAnalysedTwice) {
  EXPECT_EQ(kernel(analyzer()), "text");
  EXPECT_EQ(kernel(analyzer()), "text");
  EXPECT_EQ(calls_, 1);
}

TEST_F(AnalysisCache, WhateverCountsMakesANewAnalysis) {
  int expected = 0;
  const auto is_new = [&] {
    kernel(analyzer());
    kernel(analyzer());
    EXPECT_EQ(calls_, ++expected);
  };
  is_new();
  source_.text = "other";
  is_new();
  source_.defines = {"A=1"};
  is_new();
  source_.defines = {"A=1", ""};
  is_new();
  source_.undefines = {"B"};
  is_new();
  source_.fast_math = true;
  is_new();
  source_.standard = "c++17";
  is_new();
  options_.target = "sm_80";
  is_new();
  options_.kernel = "k";
  is_new();
  options_.block = {32, 1, 1};
  is_new();
  std::ofstream(folder_ / "sources" / "a.h") << "12";  // another size
  is_new();
  kernel(analyzer("another front end"));
  EXPECT_EQ(calls_, ++expected);
}

TEST_F(AnalysisCache, FailuresAreNotKeptAndDamageIsRepaired) {
  source_.text = "bad";
  EXPECT_THROW(kernel(analyzer()), UserError);
  EXPECT_THROW(kernel(analyzer()), UserError);
  EXPECT_EQ(calls_, 2);
  source_.text = "good";
  kernel(analyzer());
  for (const auto& entry : fs::directory_iterator(folder_ / "kept")) std::ofstream(entry.path()) << "rubbish";
  EXPECT_EQ(kernel(analyzer()), "good");
  EXPECT_EQ(calls_, 4);
  EXPECT_EQ(kernel(analyzer()), "good");
  EXPECT_EQ(calls_, 4);
}

TEST_F(AnalysisCache, AFolderThatCannotBeMade) {
  std::ofstream(folder_ / "file") << "";
  CacheTrouble trouble;
  const auto analyze = [](const Source& s, const FrontendOptions&) {
    Analysis a;
    a.profile.kernel = s.text;
    return a;
  };
  const Analyzer kept =
      with_memory(analyze, (folder_ / "file" / "x").string(), "id", (folder_ / "sources").string(), &trouble);
  EXPECT_EQ(kernel(kept), "text");  // answered all the same
  EXPECT_NE(trouble.text(), "");
}

}  // namespace
}  // namespace kernelcast::validate
