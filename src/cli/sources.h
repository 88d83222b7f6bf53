// Reading source text.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::cli {

/// The file, or standard input for "<stdin>". Throws UserError naming the file and the system's reason.
std::string read_source(const std::string& path);
/// What git writes when it is run in a folder; `revision` is the one of --base-ref among `arguments`. Runs git, found
/// on PATH. Throws UserError in git's words, UsageError for a revision that git would take for a flag.
std::string git_answer(const std::string& folder, const std::string& revision,
                       const std::vector<std::string>& arguments);
/// The file as it is in a revision of the git repository that holds it. Throws as git_answer().
std::string read_revision(const std::string& path, const std::string& revision);
/// Lines without their ends.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace kernelcast::cli
