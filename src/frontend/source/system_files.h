// Which places are in the system's headers. Folders around the source are the system's for Clang (-idirafter), and -I
// of one of them is as well; they are the user's all the same.
#pragma once

#include <map>

#include "clang/Basic/SourceManager.h"

namespace kernelcast::frontend {

class SystemFiles {
 public:
  /// Whether the place (of a macro: where it is used) is in a header of the system, of Clang or of our own.
  bool hold(const clang::SourceManager& sources, clang::SourceLocation at);

 private:
  std::map<clang::FileID, bool> known_;
};

}  // namespace kernelcast::frontend
