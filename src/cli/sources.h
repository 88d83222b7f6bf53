// Reading source text.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::cli {

/// The file, or standard input for "<stdin>". Throws UserError naming the file and the system's reason, LimitError for
/// more than 64 MB (10^6 bytes): no kernel is that long, and compilers take gigabytes for it.
std::string read_source(const std::string& path);
/// Lines without their ends; nothing when the file cannot be read.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace kernelcast::cli
