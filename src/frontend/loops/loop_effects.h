// What a statement of the source does: variables and memory that it reads and writes, and what forbids to move it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace kernelcast::frontend {

/// A line of a file, 0: none. What a macro writes stands where the macro is used.
struct Spot {
  int line = 0;
  llvm::StringRef file;  // as the compiler names it, as long as the syntax tree lives
  explicit operator bool() const { return line != 0; }
};

/// How a variable is updated when each new value is the old one combined with something else.
enum class Reduction : std::uint8_t { none, add, multiply, bit_and, bit_or, bit_xor };

struct VariableUse {
  Spot at;
  Reduction reduction = Reduction::none;  // of a write; the old value is read by nothing else
};

struct MemoryAccess {
  const clang::VarDecl* base = nullptr;  // the pointer or array, followed back to where it comes from; null: unknown
  const clang::Expr* index = nullptr;    // null: not known, or no index
  const clang::Expr* place = nullptr;    // the whole access; null: inside a function
  bool store = false, scalar = false;    // scalar: a variable of file scope, one place
  Spot at;
};

struct Atomic {
  bool order_free = false;  // integer addition, minimum and the like whose old value is not used
  bool floating = false;
  std::string name;
  const clang::VarDecl* base = nullptr;  // the pointer or array; null: unknown
  Spot at;
};

struct Effects {
  std::multimap<const clang::VarDecl*, VariableUse> reads, writes;
  std::set<const clang::VarDecl*> declared;  // inside: each iteration has its own
  std::vector<MemoryAccess> memory;
  std::vector<Atomic> atomics;
  std::vector<const clang::FunctionDecl*> calls;  // functions of the source
  std::vector<std::string> callees;               // and all others, by name
  Spot leave;                                     // break, return
  Spot skip;                                      // continue, goto, a label
  Spot is_volatile, assembly;
  Spot collective, fence;
  Spot stranger;  // code that is not at hand and may even wait for other threads
  Spot opaque;    // whatever may depend on, or change, anything in memory
  std::string collective_name, fence_name, stranger_what, opaque_what;

  void add(const Effects& other);
};

/// The variable that an expression names, implicit conversions aside; null: it is no plain name of one.
const clang::VarDecl* variable(const clang::Expr* e);

/// Of a statement inside a loop's body: break and continue of loops inside the statement are no exits.
Effects effects_of(const clang::Stmt* statement, const clang::ASTContext& context);

Spot spot_of(clang::SourceLocation location, const clang::ASTContext& context);
int line_of(clang::SourceLocation location, const clang::ASTContext& context);

/// Variables whose value may differ between the lanes of a warp, with the reason for each. Flow-insensitive. `known`:
/// those of which that is known before, parameters of a function that a kernel calls.
std::map<const clang::VarDecl*, std::string> lane_dependent(
    const clang::FunctionDecl* function, const std::map<const clang::VarDecl*, std::string>& known = {});
/// Why the expression may differ between lanes; empty: it does not.
std::string why_lane_dependent(const clang::Stmt* expression,
                               const std::map<const clang::VarDecl*, std::string>& variables);

}  // namespace kernelcast::frontend
