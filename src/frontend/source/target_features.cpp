#include "frontend/source/target_features.h"

#include "clang/AST/Expr.h"
#include "clang/Basic/Builtins.h"
#include "clang/Basic/DiagnosticFrontend.h"
#include "clang/Basic/TargetInfo.h"
#include "frontend/source/ast_walk.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Triple.h"

namespace kernelcast::frontend {
namespace {

/// AMD's in the order of their years: the first of each family that has instructions of its own.
struct Gpu {
  const char* architecture;
  const char* name;
};
constexpr Gpu first_gpus[] = {{"gfx906", "AMD Instinct MI50"},   {"gfx908", "AMD Instinct MI100"},
                              {"gfx90a", "AMD Instinct MI250X"}, {"gfx1100", "AMD Radeon RX 7900 XTX"},
                              {"gfx942", "AMD Instinct MI300X"}, {"gfx1201", "AMD Radeon RX 9070 XT"}};

const Gpu* first_with(llvm::StringRef wanted, const clang::ASTContext& context, clang::DiagnosticsEngine& diagnostics) {
  if (!context.getTargetInfo().getTriple().isAMDGPU()) return nullptr;
  for (const Gpu& gpu : first_gpus) {
    llvm::StringMap<bool> features;
    if (context.getTargetInfo().initFeatureMap(features, diagnostics, gpu.architecture, {}) &&
        clang::Builtin::evaluateRequiredTargetFeatures(wanted, features))
      return &gpu;
  }
  return nullptr;
}

}  // namespace

void report_missing_features(clang::FunctionDecl* function, clang::DiagnosticsEngine& diagnostics) {
  if (function->isDependentContext() || !function->hasBody()) return;
  const clang::ASTContext& context = function->getASTContext();
  llvm::StringMap<bool> features;
  AstVisit visit;
  visit.statement = [&](clang::Stmt* s) {
    const auto* call = llvm::dyn_cast<clang::CallExpr>(s);
    const unsigned builtin = call == nullptr ? 0 : call->getBuiltinCallee();
    if (builtin == 0) return true;
    const llvm::StringRef wanted = context.BuiltinInfo.getRequiredFeatures(builtin);
    if (wanted.empty()) return true;
    if (features.empty()) context.getFunctionFeatureMap(features, function);
    if (clang::Builtin::evaluateRequiredTargetFeatures(wanted, features)) return true;
    diagnostics.Report(call->getBeginLoc(), clang::diag::err_builtin_needs_feature)
        << call->getDirectCallee()->getDeclName() << wanted;
    if (const Gpu* gpu = first_with(wanted, context, diagnostics); gpu != nullptr) {
      const unsigned has_it = diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Note, "%0 (%1) has it");
      diagnostics.Report(call->getBeginLoc(), has_it) << gpu->name << gpu->architecture;
    }
    return true;
  };
  walk(function->getBody(), visit);
}

}  // namespace kernelcast::frontend
