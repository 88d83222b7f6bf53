// Where pointers of the source point to.
#pragma once

#include <map>
#include <set>

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace kernelcast::frontend {

/// What a function does to its variables as a whole, wherever it does so.
struct VariableFacts {
  std::set<const clang::VarDecl*> set_again;      // pointers assigned after their declaration
  std::set<const clang::VarDecl*> address_taken;  // also those that a reference names
};

class Pointers {
 public:
  /// Of the function that declares the variable; nothing for variables of file scope.
  const VariableFacts& facts_of(const clang::VarDecl* v);

  /// A place in memory as the source names it.
  struct Place {
    const clang::VarDecl* base = nullptr;  // a parameter, or an object; null: not known
    bool moved = false;                    // an offset was added on the way
    bool whole = false;                    // the address of a variable that is no array
  };
  Place place_of(const clang::Expr* pointer);

 private:
  std::map<const clang::FunctionDecl*, VariableFacts> facts_;
};

}  // namespace kernelcast::frontend
