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

/// The program that starts in the source.
ProgramLaunches launches_from(const Source& source, const HostOptions& options, const KernelResources& resources) {
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

/// Whether the text calls something that `source` defines.
bool calls_into(const std::string& text, const std::string& source) {
  std::set<std::string> called;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end > at && end < text.size() && (text[end] == '(' || text[end] == '<'))
      called.insert(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return std::ranges::any_of(called, [&](const std::string& name) { return defines_name(source, name); });
}

/// Files beside `file` and one folder up that have a main; those that call into it first.
std::vector<fs::path> files_with_main(const fs::path& file, const std::string& text) {
  std::vector<fs::path> callers, others;
  for (const fs::path& folder : {file.parent_path(), file.parent_path().parent_path()}) {
    for (const fs::path& other : sources_beside(folder / file.filename())) {
      try {
        const std::string there = read_text_file(other.string());
        if (defines_name(there, "main")) (calls_into(there, text) ? callers : others).push_back(other);
      } catch (const UserError&) {  // not one of ours, then
      }
    }
  }
  callers.insert(callers.end(), others.begin(), others.end());
  return callers;
}

/// What `source` launches in the program that starts in `main_file`.
ProgramLaunches launches_within(const fs::path& main_file, const Source& source, const fs::path& file,
                                const HostOptions& options, const KernelResources& resources) {
  Source program = source;
  program.path = main_file.string();
  program.text = read_text_file(program.path);
  if (program.language == Language::automatic) program.language = language_of(source.path);
  HostOptions own = options;
  const std::string part = file.string();
  if (!includes(program.text, file.filename().string())) own.more_files.push_back(part);
  if (!own.data_folders.empty()) own.data_folders.push_back(main_file.parent_path().string());
  const auto seen_from_the_part = [&](const std::string& kernel_file) {
    return kernel_file.empty() ? program.path : kernel_file == part ? "" : kernel_file;
  };
  ProgramLaunches found = launches_from(program, own, [&](HostKernelAsked asked) {
    asked.kernel_file = seen_from_the_part(asked.kernel_file);
    return resources ? resources(asked) : std::nullopt;
  });
  std::error_code error;
  std::erase_if(found.program.launches, [&](const HostLaunch& l) { return !fs::equivalent(l.file, file, error); });
  for (HostLaunch& launch : found.program.launches) {
    launch.file = source.path;
    launch.kernel_file = seen_from_the_part(launch.kernel_file);
  }
  found.files.insert(found.files.begin(), program.path);
  found.of_a_part = true;
  return found;
}

bool all_known(const ProgramLaunches& found) {
  const auto& launches = found.program.launches;
  return !launches.empty() && std::ranges::all_of(launches, [](const HostLaunch& l) {
    return l.unknowns().empty() && l.conditions.empty();
  });
}

}  // namespace

ProgramLaunches program_launches(const Source& source, const HostOptions& options, const KernelResources& resources) {
  constexpr std::size_t most_tried = 3;
  ProgramLaunches found = launches_from(source, options, resources);
  std::error_code error;
  const fs::path file = fs::absolute(source.path, error);
  if (error || source.path == "<stdin>" || !fs::exists(file, error) || defines_name(source.text, "main") ||
      all_known(found) || !source.readable_dirs.empty() || read_text_file(file.string()) != source.text)
    return found;
  std::vector<fs::path> mains = files_with_main(file, source.text);
  if (mains.size() > most_tried) mains.resize(most_tried);
  for (const fs::path& main_file : mains) {
    ProgramLaunches within = launches_within(main_file, source, file, options, resources);
    if (!within.program.launches.empty()) return within;
  }
  return found;
}

}  // namespace kernelcast
