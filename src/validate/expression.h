// The small part of Python's expressions that Kernel Tuner's files use for sizes: "ceil(n / block_size_x) * 2".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::validate {

/// Names with one value (tuning parameters) or several (ProblemSize, read with an index).
using Names = std::map<std::string, std::vector<double>>;

/// The value of an expression: numbers, names, NAME[INDEX], + - * / // % ** and comparisons, and, or, not, parentheses,
/// min, max, ceil, floor, round, int, float. Python's rules: / is exact division, // and % round down, ** binds
/// tightest, comparisons chain. Throws UserError that quotes the expression.
double evaluate(std::string_view expression, const Names& names);

/// Names that the expression uses, functions left out; in order of appearance.
std::vector<std::string> names_in(std::string_view expression);

}  // namespace kernelcast::validate
