#include "cli/quoted_sources.h"

#include <filesystem>

#include "cli/sources.h"
#include "io/within.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast::cli {
namespace {

/// The file where its path is, or beside the main source: PTX names the files that it was made of as its compiler saw
/// them.
std::string quoted(const std::string& path, const Source& main) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto readable = [&](const fs::path& file) {  // a #line directive may name any file
    return main.readable_dirs.empty() || lies_within(file, main.readable_dirs);
  };
  const fs::path beside = fs::path(main.path).parent_path() / fs::path(path).filename();
  const fs::path file = fs::is_regular_file(path, ignored) && readable(path) ? fs::path(path) : beside;
  if (!readable(file)) throw UserError(path + ": outside of the folders of " KC_SETTING(restrict_includes));
  return read_source(file.string());
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
        lines[path] = lines_of(quoted(path, main));
      } catch (const Error&) {
        lines[path] = {};  // not on disk
      }
    }
  }
  return lines;
}

}  // namespace kernelcast::cli
