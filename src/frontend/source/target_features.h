// Builtins that the target does not have, found before code is generated: the code generator stops for good at the
// first.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/Diagnostic.h"

namespace kernelcast::frontend {

/// Reports each call of a builtin in `function` whose features the target lacks, as Clang's code generator would, and
/// the first GPU of AMD that has them.
void report_missing_features(clang::FunctionDecl* function, clang::DiagnosticsEngine& diagnostics);

}  // namespace kernelcast::frontend
