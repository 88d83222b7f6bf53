// The reader behind Expression.
#pragma once

#include <string_view>
#include <vector>

#include "tune/expression.h"

namespace kernelcast::tune {

struct ParsedExpression {
  std::vector<ExpressionNode> nodes;
  int root = -1;
};
/// Throws UserError.
ParsedExpression parse_expression(std::string_view text, Syntax syntax, NameTable& names);

/// The error of every expression: quotes the text.
[[noreturn]] void fail_expression(std::string_view text, std::string_view what);

}  // namespace kernelcast::tune
