// Keys are two FNV-1a digests with different offsets, 128 bits in all: chance does not bring two of some ten thousand
// analyses together, and nobody else's files are in the folder. Files appear complete or not at all, so that several
// runs may share a folder.
#include "validate/analysis_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "io/text_file.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "profile/profile_bytes.h"
#include "tune/digest.h"

namespace kernelcast::validate {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_files = 20000;

using tune::Digest;

/// Name, size and time of change of every file below a folder, in one order.
std::string state_of(const std::string& folder) {
  std::vector<std::string> lines;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    if (lines.size() == most_files) {
      throw UserError(
          fmt::format("{}: more than {} files, too many to watch: run without " KC_SETTING(cache), folder, most_files));
    }
    lines.push_back(fmt::format("{} {} {}", entry.path().string(), entry.file_size(),
                                entry.last_write_time().time_since_epoch().count()));
  }
  std::sort(lines.begin(), lines.end());
  Digest digest;
  for (const std::string& line : lines) digest.add(line);
  return digest.str();
}

std::optional<KernelProfile> kept(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  try {
    return profile_of(read_text_file(file, std::uint64_t{1} << 30U));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string key_of(const Source& source, const FrontendOptions& options, const std::string& identity) {
  return tune::key_of(source, options, identity);
}

Analyzer with_memory(Analyzer analyze, const std::string& folder, const std::string& identity,
                     const std::string& sources, CacheTrouble* trouble) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error && trouble != nullptr) trouble->note(fmt::format("{}: {}", folder, error.message()));
  return [analyze = std::move(analyze), folder, trouble, all = identity + state_of(sources)](
             const Source& source, const FrontendOptions& options) {
    if (options.program) return analyze(source, options);  // programs are not kept
    const fs::path file = fs::path(folder) / (key_of(source, options, all) + ".profile");
    Analysis analysis;
    if (auto profile = kept(file)) {
      analysis.profile = std::move(*profile);
      return analysis;
    }
    analysis = analyze(source, options);
    try {
      write_text_file(file, bytes_of(analysis.profile));
    } catch (const UserError& e) {  // the forecast is what was asked for
      if (trouble != nullptr) trouble->note(e.what());
    }
    return analysis;
  };
}

}  // namespace kernelcast::validate
