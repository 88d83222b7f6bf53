// Analyses kept in a folder between runs: most of the time of a validation is spent in the compiler, and a change of a
// model or of a device file changes none of it.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "validate/forecast_rows.h"

namespace kernelcast::validate {

/// The first reason why something could not be kept. Any thread may note one.
class CacheTrouble {
 public:
  void note(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (text_.empty()) text_ = text;
  }
  [[nodiscard]] std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

/// `analyze` with a memory in `folder`, which is made if it is missing. An analysis is found again when the front end
/// (`identity`), source text, defines and other options are the same and no file in `sources`, from which headers may
/// come, has another name, size or time of change. Failures are not kept; damaged files are analysed and written again.
/// Throws UserError when `sources` has too many files to watch (20,000). A folder that cannot be made or written keeps
/// nothing, which `trouble` is told; it must outlive the analyser.
Analyzer with_memory(Analyzer analyze, const std::string& folder, const std::string& identity,
                     const std::string& sources, CacheTrouble* trouble = nullptr);

/// The name under which an analysis is kept; for tests.
std::string key_of(const Source& source, const FrontendOptions& options, const std::string& identity);

}  // namespace kernelcast::validate
