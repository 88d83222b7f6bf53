// What a statement may do, without evaluating it: launches, exits, writes.
#include <cmath>

#include "frontend/host/interpreter.h"
#include "frontend/host/sample.h"
#include "frontend/source/ast_walk.h"

namespace kernelcast::frontend::host {
namespace {

bool names_a_launch(const clang::FunctionDecl* f) {
  const std::string name = f->getNameAsString();
  return name.starts_with("cudaLaunchKernel") || name == "cudaLaunchCooperativeKernel" || name == "hipLaunchKernel" ||
         name == "cuLaunchKernel" || name == "cuLaunchCooperativeKernel" || name == "cudaGraphAddKernelNode" ||
         name == "hipLaunchCooperativeKernel" || name.starts_with("hipLaunchKernelEx");
}

const clang::Expr* root_of(const clang::Expr* e) {
  for (;;) {
    e = e->IgnoreParenCasts();
    if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(e)) {
      e = m->getBase();
    } else if (const auto* a = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) {
      e = a->getBase();
    } else if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e)) {
      e = u->getSubExpr();
    } else if (const auto* o = llvm::dyn_cast<clang::CXXOperatorCallExpr>(e); o != nullptr && o->getNumArgs() > 0) {
      e = o->getArg(0);
    } else {
      return e;
    }
  }
}

/// A variable, or a member of one that no index and no pointer arithmetic leads to.
bool is_direct(const clang::Expr* e) {
  e = e->IgnoreParenCasts();
  if (llvm::isa<clang::DeclRefExpr>(e)) return true;
  const auto* m = llvm::dyn_cast<clang::MemberExpr>(e);
  return m != nullptr && (llvm::isa<clang::CXXThisExpr>(m->getBase()->IgnoreParenCasts()) || is_direct(m->getBase()));
}

/// `p` of p[i] and *p where it is direct: what it points to is written, and nothing else.
const clang::Expr* direct_pointer(const clang::Expr* e) {
  e = e->IgnoreParenCasts();
  const clang::Expr* base = nullptr;
  if (const auto* a = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) base = a->getBase();
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e); u != nullptr && u->getOpcode() == clang::UO_Deref)
    base = u->getSubExpr();
  return base != nullptr && llvm::isa<clang::MemberExpr>(base->IgnoreParenCasts()) && is_direct(base) ? base : nullptr;
}

/// The variable that a pointer is computed from, or that leads to an element: of p, p + i, p[i], *p, p->x. Null:
/// another expression.
const clang::VarDecl* pointer_root(const clang::Expr* e) {
  for (;;) {
    e = e->IgnoreParenCasts();
    if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(e))
      return llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    const auto* sum = llvm::dyn_cast<clang::BinaryOperator>(e);
    const auto* deref = llvm::dyn_cast<clang::UnaryOperator>(e);
    if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(e))
      e = m->getBase();
    else if (const auto* a = llvm::dyn_cast<clang::ArraySubscriptExpr>(e))
      e = a->getBase();
    else if (deref != nullptr && deref->getOpcode() == clang::UO_Deref)
      e = deref->getSubExpr();
    else if (sum != nullptr && sum->isAdditiveOp())
      e = sum->getLHS()->getType()->isPointerType() ? sum->getLHS() : sum->getRHS();
    else
      return nullptr;
  }
}

/// Whether it loads a number, and no pointer through which more could be written.
bool loads_number(const clang::Stmt* s) {
  const auto* load = llvm::dyn_cast<clang::ImplicitCastExpr>(s);
  return load != nullptr && load->getCastKind() == clang::CK_LValueToRValue && !load->getType()->isPointerType() &&
         !load->getType().isVolatileQualified();
}

/// A container, text or map of the C++ library.
bool is_container(clang::QualType type) {
  return is_std(class_of(type), {"vector", "basic_string", "map", "set", "multimap", "multiset", "unordered_map",
                                 "unordered_set", "deque", "list", "queue", "stack"});
}

/// Whether a member function may change how many elements there are.
bool resizes(const clang::CXXMethodDecl* method) {
  if (method == nullptr || method->isConst() || method->isStatic() || !method->getParent()->isInStdNamespace())
    return false;
  const std::string name = method->getNameAsString();
  const OneOf is{name};
  if (name == "operator[]") return method->getParent()->getName().contains("map");
  return !is({"begin", "end", "data", "at", "front", "back", "rbegin", "rend", "find", "reserve", "shrink_to_fit"});
}

}  // namespace

bool Interpreter::launches(const clang::Stmt* statement) {
  if (statement == nullptr) return false;
  if (const auto known = launching_statements_.find(statement); known != launching_statements_.end())
    return known->second;
  bool found = false;
  AstVisit visit;
  visit.statement = [&](clang::Stmt* s) {
    if (llvm::isa<clang::CUDAKernelCallExpr>(s)) found = true;
    const clang::FunctionDecl* callee = nullptr;
    if (const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(s)) {  // called, or given to a function that may call it
      callee = llvm::dyn_cast<clang::FunctionDecl>(named->getDecl());
      if (named->getDecl()->getDeclName().isIdentifier() && named->getDecl()->getName() == "cuLaunchKernel")
        found = true;
    }
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(s)) {
      callee = call->getDirectCallee();
      if (callee == nullptr && may_launch(call->getCallee()->getType())) found = true;
    }
    if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(s)) callee = made->getConstructor();
    if (callee != nullptr && (names_a_launch(callee) || launches(callee))) found = true;
    return !found;
  };
  walk(const_cast<clang::Stmt*>(statement), visit);
  launching_statements_[statement] = found;
  return found;
}

void Interpreter::find_overriders() {
  if (overriders_found_) return;
  overriders_found_ = true;
  AstVisit visit;
  visit.instantiations = true;
  visit.declaration = [&](clang::Decl* d) {
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(d);
    if (method != nullptr && method->isVirtual() && !is_of_the_system(method->getLocation()))
      for (const clang::CXXMethodDecl* overridden : method->overridden_methods())
        overriders_[overridden->getCanonicalDecl()].push_back(method);
    return true;
  };
  walk(context_.getTranslationUnitDecl(), visit);
}

/// Whether a function of the program that such a pointer may point to launches: one of the same type.
bool Interpreter::may_launch(clang::QualType pointer) {
  if (!pointer->isFunctionPointerType()) return false;
  const auto* type = pointer->getPointeeType()->getAs<clang::FunctionProtoType>();
  if (type == nullptr) return false;
  const clang::Type* wanted = context_.getCanonicalType(pointer->getPointeeType()).getTypePtr();
  const auto [known, added] = launching_types_.emplace(wanted, false);
  if (!added) return known->second;
  bool found = false;
  AstVisit visit;
  visit.instantiations = true;
  visit.declaration = [&](clang::Decl* d) {
    const auto* f = llvm::dyn_cast<clang::FunctionDecl>(d);
    if (f != nullptr && !f->isDependentContext() && !llvm::isa<clang::CXXMethodDecl>(f) &&
        context_.getCanonicalType(f->getType()).getTypePtr() == wanted &&
        (f->hasAttr<clang::CUDAGlobalAttr>() || launches(f)))
      found = true;
    return !found;
  };
  walk(context_.getTranslationUnitDecl(), visit);
  return launching_types_[wanted] = found;
}

bool Interpreter::launches(const clang::FunctionDecl* function) {
  if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
      method != nullptr && method->isVirtual() && !is_of_the_system(method->getLocation())) {
    find_overriders();
    if (const auto found = overriders_.find(method->getCanonicalDecl()); found != overriders_.end())
      for (const clang::CXXMethodDecl* other : found->second)
        if (launches(other)) return true;
  }
  const clang::FunctionDecl* with_body = nullptr;
  if (!function->hasBody(with_body)) {  // of another file: it may launch
    if (function->getDeclName().isIdentifier() && !is_of_the_runtime(function) &&
        !function->hasAttr<clang::CUDADeviceAttr>())
      miss(function);
    return false;
  }
  if (is_of_the_system(with_body->getLocation())) return false;
  const auto [known, added] = launching_.emplace(with_body, false);  // recursion: decided by the outer call
  if (!added) return known->second;
  const bool found = launches(with_body->getBody());
  launching_[with_body] = found;
  return found;
}

/// Whether the last thing that it does is to leave the loop, the function or the program.
bool Interpreter::leaves(const clang::Stmt* s) {
  if (s == nullptr) return false;
  bool found = false;
  AstVisit visit;
  visit.statement = [&](clang::Stmt* part) {
    if (llvm::isa<clang::ReturnStmt, clang::BreakStmt, clang::GotoStmt, clang::CXXThrowExpr, clang::ContinueStmt>(part))
      found = true;
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(part)) {
      if (const clang::FunctionDecl* f = call->getDirectCallee()) {
        const std::string name = f->getNameAsString();
        if (name == "exit" || name == "abort" || name == "_exit" || name == "quick_exit" || f->isNoReturn())
          found = true;
      }
    }
    return !found;
  };
  walk(const_cast<clang::Stmt*>(s), visit);
  return found;
}

/// Whether it leaves the loop around it.
bool Interpreter::breaks(const clang::Stmt* s) {
  if (const auto* block = llvm::dyn_cast_or_null<clang::CompoundStmt>(s))
    return std::any_of(block->body_begin(), block->body_end(),
                       [this](const clang::Stmt* part) { return breaks(part); });
  return llvm::isa_and_nonnull<clang::BreakStmt>(s);
}

bool Interpreter::is_loop(const clang::Stmt* s) {
  return llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt>(s);
}

/// Whether the name is one of the runtime's or the driver's.
bool Interpreter::is_of_the_runtime(const clang::FunctionDecl* f) {
  if (f == nullptr || !f->getDeclName().isIdentifier()) return false;
  return f->getName().starts_with("cu") || f->getName().starts_with("hip");
}

/// Whether a loop stands in it, or in what a function called from it does itself.
bool Interpreter::holds_loop(const clang::Stmt* s, bool calls) {
  bool found = false;
  AstVisit visit;
  visit.statement = [&](clang::Stmt* part) {
    if (part != s && is_loop(part)) found = true;
    const auto* call = calls ? llvm::dyn_cast<clang::CallExpr>(part) : nullptr;
    const clang::FunctionDecl* defined = nullptr;
    if (call != nullptr && call->getDirectCallee() != nullptr && call->getDirectCallee()->hasBody(defined))
      found = found || holds_loop(defined->getBody(), false);
    return !found;
  };
  walk(const_cast<clang::Stmt*>(s), visit);
  return found;
}

void Interpreter::forget(const Place& place, const std::string& why, int line) {
  if (place.memory == nullptr || place.memory->text) return;
  const auto slot = place.memory->slots.find(place.key);
  if (slot != place.memory->slots.end() && slot->second.kind == Value::Kind::object && slot->second.place.memory) {
    MemoryRef inner = slot->second.place.memory;
    inner->slots.clear();
    inner->rest = Value::not_known(why, line);
    return;
  }
  place.memory->slots[place.key] = Value::not_known(why, line);
}

/// Whether nothing is written through the pointer in a parameter: each use of it loads a number, or is handed to a
/// function of which the same holds. What cannot be told is no.
bool Interpreter::only_reads(const clang::FunctionDecl* function, unsigned parameter) {
  const clang::FunctionDecl* defined = nullptr;
  if (!function->hasBody(defined) || defined->isDependentContext() || parameter >= defined->getNumParams())
    return false;
  const clang::ParmVarDecl* p = defined->getParamDecl(parameter);
  const auto [known, added] = only_read_.emplace(p, false);  // recursion: no
  if (!added) return known->second;
  int uses = 0, reads = 0;
  AstVisit visit;
  visit.statement = [&](clang::Stmt* s) {
    if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(s)) uses += name->getDecl() == p ? 1 : 0;
    if (loads_number(s) && pointer_root(llvm::cast<clang::ImplicitCastExpr>(s)->getSubExpr()) == p) ++reads;
    const auto* call = llvm::dyn_cast<clang::CallExpr>(s);
    const clang::FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
    if (callee == nullptr || llvm::isa<clang::CXXMethodDecl>(callee)) return true;
    for (unsigned k = 0; k < call->getNumArgs() && k < callee->getNumParams(); ++k) {
      const clang::QualType type = callee->getParamDecl(k)->getType();
      if (!type->isPointerType() || pointer_root(call->getArg(k)) != p) continue;
      if (type->getPointeeType().isConstQualified() || only_reads(callee, k)) ++reads;
    }
    return true;
  };
  walk(defined->getBody(), visit);
  return only_read_[p] = uses == reads;
}

/// What elements were is not known any more. Where a loop is left that wrote numbers, the others are likely to be such.
void Interpreter::forget_elements(Memory& memory, const std::string& why, int line) const {
  std::shared_ptr<const Sample> like;
  if (loop_left_ != 0) {
    like = sample_of(memory, line, loop_left_, left_is_flat_);
    if (like == nullptr && memory.rest.like && memory.rest.like->loop == loop_left_) like = memory.rest.like;
  }
  memory.slots.clear();
  memory.rest = Value::not_known(why, line);
  memory.rest.like = std::move(like);
}

void Interpreter::forget_written(const clang::Stmt* statement, const std::string& why) {
  if (statement == nullptr) return;
  const int line = line_of(statement);
  const auto forget_target = [&](const clang::Expr* target) {
    const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(root_of(target));
    const auto* v = name == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    if (v == nullptr) return;
    Place place;
    for (auto frame = frames_.rbegin(); frame != frames_.rend() && place.memory == nullptr; ++frame)
      if (const auto found = (*frame)->variables.find(v); found != (*frame)->variables.end()) place = found->second;
    if (place.memory == nullptr && v->hasGlobalStorage()) place = variable(v);
    if (place.memory == nullptr) return;  // declared inside
    if (is_direct(target)) {
      forget(place_of(target->IgnoreParenCasts()), why, line);
      return;
    }
    if (const clang::Expr* pointer = direct_pointer(target)) {
      const Value to = evaluate(pointer);
      if (to.kind == Value::Kind::pointer && to.place.memory && !to.place.memory->text) {
        forget_elements(*to.place.memory, why, line);
      }
      return;
    }
    const Value& held = place.memory->slots[place.key];  // what the pointer or structure holds
    if (held.place.memory == nullptr || held.place.memory->text) return;
    const auto size = held.place.memory->slots.find(-2);
    const auto data = held.place.memory->slots.find(-1);
    if (size != held.place.memory->slots.end() &&
        data != held.place.memory->slots.end()) {  // std::vector keeps its size
      if (MemoryRef elements = data->second.place.memory) {
        forget_elements(*elements, why, line);
      }
      return;
    }
    forget_elements(*held.place.memory, why, line);
  };
  const auto forget_container = [&](const clang::Expr* object) {
    const clang::Expr* plain = object->IgnoreParenCasts();
    const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(root_of(plain));
    const auto* v = name == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    const bool declared_inside =
        v != nullptr && !v->hasGlobalStorage() &&
        std::none_of(frames_.begin(), frames_.end(), [&](const auto& frame) { return frame->variables.contains(v); });
    if (declared_inside) return;
    if (!is_direct(plain)) return forget_target(plain);
    const Place place = place_of(plain);
    if (!place.memory) return;
    const auto held = place.memory->slots.find(place.key);
    const bool known = held != place.memory->slots.end() && held->second.place.memory;
    if (known && held->second.place.memory->slots.contains(-2)) {
      auto& slots = held->second.place.memory->slots;
      slots[-2] = Value::not_known(why, line);
      if (const MemoryRef elements = slots[-1].place.memory) {
        elements->slots.clear();
        elements->rest = elements->bytes.emplace(Value::not_known(why, line));
      }
    } else {
      place.memory->slots[place.key] = empty_of(plain->getType().getNonReferenceType(), why, line);
    }
  };
  AstVisit visit;
  visit.statement = [&](clang::Stmt* s) {
    if (const auto* m = llvm::dyn_cast<clang::CXXMemberCallExpr>(s);
        m != nullptr && resizes(m->getMethodDecl()) && m->getImplicitObjectArgument() != nullptr &&
        is_container(m->getImplicitObjectArgument()->getType()))
      forget_container(m->getImplicitObjectArgument());
    if (const auto* o = llvm::dyn_cast<clang::CXXOperatorCallExpr>(s);
        o != nullptr && o->getNumArgs() > 0 && is_container(o->getArg(0)->getType()) &&
        resizes(llvm::dyn_cast_or_null<clang::CXXMethodDecl>(o->getDirectCallee())))
      forget_container(o->getArg(0));
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(s); call != nullptr && draws(call))
      draws_passed_over_ = line;
    if (const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(s))
      symbols_.erase(llvm::dyn_cast<clang::VarDecl>(named->getDecl()));
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(s))  // given to be changed
      if (const clang::FunctionDecl* f = call->getDirectCallee();
          f != nullptr && !llvm::isa<clang::CXXOperatorCallExpr>(call))
        for (unsigned k = 0; k < call->getNumArgs() && k < f->getNumParams(); ++k) {
          const clang::QualType type = f->getParamDecl(k)->getType();
          if (!type->isLValueReferenceType() || type->getPointeeType().isConstQualified()) continue;
          if (is_container(type)) forget_container(call->getArg(k));
          if (type->getPointeeType()->isArithmeticType()) forget_target(call->getArg(k));
        }
    if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(s); b != nullptr && b->isAssignmentOp())
      forget_target(b->getLHS());
    if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s); u != nullptr && u->isIncrementDecrementOp())
      forget_target(u->getSubExpr());
    if (const auto* o = llvm::dyn_cast<clang::CXXOperatorCallExpr>(s);
        o != nullptr && o->isAssignmentOp() && o->getNumArgs() > 0)
      forget_target(o->getArg(0));
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(s)) {
      for (const clang::Expr* a : call->arguments()) {
        const auto* address = llvm::dyn_cast<clang::UnaryOperator>(a->IgnoreParenCasts());
        if (address != nullptr && address->getOpcode() == clang::UO_AddrOf) forget_target(address->getSubExpr());
      }
    }
    return true;
  };
  walk(const_cast<clang::Stmt*>(statement), visit);
}

}  // namespace kernelcast::frontend::host
