// Launch constants: every part of the profile's expressions that depends on sizes and arguments only, evaluated once a
// launch.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "kernelcast/expr.h"

namespace kernelcast {

class ConstantPool {
 public:
  /// The slot of an expression over launch parameters (equal expressions share one).
  int slot(const Expr& e);
  /// Compiles all slots; call once, after the last slot().
  void compile(std::span<const Symbol> parameters);
  void evaluate(std::span<const std::int64_t> parameters);
  [[nodiscard]] std::int64_t operator[](int slot) const { return values_[slot]; }
  [[nodiscard]] std::size_t size() const { return expressions_.size(); }

 private:
  std::map<Expr, int> slots_;
  std::vector<Expr> expressions_;
  CompiledExprs compiled_;
  std::vector<std::int64_t> values_, scratch_;
};

}  // namespace kernelcast
