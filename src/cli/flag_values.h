// Values of flags, read strictly: what is not understood in full is a UsageError that names the flag.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelcast/launch.h"

namespace kernelcast::cli {

/// A whole number from `minimum` to 2^63 - 1.
std::int64_t whole_number(std::string_view flag, std::string_view text, std::int64_t minimum);
/// "X[,Y[,Z]]", each at least 1, the product within 2^62.
Dim3 sizes(std::string_view flag, std::string_view text);
/// "NAME=VALUE" in two; both not empty.
std::pair<std::string, std::string> name_and_value(std::string_view flag, std::string_view text);
/// An integer (decimal or 0x...), otherwise a finite real number, otherwise true (1) or false (0).
ArgValue argument_value(std::string_view flag, std::string_view text);
/// Bytes, at least 1: a whole number, with K, M, G or T behind it in units of 1024.
std::int64_t byte_count(std::string_view flag, std::string_view text);
/// A finite real number.
double real_number(std::string_view flag, std::string_view text);
/// The same, above 0.
double positive_number(std::string_view flag, std::string_view text);
/// "COUNT[:FILL]".
BufferSpec buffer_spec(std::string_view flag, std::string_view text);
/// At commas; empty parts are an error.
std::vector<std::string> comma_list(std::string_view flag, std::string_view text);

}  // namespace kernelcast::cli
