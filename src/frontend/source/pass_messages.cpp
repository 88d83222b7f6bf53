#include "frontend/source/pass_messages.h"

#include <algorithm>

#include "kernelcast/error.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"

namespace kernelcast::frontend {
namespace {

std::string text_of(const llvm::DiagnosticInfo& info) {
  std::string text;
  // The same pragma gets one message for each loop that it was copied to, all at the place of the pragma.
  if (const auto* about = llvm::dyn_cast<llvm::DiagnosticInfoOptimizationBase>(&info)) {
    if (about->isLocationAvailable()) text = about->getLocationStr() + ": ";
    return text + "warning: " + about->getMsg();
  }
  llvm::raw_string_ostream out(text);
  llvm::DiagnosticPrinterRawOStream printer(out);
  info.print(printer);
  return "warning: " + text;
}

}  // namespace

struct PassMessages::Handler : llvm::DiagnosticHandler {
  explicit Handler(PassMessages& to) : messages(to) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    const std::string text = text_of(info);
    if (info.getSeverity() == llvm::DS_Error && messages.error_.empty()) {
      messages.error_ = text;
    } else if (info.getSeverity() == llvm::DS_Warning) {
      std::vector<Diagnostic>& all = messages.warnings_;
      if (std::none_of(all.begin(), all.end(), [&](const Diagnostic& d) { return d.text == text; }))
        all.push_back({Diagnostic::Severity::warning, text});
    }
    return true;  // notes and remarks are LLVM's own business
  }
  PassMessages& messages;
};

PassMessages::PassMessages(llvm::LLVMContext& context) : context_(context), before_(context.getDiagnosticHandler()) {
  context.setDiagnosticHandler(std::make_unique<Handler>(*this));
}

PassMessages::~PassMessages() { context_.setDiagnosticHandler(std::move(before_)); }

void PassMessages::refuse_errors() const {
  if (!error_.empty()) throw LimitError("LLVM refuses the kernel: " + error_);
}

}  // namespace kernelcast::frontend
