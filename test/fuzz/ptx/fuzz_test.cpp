// Damaged PTX: the answer is a module or an Error, and what is read comes back from the printer. Seeds and numbers of
// mutations are fixed; sanitizers end after 30 seconds. KERNELCAST_FUZZ_SECONDS sets a time instead,
// KERNELCAST_FUZZ_SEED begins elsewhere; a failure prints the text.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>

#include "kernelcast/error.h"
#include "ptx/accesses.h"
#include "ptx/instructions.h"
#include "ptx/matrix.h"
#include "unit/ptx/damage.h"

namespace kernelcast::ptx {
namespace {

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

void fuzz(const std::vector<std::string>& samples, std::uint64_t mutations,
          const std::function<void(const std::string&)>& try_one) {
  const std::uint64_t seconds = environment("KERNELCAST_FUZZ_SECONDS", 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds > 0 ? seconds : 30);
  std::mt19937 random(static_cast<std::mt19937::result_type>(environment("KERNELCAST_FUZZ_SEED", 1)));
  for (std::uint64_t n = 0; (seconds > 0 || n < mutations) && std::chrono::steady_clock::now() < end; ++n) {
    const std::string text = damaged(samples[random() % samples.size()], random);
    try {
      try_one(text);
    } catch (const Error&) {
    } catch (const std::exception& e) {
      FAIL() << e.what() << "\n" << text;
    }
  }
}

/// The table answers for whatever has been read.
void ask(const Function& function) {
  for (const Instruction& instruction : function.body) {
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) (void)role_of(instruction, i);
    (void)memory_accesses(instruction);
    (void)matrix_work(instruction);
    (void)tensor_memory_bytes(instruction);
  }
}

TEST(FuzzPtx, Modules) {
  std::vector<std::string> samples;
  for (const std::string& file : sample_files()) samples.push_back(file_text(file));
  fuzz(samples, 15000, [](const std::string& text) {
    const Module module = parse(text, "a.ptx");
    for (const Function& function : module.functions) ask(function);
    EXPECT_TRUE(same(module, parse(print(module), "b.ptx"))) << text;
  });
}

TEST(FuzzPtx, Fragments) {
  const std::vector<FragmentOperand> operands{{Type::b32, "x", std::nullopt, -1},
                                              {Type::b64, "", std::nullopt, -1},
                                              {Type::b32, "", "16", -1},
                                              {Type::b32, "", std::nullopt, 0}};
  const std::vector<std::string> samples{
      "{ .reg .pred p; L%=: mbarrier.try_wait.shared::cta.b64 p, [%0], %1; @!p bra L%=; }",
      "cp.async.cg.shared.global.L2::128B [%[x]], [%1+%2], %2, %3;\ncp.async.commit_group;",
      "{ .reg .b32 %%t<4>; mov.u32 %%t1, %%tid.x; add.s32 %0, %%t1, %2; }",
      "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %3}, [%0];"};
  for (const FragmentSyntax syntax : {FragmentSyntax::c, FragmentSyntax::llvm, FragmentSyntax::plain})
    fuzz(samples, 30000,
         [&](const std::string& text) { ask(parse_fragment(text, operands, syntax, "a.cu", 3, 4).code); });
}

}  // namespace
}  // namespace kernelcast::ptx
