// Bytes are taken as they are; the compiler decides what it makes of them.
#include "cli/sources.h"

#include <filesystem>

#include "io/process.h"
#include "io/text_file.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {

std::string read_source(const std::string& path) { return read_text_file(path == "<stdin>" ? "-" : path); }

std::string git_answer(const std::string& folder, const std::string& revision,
                       const std::vector<std::string>& arguments) {
  if (revision.empty() || revision.front() == '-')
    throw UsageError(KC_SETTING(base_ref) " " + revision + ": expected a revision, such as HEAD or origin/main");
  TemporaryFolder answer("kernelcast-git");
  const std::string output = answer.file("base");
  std::vector<std::string> command{"/usr/bin/env", "git", "-C", folder};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const Ended ended = run_process(command, 60, "git", output);
  const std::string what = "git " + arguments.front() + " " + revision + ": ";
  if (!ended.failure.empty()) throw UserError(what + ended.failure);
  std::string text = read_text_file(output);
  if (ended.status == 0) return text;
  if (ended.status == 127) throw UserError(KC_SETTING(base_ref) " " + revision + ": git is not on PATH");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t last = text.rfind('\n');
  throw UserError(what + (last == std::string::npos ? text : text.substr(last + 1)));
}

std::string read_revision(const std::string& path, const std::string& revision) {
  const std::filesystem::path file(path);
  const std::string folder = file.parent_path().empty() ? "." : file.parent_path().string();
  return git_answer(folder, revision, {"show", revision + ":./" + file.filename().string()});
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = text.find('\n', start);
    if (end == std::string::npos) end = text.size();
    std::string line = text.substr(start, end - start);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
    start = end + 1;
  }
  return lines;
}

}  // namespace kernelcast::cli
