// Reading source text.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::cli {

/// The file, or standard input for "<stdin>". Throws UserError naming the file and the system's reason.
std::string read_source(const std::string& path);
/// Where names are missing in a file that another file near it includes, behind what declares them: a note that names
/// that file. Else empty.
std::string includers_note(const std::string& path, const std::string& errors);
/// Lines without their ends.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace kernelcast::cli
