// May a strategy change this loop?
//
// Postpone (majority, round robin) and advance in order keep each lane's own order of iterations and, with the code
// behind the branch run with each path, everything in them. What they change is which lanes of a warp run together: the
// loop must hold no barrier, vote or shuffle, and nothing that waits for or listens to other threads (volatile, fences,
// atomics whose outcome depends on who comes first).
//
// Advance also exchanges an iteration N that takes F with its neighbour N+1 that takes T. Iterations of one path stay
// in order, so only dependences between the paths count: T and the code behind the branch of N+1 against F and that
// code of N. And the branch of N+1 must be known before N has run: condition, head and the loop's own test may read
// nothing that the body writes.
#include <algorithm>
#include <optional>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "frontend/loops/loop_accesses.h"
#include "frontend/loops/loop_find.h"

namespace kernelcast::frontend {
namespace {

using namespace clang;
using clang::Expr;  // not kernelcast::Expr
using namespace legality;

/// Side effects in front of the decision and on either side of the exchange.
struct Sides {
  Effects front;         // loop test, head and condition
  Effects taken, other;  // each with the code behind the branch
  Effects tail, step, all;
};

class Judge {
 public:
  Judge(const LoopParts& p, const ASTContext& context) : p_(p), context_(context) {
    for (const Stmt* s : p.head) s_.front.add(effects_of(s, context));
    s_.front.add(effects_of(p.branch->getCond(), context));
    if (p.more != nullptr) s_.front.add(effects_of(p.more, context));
    s_.taken = effects_of(p.branch->getThen(), context);
    if (p.branch->getElse() != nullptr) s_.other = effects_of(p.branch->getElse(), context);
    for (const Stmt* s : p.tail) s_.tail.add(effects_of(s, context));
    if (p.step != nullptr) s_.step = effects_of(p.step, context);
    s_.all = s_.front;
    s_.all.add(s_.taken);
    s_.all.add(s_.other);
    s_.all.add(s_.tail);
    s_.all.add(s_.step);
    s_.taken.add(s_.tail);
    s_.other.add(s_.tail);
    for (const auto& [v, use] : s_.step.writes) counter_ = v;
  }

  LegalityVerdict postpone() const {
    const Effects& e = s_.all;
    if (e.collective) {
      return no(Condition::collective, e.collective,
                e.collective_name + " is reached by lanes that are at the same iteration");
    }
    if (e.assembly) return unknown(Condition::opaque, e.assembly, "assembly may synchronise; assert that it does not");
    if (e.stranger) {
      return unknown(Condition::opaque, e.stranger,
                     e.stranger_what + " may hold a barrier or a vote; assert that it does not");
    }
    if (e.fence) {
      return unknown(Condition::opaque, e.fence,
                     "the fence " + e.fence_name + " orders accesses that other threads watch; assert that none do");
    }
    if (e.is_volatile) {
      return unknown(Condition::volatile_access, e.is_volatile,
                     "a volatile access may be how threads of a warp talk to each other; assert that they do not");
    }
    for (const Atomic& a : e.atomics) {
      if (!a.order_free) {
        return unknown(Condition::atomic, a.at,
                       "the outcome of this atomic depends on which lane comes first; assert that any order will do");
      }
    }
    if (const Atomic* a = mixed_atomics()) {
      return unknown(Condition::atomic, a->at,
                     "atomics of several kinds may meet at one place; assert that any order will do");
    }
    for (const MemoryAccess& m : e.memory) {
      if (!m.store || !is_shared(m) || differs(m.place)) continue;
      return unknown(Condition::same_address, m.at,
                     "lanes write to the same place, and another may come last; assert that any will do");
    }
    if (e.skip) {
      return unknown(Condition::early_exit, e.skip,
                     "the rest of the iteration is skipped by a jump; write it as a branch");
    }
    return yes();
  }

  LegalityVerdict advance() const {
    const Effects& e = s_.all;
    if (e.collective) return postpone();
    if (e.leave)
      return no(Condition::early_exit, e.leave, "the loop is left early, so the next iteration may never come");
    if (e.skip)
      return unknown(Condition::early_exit, e.skip,
                     "the rest of the iteration is skipped by a jump; write it as a branch");
    if (e.is_volatile) return no(Condition::volatile_access, e.is_volatile, "volatile accesses must keep their order");
    for (const Atomic& a : e.atomics) {
      if (a.floating)
        return no(Condition::float_reduction, a.at,
                  "an atomic on floating-point numbers rounds in the order of iterations");
      if (!a.order_free)
        return no(Condition::atomic, a.at, "the outcome of this atomic depends on the order of iterations");
    }
    if (p_.is_do)
      return unknown(Condition::early_exit, spot(p_.loop),
                     "whether there is a next iteration is known only at the end of this one");
    if (p_.more == nullptr)
      return no(Condition::early_exit, spot(p_.loop),
                "the loop has no condition that says whether there is a next iteration");
    LegalityVerdict v = front_is_known();
    if (v.legal != Legality::yes) return v;
    if (e.opaque) {
      return unknown(Condition::opaque, e.opaque,
                     e.opaque_what + " is not followed; assert that iterations do not depend on one another");
    }
    v = variables_commute();
    if (v.legal != Legality::yes) return v;
    v = atomics_commute();
    return v.legal == Legality::yes ? memory_commutes() : v;
  }

  /// Condition and test of the next iteration may be evaluated before this one has run.
  [[nodiscard]] bool known_ahead() const {
    const Effects& e = s_.all;
    const bool plain =
        !e.leave && !e.skip && !e.opaque && !e.fence && !e.assembly && !e.is_volatile && e.atomics.empty();
    return plain && !p_.is_do && p_.more != nullptr && front_is_known().legal == Legality::yes;
  }

 private:
  [[nodiscard]] Spot spot(const Stmt* s) const { return spot_of(s->getBeginLoc(), context_); }
  [[nodiscard]] bool is_private(const VarDecl* v) const { return s_.all.declared.contains(v) && !v->isStaticLocal(); }

  /// Of all the loop, the code in front of the branch may not read what the rest writes.
  [[nodiscard]] LegalityVerdict front_is_known() const {
    for (const Effects* side : {&s_.taken, &s_.other, &s_.front}) {
      for (const auto& [v, use] : side->writes) {
        if (v == counter_)
          return no(Condition::carried_dependence, use.at,
                    "the loop's counter " + v->getNameAsString() + " is changed in the body");
      }
    }
    if (!s_.front.atomics.empty()) {
      return no(Condition::atomic, s_.front.atomics.front().at,
                "the code in front of the branch has an atomic, which would run out of order");
    }
    for (const auto& [v, use] : s_.front.writes) {
      if (!is_private(v)) {
        return no(
            Condition::carried_dependence, use.at,
            "the code in front of the branch writes " + v->getNameAsString() + ", which is not the iteration's own");
      }
    }
    for (const Effects* side : {&s_.taken, &s_.other}) {
      for (const auto& [v, use] : side->writes) {
        if (is_private(v)) continue;
        const auto read = s_.front.reads.find(v);
        if (read == s_.front.reads.end()) continue;
        const bool ends = p_.more != nullptr && reads(effects_of(p_.more, context_), v);
        return no(
            ends ? Condition::early_exit : Condition::carried_dependence, use.at,
            ends
                ? "whether there is a next iteration depends on " + v->getNameAsString() + ", which this line writes"
                : "the branch depends on " + v->getNameAsString() + ", which this line writes in the iteration before");
      }
    }
    if (p_.step != nullptr && s_.step.writes.size() != 1) {
      return unknown(Condition::carried_dependence, spot(p_.loop),
                     "the step of the loop changes more than one variable");
    }
    if (p_.step == nullptr)
      return no(Condition::carried_dependence, spot(p_.loop),
                "the loop has no counter of its own that could be set ahead");
    for (const auto& [v, use] : s_.step.reads) {
      if (v != counter_ && writes(v))
        return no(Condition::carried_dependence, use.at, "the loop's step depends on what the body writes");
    }
    for (const MemoryAccess& read : s_.front.memory) {
      if (accesses().is_own_object(read.base)) continue;
      if (read.store)
        return no(Condition::carried_dependence, read.at, "the code in front of the branch writes to memory");
      for (const Effects* side : {&s_.taken, &s_.other}) {
        for (const MemoryAccess& store : side->memory) {
          if (!store.store) continue;
          const LegalityVerdict v = accesses().apart(read, store, Condition::carried_dependence,
                                                     "the branch reads what this line writes in the iteration before");
          if (v.legal != Legality::yes) return v;
        }
      }
    }
    return yes();
  }

  /// Whether lanes mean different places, as far as is known.
  [[nodiscard]] bool differs(const Expr* place) const {
    const auto depends = [this](const Expr* e) { return !why_lane_dependent(e, p_.lanes).empty(); };
    const Expr* e = place->IgnoreParenCasts();
    if (const auto* s = llvm::dyn_cast<ArraySubscriptExpr>(e)) return depends(s->getIdx()) || differs(s->getBase());
    if (const auto* m = llvm::dyn_cast<MemberExpr>(e)) return differs(m->getBase());
    if (const auto* u = llvm::dyn_cast<UnaryOperator>(e); u != nullptr && u->getOpcode() == UO_Deref)
      return differs(u->getSubExpr());
    if (const auto* r = llvm::dyn_cast<DeclRefExpr>(e)) return r->getType()->isPointerType() && depends(e);
    return depends(e);
  }
  /// Other lanes may see the place; all of them or none, as far as the expression shows.
  [[nodiscard]] bool is_shared(const MemoryAccess& m) const {
    if (m.place == nullptr || m.base == nullptr) return false;
    const VarDecl* v = m.base;
    if (v->getType()->isPointerType()) return true;
    const LangAS space = v->getType().getAddressSpace();
    const bool own = v->isLocalVarDeclOrParm() && !v->hasGlobalStorage() &&
                     (space == LangAS::Default || space == LangAS::opencl_private);
    return !own;
  }
  static bool reads(const Effects& e, const VarDecl* v) { return e.reads.contains(v); }
  [[nodiscard]] bool writes(const VarDecl* v) const {
    return s_.taken.writes.contains(v) || s_.other.writes.contains(v) || s_.front.writes.contains(v);
  }

  [[nodiscard]] LegalityVerdict variables_commute() const {
    LegalityVerdict v = against(s_.taken, s_.other);
    return v.legal == Legality::yes ? against(s_.other, s_.taken) : v;
  }

  /// What `a` writes, `b` may neither read nor write, but for integer reductions of one kind on both sides.
  [[nodiscard]] LegalityVerdict against(const Effects& a, const Effects& b) const {
    for (const auto& [v, write] : a.writes) {
      if (is_private(v)) continue;
      const bool in_tail = s_.tail.writes.contains(v) || s_.tail.reads.contains(v);
      const Condition c = in_tail ? Condition::code_after_branch : Condition::dependent_paths;
      const std::string name = v->getNameAsString();
      const auto [first, past] = b.writes.equal_range(v);
      if (first == past && !b.reads.contains(v)) continue;
      bool reduces = write.reduction != Reduction::none && !b.reads.contains(v) && !a.reads.contains(v);
      for (auto it = first; it != past; ++it) reduces = reduces && it->second.reduction == write.reduction;
      const auto [mine, mine_past] = a.writes.equal_range(v);
      for (auto it = mine; it != mine_past; ++it) reduces = reduces && it->second.reduction == write.reduction;
      if (!reduces) {
        return no(c, write.at,
                  in_tail ? "the code behind the branch hands " + name + " on to the next iteration"
                          : name + " is written in one path and used in the other");
      }
      if (!v->getType()->hasIntegerRepresentation()) {
        return no(Condition::float_reduction, write.at, "the sum in " + name + " would be rounded in another order");
      }
    }
    return yes();
  }

  /// One of two atomics of different kinds that may be at one place, null if there are none.
  [[nodiscard]] const Atomic* mixed_atomics() const {
    for (const Atomic& a : s_.all.atomics) {
      for (const Atomic& b : s_.all.atomics) {
        const bool apart =
            a.base != nullptr && b.base != nullptr && a.base != b.base && accesses().distinct(a.base, b.base);
        if (a.name != b.name && !apart) return &a;
      }
    }
    return nullptr;
  }

  /// Atomics of one kind commute with each other, not with others or with plain accesses to the same place.
  [[nodiscard]] LegalityVerdict atomics_commute() const {
    if (const Atomic* a = mixed_atomics()) {
      return unknown(Condition::atomic, a->at,
                     "atomics of several kinds may meet at one place; assert that they do not");
    }
    for (const Atomic& a : s_.all.atomics) {
      for (const MemoryAccess& m : s_.all.memory) {
        if (accesses().is_own_object(m.base)) continue;
        if (a.base != nullptr && m.base != nullptr && a.base != m.base && accesses().distinct(a.base, m.base)) continue;
        return unknown(Condition::atomic, a.at,
                       "what " + a.name + " changes may be read or written in the loop; assert that it is not");
      }
    }
    return yes();
  }

  [[nodiscard]] LegalityVerdict memory_commutes() const {
    for (const auto& [a, b] : {std::pair{&s_.taken, &s_.other}, std::pair{&s_.other, &s_.taken}}) {
      for (const MemoryAccess& store : a->memory) {
        if (!store.store) continue;
        for (const MemoryAccess& access : b->memory) {
          const LegalityVerdict v =
              accesses().apart(access, store, Condition::same_address, "iterations write to the same place");
          if (v.legal != Legality::yes) return v;
        }
      }
    }
    return yes();
  }

  [[nodiscard]] LoopAccesses accesses() const { return {p_, context_, s_.all, counter_}; }

  const LoopParts& p_;
  const ASTContext& context_;
  Sides s_;
  const VarDecl* counter_ = nullptr;
};

}  // namespace

void judge(const LoopParts& parts, const ASTContext& context, DivergentLoop& loop) {
  // A variable of the caller's may be what a pointer or another reference means. Where it is one that each lane has for
  // itself, only the order of the lane's own iterations matters.
  std::optional<LegalityVerdict> out_of_order;
  for (const ParmVarDecl* v : parts.function->parameters()) {
    if (parts.function == parts.kernel || !v->getType()->isReferenceType() ||
        v->getType().getNonReferenceType().isConstQualified())
      continue;
    const LegalityVerdict verdict =
        unknown(Condition::aliasing, spot_of(v->getLocation(), context),
                "what the reference " + v->getNameAsString() + " of function " + parts.function->getNameAsString() +
                    " means is the caller's: make sure that it is no memory that the loop uses");
    out_of_order = verdict;
    if (!parts.foreign_references.contains(v)) continue;
    loop.postpone = loop.advance = loop.advance_in_order = verdict;
    return;
  }
  const Judge j(parts, context);
  loop.postpone = loop.advance_in_order = j.postpone();
  loop.advance = j.advance();
  loop.known_ahead = !out_of_order && j.known_ahead();
  if (loop.advance.legal == Legality::yes && out_of_order) loop.advance = *out_of_order;
  if (loop.advance.legal == Legality::yes && loop.postpone.legal != Legality::yes) loop.advance = loop.postpone;
}

}  // namespace kernelcast::frontend
