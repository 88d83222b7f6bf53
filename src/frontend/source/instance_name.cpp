#include "frontend/source/instance_name.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/PrettyPrinter.h"
#include "llvm/Support/raw_ostream.h"

namespace kernelcast::frontend {

std::string instance_name(const clang::FunctionDecl& kernel) {
  clang::PrintingPolicy policy(kernel.getASTContext().getLangOpts());
  policy.SuppressDefaultTemplateArgs = false;
  std::string name;
  llvm::raw_string_ostream stream(name);
  kernel.getNameForDiagnostic(stream, policy, /*Qualified=*/true);
  return name;
}

}  // namespace kernelcast::frontend
