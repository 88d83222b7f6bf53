// A header that stands alone misses what its includer declares: the includer is looked for beside it.
#include "forecast/pipeline.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "kernelcast/setting.h"

namespace kernelcast {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 9> source_endings{".cu", ".cuh", ".hip", ".cl", ".c",
                                                         ".cc", ".cpp", ".h",   ".hpp"};

/// The line with `#include "..."` of the file, 0: none.
int line_that_includes(const fs::path& file, const fs::path& wanted) {
  std::ifstream in(file);
  std::string line;
  for (int n = 1; std::getline(in, line); ++n) {
    const std::size_t directive = line.find_first_not_of(" \t");
    if (directive == std::string::npos || line[directive] != '#') continue;
    const std::size_t open = line.find('"'), close = line.rfind('"');
    if (line.find("include") > open || open == close) continue;
    std::error_code error;
    if (fs::equivalent(file.parent_path() / line.substr(open + 1, close - open - 1), wanted, error)) return n;
  }
  return 0;
}

std::vector<fs::path> sources_in(const fs::path& folder) {
  constexpr std::size_t most = 200;
  constexpr std::uintmax_t largest = 4 << 20;
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end && files.size() < most; at.increment(error)) {
    const std::string ending = at->path().extension().string();
    const bool source = std::ranges::find(source_endings, ending) != source_endings.end();
    if (source && at->is_regular_file(error) && at->file_size(error) <= largest) files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string includers_note(const Source& source, const std::string& errors) {
  const bool missing = errors.find("undeclared identifier") != std::string::npos ||
                       errors.find("unknown type name") != std::string::npos;
  std::error_code error;
  const fs::path file = fs::absolute(source.path, error);
  if (!missing || error || !source.readable_dirs.empty() || !fs::exists(file, error)) return "";
  for (const fs::path& folder : {file.parent_path(), file.parent_path().parent_path()})
    for (const fs::path& other : sources_in(folder))
      if (const int line = other == file ? 0 : line_that_includes(other, file); line > 0)
        return "\nnote: " + other.lexically_proximate(fs::current_path(error)).string() + ":" + std::to_string(line) +
               " includes this file; if what is missing is declared there, give that file and " KC_SETTING(kernel);
  return "";
}

}  // namespace kernelcast
