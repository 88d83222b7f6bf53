// Kernels that the preprocessor drops: a file that holds none for this build may hold them for another.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/source/compile_language.h"

namespace clang {
class PPCallbacks;
class SourceManager;
class LangOptions;
}  // namespace clang

namespace kernelcast::frontend {

/// A kernel with a body under a condition that does not hold.
struct SkippedKernel {
  std::string file;
  unsigned line = 0;
  std::string condition;  // the directive: "#ifdef USE_HIP", "#else"
  unsigned condition_line = 0;
  std::string opening;  // of #else and #elif: the directive that they belong to; else empty
  unsigned opening_line = 0;
  std::string macro;  // the one whose definition makes the condition hold, where a single name decides; else empty
};

/// Adds to `found` what the preprocessor skips in files other than the system's and the front end's own headers.
std::unique_ptr<clang::PPCallbacks> watch_skipped_kernels(const clang::SourceManager& sources,
                                                          const clang::LangOptions& language, Language source_language,
                                                          std::vector<SkippedKernel>& found);

/// One line: "FILE:12: no kernel found: this one is under '#ifdef USE_HIP' (line 10), ...".
std::string about_skipped(const std::vector<SkippedKernel>& skipped);

}  // namespace kernelcast::frontend
