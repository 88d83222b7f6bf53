// A condition that knows nothing but thread indices, sizes, counters and arguments is the same for any data. Where it
// compares something that grows with the index with a bound that all lanes share, the lanes on either side are
// neighbours, and only the warp at the border parts. Remainders, masks and exclusive ors of the index scatter them.
#include <set>

#include "clang/AST/ExprCXX.h"
#include "frontend/loops/known_functions.h"
#include "frontend/loops/loop_find.h"
#include "frontend/source/ast_walk.h"

namespace kernelcast::frontend {
namespace {

using namespace clang;
using clang::Expr;  // not kernelcast::Expr

bool is_index_variable(llvm::StringRef name) {
  return name == "threadIdx" || name == "blockIdx" || name == "blockDim" || name == "gridDim" || name == "warpSize" ||
         name.starts_with("hipThreadIdx") || name.starts_with("hipBlock") || name.starts_with("hipGridDim");
}

/// Everything that a function's own variables are ever set to.
class LoopDefinitions {
 public:
  explicit LoopDefinitions(const FunctionDecl* f) {
    AstVisit visit;
    visit.statement = [this](Stmt* s) {
      if (const auto* d = llvm::dyn_cast<DeclStmt>(s)) {
        for (const Decl* one : d->decls())
          if (const auto* v = llvm::dyn_cast<VarDecl>(one); v != nullptr && v->getInit() != nullptr)
            of[v].push_back(v->getInit());
      } else if (const auto* b = llvm::dyn_cast<BinaryOperator>(s); b != nullptr && b->isAssignmentOp()) {
        if (const VarDecl* v = variable(b->getLHS())) of[v].push_back(b->getRHS());
      } else if (const auto* u = llvm::dyn_cast<UnaryOperator>(s); u != nullptr && u->getOpcode() == UO_AddrOf) {
        if (const VarDecl* v = variable(u->getSubExpr())) addressed.insert(v);
      }
      return true;
    };
    walk(f->getBody(), visit);
  }
  std::map<const VarDecl*, std::vector<const Expr*>> of;
  std::set<const VarDecl*> addressed;
};

class ShapeOfBranch {
 public:
  explicit ShapeOfBranch(const LoopParts& p) : lanes_(p.lanes), definitions_(p.function) {}

  LaneShape of(const Expr* condition) {
    if (!index_only(condition)) return LaneShape::data;
    return neighbours(condition->IgnoreParenImpCasts()) ? LaneShape::neighbours : LaneShape::scattered;
  }

 private:
  bool index_only(const Stmt* s) {
    if (s == nullptr) return true;
    if (llvm::isa<ArraySubscriptExpr, CXXThisExpr, StmtExpr, LambdaExpr>(s)) return false;
    if (const auto* u = llvm::dyn_cast<UnaryOperator>(s); u != nullptr && u->getOpcode() == UO_Deref) return false;
    if (const auto* m = llvm::dyn_cast<MemberExpr>(s); m != nullptr && m->isArrow()) return false;
    if (const auto* e = llvm::dyn_cast<Expr>(s); e != nullptr && is_index(e)) return true;
    if (const auto* c = llvm::dyn_cast<CallExpr>(s)) {
      const FunctionDecl* f = c->getDirectCallee();
      const std::string name = f == nullptr ? "" : f->getNameAsString();
      if (!is_location_query(name) && !is_lane_query(name)) return false;
    }
    if (const auto* r = llvm::dyn_cast<DeclRefExpr>(s)) {
      if (const auto* v = llvm::dyn_cast<VarDecl>(r->getDecl())) return known(v);
    }
    for (const Stmt* c : s->children())
      if (!index_only(c)) return false;
    return true;
  }
  bool known(const VarDecl* v) {
    if (is_index_variable(v->getName())) return true;
    const bool own = v->hasLocalStorage() || v->getType().isConstQualified();
    if (!own || v->getType()->isReferenceType() || v->getType()->isPointerType() || definitions_.addressed.contains(v))
      return false;
    if (!v->getType()->isIntegerType() && !v->getType()->isDependentType()) return false;
    if (!seen_.insert(v).second) return true;                           // depends on itself, as counters do
    if (llvm::isa<ParmVarDecl>(v) && lanes_.contains(v)) return false;  // whatever a caller has put in
    for (const Expr* e : definitions_.of[v])
      if (!index_only(e)) return false;
    return true;
  }
  bool of_lane(const Stmt* s) const { return !why_lane_dependent(s, lanes_).empty(); }

  /// Of a condition: whether the lanes for which it holds stand side by side.
  bool neighbours(const Expr* e) {
    e = e->IgnoreParenImpCasts();
    if (!of_lane(e)) return true;
    if (const auto* u = llvm::dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_LNot)
      return neighbours(u->getSubExpr());
    const auto* b = llvm::dyn_cast<BinaryOperator>(e);
    if (b == nullptr) return false;
    if (b->isLogicalOp()) return neighbours(b->getLHS()) && neighbours(b->getRHS());
    if (!b->isComparisonOp()) return false;
    // A bound that also moves with the lane may cross anywhere.
    if (of_lane(b->getLHS()) && of_lane(b->getRHS())) return false;
    return grows(of_lane(b->getLHS()) ? b->getLHS() : b->getRHS(), 0);
  }
  /// Of a number: whether it grows, or falls, with the index throughout.
  bool grows(const Expr* e, int depth) {
    constexpr int deepest = 8;
    e = e->IgnoreParenImpCasts();
    if (!of_lane(e)) return true;
    if (depth > deepest) return false;
    if (const VarDecl* v = variable(e)) {
      const auto& all = definitions_.of[v];
      return all.size() == 1 && grows(all.front(), depth + 1);
    }
    if (const auto* b = llvm::dyn_cast<BinaryOperator>(e)) {
      const bool one_side = of_lane(b->getLHS()) != of_lane(b->getRHS());
      switch (b->getOpcode()) {
        case BO_Add:
        case BO_Sub:
        case BO_Mul:
          return one_side && grows(b->getLHS(), depth + 1) && grows(b->getRHS(), depth + 1);
        case BO_Div:
        case BO_Shr:
        case BO_Shl:
          return one_side && of_lane(b->getLHS()) && grows(b->getLHS(), depth + 1);
        default:
          return false;
      }
    }
    return is_index(e);
  }
  /// Without the wrappings that properties, as CUDA's indices are, come in.
  static const Expr* bare(const Expr* e) {
    for (;;) {
      e = e->IgnoreParenImpCasts();
      if (const auto* p = llvm::dyn_cast<PseudoObjectExpr>(e)) {
        e = p->getSyntacticForm();
      } else if (const auto* o = llvm::dyn_cast<OpaqueValueExpr>(e); o != nullptr && o->getSourceExpr() != nullptr) {
        e = o->getSourceExpr();
      } else {
        return e;
      }
    }
  }
  /// threadIdx.x, get_local_id(0) and the like.
  static bool is_index(const Expr* e) {
    e = bare(e);
    if (const auto* c = llvm::dyn_cast<CallExpr>(e)) {
      const FunctionDecl* f = c->getDirectCallee();
      return f != nullptr && is_lane_query(f->getNameAsString());
    }
    if (const auto* m = llvm::dyn_cast<MemberExpr>(e)) e = bare(m->getBase());
    if (const auto* m = llvm::dyn_cast<MSPropertyRefExpr>(e)) e = bare(m->getBaseExpr());
    const VarDecl* v = variable(e);
    return v != nullptr && is_index_variable(v->getName());
  }

  const std::map<const VarDecl*, std::string>& lanes_;
  LoopDefinitions definitions_;
  std::set<const VarDecl*> seen_;
};

}  // namespace

LaneShape lane_shape(const LoopParts& parts) { return ShapeOfBranch(parts).of(parts.branch->getCond()); }

}  // namespace kernelcast::frontend
