// The files that Clang sees: the main file and our headers from memory, the user's from disk.
#pragma once

#include <string>
#include <string_view>

#include "frontend/source/compile_clang.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace kernelcast::frontend {

/// A header's text as Clang is to read it: as it is where the job does not say more (ClangJob::respell).
std::string as_read(const ClangJob& job, std::string_view text);

/// Regular files within the job's folders, over them the main file and the headers of ours. `job` outlives it.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> source_files(const ClangJob& job);

}  // namespace kernelcast::frontend
