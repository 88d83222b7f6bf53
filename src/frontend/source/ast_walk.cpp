#include "frontend/source/ast_walk.h"

#include "clang/AST/RecursiveASTVisitor.h"

namespace kernelcast::frontend {
namespace {

class AstWalk : public clang::RecursiveASTVisitor<AstWalk> {
 public:
  explicit AstWalk(const AstVisit& visit) : visit_(visit) {}
  [[nodiscard]] bool shouldVisitTemplateInstantiations() const { return visit_.instantiations; }
  bool VisitStmt(clang::Stmt* s) { return !visit_.statement || visit_.statement(s); }
  bool VisitDecl(clang::Decl* d) { return !visit_.declaration || visit_.declaration(d); }

 private:
  const AstVisit& visit_;
};

}  // namespace

void walk(clang::Stmt* root, const AstVisit& visit) {
  if (root != nullptr) AstWalk(visit).TraverseStmt(root);
}

void walk(clang::Decl* root, const AstVisit& visit) {
  if (root != nullptr) AstWalk(visit).TraverseDecl(root);
}

}  // namespace kernelcast::frontend
