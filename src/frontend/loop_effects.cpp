// A walk over the syntax tree. What is not understood is opaque, which no strategy that changes the order may pass.
#include "frontend/loop_effects.h"

#include <algorithm>
#include <array>

#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"

namespace kernelcast::frontend {
namespace {

using namespace clang;

constexpr int deepest_call = 6;

bool starts_with_any(llvm::StringRef name, std::initializer_list<const char*> heads) {
  return std::any_of(heads.begin(), heads.end(), [&](const char* h) { return name.starts_with(h); });
}

bool is_collective(llvm::StringRef name) {
  return name == "sync" || name == "barrier" || name == "thread_rank" ||
         starts_with_any(name, {"__syncthreads",
                                "__syncwarp",
                                "__bar",
                                "__shfl",
                                "__ballot",
                                "__any",
                                "__all",
                                "__activemask",
                                "__match_",
                                "__reduce_",
                                "__nvvm_bar",
                                "__nvvm_vote",
                                "__nvvm_shfl",
                                "__builtin_amdgcn_s_barrier",
                                "__builtin_amdgcn_ds_",
                                "__builtin_amdgcn_readlane",
                                "__builtin_amdgcn_readfirstlane",
                                "work_group_",
                                "sub_group_",
                                "async_work_group",
                                "wait_group_events",
                                "intel_sub_group",
                                "shfl",
                                "ballot"});
}

bool is_fence(llvm::StringRef name) {
  return starts_with_any(name, {"mem_fence", "read_mem_fence", "write_mem_fence", "atomic_work_item_fence",
                                "__threadfence", "__builtin_amdgcn_fence", "__nvvm_membar"});
}

bool is_atomic(llvm::StringRef name) { return starts_with_any(name, {"atomic", "atom_"}); }

bool is_order_free_atomic(llvm::StringRef name) {
  const std::string lower = name.lower();
  return llvm::StringRef(lower).contains("add") || llvm::StringRef(lower).contains("sub") ||
         llvm::StringRef(lower).contains("min") || llvm::StringRef(lower).contains("max") ||
         llvm::StringRef(lower).contains("and") || llvm::StringRef(lower).contains("_or") ||
         llvm::StringRef(lower).ends_with("or") || llvm::StringRef(lower).contains("inc") ||
         llvm::StringRef(lower).contains("dec");
}

bool is_location_query(llvm::StringRef name) {
  return starts_with_any(name, {"get_global", "get_local", "get_group", "get_num_groups", "get_enqueued",
                                "get_work_dim", "get_sub_group", "get_max_sub_group"});
}

Reduction reduction_of(BinaryOperatorKind op) {
  switch (op) {
    case BO_AddAssign:
    case BO_SubAssign:
    case BO_Add:
    case BO_Sub:
      return Reduction::add;
    case BO_MulAssign:
    case BO_Mul:
      return Reduction::multiply;
    case BO_AndAssign:
    case BO_And:
      return Reduction::bit_and;
    case BO_OrAssign:
    case BO_Or:
      return Reduction::bit_or;
    case BO_XorAssign:
    case BO_Xor:
      return Reduction::bit_xor;
    default:
      return Reduction::none;
  }
}

const VarDecl* variable(const Expr* e) {
  const auto* r = llvm::dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts());
  return r == nullptr ? nullptr : llvm::dyn_cast<VarDecl>(r->getDecl());
}

bool mentions(const Stmt* s, const VarDecl* v) {
  if (s == nullptr) return false;
  if (const auto* r = llvm::dyn_cast<DeclRefExpr>(s); r != nullptr && r->getDecl() == v) return true;
  return std::any_of(s->child_begin(), s->child_end(), [&](const Stmt* c) { return mentions(c, v); });
}

bool in_memory(const VarDecl* v) {
  if (v->getType()->isReferenceType()) return true;
  if (v->hasGlobalStorage()) return true;  // file scope, __shared__, __local
  return v->getType().getAddressSpace() != LangAS::Default && v->getType().getAddressSpace() != LangAS::opencl_private;
}

class Walker {
 public:
  Walker(Effects& out, const ASTContext& context, int depth) : out_(out), context_(context), call_depth_(depth) {}

  void statement(const Stmt* s) {
    if (s == nullptr) return;
    if (const auto* e = llvm::dyn_cast<Expr>(s)) {
      expression(e, /*used=*/false);
      return;
    }
    switch (s->getStmtClass()) {
      case Stmt::BreakStmtClass:
        if (breakable_ == 0) exit(s);
        return;
      case Stmt::ContinueStmtClass:
        if (loops_ == 0) exit(s);
        return;
      case Stmt::ReturnStmtClass:
        if (call_depth_ == 0) exit(s);
        children(s);
        return;
      case Stmt::GotoStmtClass:
      case Stmt::IndirectGotoStmtClass:
      case Stmt::LabelStmtClass:
        exit(s);
        children(s);
        return;
      case Stmt::GCCAsmStmtClass:
      case Stmt::MSAsmStmtClass:
        if (out_.assembly == 0) out_.assembly = at(s);
        opaque(s, "assembly");
        return;
      case Stmt::DeclStmtClass:
        for (const Decl* d : llvm::cast<DeclStmt>(s)->decls()) {
          if (const auto* v = llvm::dyn_cast<VarDecl>(d)) {
            out_.declared.insert(v);
            if (v->getType().isVolatileQualified()) out_.is_volatile = at(s);
            if (v->getInit() != nullptr) expression(v->getInit(), true);
          }
        }
        return;
      case Stmt::ForStmtClass:
      case Stmt::WhileStmtClass:
      case Stmt::DoStmtClass:
      case Stmt::CXXForRangeStmtClass:
        ++breakable_;
        ++loops_;
        loop(s);
        --breakable_;
        --loops_;
        return;
      case Stmt::IfStmtClass: {
        const auto* i = llvm::cast<IfStmt>(s);
        statement(i->getInit());
        statement(i->getConditionVariableDeclStmt());
        expression(i->getCond(), true);
        statement(i->getThen());
        statement(i->getElse());
        return;
      }
      case Stmt::SwitchStmtClass:
        ++breakable_;
        children(s);
        --breakable_;
        return;
      default:
        children(s);
    }
  }

 private:
  int at(const Stmt* s) const { return line_of(s->getBeginLoc(), context_); }
  void exit(const Stmt* s) {
    if (out_.exit == 0) out_.exit = at(s);
  }
  void opaque(const Stmt* s, const std::string& what) {
    if (out_.opaque != 0) return;
    out_.opaque = at(s);
    out_.opaque_what = what;
  }
  void children(const Stmt* s) {
    for (const Stmt* c : s->children()) {
      if (const auto* e = llvm::dyn_cast_or_null<Expr>(c)) {
        expression(e, !llvm::isa<CompoundStmt>(s));
      } else {
        statement(c);
      }
    }
  }

  void loop(const Stmt* s) {
    if (const auto* f = llvm::dyn_cast<ForStmt>(s)) {
      statement(f->getInit());
      if (f->getCond() != nullptr) expression(f->getCond(), true);
      statement(f->getInc());
      statement(f->getBody());
    } else if (const auto* w = llvm::dyn_cast<WhileStmt>(s)) {
      expression(w->getCond(), true);
      statement(w->getBody());
    } else if (const auto* d = llvm::dyn_cast<DoStmt>(s)) {
      statement(d->getBody());
      expression(d->getCond(), true);
    } else {
      children(s);
    }
  }

  void read(const VarDecl* v, const Expr* e) { out_.reads.emplace(v, VariableUse{at(e), Reduction::none}); }
  void write(const VarDecl* v, const Expr* e, Reduction r) { out_.writes.emplace(v, VariableUse{at(e), r}); }

  void access(const Expr* pointer, const Expr* index, bool store, const Expr* whole) {
    if (whole->getType().isVolatileQualified() && out_.is_volatile == 0) out_.is_volatile = at(whole);
    MemoryAccess m;
    m.store = store;
    m.line = at(whole);
    const Expr* p = pointer->IgnoreParenCasts();
    if (const auto* sum = llvm::dyn_cast<BinaryOperator>(p);
        sum != nullptr && sum->getOpcode() == BO_Add && index == nullptr) {
      const bool left = sum->getLHS()->getType()->isPointerType();
      p = (left ? sum->getLHS() : sum->getRHS())->IgnoreParenCasts();
      m.index = left ? sum->getRHS() : sum->getLHS();
    } else {
      m.index = index;
    }
    if (const auto* outer = llvm::dyn_cast<ArraySubscriptExpr>(p)) {  // a[i][j]
      p = outer->getBase()->IgnoreParenCasts();
      expression(outer->getIdx(), true);
      m.index = nullptr;
      while (const auto* more = llvm::dyn_cast<ArraySubscriptExpr>(p)) {
        expression(more->getIdx(), true);
        p = more->getBase()->IgnoreParenCasts();
      }
    }
    if (const VarDecl* v = variable(p)) {
      bool moved = false;
      m.base = root_of(v, moved);
      if (moved) m.index = nullptr;
      if (!v->getType()->isArrayType()) read(v, p);
    } else {
      expression(p, true);
    }
    if (index != nullptr) expression(index, true);
    if (index == nullptr && m.index != nullptr) expression(m.index, true);
    out_.memory.push_back(m);
  }

  /// The place that an assignment or an increment changes.
  void target(const Expr* place, Reduction r, bool old_value_read) {
    const Expr* e = place->IgnoreParens();
    if (const VarDecl* v = variable(e)) {
      if (in_memory(v)) {
        scalar(v, e, true);
        if (old_value_read) scalar(v, e, false);
        return;
      }
      if (v->getType().isVolatileQualified() && out_.is_volatile == 0) out_.is_volatile = at(e);
      write(v, e, r);
      if (old_value_read && r == Reduction::none) read(v, e);
      return;
    }
    if (const auto* s = llvm::dyn_cast<ArraySubscriptExpr>(e)) {
      access(s->getBase(), s->getIdx(), true, e);
      if (old_value_read) access(s->getBase(), s->getIdx(), false, e);
      return;
    }
    if (const auto* u = llvm::dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_Deref) {
      access(u->getSubExpr(), nullptr, true, e);
      if (old_value_read) access(u->getSubExpr(), nullptr, false, e);
      return;
    }
    if (const auto* m = llvm::dyn_cast<MemberExpr>(e)) {
      part(m->getBase(), m->isArrow(), e);
      return;
    }
    if (const auto* x = llvm::dyn_cast<ExtVectorElementExpr>(e)) {
      part(x->getBase(), x->isArrow(), e);
      return;
    }
    opaque(e, "an assignment that is not followed");
  }

  /// A member or element is written: the whole variable counts as read and written.
  void part(const Expr* base, bool arrow, const Expr* whole) {
    if (arrow) {
      access(base, nullptr, true, whole);
      return;
    }
    target(base, Reduction::none, true);
  }

  void scalar(const VarDecl* v, const Expr* e, bool store) {
    if (v->getType()->isReferenceType()) opaque(e, "the reference " + v->getNameAsString());
    if (v->getType().isVolatileQualified() && out_.is_volatile == 0) out_.is_volatile = at(e);
    if (v->getType().isConstQualified()) return;
    MemoryAccess m;
    m.base = v;
    m.scalar = true;
    m.store = store;
    m.line = at(e);
    out_.memory.push_back(m);
  }

  void expression(const Expr* given, bool used) {
    const Expr* e = given->IgnoreParens();
    if (const auto* full = llvm::dyn_cast<FullExpr>(e)) return expression(full->getSubExpr(), used);
    if (const auto* cast = llvm::dyn_cast<CastExpr>(e)) {
      return expression(cast->getSubExpr(), used && !cast->getType()->isVoidType());
    }
    if (llvm::isa<PseudoObjectExpr>(e)) return;  // threadIdx and its like
    if (const auto* b = llvm::dyn_cast<BinaryOperator>(e)) return binary(b, used);
    if (const auto* u = llvm::dyn_cast<UnaryOperator>(e)) return unary(u, used);
    if (const auto* c = llvm::dyn_cast<CallExpr>(e)) return call(c, used);
    if (const auto* s = llvm::dyn_cast<ArraySubscriptExpr>(e)) return access(s->getBase(), s->getIdx(), false, e);
    if (const auto* m = llvm::dyn_cast<MemberExpr>(e)) {
      if (m->isArrow()) return access(m->getBase(), nullptr, false, e);
      return expression(m->getBase(), true);
    }
    if (llvm::isa<LambdaExpr>(e) || llvm::isa<CXXNewExpr>(e) || llvm::isa<CXXDeleteExpr>(e) ||
        llvm::isa<CXXThisExpr>(e) || llvm::isa<StmtExpr>(e)) {
      return opaque(e, "an expression that is not followed");
    }
    if (const VarDecl* v = llvm::isa<DeclRefExpr>(e) ? variable(e) : nullptr) {
      if (in_memory(v) && !v->getType()->isArrayType() && !v->getType()->isPointerType()) return scalar(v, e, false);
      if (v->getType().isVolatileQualified() && out_.is_volatile == 0) out_.is_volatile = at(e);
      return read(v, e);
    }
    for (const Stmt* c : e->children()) {
      if (const auto* inner = llvm::dyn_cast_or_null<Expr>(c)) {
        expression(inner, true);
      } else {
        statement(c);
      }
    }
  }

  void binary(const BinaryOperator* b, bool used) {
    if (!b->isAssignmentOp()) {
      expression(b->getLHS(), b->getOpcode() != BO_Comma);
      expression(b->getRHS(), b->getOpcode() != BO_Comma || used);
      return;
    }
    const Expr* value = b->getRHS();
    Reduction r = b->isCompoundAssignmentOp() ? reduction_of(b->getOpcode()) : Reduction::none;
    const VarDecl* v = variable(b->getLHS()->IgnoreParens());
    if (!b->isCompoundAssignmentOp() && v != nullptr && !in_memory(v)) {
      // x = x + e
      if (const auto* sum = llvm::dyn_cast<BinaryOperator>(value->IgnoreParenImpCasts())) {
        const Reduction kind = reduction_of(sum->getOpcode());
        const bool left = variable(sum->getLHS()) == v,
                   right = variable(sum->getRHS()) == v && sum->getOpcode() != BO_Sub;
        const Expr* rest = left ? sum->getRHS() : sum->getLHS();
        if (kind != Reduction::none && (left || right) && !mentions(rest, v) && !used) {
          write(v, b, kind);
          expression(rest, true);
          return;
        }
      }
    }
    if (used || (v != nullptr && mentions(value, v))) r = Reduction::none;
    expression(value, true);
    target(b->getLHS(), r, b->isCompoundAssignmentOp());
    if (used && v != nullptr) read(v, b);
  }

  void unary(const UnaryOperator* u, bool used) {
    if (u->isIncrementDecrementOp()) {
      target(u->getSubExpr(), used ? Reduction::none : Reduction::add, true);
      return;
    }
    if (u->getOpcode() == UO_Deref) return access(u->getSubExpr(), nullptr, false, u);
    if (u->getOpcode() == UO_AddrOf) {
      const VarDecl* v = variable(u->getSubExpr());
      if (v != nullptr && !in_memory(v)) {  // whoever has the address may do anything
        read(v, u);
        write(v, u, Reduction::none);
        return;
      }
      if (v == nullptr) opaque(u, "an address that is taken");
      return;
    }
    expression(u->getSubExpr(), true);
  }

  void call(const CallExpr* c, bool used) {
    const FunctionDecl* f = c->getDirectCallee();
    if (f == nullptr) {
      opaque(c, "a call through a pointer");
      return;
    }
    const std::string name = f->getNameAsString();
    if (is_collective(name)) {
      if (out_.collective == 0) {
        out_.collective = at(c);
        out_.collective_name = name;
      }
      return;
    }
    if (is_fence(name)) return opaque(c, "the fence " + name);
    if (is_atomic(name)) return atomic(c, name, used);
    if (llvm::isa<CXXOperatorCallExpr>(c) || llvm::isa<CXXMemberCallExpr>(c)) {
      opaque(c, "the call of " + f->getQualifiedNameAsString());
      return;
    }
    for (const Expr* a : c->arguments()) expression(a, true);
    const SourceManager& sources = context_.getSourceManager();
    const FunctionDecl* definition = f->getDefinition();
    if (definition != nullptr && sources.isInMainFile(sources.getExpansionLoc(definition->getLocation()))) {
      own_function(c, definition);
      return;
    }
    out_.callees.push_back(name);
    if (is_location_query(name)) return;
    // Functions of the language and the toolkits: pure, as long as they get and give values.
    const bool by_value = std::none_of(f->param_begin(), f->param_end(), [](const ParmVarDecl* p) {
      return p->getType()->isPointerType() || p->getType()->isReferenceType();
    });
    if (!by_value || f->getReturnType()->isVoidType()) opaque(c, "the call of " + name);
  }

  void own_function(const CallExpr* c, const FunctionDecl* f) {
    out_.calls.push_back(f);
    if (call_depth_ >= deepest_call) return opaque(c, "the call of " + f->getNameAsString());
    Effects inside;
    Walker(inside, context_, call_depth_ + 1).statement(f->getBody());
    const int line = at(c);
    if (inside.collective != 0 && out_.collective == 0) {
      out_.collective = line;
      out_.collective_name = inside.collective_name + " in " + f->getNameAsString();
    }
    if (inside.is_volatile != 0 && out_.is_volatile == 0) out_.is_volatile = line;
    if (inside.assembly != 0 && out_.assembly == 0) out_.assembly = line;
    for (Atomic a : inside.atomics) {
      a.line = line;
      if (a.base != nullptr && !a.base->hasGlobalStorage()) a.base = nullptr;
      out_.atomics.push_back(a);
    }
    if (inside.opaque != 0) opaque(c, inside.opaque_what + " in " + f->getNameAsString());
    for (MemoryAccess m : inside.memory) {
      // Whose memory a parameter of the function points to is not followed.
      if (m.base != nullptr && inside.declared.contains(m.base) && m.base->getType()->isArrayType()) continue;
      if (m.base == nullptr || !m.base->hasGlobalStorage()) m.base = nullptr;
      m.index = nullptr;
      m.line = line;
      out_.memory.push_back(m);
    }
    // References of the function write to the caller's variables.
    for (const ParmVarDecl* p : f->parameters()) {
      if (p->getType()->isReferenceType() && !p->getType()->getPointeeType().isConstQualified())
        opaque(c, "the reference " + p->getNameAsString() + " of " + f->getNameAsString());
    }
  }

  static const VarDecl* place_of(const Expr* pointer) {
    const Expr* e = pointer->IgnoreParenCasts();
    if (const auto* u = llvm::dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_AddrOf) {
      e = u->getSubExpr()->IgnoreParenCasts();
      if (const auto* s = llvm::dyn_cast<ArraySubscriptExpr>(e)) e = s->getBase()->IgnoreParenCasts();
    }
    if (const auto* sum = llvm::dyn_cast<BinaryOperator>(e)) {
      e = (sum->getLHS()->getType()->isPointerType() ? sum->getLHS() : sum->getRHS())->IgnoreParenCasts();
    }
    bool moved = false;
    const VarDecl* v = variable(e);
    return v == nullptr ? nullptr : root_of(v, moved);
  }

  void atomic(const CallExpr* c, const std::string& name, bool used) {
    Atomic a;
    a.line = at(c);
    a.floating = c->getType()->isFloatingType();
    a.order_free = is_order_free_atomic(name) && !used && !a.floating;
    a.name = name;
    if (c->getNumArgs() > 0) a.base = place_of(c->getArg(0));
    out_.atomics.push_back(a);
    for (unsigned k = 1; k < c->getNumArgs(); ++k) expression(c->getArg(k), true);
    if (c->getNumArgs() == 0) return;
    // The place: its index is read, its contents belong to the atomic.
    const Expr* place = c->getArg(0)->IgnoreParenCasts();
    if (const auto* u = llvm::dyn_cast<UnaryOperator>(place); u != nullptr && u->getOpcode() == UO_AddrOf) {
      if (const auto* s = llvm::dyn_cast<ArraySubscriptExpr>(u->getSubExpr()->IgnoreParens()))
        expression(s->getIdx(), true);
      return;
    }
    if (!llvm::isa<DeclRefExpr>(place)) expression(place, true);
  }

  Effects& out_;
  const ASTContext& context_;
  int call_depth_, breakable_ = 0, loops_ = 0;
};

/// Assignments of a whole function: to find what depends on the lane.
class Taint {
 public:
  explicit Taint(const FunctionDecl* kernel) : kernel_(kernel) {
    std::size_t before = 0;
    do {
      before = why.size();
      visit(kernel_->getBody(), "");
    } while (why.size() != before);
  }
  std::map<const VarDecl*, std::string> why;

 private:
  void mark(const Expr* place, const std::string& reason) {
    if (reason.empty()) return;
    const Expr* e = place->IgnoreParenImpCasts();
    while (true) {
      if (const auto* m = llvm::dyn_cast<MemberExpr>(e)) {
        e = m->getBase()->IgnoreParenImpCasts();
      } else if (const auto* x = llvm::dyn_cast<ExtVectorElementExpr>(e)) {
        e = x->getBase()->IgnoreParenImpCasts();
      } else if (const auto* s = llvm::dyn_cast<ArraySubscriptExpr>(e)) {
        e = s->getBase()->IgnoreParenImpCasts();
      } else {
        break;
      }
    }
    if (const VarDecl* v = variable(e)) why.emplace(v, reason);
  }
  void visit(const Stmt* s, const std::string& control) {
    if (s == nullptr) return;
    std::string inside = control;
    const auto condition = [&](const Expr* c) {
      if (c != nullptr && inside.empty()) inside = why_lane_dependent(c, why);
    };
    if (const auto* i = llvm::dyn_cast<IfStmt>(s)) condition(i->getCond());
    if (const auto* f = llvm::dyn_cast<ForStmt>(s)) condition(f->getCond());
    if (const auto* w = llvm::dyn_cast<WhileStmt>(s)) condition(w->getCond());
    if (const auto* d = llvm::dyn_cast<DoStmt>(s)) condition(d->getCond());
    if (const auto* w = llvm::dyn_cast<SwitchStmt>(s)) condition(w->getCond());
    if (const auto* b = llvm::dyn_cast<BinaryOperator>(s); b != nullptr && b->isAssignmentOp()) {
      const std::string reason = why_lane_dependent(b->getRHS(), why);
      mark(b->getLHS(), reason.empty() ? inside : reason);
    }
    if (const auto* u = llvm::dyn_cast<UnaryOperator>(s); u != nullptr && u->isIncrementDecrementOp())
      mark(u->getSubExpr(), inside);
    if (const auto* u = llvm::dyn_cast<UnaryOperator>(s); u != nullptr && u->getOpcode() == UO_AddrOf) {
      mark(u->getSubExpr(), "its address is taken");
    }
    if (const auto* d = llvm::dyn_cast<DeclStmt>(s)) {
      for (const Decl* declaration : d->decls()) {
        const auto* v = llvm::dyn_cast<VarDecl>(declaration);
        if (v == nullptr || v->getInit() == nullptr) continue;
        const std::string reason = why_lane_dependent(v->getInit(), why);
        if (!reason.empty()) why.emplace(v, reason);
      }
    }
    for (const Stmt* c : s->children()) visit(c, inside);
  }
  const FunctionDecl* kernel_;
};

}  // namespace

void Effects::add(const Effects& o) {
  reads.insert(o.reads.begin(), o.reads.end());
  writes.insert(o.writes.begin(), o.writes.end());
  declared.insert(o.declared.begin(), o.declared.end());
  memory.insert(memory.end(), o.memory.begin(), o.memory.end());
  atomics.insert(atomics.end(), o.atomics.begin(), o.atomics.end());
  calls.insert(calls.end(), o.calls.begin(), o.calls.end());
  callees.insert(callees.end(), o.callees.begin(), o.callees.end());
  if (collective == 0) {
    collective = o.collective;
    collective_name = o.collective_name;
  }
  if (exit == 0) exit = o.exit;
  if (is_volatile == 0) is_volatile = o.is_volatile;
  if (assembly == 0) assembly = o.assembly;
  if (opaque == 0) {
    opaque = o.opaque;
    opaque_what = o.opaque_what;
  }
}

Effects effects_of(const Stmt* statement, const ASTContext& context) {
  Effects e;
  Walker(e, context, 0).statement(statement);
  return e;
}

const VarDecl* root_of(const VarDecl* pointer, bool& moved) {
  for (int steps = 0; steps < 8; ++steps) {
    if (!pointer->getType()->isPointerType() || llvm::isa<ParmVarDecl>(pointer) || pointer->getInit() == nullptr) break;
    const Expr* e = pointer->getInit()->IgnoreParenCasts();
    if (const auto* sum = llvm::dyn_cast<BinaryOperator>(e)) {
      e = (sum->getLHS()->getType()->isPointerType() ? sum->getLHS() : sum->getRHS())->IgnoreParenCasts();
    }
    if (const auto* u = llvm::dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_AddrOf) {
      e = u->getSubExpr()->IgnoreParenCasts();
      if (const auto* s = llvm::dyn_cast<ArraySubscriptExpr>(e)) e = s->getBase()->IgnoreParenCasts();
    }
    moved = true;
    const VarDecl* from = variable(e);
    if (from == nullptr) return nullptr;
    pointer = from;
  }
  return pointer;
}

int line_of(SourceLocation location, const ASTContext& context) {
  const SourceManager& sources = context.getSourceManager();
  return static_cast<int>(sources.getExpansionLineNumber(location));
}

std::map<const VarDecl*, std::string> lane_dependent(const FunctionDecl* kernel) { return Taint(kernel).why; }

std::string why_lane_dependent(const Stmt* s, const std::map<const VarDecl*, std::string>& variables) {
  if (s == nullptr) return "";
  if (const auto* r = llvm::dyn_cast<DeclRefExpr>(s)) {
    if (const auto* v = llvm::dyn_cast<VarDecl>(r->getDecl())) {
      if (v->getName() == "threadIdx" || v->getName() == "hipThreadIdx_x") return "depends on threadIdx";
      const auto found = variables.find(v);
      if (found != variables.end()) return found->second.empty() ? "depends on " + v->getNameAsString() : found->second;
    }
    if (const auto* f = llvm::dyn_cast<FunctionDecl>(r->getDecl())) {
      const llvm::StringRef name = f->getName();
      if (starts_with_any(
              name, {"get_global_id", "get_local_id", "get_global_linear_id", "get_local_linear_id", "get_sub_group"}))
        return "depends on " + name.str();
      if (is_atomic(name)) return "depends on the old value of an atomic";
      if (is_collective(name) && !starts_with_any(name, {"__ballot", "__any", "__all", "work_group_", "__syncthreads"}))
        return "depends on " + name.str();
    }
  }
  for (const Stmt* c : s->children()) {
    std::string reason = why_lane_dependent(c, variables);
    if (!reason.empty()) return reason;
  }
  return "";
}

}  // namespace kernelcast::frontend
