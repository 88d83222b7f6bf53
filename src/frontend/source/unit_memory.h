// What Clang made of the last sources: the kernels of a file are analyzed one after another, and Clang reads it once.
#pragma once

#include <optional>
#include <string>

#include "frontend/source/compile_clang.h"

namespace kernelcast::frontend {

/// All that decides what Clang makes of the source, as one text.
std::string run_key(const Source& source, Language language, const std::string& target);

/// A run and its job, one that was kept without the job's text and headers.
struct KnownRun {
  ClangJob job;
  ClangResult result;
};

/// A copy of what was kept under this key, if it has a kernel that `wanted` means (empty: any) and none of the files
/// that were included has changed since, nor is one that was missing there now. Any thread may ask.
std::optional<KnownRun> recall_run(const std::string& key, const std::string& wanted);

/// Keeps a copy, unless it was made for one kernel or there is only one: then nobody will ask again.
void keep_run(const std::string& key, const ClangJob& job, const ClangResult& result);

}  // namespace kernelcast::frontend
