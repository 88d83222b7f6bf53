// A text search: NAME( ... ) { with no brace between the beginning of the declaration and the name, and in CUDA and HIP
// a __device__ there. Limits: bodies that macros write are not found; of two definitions the first file's counts.
#include "frontend/source/compile.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "frontend/source/host_code.h"
#include "io/text_file.h"
#include "io/within.h"
#include "kernelcast/error.h"

namespace kernelcast::frontend {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_searched_files = 2000;
constexpr std::uint64_t most_searched_bytes = std::uint64_t{2} << 20U;

bool may_have_bodies(const fs::path& file, Language language) {
  constexpr std::array<std::string_view, 10> of_cuda{".cu",  ".cuh", ".h",   ".hpp", ".hxx",
                                                     ".inl", ".cpp", ".hip", ".cc",  ".c"};
  constexpr std::array<std::string_view, 4> of_opencl{".cl", ".h", ".clh", ".inl"};
  const std::string ending = file.extension().string();
  return language == Language::opencl ? std::find(of_opencl.begin(), of_opencl.end(), ending) != of_opencl.end()
                                      : std::find(of_cuda.begin(), of_cuda.end(), ending) != of_cuda.end();
}

std::vector<fs::path> searched_files(const Source& source, Language language) {
  std::error_code error;
  const fs::path own = fs::absolute(source.path, error);
  std::vector<fs::path> folders{own.parent_path()};
  for (const std::string& dir : source.include_dirs) folders.push_back(fs::absolute(dir, error));
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    std::vector<fs::path> here;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (here.size() == most_searched_files) break;
      std::error_code unknown;
      if (may_have_bodies(at->path(), language) && at->is_regular_file(unknown) &&
          at->file_size(unknown) <= most_searched_bytes && !fs::equivalent(at->path(), own, unknown) &&
          (source.readable_dirs.empty() || lies_within(at->path(), source.readable_dirs)))
        here.push_back(at->path());
    }
    std::sort(here.begin(), here.end());
    files.insert(files.end(), here.begin(), here.end());
  }
  return files;
}

bool defines(std::string_view text, const std::string& name, Language language) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at > 0 && is_word(text[at - 1])) || end >= text.size() || is_word(text[end])) continue;
    const std::size_t open = text.find_first_not_of(" \t\r\n", end);
    if (open == std::string_view::npos || text[open] != '(' || body_start(text, at) == std::string_view::npos) continue;
    const std::string_view whole = declaration_around(text, at);
    if (whole.data() > text.data() + at) continue;
    const std::string_view head(whole.data(), static_cast<std::size_t>(text.data() + at - whole.data()));
    const bool marked = language == Language::cuda || language == Language::hip;
    const bool on_device = !marked || head.find("__device__") != std::string_view::npos;
    if (on_device && head.find('{') == std::string_view::npos) return true;
  }
  return false;
}

/// Functions and variables that a text declares static at its left margin: another file may have one of that name.
std::set<std::string> names_of_its_own(std::string_view text) {
  constexpr std::string_view word = "static";
  std::set<std::string> names;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t after = at + word.size();
    if ((at > 0 && text[at - 1] != '\n') || after >= text.size() || is_word(text[after])) continue;
    std::size_t end = text.find_first_of("(;=[{", after);
    if (end == std::string_view::npos) break;
    while (end > after && !is_word(text[end - 1])) --end;
    std::size_t begin = end;
    while (begin > after && is_word(text[begin - 1])) --begin;
    if (begin < end && std::isdigit(static_cast<unsigned char>(text[begin])) == 0)
      names.emplace(text.substr(begin, end - begin));
  }
  return names;
}

}  // namespace

std::vector<std::string> files_with_bodies(const Source& source, Language language,
                                           const std::set<std::string>& names) {
  std::set<std::string> open = names;
  std::vector<std::string> found;
  for (const fs::path& file : searched_files(source, language)) {
    if (open.empty()) break;
    std::string text;
    try {
      text = without_comments(read_text_file(file, most_searched_bytes));
    } catch (const Error&) {
      continue;
    }
    if (std::erase_if(open, [&](const std::string& name) { return defines(text, name, language); }) > 0)
      found.push_back(file.lexically_normal().string());
  }
  return found;
}

Source with_bodies(Source source, const std::vector<std::string>& files) {
  std::set<std::string> taken = names_of_its_own(without_comments(source.text));
  source.text += "\n#line 1 \"<kernelcast>\"\n";
  std::size_t number = 0;
  for (const std::string& file : files) {
    ++number;
    std::string before, after;
    for (const std::string& name : names_of_its_own(without_comments(read_text_file(file, most_searched_bytes)))) {
      if (taken.insert(name).second) continue;
      before += "#define " + name + " kernelcast_file_" + std::to_string(number) + "_" + name + "\n";
      after += "#undef " + name + "\n";
    }
    source.text += before + "#include \"" + file + "\"\n" + after;
  }
  return source;
}

}  // namespace kernelcast::frontend
