// Files of a source: whose loops are looked at, and how they are called.
#pragma once

#include <string>

#include "clang/AST/ASTContext.h"

namespace kernelcast::frontend {

/// The main file and headers of the user's own; not those of the system, of toolkits or of the compiler.
bool is_users(clang::SourceLocation at, const clang::SourceManager& sources);

/// Only kernelcast itself knows a file by the compiler's names for it; this is the name to show and to open it by.
std::string shown_file(llvm::StringRef compilers_name, const clang::SourceManager& sources);
std::string shown_file(clang::SourceLocation at, const clang::SourceManager& sources);

/// The file at `at` was read more often than once, so that its text may mean several things.
bool is_read_again(clang::SourceLocation at, const clang::SourceManager& sources);

}  // namespace kernelcast::frontend
