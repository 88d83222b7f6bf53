#include "frontend/source/compile.h"

#include <bit>
#include <charconv>
#include <regex>
#include <sstream>

#include "frontend/source/compile_guard.h"
#include "frontend/source/host_code.h"
#include "kernelcast/error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace kernelcast::frontend {
namespace {

/// f0x3FB8AA3B, a number by its 32 bits, as the 64 bits of the same number.
std::string wider_numbers(std::string line) {
  constexpr std::size_t digits = 8;
  for (std::size_t at = line.find(" f0x"); at != std::string::npos; at = line.find(" f0x", at + 1)) {
    std::uint32_t bits = 0;
    const char* first = line.data() + at + 4;
    const char* last = line.data() + std::min(line.size(), at + 4 + digits);
    if (std::from_chars(first, last, bits, 16).ptr != last || last - first != digits) continue;
    const auto wide = std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(bits)));
    line.replace(at, 4 + digits, " 0x" + llvm::utohexstr(wide));
  }
  return line;
}

/// Text of later versions of LLVM (21, as Triton writes it) in the words of this one. What has no older word and only
/// allows more optimizations is left out.
std::string in_older_words(const std::string& text) {
  static const std::pair<std::regex, const char*> words[] = {
      {std::regex(R"(captures\(none\))"), "nocapture"},
      {std::regex(R"(captures\([^()]*\)|\bsamesign |\bnocreateundeforpoison\b|\bdead_on_return\b)"), ""},
      {std::regex(R"((getelementptr (?:inbounds )?)(?:nuw |nusw )+)"), "$1"},
      {std::regex(R"(\btrunc (?:nuw |nsw )+)"), "trunc "},
      {std::regex(R"(\bhalf -inf\b)"), "half 0xHFC00"},
      {std::regex(R"(\bhalf \+?inf\b)"), "half 0xH7C00"},
      {std::regex(R"(([ \[])-inf\b)"), "$010xFFF0000000000000"},  // float and double
      {std::regex(R"(([ \[])\+?inf\b)"), "$010x7FF0000000000000"},
      {std::regex(R"((make\.buffer\.rsrc.*, i16 \d+, )i64( \d+))"), "$1i32$2"},
      {std::regex(R"((make\.buffer\.rsrc.*, i16, )i64)"), "$1i32"}};
  std::string out, line;
  std::istringstream lines(text);
  while (std::getline(lines, line)) {
    for (const auto& [later, older] : words) line = std::regex_replace(line, later, older);
    out += wider_numbers(std::move(line)) + '\n';
  }
  return out;
}

}  // namespace

CompiledUnit read_llvm_ir(const Source& source) {
  const bool bitcode = source.text.starts_with("BC\xC0\xDE") || source.text.starts_with("\xDE\xC0\x17\x0B");
  if (!bitcode && looks_binary(source.text)) {
    throw UserError(source.path + ": neither LLVM IR text nor bitcode (bitcode starts with the bytes 'BC' C0 DE)");
  }
  CompiledUnit unit;
  unit.context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic problem;
  const auto buffer = llvm::MemoryBuffer::getMemBufferCopy(source.text, source.path);
  name_stage("LLVM's reader of intermediate code");
  unit.module = llvm::parseIR(buffer->getMemBufferRef(), problem, *unit.context);
  if (unit.module == nullptr && !bitcode) {
    const auto older = llvm::MemoryBuffer::getMemBufferCopy(in_older_words(source.text), source.path);
    llvm::SMDiagnostic ignored;
    unit.module = llvm::parseIR(older->getMemBufferRef(), ignored, *unit.context);
  }
  if (unit.module == nullptr) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    problem.print(nullptr, stream, /*ShowColors=*/false);
    throw UserError(text);
  }
  name_stage("LLVM's verifier of intermediate code");
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(*unit.module, &stream)) throw UserError(source.path + ": the IR is not valid\n" + text);
  if (const std::string wrong = malformed_metadata(*unit.module); !wrong.empty())
    throw UserError(source.path + ": " + wrong);
  return unit;
}

}  // namespace kernelcast::frontend
