// The walk over a statement's syntax tree that finds its effects.
#pragma once

#include <string>

#include "clang/AST/ExprCXX.h"
#include "frontend/loops/loop_effects.h"
#include "frontend/loops/loop_pointers.h"

namespace kernelcast::frontend::effects {

class Walker {
 public:
  Walker(Effects& out, const clang::ASTContext& context, int depth)
      : out_(out), context_(context), call_depth_(depth) {}

  void statement(const clang::Stmt* s);

 private:
  Spot at(const clang::Stmt* s) const { return spot_of(s->getBeginLoc(), context_); }
  void first(Spot& spot, const clang::Stmt* s) const;
  /// Code that nobody sees here: it may do anything, also wait for other threads.
  void stranger(const clang::Stmt* s, const std::string& what);
  bool in_memory(const clang::VarDecl* v);
  void opaque(const clang::Stmt* s, const std::string& what);
  void children(const clang::Stmt* s);

  void loop(const clang::Stmt* s);

  void read(const clang::VarDecl* v, const clang::Expr* e) {
    out_.reads.emplace(v, VariableUse{at(e), Reduction::none});
  }
  void use(const clang::VarDecl* v, const clang::Expr* e);
  void write(const clang::VarDecl* v, const clang::Expr* e, Reduction r) {
    out_.writes.emplace(v, VariableUse{at(e), r});
  }

  void access(const clang::Expr* pointer, const clang::Expr* index, bool store, const clang::Expr* whole);

  /// The place that an assignment or an increment changes.
  void target(const clang::Expr* place, Reduction r, bool old_value_read);

  /// Indices on the way from an element to its variable.
  void indices(const clang::Expr* e);
  void target_of_part(const clang::VarDecl* v, const clang::Expr* e);
  /// A member or element is written: the whole variable counts as read and written.
  void part(const clang::Expr* base, bool arrow, const clang::Expr* whole);

  void scalar(const clang::VarDecl* v, const clang::Expr* e, bool store);

  void expression(const clang::Expr* given, bool used);

  void binary(const clang::BinaryOperator* b, bool used);

  void unary(const clang::UnaryOperator* u, bool used);

  void construct(const clang::CXXConstructExpr* x);

  void call(const clang::CallExpr* c, bool used);

  /// Functions of the language and the toolkits read and write what they are given, and nothing else.
  void toolkit_function(const clang::CallExpr* c, const clang::FunctionDecl* f);

  void own_function(const clang::CallExpr* c, const clang::FunctionDecl* f);

  void atomic(const clang::CallExpr* c, const std::string& name, bool used);

  Effects& out_;
  const clang::ASTContext& context_;
  Pointers pointers_;
  int call_depth_, breakable_ = 0, loops_ = 0;
};

/// The variable of which the expression is a member or an element, without going through a pointer; null: none.
const clang::VarDecl* whole_of(const clang::Expr* given);

}  // namespace kernelcast::frontend::effects
