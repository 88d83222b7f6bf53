#include "frontend/source/compile.h"

#include "frontend/source/compile_guard.h"
#include "frontend/source/host_code.h"
#include "kernelcast/error.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace kernelcast::frontend {

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
