// Whether two accesses of a loop meet in different iterations, as far as the source shows.
#pragma once

#include <optional>
#include <string>

#include "frontend/loops/loop_find.h"

namespace kernelcast::frontend {

class LoopAccesses {
 public:
  /// `all`: what the loop does, its own test and step included; `counter`: what the step changes, null: nothing.
  LoopAccesses(const LoopParts& parts, const clang::ASTContext& context, const Effects& all,
               const clang::VarDecl* counter)
      : p_(parts), context_(context), all_(all), counter_(counter) {}
  /// yes: what `store` writes in one iteration, `access` does not touch in another.
  [[nodiscard]] LegalityVerdict apart(const MemoryAccess& access, const MemoryAccess& store, Condition c,
                                      const std::string& reason) const;
  /// Two objects, or two pointers of which one is restrict, of different address spaces, or of types that never alias.
  [[nodiscard]] bool distinct(const clang::VarDecl* a, const clang::VarDecl* b) const;
  /// An object, no pointer to one, that each iteration has for itself.
  [[nodiscard]] bool is_own_object(const clang::VarDecl* v) const;

 private:
  /// The same text, in effect. Functions by name: each mention of one of OpenCL's may be a declaration of its own.
  [[nodiscard]] bool same(const clang::Stmt* s, const clang::Stmt* t) const;
  /// Whether an index differs from iteration to iteration, by an amount that cannot be 0; nothing: not known. false: it
  /// is the same in all.
  [[nodiscard]] std::optional<bool> moves_with_counter(const clang::Expr* given) const;
  /// i++ and the like: a counter that takes a value twice would need 2^32 steps.
  [[nodiscard]] bool step_is_constant() const;

  const LoopParts& p_;
  const clang::ASTContext& context_;
  const Effects& all_;
  const clang::VarDecl* counter_;
};

namespace legality {
LegalityVerdict yes();
LegalityVerdict no(Condition c, Spot at, std::string reason);
LegalityVerdict unknown(Condition c, Spot at, std::string reason);
}  // namespace legality

}  // namespace kernelcast::frontend
