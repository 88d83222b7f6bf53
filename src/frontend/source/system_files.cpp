#include "frontend/source/system_files.h"

#include "frontend/source/compile_language.h"

namespace kernelcast::frontend {

bool SystemFiles::hold(const clang::SourceManager& sources, clang::SourceLocation at) {
  if (!sources.isInSystemHeader(at)) return false;
  const clang::SourceLocation place = sources.getExpansionLoc(at);
  auto [known, is_new] = known_.try_emplace(sources.getFileID(place));
  if (is_new) known->second = in_system_folder(sources.getFilename(place).str());
  return known->second;
}

}  // namespace kernelcast::frontend
