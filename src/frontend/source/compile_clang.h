// One run of clang over one source: text in, module and judged messages out.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/source/compile.h"
#include "frontend/source/skipped_kernels.h"

namespace clang {
class ASTContext;
}

namespace kernelcast::frontend {

struct ClangResult;

/// What one run is to do.
struct ClangJob {
  std::vector<std::string> arguments;  // of the compiler proper
  std::string main_file;               // its name in messages; `text` stands in for its contents
  std::string text;
  std::string (*respell)(std::string_view) = nullptr;  // what is done to headers on disk as they are read
  std::vector<FileText> headers;                       // as of Source
  std::vector<std::string> readable_dirs;              // as of Source
  Language language = Language::automatic;
  bool host_code_may_fail = false;  // CUDA and HIP: skip and forgive what is not device code
  bool host_bodies = false;         // of these: parse the bodies of host functions, too; no code is wanted
  bool all_host_code = false;       // of these: parse them as callers of templates that launch kernels
  /// When given, sees the whole file, and what was found until then, before code is generated.
  std::function<void(clang::ASTContext&, const ClangResult&)> inspect;
};

/// An error as clang renders it, with what it concerns.
struct ClangError {
  std::string text;
  enum class Where { device_function, other_device_code, host_code } where = Where::other_device_code;
  int line = 0;
};

/// What a run tells beside its code.
struct ClangFindings {
  std::vector<Diagnostic> warnings;
  std::vector<ClangError> errors;
  std::vector<std::string>
      broken_symbols;          // device functions with an error of their own: they are in the module with an empty body
  bool broken_kernel = false;  // one of them is a kernel
  std::vector<std::string> missing_headers;
  std::vector<std::string> kernel_templates;  // qualified names
  std::vector<FileText> respelled;            // files with the keyword `template` where it was missing
  bool skipped_callers = false;               // host functions before the first template that launches kernels
  std::vector<SkippedKernel> skipped;         // what the preprocessor dropped
  std::string wanted_symbol;                  // of the function that added_text takes the address of
  std::vector<LoopPragma> pragmas;
  std::vector<std::string> headers;  // real files that were read, without the main file
  std::set<std::string> macros;      // names that were expanded, or defined or undefined again
};

struct ClangResult : ClangFindings {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;  // null when nothing could be generated

  ClangResult();
  ClangResult(ClangResult&&) noexcept;
  ClangResult& operator=(ClangResult&&) noexcept;
  ~ClangResult();
};

ClangResult run_clang(const ClangJob& job);

}  // namespace kernelcast::frontend
