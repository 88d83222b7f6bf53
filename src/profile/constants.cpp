// Most coefficients of index arithmetic are arguments or products of sizes: one straight-line program computes them
// all.
#include "profile/constants.h"

namespace kernelcast {

int ConstantPool::slot(const Expr& e) {
  const auto [it, fresh] = slots_.try_emplace(e, static_cast<int>(expressions_.size()));
  if (fresh) expressions_.push_back(e);
  return it->second;
}

void ConstantPool::compile(std::span<const Symbol> parameters) {
  compiled_ = CompiledExprs(expressions_, parameters);
  values_.resize(expressions_.size());
}

void ConstantPool::evaluate(std::span<const std::int64_t> parameters) {
  compiled_.evaluate(parameters, values_, scratch_);
}

}  // namespace kernelcast
