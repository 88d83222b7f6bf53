// Loops in files that the source includes: found wherever they are the user's, named by their file, and changed there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "engines/frontend/executed_output.h"
#include "kernelcast/error.h"
#include "kernelcast/loops.h"

namespace kernelcast {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// The loop begins at line 4, its branch is at line 5.
std::string header_kernel(const std::string& name, const std::string& head = "", const std::string& type = "int") {
  return head + "__global__ void " + name + "(const int* __restrict__ in, " + type +
         "* __restrict__ out, int n) {\n"
         "  const int id = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
         type +
         " s = 0, t = 0;\n"
         "  for (int i = 0; i < n; ++i) {\n    if (in[(i * 3 + id) & 1023] > 0) {\n      s += i;\n    } else {\n"
         "      t += 2 * i;\n    }\n  }\n  out[id] = s + t;\n}\n";
}

class HeaderLoops : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kernelcast-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = fs::canonical(pattern);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] std::string contents(const std::string& name) const {
    std::stringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
  [[nodiscard]] Source main_of(const std::string& text, const std::string& name = "main.cu") const {
    Source s;
    s.path = path(name);
    s.text = text;
    return s;
  }
  /// "file:line kernel" of each loop, without the folder.
  [[nodiscard]] std::vector<std::string> found(const Source& source, const FrontendOptions& options = {}) const {
    std::vector<std::string> all;
    for (const DivergentLoop& l : divergent_loops(source, options))
      all.push_back(fs::path(l.file).lexically_relative(folder_).string() + ":" + std::to_string(l.loop.first) + " " +
                    l.runs_as());
    return all;
  }
  static std::string refusal(const Source& source, const std::string& kernel = "") {
    FrontendOptions options;
    options.kernel = kernel;
    try {
      survey_loops(source, options);
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(HeaderLoops, AreNamedByTheirFile) {
  write("inc/more/deep.cuh", header_kernel("deep"));
  write("inc/first.cuh", "#ifndef FIRST\n#define FIRST\n#include \"more/deep.cuh\"\n#endif\n");
  const Source source = main_of("#include \"inc/first.cuh\"\n#include \"inc/first.cuh\"\n" + header_kernel("own"));
  EXPECT_THAT(found(source), ElementsAre("main.cu:6 own", "inc/more/deep.cuh:4 deep"));
  const DivergentLoop loop = divergent_loops(source, {}).at(1);
  EXPECT_EQ(loop.branch_file, loop.file);
  EXPECT_EQ(loop.branch_line, 5);
  EXPECT_TRUE(loop.can_record);
  EXPECT_EQ(loop.no_rewrite, "");
  FrontendOptions named;
  named.kernel = "deep";
  EXPECT_THAT(found(source, named), ElementsAre("inc/more/deep.cuh:4 deep"));
}

TEST_F(HeaderLoops, FoldersThatAreSearched) {
  write("given/a.cuh", header_kernel("a"));
  write("common/b.cuh", header_kernel("b"));  // beside the source's own folder, which is searched without being asked
  Source source = main_of("#include <a.cuh>\n#include \"b.cuh\"\n", "src/main.cu");
  write("src/main.cu", source.text);
  source.include_dirs = {path("given")};
  EXPECT_THAT(found(source), ElementsAre("given/a.cuh:4 a", "common/b.cuh:4 b"));
}

TEST_F(HeaderLoops, OfTemplatesThatTheSourceInstantiates) {
  write("t.cuh", header_kernel("walk", "template <typename T> ", "T"));
  const Source source = main_of(
      "#include \"t.cuh\"\ntemplate __global__ void walk<float>(const int*, float*, int);\n"
      "int main() { walk<int><<<1, 64>>>((int*)0, (int*)0, 1); }\n");
  const auto loops = divergent_loops(source, {});
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].file, path("t.cuh"));
  EXPECT_EQ(loops[0].instances.size(), 2U);
  EXPECT_THAT(refusal(main_of("#include \"t.cuh\"\n")), HasSubstr("walk, in " + path("t.cuh")));
}

TEST_F(HeaderLoops, InFunctionsOfHeaders) {
  write("f.cuh",
        "__device__ int sums(const int* __restrict__ in, int id, int n) {\n  int s = 0, t = 0;\n"
        "  for (int i = 0; i < n; ++i) {\n    if (in[(i + id) & 1023] > 0) s += i; else t += 2 * i;\n  }\n"
        "  return s + t;\n}\n");
  const Source source = main_of(
      "#include \"f.cuh\"\n#include <algorithm>\n__global__ void k(const int* __restrict__ in, int* __restrict__ out, "
      "int n) {\n  out[threadIdx.x] = sums(in, threadIdx.x, n);\n}\n");
  const auto loops = divergent_loops(source, {});
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].file, path("f.cuh"));
  EXPECT_EQ(loops[0].function, "sums");
}

TEST_F(HeaderLoops, KernelsOfOneNameAreToldApart) {
  write("a.cuh", "namespace a {\n" + header_kernel("same") + "}\n");
  write("b.cuh", "namespace b {\n" + header_kernel("same", "", "float") + "}\n");
  write("c.cuh", header_kernel("over") + header_kernel("over", "", "double"));
  const Source source = main_of("#include \"a.cuh\"\n#include \"b.cuh\"\n#include \"c.cuh\"\n");
  EXPECT_THAT(found(source), ElementsAre("a.cuh:5 a::same", "b.cuh:5 b::same", "c.cuh:4 over(int const*, int*, int)",
                                         "c.cuh:16 over(int const*, double*, int)"));
  for (const DivergentLoop& l : divergent_loops(source, {})) {
    EXPECT_EQ(executed_output(source, l.runs_as()).size(), l.kernel.ends_with("double*, int)") ? 1024U : 512U)
        << l.kernel;
    EXPECT_EQ(l.can_record, !l.kernel.ends_with(')')) << l.kernel;  // one more parameter is another name
  }
}

TEST_F(HeaderLoops, TwoKernelsOnOneLineAreTwo) {
  const std::string body =
      "{ int id = threadIdx.x, s = id; for (int i = 0; i < n; ++i) { if (in[i + id] > 0) s += i; else s -= i; } "
      "out[id] = s; }";
  const std::string parameters = "(const int* in, int* out, int n) ";
  const Source source = main_of("__global__ void k" + parameters + body + " __global__ void l" + parameters + body);
  EXPECT_THAT(found(source), ElementsAre("main.cu:1 k", "main.cu:1 l"));
}

// The check of a rewrite executes one meaning of a text; a text with several is left alone.
TEST_F(HeaderLoops, AFileThatIsReadTwiceIsNotRewritten) {
  write("x.inc", header_kernel("NAME", "", "TYPE"));
  const Source source = main_of(
      "#define TYPE int\n#define NAME first\n#include \"x.inc\"\n#undef TYPE\n#undef NAME\n"
      "#define TYPE float\n#define NAME second\n#include \"x.inc\"\n");
  EXPECT_THAT(found(source), ElementsAre("x.inc:4 first", "x.inc:4 second"));
  for (const DivergentLoop& l : divergent_loops(source, {})) {
    EXPECT_THAT(l.no_rewrite, HasSubstr("read several times"));
    EXPECT_THROW(rewritten(source, {}, l, Policy::round_robin), UserError);
    EXPECT_TRUE(l.can_record);
    FrontendOptions options;
    options.kernel = l.runs_as();
    EXPECT_EQ(analyze(instrumented(source, {}, l), options).profile.parameters.size(), 4U);
  }
}

TEST_F(HeaderLoops, PartsOfABodyMayBeIncluded) {
  write("branch.inc", "    if (in[i + id] > 0) {\n      s += i;\n    } else {\n      s *= 3;\n    }\n");
  write("loop.inc", "  for (int i = 0; i < n; ++i) {\n#include \"branch.inc\"\n  }\n");
  const Source source = main_of(
      "__global__ void k(const int* __restrict__ in, int* __restrict__ out, int n) {\n  int id = threadIdx.x, s = id;\n"
      "#include \"loop.inc\"\n  out[id] = s;\n}\n");
  const auto loops = divergent_loops(source, {});
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].file, path("loop.inc"));
  EXPECT_EQ(loops[0].branch_file, path("branch.inc"));
  EXPECT_EQ(loops[0].branch_line, 1);
  EXPECT_EQ(loops[0].advance.legal, Legality::no);
  EXPECT_EQ(loops[0].advance.file, path("branch.inc"));
  EXPECT_NE(loops[0].no_rewrite, "");
}

TEST_F(HeaderLoops, HeadersOfTheSystemAreNotLookedAt) {
  write("s.cuh", "#pragma GCC system_header\n" + header_kernel("walk"));
  const Source only = main_of("#include \"s.cuh\"\n");
  EXPECT_THAT(refusal(only), HasSubstr("its kernels stand in " + path("s.cuh")));
  EXPECT_THAT(refusal(only, "walk"), HasSubstr("kernel 'walk' stands in"));
  EXPECT_THAT(refusal(only, "wall"), HasSubstr("no kernel is named 'wall'"));
  EXPECT_THAT(found(main_of("#include \"s.cuh\"\n" + header_kernel("own"))), ElementsAre("main.cu:5 own"));
}

TEST_F(HeaderLoops, NoKernelAnywhere) {
  const std::string text = refusal(main_of("#include \"nowhere.cuh\"\nint main() {}\n"));
  EXPECT_THAT(text, HasSubstr("no kernel found"));
  EXPECT_THAT(text, HasSubstr("header 'nowhere.cuh' was not found"));
  write("declared.cuh", "__global__ void k(int*);\n__global__ void k(int*);\n");
  EXPECT_THAT(refusal(main_of("#include \"declared.cuh\"\nint main() { k<<<1, 1>>>(nullptr); }\n")),
              HasSubstr("declared only: k (" + path("declared.cuh") + ":1); give the file"));
}

TEST_F(HeaderLoops, AreRewrittenWhereTheyStand) {
  const std::string before = "#pragma once\n" + header_kernel("walk");
  write("k.cuh", before);
  const Source source = main_of("#include \"k.cuh\"\n");
  const DivergentLoop loop = divergent_loops(source, {}).at(0);
  for (const Policy policy : {Policy::round_robin, Policy::advance, Policy::advance_in_order}) {
    const std::string after = rewritten(source, {}, loop, policy);
    EXPECT_THAT(after, HasSubstr("for (int i = 0; i < n;) {"));
    EXPECT_EQ(after.rfind("#pragma once\n", 0), 0U);
    EXPECT_EQ(executed_output(source, "walk"), executed_output(with_text(source, loop.file, after), "walk")) << after;
  }
  EXPECT_EQ(contents("k.cuh"), before);
}

TEST_F(HeaderLoops, ARecordedKernelIsDeclaredAlikeEverywhere) {
  const auto parameters = [](const Source& source, const std::string& kernel) {
    const auto loops = divergent_loops(source, {});
    EXPECT_EQ(loops.size(), 1U);
    EXPECT_TRUE(loops.at(0).can_record);
    FrontendOptions options;
    options.kernel = kernel;
    return analyze(instrumented(source, {}, loops.at(0)), options).profile.parameters.size();
  };
  write("c.h", "extern \"C\" __global__ void k(const int*, int*, int);\n");
  EXPECT_EQ(parameters(main_of("#include \"c.h\"\n" + header_kernel("k", "extern \"C\" ")), "k"), 4U);
  write("t.h", "template <typename T> __global__ void k(const int*, T*, int);\n");
  const std::string walk = header_kernel("k", "template <typename T> ", "T");
  EXPECT_EQ(
      parameters(main_of("#include \"t.h\"\n" + walk + "int main() { k<int><<<1, 64>>>(0, (int*)0, 1); }\n"), "k<int>"),
      4U);
  const std::string own = header_kernel("k<int>", "template <> ");
  const Source special = main_of("#include \"t.h\"\n" + own + "int main() { k<int><<<1, 64>>>(0, (int*)0, 1); }\n");
  EXPECT_FALSE(divergent_loops(special, {}).at(0).can_record);
}

TEST_F(HeaderLoops, AnotherTextIsReadUnderAllNamesOfAFile) {
  write("inc/k.cuh", header_kernel("walk"));
  fs::create_directory_symlink(folder_ / "inc", folder_ / "link");
  const Source source = main_of("#include \"link/k.cuh\"\n");
  const Source changed = with_text(source, path("inc/k.cuh"), header_kernel("run"));
  EXPECT_THAT(found(source), ElementsAre("link/k.cuh:4 walk"));
  EXPECT_THAT(found(changed), ElementsAre("inc/k.cuh:4 run"));
}

// Headers of the C++ library say __attribute__((__noinline__)), CUDA's say __noinline__: both are understood.
TEST_F(HeaderLoops, AFileWithoutKernelsIsToldSo) {
  const std::string refused =
      refusal(main_of("#include <memory>\n__device__ __noinline__ int three() { return 3; }\n"));
  EXPECT_THAT(refused, HasSubstr("no kernel found"));
}

}  // namespace
}  // namespace kernelcast
