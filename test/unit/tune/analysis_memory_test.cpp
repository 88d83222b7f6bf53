// The cache between runs: what is found, what is not, and what damage does.
#include "tune/analysis_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "kernelcast/error.h"

namespace kernelcast::tune {
namespace {

namespace fs = std::filesystem;

class Memory : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("kernelcast_memory_" + std::to_string(::getpid()) + "_" +
                                           testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    write("h.h", "one");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }

  /// A front end whose profile is named after the defines; D= does not change the module.
  Analyzer analyzer() {
    return [this](const Source& s, const FrontendOptions& o) {
      ++analyses_;
      if (s.text == "bad") throw UserError("bad source");
      Analysis a;
      a.headers = {(folder_ / "h.h").string()};
      a.digest = "module of " + s.defines.front();
      if (const auto known = o.known(a.digest)) {
        a.profile = *known;
        return a;
      }
      ++profiles_;
      a.profile.kernel = s.defines.front();
      return a;
    };
  }

  static Source source(const std::string& define, const std::string& other = "D=1", const std::string& text = "text") {
    Source s;
    s.path = "k.cu";
    s.text = text;
    s.defines = {define, other};
    return s;
  }

  std::string cache() const { return (folder_ / "cache").string(); }
  fs::path folder_;
  std::atomic<int> analyses_ = 0, profiles_ = 0;
};

TEST_F(Memory, TheSecondRunCompilesNothing) {
  for (int run = 0; run < 2; ++run) {
    AnalysisMemory memory(analyzer(), cache(), "id");
    EXPECT_EQ(memory.analyze(source("A=1"), {})->kernel, "A=1");
    EXPECT_EQ(memory.analyze(source("A=2"), {})->kernel, "A=2");
    EXPECT_EQ(memory.compiled(), run == 0 ? 2U : 0U);
    EXPECT_EQ(memory.found(), run == 0 ? 0U : 2U);
  }
  EXPECT_EQ(analyses_, 2);
}

TEST_F(Memory, VariantsOfOneModuleShareAProfile) {
  AnalysisMemory memory(analyzer(), "", "id");
  const auto first = memory.analyze(source("A=1", "D=1"), {});
  EXPECT_EQ(memory.analyze(source("A=1", "D=2"), {}), first);
  EXPECT_EQ(profiles_, 1);
  EXPECT_EQ(memory.shared(), 1U);
}

TEST_F(Memory, ACompilationThatALimitEndedMayAskWhenTheMemoryIsGone) {
  std::function<std::shared_ptr<const KernelProfile>(const std::string&)> asks;
  {
    AnalysisMemory memory(
        [&](const Source& s, const FrontendOptions& o) -> Analysis {
          if (s.text == "text") return analyzer()(s, o);
          asks = o.known;
          throw LimitError("the compiler was interrupted");
        },
        "", "id");
    memory.analyze(source("A=1"), {});
    EXPECT_THROW(memory.analyze(source("A=1", "D=1", "endless"), {}), LimitError);
  }
  EXPECT_EQ(asks("module of A=1")->kernel, "A=1");
  EXPECT_EQ(asks("another module"), nullptr);
}

TEST_F(Memory, WhatIsTheSameAfterPreprocessingIsAnalysedOnce) {
  const Analyzer front_end = analyzer();
  const Analyzer asks_for_a = [&](const Source& s, const FrontendOptions& o) {
    Analysis a = front_end(s, o);
    a.consulted = {"A"};
    return a;
  };
  AnalysisMemory memory(asks_for_a, cache(), "id");
  const auto first = memory.analyze(source("A=1", "D=1"), {});
  EXPECT_EQ(memory.analyze(source("A=1", "D=2"), {}), first);
  EXPECT_EQ(analyses_, 1);
  EXPECT_EQ(memory.compiled(), 1U);
  EXPECT_EQ(memory.alike(), 1U);
  EXPECT_NE(memory.analyze(source("A=2", "D=1"), {}), first);                   // another value
  EXPECT_EQ(memory.analyze(source("A=1", "E=1"), {})->kernel, "A=1");           // another name
  EXPECT_EQ(memory.analyze(source("A=1", "D=3", "other"), {})->kernel, "A=1");  // another text
  FrontendOptions newer;
  newer.target = "sm_80";
  memory.analyze(source("A=1", "D=4"), newer);
  EXPECT_EQ(analyses_, 5);
  EXPECT_EQ(memory.alike(), 1U);
  AnalysisMemory second(asks_for_a, cache(), "id");  // what was not compiled is kept, too
  EXPECT_EQ(second.analyze(source("A=1", "D=2"), {})->kernel, "A=1");
  EXPECT_EQ(second.found(), 1U);
  EXPECT_EQ(analyses_, 5);
}

TEST_F(Memory, WhereTheFrontEndDoesNotSayWhatItAskedForNothingIsShared) {
  AnalysisMemory memory(analyzer(), "", "id");
  memory.analyze(source("A=1", "D=1"), {});
  memory.analyze(source("A=1", "D=2"), {});
  EXPECT_EQ(analyses_, 2);
  EXPECT_EQ(memory.alike(), 0U);
}

TEST_F(Memory, EverythingThatMattersIsPartOfTheKey) {
  const auto key = [](const Source& s, const FrontendOptions& o, const char* id) { return key_of(s, o, id); };
  const std::string base = key(source("A=1"), {}, "id");
  EXPECT_NE(key(source("A=2"), {}, "id"), base);
  EXPECT_NE(key(source("A=1", "D=2"), {}, "id"), base);
  EXPECT_NE(key(source("A=1", "D=1", "other"), {}, "id"), base);
  EXPECT_NE(key(source("A=1"), {}, "another front end"), base);
  FrontendOptions o;
  o.target = "sm_80";
  EXPECT_NE(key(source("A=1"), o, "id"), base);
  o = {};
  o.kernel = "k";
  EXPECT_NE(key(source("A=1"), o, "id"), base);
  Source s = source("A=1");
  s.fast_math = true;
  EXPECT_NE(key(s, {}, "id"), base);
}

TEST_F(Memory, AChangedHeaderIsReadAgain) {
  AnalysisMemory(analyzer(), cache(), "id").analyze(source("A=1"), {});
  write("h.h", "two");
  AnalysisMemory(analyzer(), cache(), "id").analyze(source("A=1"), {});
  EXPECT_EQ(analyses_, 2);
  fs::remove(folder_ / "h.h");
  AnalysisMemory(analyzer(), cache(), "id").analyze(source("A=1"), {});
  EXPECT_EQ(analyses_, 3);
}

TEST_F(Memory, AnotherFrontEndDoesNotUseTheProfile) {
  AnalysisMemory(analyzer(), cache(), "id").analyze(source("A=1"), {});
  AnalysisMemory other(analyzer(), cache(), "id 2");
  other.analyze(source("A=1"), {});
  EXPECT_EQ(other.shared(), 0U);
  EXPECT_EQ(profiles_, 2);
}

TEST_F(Memory, DamagedFilesAreMadeAgain) {
  AnalysisMemory(analyzer(), cache(), "id").analyze(source("A=1"), {});
  int damaged = 0;
  for (const auto& file : fs::recursive_directory_iterator(cache())) {
    if (!file.is_regular_file()) continue;
    const auto size = fs::file_size(file);
    for (const std::uintmax_t at : {std::uintmax_t{0}, size / 2, size - 1}) {
      std::fstream f(file.path(), std::ios::in | std::ios::out | std::ios::binary);
      f.seekg(static_cast<std::streamoff>(at));
      const char was = static_cast<char>(f.get());
      f.seekp(static_cast<std::streamoff>(at));
      f.put(static_cast<char>(was ^ 0x15));
      f.close();
      AnalysisMemory memory(analyzer(), cache(), "id");
      EXPECT_EQ(memory.analyze(source("A=1"), {})->kernel, "A=1");
      EXPECT_EQ(memory.compiled(), 1U) << file.path() << " " << at;
      ++damaged;
    }
    fs::resize_file(file, 10);
    AnalysisMemory memory(analyzer(), cache(), "id");
    EXPECT_EQ(memory.analyze(source("A=1"), {})->kernel, "A=1");
  }
  EXPECT_EQ(damaged, 6);
}

TEST_F(Memory, WritersAtTheSameTimeDoNotHurtEachOther) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      AnalysisMemory memory(analyzer(), cache(), "id");
      for (int i = 0; i < 50; ++i) {
        const std::string define = "A=" + std::to_string(i % 10);
        EXPECT_EQ(memory.analyze(source(define), {})->kernel, define);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  AnalysisMemory memory(analyzer(), cache(), "id");
  for (int i = 0; i < 10; ++i) memory.analyze(source("A=" + std::to_string(i)), {});
  EXPECT_EQ(memory.found(), 10U);
}

TEST_F(Memory, FailuresAreNotKeptAndAFolderThatCannotBeMadeIsSaid) {
  AnalysisMemory memory(analyzer(), (folder_ / "h.h" / "cache").string(), "id");
  EXPECT_THROW(memory.analyze(source("A=1", "D=1", "bad"), {}), UserError);
  EXPECT_EQ(memory.analyze(source("A=1"), {})->kernel, "A=1");
  EXPECT_NE(memory.trouble(), "");
}

TEST_F(Memory, TrimRemovesTheOldest) {
  AnalysisMemory memory(analyzer(), cache(), "id");
  for (int i = 0; i < 20; ++i) memory.analyze(source("A=" + std::to_string(i)), {});
  write("cache/foreign.txt", std::string(1000, 'x'));
  memory.trim(2000);
  std::uintmax_t bytes = 0;
  for (const auto& file : fs::recursive_directory_iterator(cache())) {
    if (file.is_regular_file() && file.path().extension() != ".txt") bytes += file.file_size();
  }
  EXPECT_LE(bytes, 2000U);
  EXPECT_TRUE(fs::exists(folder_ / "cache/foreign.txt"));
}

}  // namespace
}  // namespace kernelcast::tune
