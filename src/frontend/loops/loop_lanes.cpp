// Which variables may differ between the lanes of a warp: whatever is computed from a lane's number, or set where lanes
// have parted. Contents of memory are taken to differ where their index does.
#include "frontend/loops/known_functions.h"
#include "frontend/loops/loop_effects.h"

namespace kernelcast::frontend {
namespace {

using namespace clang;
using clang::Expr;  // not kernelcast::Expr

constexpr int deepest_lane_call = 4;
using Reasons = std::map<const VarDecl*, std::string>;

std::string reason_of(const FunctionDecl* f, int depth);

std::string reason_of(const Stmt* s, const Reasons& variables, int depth) {
  if (s == nullptr) return "";
  if (const auto* o = llvm::dyn_cast<OpaqueValueExpr>(s)) return reason_of(o->getSourceExpr(), variables, depth);
  if (const auto* r = llvm::dyn_cast<DeclRefExpr>(s)) {
    if (const auto* v = llvm::dyn_cast<VarDecl>(r->getDecl())) {
      if (v->getName() == "threadIdx" || v->getName() == "hipThreadIdx_x") return "depends on threadIdx";
      const auto found = variables.find(v);
      if (found != variables.end()) return found->second.empty() ? "depends on " + v->getNameAsString() : found->second;
    }
    if (const auto* f = llvm::dyn_cast<FunctionDecl>(r->getDecl())) return reason_of(f, depth);
  }
  for (const Stmt* c : s->children()) {
    std::string reason = reason_of(c, variables, depth);
    if (!reason.empty()) return reason;
  }
  return "";
}

/// Of what a function returns.
std::string reason_of(const FunctionDecl* f, int depth) {
  const std::string name = f->getNameAsString();
  if (is_lane_query(name)) return "depends on " + name;
  if (is_atomic(name)) return "depends on the old value of an atomic";
  const llvm::StringRef n(name);
  const bool same_for_all = n.starts_with("__ballot") || n.starts_with("__any") || n.starts_with("__all") ||
                            n.starts_with("work_group_") || n.starts_with("__syncthreads");
  if (is_collective(f) && !same_for_all) return "depends on " + name;
  const FunctionDecl* definition = f->getDefinition();
  if (definition == nullptr || depth >= deepest_lane_call || is_toolkit(definition, f->getASTContext())) return "";
  return reason_of(definition->getBody(), {}, depth + 1);
}

/// Assignments of a whole function: to find what depends on the lane.
class Taint {
 public:
  Taint(const FunctionDecl* kernel, std::map<const VarDecl*, std::string> known)
      : why(std::move(known)), kernel_(kernel) {
    std::size_t before = 0;
    do {
      before = why.size();
      visit(kernel_->getBody(), "", nullptr);
    } while (why.size() != before);
  }
  std::map<const VarDecl*, std::string> why;

 private:
  void mark(const Expr* place, const std::string& reason) {
    if (reason.empty()) return;
    const Expr* e = place->IgnoreParenImpCasts();
    bool element = false;
    while (true) {
      if (const auto* m = llvm::dyn_cast<MemberExpr>(e)) {
        e = m->getBase()->IgnoreParenImpCasts();
      } else if (const auto* x = llvm::dyn_cast<ExtVectorElementExpr>(e)) {
        e = x->getBase()->IgnoreParenImpCasts();
      } else if (const auto* s = llvm::dyn_cast<ArraySubscriptExpr>(e)) {
        e = s->getBase()->IgnoreParenImpCasts();
        element = true;
      } else {
        break;
      }
    }
    const VarDecl* v = variable(e);
    if (v != nullptr && !(element && v->getType()->isPointerType())) why.emplace(v, reason);
  }
  /// Why lanes leave a loop by a break or return of its own.
  std::string why_left(const Stmt* s, bool in_inner_loop, const std::string& control) const {
    if (s == nullptr) return "";
    if (llvm::isa<ReturnStmt>(s) || (llvm::isa<BreakStmt>(s) && !in_inner_loop)) return control;
    std::string inside = control;
    if (const auto* i = llvm::dyn_cast<IfStmt>(s); i != nullptr && inside.empty())
      inside = why_lane_dependent(i->getCond(), why);
    const bool inner = in_inner_loop || llvm::isa<ForStmt, WhileStmt, DoStmt, SwitchStmt>(s);
    for (const Stmt* c : s->children()) {
      std::string reason = why_left(c, inner, inside);
      if (!reason.empty()) return reason;
    }
    return "";
  }
  /// A variable set under a lane-dependent condition, but for one that only lives under it.
  void mark_by_control(const Expr* place, const std::string& control, const Stmt* region) {
    const VarDecl* v = variable(place);
    const auto at = v == nullptr ? region_of_.end() : region_of_.find(v);
    if (at == region_of_.end() || at->second != region) mark(place, control);
  }
  /// `control`: why lanes have parted here; `region`: the statement at which they did.
  void visit(const Stmt* s, const std::string& control, const Stmt* region) {
    if (s == nullptr) return;
    std::string inside = control;
    const auto because = [&](const std::string& reason) {
      if (reason.empty()) return;
      region = s;
      if (inside.empty()) inside = reason;
    };
    const auto condition = [&](const Expr* c) {
      if (c != nullptr) because(why_lane_dependent(c, why));
    };
    if (llvm::isa<ForStmt, WhileStmt, DoStmt>(s)) {
      for (const Stmt* c : s->children()) because(why_left(c, false, ""));
    }
    if (const auto* i = llvm::dyn_cast<IfStmt>(s)) condition(i->getCond());
    if (const auto* f = llvm::dyn_cast<ForStmt>(s)) condition(f->getCond());
    if (const auto* w = llvm::dyn_cast<WhileStmt>(s)) condition(w->getCond());
    if (const auto* d = llvm::dyn_cast<DoStmt>(s)) condition(d->getCond());
    if (const auto* w = llvm::dyn_cast<SwitchStmt>(s)) condition(w->getCond());
    if (const auto* b = llvm::dyn_cast<BinaryOperator>(s); b != nullptr && b->isAssignmentOp()) {
      const std::string reason = why_lane_dependent(b->getRHS(), why);
      if (reason.empty()) {
        mark_by_control(b->getLHS(), inside, region);
      } else {
        mark(b->getLHS(), reason);
      }
    }
    if (const auto* u = llvm::dyn_cast<UnaryOperator>(s); u != nullptr && u->isIncrementDecrementOp())
      mark_by_control(u->getSubExpr(), inside, region);
    if (const auto* u = llvm::dyn_cast<UnaryOperator>(s); u != nullptr && u->getOpcode() == UO_AddrOf) {
      mark(u->getSubExpr(), "depends on a variable whose address is taken");
    }
    if (const auto* d = llvm::dyn_cast<DeclStmt>(s)) {
      for (const Decl* declaration : d->decls()) {
        const auto* v = llvm::dyn_cast<VarDecl>(declaration);
        if (v == nullptr) continue;
        region_of_[v] = region;
        if (v->getInit() == nullptr) continue;
        const std::string reason = why_lane_dependent(v->getInit(), why);
        if (!reason.empty()) why.emplace(v, reason);
      }
    }
    for (const Stmt* c : s->children()) visit(c, inside, region);
  }
  const FunctionDecl* kernel_;
  std::map<const VarDecl*, const Stmt*> region_of_;  // of its declaration
};

}  // namespace

std::map<const VarDecl*, std::string> lane_dependent(const FunctionDecl* function,
                                                     const std::map<const VarDecl*, std::string>& known) {
  return Taint(function, known).why;
}

std::string why_lane_dependent(const Stmt* expression, const std::map<const VarDecl*, std::string>& variables) {
  return reason_of(expression, variables, 0);
}

}  // namespace kernelcast::frontend
