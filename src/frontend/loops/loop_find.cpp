// Every if on the top level of a loop's body is a candidate; the first that depends on the lane is the loop's branch.
// An if of which one side only leaves the loop is an exit, not a branch; what stands on its other side is then looked
// at as if it stood behind the exit.
#include "frontend/loops/loop_find.h"

#include <algorithm>
#include <set>

#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Mangle.h"
#include "clang/Basic/SourceManager.h"
#include "frontend/loops/known_functions.h"
#include "frontend/loops/loop_files.h"
#include "frontend/source/ast_walk.h"
#include "frontend/source/kernels.h"
#include "llvm/Demangle/Demangle.h"

namespace kernelcast::frontend {
namespace {

using namespace clang;
using clang::Expr;  // not kernelcast::Expr

using Reasons = std::map<const VarDecl*, std::string>;

bool is_kernel(const FunctionDecl* f) { return f->hasAttr<CUDAGlobalAttr>() || f->hasAttr<OpenCLKernelAttr>(); }

bool only_leaves(const Stmt* s) {
  if (s == nullptr) return false;
  if (const auto* c = llvm::dyn_cast<CompoundStmt>(s)) return c->size() > 0 && only_leaves(c->body_back());
  return llvm::isa<BreakStmt>(s) || llvm::isa<ContinueStmt>(s) || llvm::isa<ReturnStmt>(s);
}

/// Out of the loop, not only out of the iteration.
bool always_leaves(const Stmt* s) {
  if (s == nullptr) return false;
  if (const auto* c = llvm::dyn_cast<CompoundStmt>(s)) return c->size() > 0 && always_leaves(c->body_back());
  return llvm::isa<BreakStmt>(s) || llvm::isa<ReturnStmt>(s);
}

std::vector<const Stmt*> statements_of(const Stmt* s) {
  if (s == nullptr) return {};
  if (const auto* c = llvm::dyn_cast<CompoundStmt>(s)) return {c->body_begin(), c->body_end()};
  return {s};
}

/// do { ... } while (0), as macros have it: no loop.
bool runs_once(const DoStmt* s) {
  const auto* zero = llvm::dyn_cast<IntegerLiteral>(s->getCond()->IgnoreParenImpCasts());
  const auto* no = llvm::dyn_cast<CXXBoolLiteralExpr>(s->getCond()->IgnoreParenImpCasts());
  return (zero != nullptr && zero->getValue() == 0) || (no != nullptr && !no->getValue());
}

class Finder {
 public:
  Finder(const FunctionDecl* kernel, const FunctionDecl* function, Reasons lanes, FoundLoops& out)
      : kernel_(kernel), function_(function), lanes_(std::move(lanes)), out_(out) {}

  void statement(Stmt* s) {
    LoopParts p;
    if (const auto* f = llvm::dyn_cast<ForStmt>(s)) {
      p.init = f->getInit();
      p.more = f->getCond();
      p.step = f->getInc();
      take(p, f, f->getBody());
    } else if (const auto* w = llvm::dyn_cast<WhileStmt>(s)) {
      p.more = w->getCond();
      take(p, w, w->getBody());
    } else if (const auto* d = llvm::dyn_cast<DoStmt>(s); d != nullptr && !runs_once(d)) {
      p.more = d->getCond();
      p.is_do = true;
      take(p, d, d->getBody());
    }
  }

 private:
  void take(LoopParts p, const Stmt* loop, const Stmt* body) {
    p.kernel = kernel_;
    p.function = function_;
    p.loop = loop;
    p.body = llvm::dyn_cast_or_null<CompoundStmt>(body);
    const std::vector<const Stmt*> statements = statements_of(body);
    std::string exits = why_lane_dependent(p.more, lanes_);
    sort_out(statements, p, exits);
    if (p.branch == nullptr) {
      if (!exits.empty()) out_.uneven.push_back({kernel_, "", "", function_, loop, exits});
      return;
    }
    p.lanes = lanes_;
    p.nested = branches_in(p.branch->getThen()) || branches_in(p.branch->getElse());
    out_.divergent.push_back(p);
  }

  /// Head, branch and tail among the statements; `exits` gets why an exit in front of the branch depends on the lane.
  void sort_out(const std::vector<const Stmt*>& statements, LoopParts& p, std::string& exits) const {
    for (const Stmt* s : statements) {
      const auto* branch = p.branch == nullptr ? llvm::dyn_cast<IfStmt>(s) : nullptr;
      if (branch == nullptr) {
        (p.branch == nullptr ? p.head : p.tail).push_back(s);
        continue;
      }
      const bool leaves_first = only_leaves(branch->getThen());
      if (leaves_first || always_leaves(branch->getElse())) {
        if (exits.empty()) exits = why_lane_dependent(branch->getCond(), lanes_);
        const Stmt* stays = leaves_first ? branch->getElse() : branch->getThen();
        if (stays == nullptr) {
          p.head.push_back(s);
          continue;
        }
        p.head.push_back(branch->getCond());
        p.head.push_back(leaves_first ? branch->getThen() : branch->getElse());
        sort_out(statements_of(stays), p, exits);
        p.under_exit |= p.branch != nullptr;
        continue;
      }
      p.divergence = why_lane_dependent(branch->getCond(), lanes_);
      if (p.divergence.empty())
        p.head.push_back(s);
      else
        p.branch = branch;
    }
  }

  bool branches_in(const Stmt* s) const {
    if (s == nullptr) return false;
    if (const auto* i = llvm::dyn_cast<IfStmt>(s); i != nullptr && !why_lane_dependent(i->getCond(), lanes_).empty())
      return true;
    for (const Stmt* c : s->children())
      if (branches_in(c)) return true;
    return false;
  }

  const FunctionDecl *kernel_, *function_;
  Reasons lanes_;
  FoundLoops& out_;
};

template <class F>
std::vector<FunctionDecl*> kernels_of(ASTContext& context, F wanted) {
  std::vector<FunctionDecl*> found;
  AstVisit visit;
  visit.instantiations = true;
  visit.declaration = [&](Decl* d) {
    auto* f = llvm::dyn_cast<FunctionDecl>(d);
    if (f != nullptr && is_kernel(f) && wanted(f) && !f->isDependentContext()) found.push_back(f);
    return true;
  };
  walk(context.getTranslationUnitDecl(), visit);
  return found;
}

std::vector<FunctionDecl*> kernels_of(ASTContext& context) {
  return kernels_of(context, [](const FunctionDecl* f) { return f->doesThisDeclarationHaveABody(); });
}

std::vector<const FunctionDecl*> bodiless_kernels_of(ASTContext& context) {
  const std::vector<FunctionDecl*> found = kernels_of(context, [&context](const FunctionDecl* f) {
    return f->isFirstDecl() && !f->isDefined() && is_users(f->getLocation(), context.getSourceManager());
  });
  return {found.begin(), found.end()};
}

template <class F>
void for_statements(const FunctionDecl* f, F call) {
  AstVisit visit;
  visit.statement = [&](Stmt* s) {
    call(s);
    return true;
  };
  walk(f->getBody(), visit);
}

/// The functions of the source that a kernel calls, directly or not, each with what is known of its parameters: one
/// that gets a value that depends on the lane at any of its calls depends on it. In the order in which calls are found.
class Callees {
 public:
  Callees(const FunctionDecl* kernel, const ASTContext& context) : context_(context) {
    add(kernel);
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < functions.size(); ++i) more |= follow(functions[i]);
    }
  }
  std::vector<const FunctionDecl*> functions;  // the kernel first
  [[nodiscard]] std::set<const VarDecl*> foreign_references() const { return foreign_; }
  [[nodiscard]] Reasons lanes_of(const FunctionDecl* f) const { return lane_dependent(f, known_.at(f)); }

 private:
  void add(const FunctionDecl* f) {
    if (known_.try_emplace(f).second) functions.push_back(f);
  }
  bool follow(const FunctionDecl* f) {
    const Reasons lanes = lanes_of(f);
    bool changed = false;
    for_statements(f, [&](const Stmt* s) {
      const auto* call = llvm::dyn_cast<CallExpr>(s);
      const FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
      if (callee != nullptr) callee = callee->getDefinition();
      if (callee == nullptr || is_kernel(callee) || is_toolkit(callee, context_) || callee->isDependentContext())
        return;
      const std::size_t before = functions.size();
      add(callee);
      changed |= take_references(call, callee);
      changed |= functions.size() != before;
      for (unsigned k = 0; k < std::min(call->getNumArgs(), callee->getNumParams()); ++k) {
        const std::string why = why_lane_dependent(call->getArg(k), lanes);
        if (!why.empty()) changed |= known_[callee].emplace(callee->getParamDecl(k), why).second;
      }
    });
    return changed;
  }
  /// A reference that at any call means anything but a variable of the lane's own is foreign.
  bool take_references(const CallExpr* call, const FunctionDecl* callee) {
    bool changed = false;
    const bool in_turn = !llvm::isa<CXXOperatorCallExpr>(call) || !llvm::isa<CXXMethodDecl>(callee);
    for (unsigned k = 0; k < callee->getNumParams(); ++k) {
      const ParmVarDecl* p = callee->getParamDecl(k);
      if (!p->getType()->isReferenceType()) continue;
      const bool own = in_turn && k < call->getNumArgs() && !p->getType()->getPointeeType()->isPointerType() &&
                       is_own(call->getArg(k));
      if (!own) changed |= foreign_.insert(p).second;
    }
    return changed;
  }
  /// A part of a variable that each lane has for itself.
  [[nodiscard]] bool is_own(const Expr* e) const {
    e = e->IgnoreParenImpCasts();
    if (const auto* m = llvm::dyn_cast<MemberExpr>(e)) return !m->isArrow() && is_own(m->getBase());
    if (const auto* a = llvm::dyn_cast<ArraySubscriptExpr>(e)) {
      const Expr* base = a->getBase()->IgnoreParenImpCasts();
      return base->getType()->isArrayType() && is_own(base);
    }
    const auto* named = llvm::dyn_cast<DeclRefExpr>(e);
    const auto* v = named == nullptr ? nullptr : llvm::dyn_cast<VarDecl>(named->getDecl());
    if (v == nullptr || !v->hasLocalStorage()) return false;
    if (v->getType()->isReferenceType()) return llvm::isa<ParmVarDecl>(v) && !foreign_.contains(v);
    const LangAS space = v->getType().getAddressSpace();
    return space == LangAS::Default || space == LangAS::opencl_private;
  }
  const ASTContext& context_;
  std::map<const FunctionDecl*, Reasons> known_;
  std::set<const VarDecl*> foreign_;
};

/// The kernels that share one text: one function, or a template's instances.
struct KernelText {
  std::vector<const FunctionDecl*> kernels;
  std::string name;  // as LoopParts has them
  std::vector<std::string> instances;
};

bool is_template(const FunctionDecl* f) { return f->getTemplateSpecializationArgs() != nullptr; }

/// As compiled code has it (kernels.h).
KernelEntry entry_of(const FunctionDecl* f) {
  KernelEntry entry;
  entry.symbol = ASTNameGenerator(f->getASTContext()).getName(f);
  entry.demangled = llvm::demangle(entry.symbol);
  if (entry.demangled.starts_with("void ")) entry.demangled.erase(0, 5);  // of a template
  entry.plain = f->getNameAsString();
  return entry;
}

/// With namespaces, of a template also with arguments.
std::string instance_name(const FunctionDecl* kernel) {
  std::string name;
  llvm::raw_string_ostream out(name);
  kernel->getNameForDiagnostic(out, kernel->getASTContext().getPrintingPolicy(), /*Qualified=*/true);
  return name;
}

/// The shortest name of a kernel that means no other: plain (of a template with arguments), with namespaces, with
/// parameters.
class TellingNames {
 public:
  explicit TellingNames(const std::vector<FunctionDecl*>& kernels) {
    for (const FunctionDecl* f : kernels) {
      ++plain_[f->getNameAsString()];
      ++whole_[instance_name(f)];
    }
  }
  void give(KernelText& text) const {
    const FunctionDecl* first = text.kernels[0];
    text.name = is_template(first) ? first->getNameAsString() : of(first);
    if (!is_template(first)) return;
    for (const FunctionDecl* k : text.kernels) text.instances.push_back(of(k));
  }

 private:
  [[nodiscard]] std::string of(const FunctionDecl* f) const {
    const std::string plain = f->getNameAsString(), whole = instance_name(f);
    if (!is_template(f) && plain_.at(plain) == 1) return plain;
    return whole_.at(whole) == 1 ? whole : entry_of(f).demangled;
  }
  std::map<std::string, int> plain_, whole_;
};

/// Kernels of the user's files that the name means, each text once; with template arguments, that instance in front.
std::vector<KernelText> kernels_named(ASTContext& context, const std::string& name) {
  const SourceManager& sources = context.getSourceManager();
  std::string wanted = without_parameters(llvm::demangle(name));
  if (wanted.starts_with("void ")) wanted.erase(0, 5);
  const std::string plain = wanted.substr(0, wanted.find('<'));
  const std::vector<FunctionDecl*> all = kernels_of(context);
  std::vector<KernelText> found;
  for (const FunctionDecl* f : all) {
    if (!name.empty() && f->getNameAsString() != plain && f->getQualifiedNameAsString() != plain) continue;
    if (!is_users(f->getLocation(), sources)) continue;
    auto same = std::find_if(found.begin(), found.end(),
                             [f](const KernelText& k) { return k.kernels[0]->getLocation() == f->getLocation(); });
    if (same == found.end()) same = found.insert(found.end(), KernelText{});
    const bool in_front = wanted.find('<') != std::string::npos && means_kernel(entry_of(f), wanted);
    same->kernels.insert(in_front ? same->kernels.begin() : same->kernels.end(), f);
  }
  const TellingNames names(all);
  for (KernelText& k : found) names.give(k);
  return found;
}

/// Kernel templates of the user's files that the name means and nothing instantiates.
std::vector<UnusedTemplate> idle_templates(ASTContext& context, const std::string& name) {
  const SourceManager& sources = context.getSourceManager();
  std::vector<UnusedTemplate> found;
  AstVisit visit;
  visit.declaration = [&](Decl* d) {
    const auto* t = llvm::dyn_cast<FunctionTemplateDecl>(d);
    if (t == nullptr || !is_kernel(t->getTemplatedDecl()) || !t->isThisDeclarationADefinition()) return true;
    if (!is_users(t->getLocation(), sources)) return true;
    const std::string own = t->getQualifiedNameAsString();
    if (!name.empty() && name != own && name != t->getNameAsString()) return true;
    if (t->spec_begin() == t->spec_end()) found.push_back({own, t->getLocation()});
    return true;
  };
  walk(context.getTranslationUnitDecl(), visit);
  return found;
}

/// Loops of one instance; only the first is asked about the functions that it calls and about uneven loops.
void loops_of(const KernelText& text, std::size_t instance, ASTContext& context, std::set<SourceLocation>& seen,
              FoundLoops& loops) {
  const SourceManager& sources = context.getSourceManager();
  const FunctionDecl* kernel = text.kernels[instance];
  const Callees callees(kernel, context);
  FoundLoops found;
  for (const FunctionDecl* g : callees.functions) {
    if (!is_users(g->getLocation(), sources) || (g != kernel && instance > 0)) continue;
    if (g != kernel && !seen.insert(g->getLocation()).second) continue;
    Finder finder(kernel, g, callees.lanes_of(g), found);
    for_statements(g, [&](Stmt* statement) { finder.statement(statement); });
  }
  for (LoopParts& p : found.divergent) {
    p.foreign_references = callees.foreign_references();
    p.kernel_name = text.name;
    p.instance = instance;
    p.instances = text.instances;
    loops.divergent.push_back(std::move(p));
  }
  if (instance > 0) return;
  for (UnevenParts& p : found.uneven) {
    p.kernel_name = text.name;
    p.instance = text.instances.empty() ? "" : text.instances.front();
    loops.uneven.push_back(std::move(p));
  }
}

}  // namespace

FoundLoops find_loops(ASTContext& context, const std::string& kernel) {
  FoundLoops loops;
  loops.without_instance = idle_templates(context, kernel);
  for (const FunctionDecl* f : kernels_of(context)) {
    loops.kernels.push_back(entry_of(f));
    const bool named = kernel.empty() || means_kernel(loops.kernels.back(), kernel);
    if (named && !is_users(f->getLocation(), context.getSourceManager())) loops.passed_over = f->getLocation();
  }
  loops.bodiless = bodiless_kernels_of(context);
  const std::vector<KernelText> texts = kernels_named(context, kernel);
  std::set<SourceLocation> seen;
  for (const KernelText& k : texts) {
    seen.insert(k.kernels[0]->getLocation());
    loops.looked_at += k.kernels.size();
  }
  for (const KernelText& k : texts)
    for (std::size_t i = 0; i < k.kernels.size(); ++i) loops_of(k, i, context, seen, loops);
  return loops;
}

}  // namespace kernelcast::frontend
