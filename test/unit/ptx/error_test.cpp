// What is no PTX: place, what is wrong, what to do. Sizes beyond the limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernelcast/error.h"
#include "ptx/limits.h"
#include "unit/ptx/ptx_text.h"

namespace kernelcast::ptx {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(PtxErrors, NameFileLineAndColumn) {
  EXPECT_EQ(message_of("int main() {}"),
            "k.ptx:1:1: no PTX text: it begins with .version; make one by nvcc -ptx, or give the source's language");
  EXPECT_EQ(message_of(module_text(".entry k() {\n  add.u32 %r1, 1, 2;\n}")),
            "k.ptx:5:11: register '%r1' is not declared; declare it by .reg");
  EXPECT_EQ(message_of(module_text(".entry k() {\n  bra nowhere;\n}")),
            "k.ptx:5:7: label 'nowhere' is not in this function; add it, or correct the name");
  EXPECT_EQ(message_of(module_text(".entry k() {\n  ret\n}")), "k.ptx:6:1: expected a constant, found '}'");
  EXPECT_EQ(message_of(module_text(".entry k() {")), "k.ptx:4:12: the brace does not close; end the body by '}'");
  EXPECT_EQ(message_of(module_text("/* no end")), "k.ptx:4:1: the comment does not end; close it by */");
  EXPECT_EQ(message_of(module_text(".global .u32 x = 1/0;")), "k.ptx:4:19: division by zero");
}

TEST(PtxErrors, OfOperandsThatAreMissing) {
  const auto at = [](const std::string& statement) {
    return message_of(module_text(".entry k() {\n" + statement + "\n}"));
  };
  EXPECT_EQ(at("add.s64 0;"), "k.ptx:5:1: add.s64 has 1 of at least 3 operands");
  EXPECT_EQ(at(".reg .f32 %f; ld.global.f32 %f;"), "k.ptx:5:15: ld.global.f32 has 1 of at least 2 operands");
  EXPECT_EQ(at("mov.u32;"), "k.ptx:5:1: mov.u32 has 0 of at least 2 operands");
}

TEST(PtxErrors, OfDeclarations) {
  const auto at = [](const std::string& text) { return message_of(module_text(text)); };
  EXPECT_THAT(at(".global .u32 x; .global .u32 x;"), HasSubstr("'x' is declared twice in one scope"));
  EXPECT_THAT(at(".global x;"), HasSubstr("the declaration has no type"));
  EXPECT_THAT(at(".global .u33 x;"), HasSubstr("'.u33' is no type"));
  EXPECT_THAT(at(".global .u32 .f32 x;"), HasSubstr("takes one type"));
  EXPECT_THAT(at(".global .align 3 .u32 x;"), HasSubstr("power of two"));
  EXPECT_THAT(at(".global .u32 x[2] = {1, 2, 3};"), HasSubstr("2 elements and an initializer of 3"));
  EXPECT_THAT(at(".global .u32 x = 1.5;"), HasSubstr("not initialized by a real constant"));
  EXPECT_THAT(at(".global .u8 x[9223372036854775807][9];"), HasSubstr("larger than 2^62 bytes"));
  EXPECT_THAT(at(".global .u32 x = 0x1ffffffffffffffff;"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(at(".global .f32 x = 0f3F8;"), HasSubstr("takes 8 hexadecimal digits, not 3"));
  EXPECT_THAT(at(".entry k() { ret; } .entry k() { ret; }"), HasSubstr("has two bodies"));
  EXPECT_THAT(at(".func f .wrong { ret; }"), HasSubstr("'.wrong' is no directive of a function"));
  EXPECT_THAT(at(".wrong"), HasSubstr("'.wrong' is no directive of a module"));
  EXPECT_THAT(at(".entry k() { .reg .b32 r; @r call missing; }"),
              HasSubstr("'missing' is declared as no variable or function"));
}

TEST(PtxErrors, ManyRegistersAndLabelsFit) {
  std::string labels;
  for (int i = 0; i < 100000; ++i)
    labels += "L" + std::to_string(i) + ": bra L" + std::to_string((i + 7) % 100000) + ";\n";
  const Module module = parse_kernel(".reg .b32 %many<1000000>; mov.u32 %many999999, 1;\n" + labels);
  const Function& k = module.functions[0];
  EXPECT_EQ(register_name(k, static_cast<std::uint32_t>(k.body[0].operands[0].index)), "%many999999");
  EXPECT_EQ(k.labels.size(), 100000U);
  EXPECT_TRUE(same(module, parse(print(module), "k.ptx")));
}

TEST(PtxErrors, LimitsAreNamed) {
  const auto limit = [](const std::string& text) {
    try {
      parse(text, "k.ptx");
    } catch (const LimitError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(limit(kernel_text(".reg .b32 %x<4294967296>;")), HasSubstr("at most 4194304 registers"));
  EXPECT_THAT(limit(kernel_text(std::string(100, '{'))), HasSubstr("more than 64 scopes"));
  EXPECT_THAT(limit(kernel_text("mov.u32 %r1, " + std::string(5000, '(') + "1;")), HasSubstr("more than 64 operators"));
  EXPECT_THAT(limit(kernel_text("mov.u32 %r1, " + std::string(5000, '-') + "1;")), HasSubstr("more than 64 operators"));
  EXPECT_THAT(limit(kernel_text("mov.u32 %r1, " + std::string(5000, '{') + "1;")), HasSubstr("more than 4 braces"));
  EXPECT_THAT(limit(module_text(".global .b8 x[2][4000000000] = {{1}, {2}};")),
              HasSubstr("at most 16777216 elements in all"));
  std::string functions;
  for (int i = 0; i < 5; ++i) functions += ".func f" + std::to_string(i) + "() { .reg .b32 %x<4000000>; ret; }\n";
  EXPECT_THAT(limit(module_text(functions)), HasSubstr("at most 16777216 registers"));
  std::string labels;
  for (std::uint32_t i = 0; i <= max_labels; ++i) labels += "L" + std::to_string(i) + ":\n";
  const std::string message = limit(kernel_text(labels));
  EXPECT_THAT(message, HasSubstr("at most 262144 labels"));
  EXPECT_THAT(message, StartsWith("k.ptx:"));
}

TEST(PtxErrors, LongNamesAreShortened) {
  EXPECT_LT(message_of(kernel_text("mov.u32 %r1, " + std::string(100000, 'x') + ";")).size(), 500U);
}

TEST(PtxErrors, ZeroBytesAreNoText) {
  EXPECT_THAT(message_of(std::string("abc\0def", 7)), HasSubstr("extract the PTX by cuobjdump -ptx"));
  EXPECT_EQ(message_of(module_text("") + std::string(3, '\0')), "");
}

}  // namespace
}  // namespace kernelcast::ptx
