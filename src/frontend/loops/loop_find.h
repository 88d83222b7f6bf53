// Loops of the source with a branch on the top level of their body that lanes may take differently.
#pragma once

#include <vector>

#include "frontend/loops/loop_effects.h"
#include "frontend/source/kernels.h"
#include "kernelcast/loops.h"

namespace kernelcast::frontend {

/// The parts of such a loop:  for (init; more; step) { head  if (condition) taken else other  tail }
struct LoopParts {
  const clang::FunctionDecl* kernel = nullptr;
  std::string kernel_name;                        // that means no other kernel; of a template the plain one
  std::size_t instance = 0;                       // of a template's, 0: the one that is asked for, or the first
  std::vector<std::string> instances;             // names of them all; empty: no template
  const clang::FunctionDecl* function = nullptr;  // that the loop stands in: the kernel, or one that it calls
  const clang::Stmt* loop = nullptr;              // for or while
  const clang::Stmt* init = nullptr;
  const clang::Expr* more = nullptr;
  const clang::Expr* step = nullptr;
  const clang::CompoundStmt* body = nullptr;  // null: the branch is the whole body
  const clang::IfStmt* branch = nullptr;
  std::vector<const clang::Stmt*> head, tail;
  std::string divergence;
  std::map<const clang::VarDecl*, std::string> lanes;  // lane_dependent() of the function
  std::set<const clang::VarDecl*> foreign_references;  // parameters that may mean what other lanes see
  bool is_do = false;                                  // do ... while: the test comes last
  bool nested = false;                                 // more lane-dependent branches inside the paths
  bool under_exit = false;  // the branch stands under the test that leaves the loop: if (test) { ... } else break;
};

/// A loop whose lanes leave it at different times.
struct UnevenParts {
  const clang::FunctionDecl* kernel = nullptr;
  std::string kernel_name, instance;  // likewise; empty: no template
  const clang::FunctionDecl* function = nullptr;
  const clang::Stmt* loop = nullptr;
  std::string divergence;
};

/// A kernel template that nothing instantiates.
struct UnusedTemplate {
  std::string name;
  clang::SourceLocation at;
};

struct FoundLoops {
  std::vector<LoopParts> divergent;
  std::vector<UnevenParts> uneven;  // without a divergent branch of their own
  std::vector<UnusedTemplate> without_instance;
  std::vector<KernelEntry> kernels;                  // all of them
  std::vector<const clang::FunctionDecl*> bodiless;  // kernels of the user's files that are declared only
  std::size_t looked_at = 0;                         // of the kernels, an instance of a template each
  clang::SourceLocation passed_over;                 // where one of those stands that are not; invalid: there is none
};

/// In order of appearance; `kernel` empty: of all kernels. Of a template the loops of every instance, the one that is
/// named, or the first, in front. Of functions of the source that a kernel calls, directly or not, for the first kernel
/// that does.
FoundLoops find_loops(clang::ASTContext& context, const std::string& kernel);

/// Which lanes the branch's condition sends the same way.
LaneShape lane_shape(const LoopParts& parts);

/// Fills the verdicts.
void judge(const LoopParts& parts, const clang::ASTContext& context, DivergentLoop& loop);

}  // namespace kernelcast::frontend
