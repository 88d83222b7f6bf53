// What the effects of several statements add up to.
#include "frontend/loops/loop_effects.h"

#include "clang/Basic/SourceManager.h"
#include "frontend/loops/loop_walker.h"

namespace kernelcast::frontend {

using namespace clang;
using clang::Expr;  // not kernelcast::Expr

const VarDecl* variable(const Expr* e) {
  const auto* r = llvm::dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts());
  return r == nullptr ? nullptr : llvm::dyn_cast<VarDecl>(r->getDecl());
}

void Effects::add(const Effects& o) {
  reads.insert(o.reads.begin(), o.reads.end());
  writes.insert(o.writes.begin(), o.writes.end());
  declared.insert(o.declared.begin(), o.declared.end());
  memory.insert(memory.end(), o.memory.begin(), o.memory.end());
  atomics.insert(atomics.end(), o.atomics.begin(), o.atomics.end());
  calls.insert(calls.end(), o.calls.begin(), o.calls.end());
  callees.insert(callees.end(), o.callees.begin(), o.callees.end());
  const auto take = [](Spot& spot, Spot other) {
    if (!spot) spot = other;
  };
  const auto take_named = [](Spot& spot, std::string& name, Spot other, const std::string& other_name) {
    if (spot) return;
    spot = other;
    name = other_name;
  };
  take(leave, o.leave);
  take(skip, o.skip);
  take(is_volatile, o.is_volatile);
  take(assembly, o.assembly);
  take_named(collective, collective_name, o.collective, o.collective_name);
  take_named(fence, fence_name, o.fence, o.fence_name);
  take_named(stranger, stranger_what, o.stranger, o.stranger_what);
  take_named(opaque, opaque_what, o.opaque, o.opaque_what);
}

Effects effects_of(const Stmt* statement, const ASTContext& context) {
  Effects e;
  effects::Walker(e, context, 0).statement(statement);
  return e;
}

Spot spot_of(SourceLocation location, const ASTContext& context) {
  const SourceManager& sources = context.getSourceManager();
  return {static_cast<int>(sources.getExpansionLineNumber(location)),
          sources.getFilename(sources.getExpansionLoc(location))};
}

int line_of(SourceLocation location, const ASTContext& context) { return spot_of(location, context).line; }

}  // namespace kernelcast::frontend
