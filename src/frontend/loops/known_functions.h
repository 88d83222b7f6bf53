// What functions of the language and of the toolkits do, by their names.
#pragma once

#include <string>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"

namespace kernelcast::frontend {

/// Barriers, votes, shuffles: whatever more than one lane takes part in.
bool is_collective(const clang::FunctionDecl* f);
/// Functions of a target whose lanes may take part in them, for all that is known.
bool is_target_specific(llvm::StringRef name);
bool is_fence(llvm::StringRef name);
bool is_atomic(llvm::StringRef name);
/// Integer addition, minimum and the like, which give the same in any order, as long as nobody looks at the old value.
bool is_order_free_atomic(llvm::StringRef name, unsigned arguments);
bool is_location_query(llvm::StringRef name);
/// get_global_id and the like, without those that are the same for a whole block.
bool is_lane_query(llvm::StringRef name);

/// Belongs to the language or a toolkit: its name says what it does. All others are read.
bool is_toolkit(const clang::FunctionDecl* f, const clang::ASTContext& context);

}  // namespace kernelcast::frontend
