// The folders around a source are searched last (compile_language.cpp), for which the compiler has an option that makes
// their headers system headers: those are told from the machine's by where they lie. A header that calls itself a
// system header by a pragma, as libraries do that are kept beside a program, is left to itself.
#include "frontend/loops/loop_files.h"

#include <filesystem>

#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "frontend/source/compile_language.h"

namespace kernelcast::frontend {
namespace {

using namespace clang;
namespace fs = std::filesystem;

OptionalFileEntryRef file_at(SourceLocation at, const SourceManager& sources) {
  return sources.getFileEntryRefForID(sources.getFileID(sources.getExpansionLoc(at)));
}

/// By the folder in which it was found, whatever pragmas it holds.
bool found_as_system_header(SourceLocation place, const SourceManager& sources) {
  bool invalid = false;
  const SrcMgr::SLocEntry& entry = sources.getSLocEntry(sources.getFileID(place), &invalid);
  return !invalid && entry.isFile() && SrcMgr::isSystem(entry.getFile().getFileCharacteristic());
}

}  // namespace

bool is_users(SourceLocation at, const SourceManager& sources) {
  const SourceLocation place = sources.getExpansionLoc(at);
  if (sources.isInMainFile(place)) return true;
  const OptionalFileEntryRef file = file_at(place, sources);
  if (!file) return false;  // the command line, what is built in
  if (!sources.isInSystemHeader(place)) return true;
  return found_as_system_header(place, sources) && !in_system_folder(file->getName().str());
}

std::string shown_file(llvm::StringRef compilers_name, const SourceManager& sources) {
  const OptionalFileEntryRef main = sources.getFileEntryRefForID(sources.getMainFileID());
  if (compilers_name.empty() || (main && main->getName() == compilers_name)) return compilers_name.str();
  const fs::path path(compilers_name.str()), plain = path.lexically_normal();
  std::error_code error;  // of a link, a/../b may be another file than b
  return plain != path && fs::equivalent(path, plain, error) ? plain.string() : path.string();
}

std::string shown_file(SourceLocation at, const SourceManager& sources) {
  const OptionalFileEntryRef file = file_at(at, sources), main = sources.getFileEntryRefForID(sources.getMainFileID());
  if (!file) return "";
  const bool is_main = main && *file == *main;
  return shown_file(is_main ? main->getName() : file->getName(), sources);
}

bool is_read_again(SourceLocation at, const SourceManager& sources) {
  const OptionalFileEntryRef file = file_at(at, sources);
  if (!file) return false;
  int times = 0;
  for (unsigned k = 0; k < sources.local_sloc_entry_size(); ++k) {
    const SrcMgr::SLocEntry& entry = sources.getLocalSLocEntry(k);
    if (!entry.isFile()) continue;
    const OptionalFileEntryRef other = entry.getFile().getContentCache().OrigEntry;
    times += other && *other == *file ? 1 : 0;
  }
  return times > 1;
}

}  // namespace kernelcast::frontend
