#include "cli/quoted_sources.h"

#include <filesystem>

#include "cli/sources.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

/// The file where its path is, or beside the main source: PTX names the files that it was made of as its compiler saw
/// them.
std::string quoted(const std::string& path, const std::string& main) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return read_source(path);
  return read_source((fs::path(main).parent_path() / fs::path(path).filename()).string());
}

}  // namespace

std::map<std::string, std::vector<std::string>> quoted_sources(const Source& main,
                                                               const report::ForecastReport& forecast) {
  std::map<std::string, std::vector<std::string>> lines;
  lines[main.path] = lines_of(main.text);
  for (const report::DeviceResult& d : forecast.devices) {
    if (!d.profile) continue;
    for (const std::string& path : d.profile->files) {
      if (lines.contains(path) || path.empty() || path.front() == '<') continue;
      try {
        lines[path] = lines_of(quoted(path, main.path));
      } catch (const Error&) {
        lines[path] = {};  // not on disk
      }
    }
  }
  return lines;
}

}  // namespace kernelcast::cli
