// Every statement and declaration below a node, in source order. Clang's RecursiveASTVisitor is a template whose whole
// is compiled again for each class that derives from it; this is the one class that does.
#pragma once

#include <functional>

#include "clang/AST/Decl.h"
#include "clang/AST/Stmt.h"

namespace kernelcast::frontend {

/// What to call, each before what is below; one that returns false ends the walk. Empty: not asked for.
struct AstVisit {
  std::function<bool(clang::Stmt*)> statement;
  std::function<bool(clang::Decl*)> declaration;
  bool instantiations = false;  // of templates: walked too
};

/// A null pointer has nothing below it.
void walk(clang::Stmt* root, const AstVisit& visit);
void walk(clang::Decl* root, const AstVisit& visit);

}  // namespace kernelcast::frontend
