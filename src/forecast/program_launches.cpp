// A program's other files are found by what is missing: evaluation names functions that have no body, and a file beside
// the source whose text defines one of them becomes a part of the source. Files with a main of their own are other
// programs.
#include "forecast/program_launches.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include "io/text_file.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 4;
constexpr std::size_t kMostFiles = 200;
constexpr std::uintmax_t kLargestFile = 4 << 20;
constexpr std::array<std::string_view, 8> kEndings{".cu", ".hip", ".cpp", ".cc", ".cxx", ".c", ".C", ".cuh"};

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t skip_space(const std::string& text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

/// Behind the bracket that closes the one at `at`.
std::size_t behind_brackets(const std::string& text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
    if (text[at] == ';' || text[at] == '{') break;
  }
  return std::string::npos;
}

bool defines_function(const std::string& text, std::size_t behind_name) {
  std::size_t at = behind_brackets(text, skip_space(text, behind_name));
  if (at == std::string::npos) return false;
  at = skip_space(text, at);
  for (const std::string_view word : {"const", "noexcept", "override"})
    if (text.compare(at, word.size(), word) == 0) at = skip_space(text, at + word.size());
  return at < text.size() && (text[at] == '{' || (text[at] == ':' && text.compare(at, 2, "::") != 0));
}

/// `int total = 0;` and `float table[10];`, but no `extern int total;` and no `return total;`.
bool defines_variable(const std::string& text, std::size_t begin, std::size_t behind_name) {
  const std::size_t next = skip_space(text, behind_name);
  if (next >= text.size() || (text[next] != '=' && text[next] != ';' && text[next] != '[')) return false;
  const std::size_t line = text.rfind('\n', begin);
  std::string before =
      text.substr(line == std::string::npos ? 0 : line + 1, begin - (line == std::string::npos ? 0 : line + 1));
  if (before.ends_with("(*")) before.resize(before.size() - 2);  // `void (*table[])(int) = {...};`
  if (before.empty() || std::isspace(static_cast<unsigned char>(before[0])) != 0)
    return false;  // of a function or a class
  return before.find_first_of("(=.>;{}") == std::string::npos && !before.starts_with("extern") &&
         !before.starts_with("return");
}

std::vector<fs::path> sources_beside(const fs::path& file) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(file.parent_path(), error), end; !error && at != end && files.size() < kMostFiles;
       at.increment(error)) {
    const std::string ending = at->path().extension().string();
    if (std::ranges::find(kEndings, ending) == kEndings.end() || fs::equivalent(at->path(), file, error)) continue;
    if (at->is_regular_file(error) && at->file_size(error) <= kLargestFile) files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// `#include "name"` or `#include "../name"`.
bool includes(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name + '"'); at != std::string::npos; at = text.find(name + '"', at + 1)) {
    const std::size_t line = text.rfind('\n', at);
    const std::string before = text.substr(line == std::string::npos ? 0 : line + 1, at - line - 1);
    if ((before.ends_with('"') || before.ends_with('/')) && before.find("include") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

bool defines_name(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    if (at == 0 || is_letter(text[at - 1])) continue;
    const std::size_t behind = at + name.size();
    if (behind < text.size() && is_letter(text[behind])) continue;
    const std::size_t next = skip_space(text, behind);
    if (next < text.size() && text[next] == '(' ? defines_function(text, behind) : defines_variable(text, at, behind))
      return true;
  }
  return false;
}

namespace {

/// Of files that differ in their endings alone, such as kernels.c and kernels.cu, one is a part of the program: that
/// with the ending of the source, else the first.
void keep_one_of_each_stem(std::vector<std::string>& files, const fs::path& source) {
  std::map<std::string, std::string> kept;
  for (const std::string& path : files) {
    const fs::path file(path);
    const auto [known, added] = kept.emplace(file.stem().string(), path);
    if (!added && file.extension() == source.extension()) known->second = path;
  }
  std::erase_if(files, [&](const std::string& path) { return kept[fs::path(path).stem().string()] != path; });
}

/// Reads files that define what is missing until nothing is found; the result is `found`.
void read_missing(const Source& source, HostOptions& own, ProgramLaunches& found, std::set<std::string>& looked_for) {
  std::error_code error;
  const fs::path file = fs::absolute(source.path, error);
  if (error || source.path == "<stdin>" || !fs::exists(file, error)) return;
  for (int round = 0; round < kRounds; ++round) {
    std::set<std::string> missing;
    for (const std::string& name : found.program.undefined)
      if (looked_for.insert(name).second) missing.insert(name);
    if (missing.empty()) return;
    std::vector<std::string> fresh;
    std::string included = source.text;  // what is included is there already
    for (const fs::path& other : sources_beside(file)) {
      const std::string path = other.string();
      if (std::ranges::find(own.more_files, path) != own.more_files.end()) continue;
      std::string text;
      try {
        text = read_text_file(path);
      } catch (const UserError&) {
        continue;
      }
      if (defines_name(text, "main")) continue;
      if (std::ranges::none_of(missing, [&](const std::string& name) { return defines_name(text, name); })) continue;
      fresh.push_back(path);
      included += text;
    }
    keep_one_of_each_stem(fresh, file);
    std::erase_if(fresh,
                  [&](const std::string& path) { return includes(included, fs::path(path).filename().string()); });
    if (fresh.empty()) return;
    own.more_files.insert(own.more_files.end(), fresh.begin(), fresh.end());
    found.files.insert(found.files.end(), fresh.begin(), fresh.end());
    found.program = host_launches(source, own);
  }
}

}  // namespace

ProgramLaunches program_launches(const Source& source, const HostOptions& options, const KernelResources& resources) {
  HostOptions own = options;
  ProgramLaunches found{host_launches(source, own), {}};
  std::set<std::string> looked_for;
  for (int round = 0; round < kRounds; ++round) {
    read_missing(source, own, found, looked_for);
    bool known = false;
    for (const HostKernelAsked& asked : found.program.kernels_asked) {
      const auto kernel = resources ? resources(asked) : std::nullopt;
      if (kernel) known = own.kernels.emplace(asked.symbol, *kernel).second || known;
    }
    if (!known) break;
    found.program = host_launches(source, own);
  }
  return found;
}

}  // namespace kernelcast
