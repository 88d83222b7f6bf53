// The files that Clang sees: the main file and our headers from memory, the user's from disk.
#pragma once

#include "frontend/source/compile_clang.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace kernelcast::frontend {

/// Regular files within the job's folders, over them the main file and the headers of ours. `job` outlives it.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> source_files(const ClangJob& job);

}  // namespace kernelcast::frontend
