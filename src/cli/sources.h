// Reading source text.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::cli {

/// The file, or standard input for "<stdin>". Throws UserError naming the file and the system's reason.
std::string read_source(const std::string& path);
/// The file as it is in a revision of the git repository that holds it. Runs git, found on PATH. Throws UserError in
/// git's words where it has no such revision or file, UsageError for a revision that git would take for a flag.
std::string read_revision(const std::string& path, const std::string& revision);
/// Lines without their ends.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace kernelcast::cli
