// Bad sources: the type of the error and what its message holds.
#include <gmock/gmock.h>

#include <atomic>
#include <memory>
#include <thread>

#include "frontend/source/compile_guard.h"
#include "kernelcast/error.h"
#include "unit/frontend/compile_support.h"

namespace kernelcast::frontend {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

template <class Problem>
std::string message(const std::string& name, const std::string& text, const std::string& kernel = {}) {
  try {
    compiled(name, text, "sm_70", kernel);
  } catch (const Problem& error) {
    return error.what();
  }
  return "no such error";
}

TEST(BadSource, ClangSpeaksForItself) {
  EXPECT_THAT(message<UserError>("dir/k.cu", "__global__ void k(float* a) {\n  a[0] = 1.0f\n}\n"),
              AllOf(HasSubstr("dir/k.cu:2:14: error: expected ';' after expression"), HasSubstr("a[0] = 1.0f"),
                    HasSubstr("^"), Not(HasSubstr("\033["))));
  EXPECT_THAT(
      message<UserError>("k.cl", "__kernel void k(__global float* a) { a[0] = missing; }"),
      AllOf(HasSubstr("k.cl:1:45: error: use of undeclared identifier 'missing'"), HasSubstr("clBuildProgram")));
  EXPECT_THAT(message<UserError>("k.c", "void k(void) { for (;;) { } \n"), HasSubstr("k.c:1:29: error: expected '}'"));
  EXPECT_THAT(message<UserError>("k.cu", "__global__ void k(float* a { a[0] = 1; }\n"), HasSubstr("expected ')'"));
}

TEST(BadSource, MissingHeaderOfAKernelIsNamed) {
  EXPECT_THAT(
      message<UserError>("k.cu", "#include \"types.h\"\n__global__ void k(my_type* a) { a[0] = 1; }\n"),
      AllOf(HasSubstr("unknown type name 'my_type'"), HasSubstr("'types.h' was not found"), HasSubstr("folder by I")));
}

TEST(BadSource, TemplatesThatCannotBeInstantiated) {
  const std::string text = "template <int N> __global__ void k(int* a) { a[0] = N; }";
  EXPECT_THAT(message<UserError>("k.cu", text, "k"), AllOf(HasSubstr("kernel template 'k'"), HasSubstr("kernel 'k<")));
  EXPECT_THAT(message<UserError>("k.cu", text, "k<float>"), HasSubstr("cannot be instantiated as 'k<float>'"));
  EXPECT_THAT(message<UserError>("k.cu", text, "k<4"), HasSubstr("no matching '>'"));
}

TEST(BadSource, IrThatIsNone) {
  EXPECT_THAT(message<UserError>("k.ll", "define void @k( {\n"), HasSubstr("k.ll:2:1: error: expected type"));
  EXPECT_THAT(
      message<UserError>("k.ll", "define i32 @k() {\n  %a = add i32 %b, 1\n  %b = add i32 %a, 1\n  ret i32 %b\n}\n"),
      HasSubstr("not valid"));
  EXPECT_THAT(message<UserError>("k.bc", std::string("\0\1\2\3", 4)), HasSubstr("bitcode"));
  EXPECT_THAT(message<UserError>("k.bc", std::string("BC\xC0\xDE garbage")), HasSubstr("k.bc"));
}

TEST(BadSource, BytesThatAreNoText) {
  std::string bytes(std::size_t{1} << 20, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 2654435761u >> 13);
  EXPECT_THAT(message<UserError>("k.cu", bytes), HasSubstr("no text"));
  EXPECT_THAT(message<LimitError>("k.cu", std::string(std::size_t{20} << 20, ' ')), HasSubstr("MiB"));
}

TEST(BadSource, Nesting) {
  EXPECT_THAT(message<UserError>("k.cu",
                                 "template <int N> struct S { static const int v = S<N - 1>::v; };\n__global__ void "
                                 "k(int* p) { *p = S<100000>::v; }"),
              HasSubstr("recursive template instantiation exceeded maximum depth"));
  EXPECT_THAT(message<UserError>("k.cl", "__kernel void k(__global int* p) { *p = " + std::string(1000, '(') + "1" +
                                             std::string(1000, ')') + "; }"),
              HasSubstr("bracket nesting level exceeded"));
}

TEST(BadSource, StackOverflowOfTheCompilerIsALimit) {
  std::string text = "__global__ void k(int* p) { *p = ";
  for (int i = 0; i < 400000; ++i) text += "-~";
  EXPECT_THAT(message<LimitError>("k.cu", text + "1; }"), HasSubstr("crashed"));
}

TEST(BadSource, UnknownTargetAndOptions) {
  EXPECT_THROW(compiled("k.cu", "", "x86"), UserError);
  EXPECT_THROW(compiled("k.cu", "__global__ void k() {}", "sm_1234"), UserError);
  Source odd = source("k.cu", "__global__ void k() {}");
  odd.standard = "c++99";
  EXPECT_THROW(compile_unit(odd, "sm_70", 60), UserError);
}

// Processor time: a task that waits uses none.
TEST(Guard, TimeStrikesWhileTheTaskStillRuns) {
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  const auto finished = std::make_shared<std::atomic<bool>>(false);
  const auto busy = [stop, finished] {
    while (!*stop) {
    }
    *finished = true;
  };
  EXPECT_THROW(run_guarded(busy, {.time_s = 0.3}), LimitError);
  EXPECT_FALSE(*finished);
  *stop = true;
}

TEST(Guard, MemoryStrikes) {
  const auto grow = [] {
    std::vector<std::string> held;
    for (int i = 0; i < 3000; ++i) {
      held.emplace_back(std::size_t{1} << 18, 'x');
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  EXPECT_THROW(run_guarded(grow, {.time_s = 60, .memory_bytes = std::size_t{64} << 20}), LimitError);
}

TEST(Guard, ExceptionsPassThrough) {
  EXPECT_THROW(run_guarded([] { throw UserError("mine"); }, {}), UserError);
}

}  // namespace
}  // namespace kernelcast::frontend
