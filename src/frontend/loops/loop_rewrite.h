// Source text of a loop transformed or recorded.
#pragma once

#include <string>

#include "frontend/loops/loop_find.h"
#include "kernelcast/loops.h"

namespace clang {
class Rewriter;
}

namespace kernelcast::frontend {

/// Where the statement stands in the file; invalid where a macro writes a part of it that cannot be cut out.
clang::CharSourceRange text_range(const clang::Stmt* s, const clang::ASTContext& context);
/// The variable that a for loop declares, null if it declares none or several.
const clang::VarDecl* counter_of(const LoopParts& p);
/// Why the text cannot be transformed; empty: it can, wherever it is legal.
std::string why_not_rewritten(const LoopParts& p, const clang::ASTContext& context);
/// Whether instrument() can: nothing that it changes is written by a macro or means something else elsewhere.
bool can_record(const LoopParts& p, const clang::ASTContext& context);
void rewrite(clang::Rewriter& rewriter, const LoopParts& p, clang::ASTContext& context, Policy policy);
void instrument(clang::Rewriter& rewriter, const LoopParts& p, clang::ASTContext& context);

}  // namespace kernelcast::frontend
