// Reading source text.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::cli {

/// The file, or standard input for "<stdin>". Throws UserError naming the file and the system's reason.
std::string read_source(const std::string& path);
/// Lines without their ends.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace kernelcast::cli
