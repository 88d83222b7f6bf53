// The target's code that is counted, for people to read.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/frontend.h"

namespace kernelcast {

/// An instruction or a label.
struct TargetLine {
  std::string text;
  std::string file;  // of the source, as the compiler names it; empty: not known
  int line = 0;      // 0: not known
};

/// PTX or AMDGCN of the kernel that analyze() counts with the same source and options. Takes as long as analyze(), and
/// throws what that throws.
std::vector<TargetLine> target_listing(const Source& source, const FrontendOptions& options);

}  // namespace kernelcast
