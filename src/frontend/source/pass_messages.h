// What LLVM's passes say about a module: kept as warnings of the analysis, not printed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernelcast/frontend.h"

namespace llvm {
class DiagnosticHandler;
class LLVMContext;
}  // namespace llvm

namespace kernelcast::frontend {

/// Takes over the messages of a context while it lives. Without a handler LLVM writes to standard error, and ends the
/// process after an error.
class PassMessages {
 public:
  explicit PassMessages(llvm::LLVMContext& context);
  ~PassMessages();
  PassMessages(const PassMessages&) = delete;
  PassMessages& operator=(const PassMessages&) = delete;
  /// Warnings so far, each text once, as "FILE:LINE:COLUMN: warning: ...".
  [[nodiscard]] const std::vector<Diagnostic>& warnings() const { return warnings_; }
  /// Throws LimitError with the first error, if there was one.
  void refuse_errors() const;

 private:
  struct Handler;
  llvm::LLVMContext& context_;
  std::unique_ptr<llvm::DiagnosticHandler> before_;
  std::vector<Diagnostic> warnings_;
  std::string error_;
};

}  // namespace kernelcast::frontend
