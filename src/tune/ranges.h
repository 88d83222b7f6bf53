// Values and axes as the command line says them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tune/value.h"

namespace kernelcast::tune {

/// "32..1024:*2,7,fast": numbers, texts and ranges at commas. A range a..b goes by steps of 1, a..b:+n by steps of n,
/// a..b:*n by factors of n; b is included when it is met. Values come in the order given, each once. Throws UsageError
/// that names the flag for an empty part, a range that runs backwards, a step of nothing, and more than a million
/// values.
std::vector<Value> values_in(std::string_view flag, std::string_view text);

/// One axis of --block, --grid, --tile, --problem: values where several are given, otherwise an expression.
struct AxisText {
  std::vector<Value> values;  // empty: `expression` says it
  std::string expression;
};
/// "X[,Y[,Z]]" where each is a number, a range, a list {a,b,c}, or an expression in C syntax over names of parameters.
std::vector<AxisText> axes_in(std::string_view flag, std::string_view text);

/// At commas that are not inside brackets of any kind. Empty parts are a UsageError that names the flag.
std::vector<std::string> parts_of(std::string_view flag, std::string_view text);

}  // namespace kernelcast::tune
