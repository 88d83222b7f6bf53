// Headers are those on disk on both sides.
#include "cli/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/launches.h"
#include "cli/sources.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

bool is_kernel_source(const std::string& path) {
  try {
    const Language language = language_of(path);
    return language == Language::cuda || language == Language::hip || language == Language::opencl;
  } catch (const Error&) {
    return false;  // no ending that is known
  }
}

std::vector<std::string> kernels_of(const ForecastFlags& flags, const std::string& text) {
  Source source = source_of(flags);
  source.text = text;
  return real_frontend().kernels_in(source, {});
}

std::vector<HostLaunch> launches_of(const ForecastFlags& flags, const std::string& text, const DeviceCatalog& catalog,
                                    std::vector<std::string>& notes) {
  Source source = source_of(flags);
  source.text = text;
  const report::ProgramForecast program = find_launches(flags, source, catalog);
  for (const auto* lines : {&program.notes, &program.assumed})
    for (const std::string& line : *lines)
      if (std::find(notes.begin(), notes.end(), line) == notes.end()) notes.push_back(line);
  std::vector<HostLaunch> launches;
  for (const report::LaunchForecast& l : program.launches) launches.push_back(l.launch);
  return launches;
}

/// Of a file that the revision may not have, such as one of another repository: then it is the one on disk.
std::string text_before(const std::string& path, const std::string& revision) {
  try {
    return read_revision(path, revision);
  } catch (const UserError&) {
    return read_source(path);
  }
}

void add_kernels(const ForecastFlags& flags, const std::string& revision, const std::string& base,
                 const std::string& changed, Changes& changes) {
  const std::vector<std::string> before = kernels_of(flags, base), after = kernels_of(flags, changed);
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const std::string& name : after) {
    if (!flags.kernel.empty() && flags.kernel != name) continue;
    if (!has(before, name)) {
      changes.notes.push_back(fmt::format("{}: kernel {} is not in {}", flags.file, name, revision));
      continue;
    }
    ForecastFlags f = flags;
    f.kernel = name;
    changes.pairs.push_back({f, f, base, changed});
  }
  for (const std::string& name : before)
    if ((flags.kernel.empty() || flags.kernel == name) && !has(after, name))
      changes.notes.push_back(fmt::format("{}: kernel {} is gone", flags.file, name));
}

void add_launches(const ForecastFlags& flags, const std::string& revision, const std::string& base,
                  const std::string& changed, const DeviceCatalog& catalog, Changes& changes) {
  const std::vector<HostLaunch> after = launches_of(flags, changed, catalog, changes.notes);
  std::vector<HostLaunch> before = launches_of(flags, base, catalog, changes.notes);
  for (const HostLaunch& now : after) {
    const auto same = [&](const HostLaunch& l) { return l.kernel == now.kernel; };
    const auto then = std::find_if(before.begin(), before.end(), same);
    const std::string place = fmt::format("{}:{}: {}", now.file, now.line, now.kernel);
    if (then == before.end()) {
      changes.notes.push_back(fmt::format("{}: this launch is not in {}", place, revision));
      continue;
    }
    const HostLaunch was = *then;
    before.erase(then);
    try {
      LaunchPair pair{flags_for(flags, was), flags_for(flags, now), base, changed};
      if (!was.kernel_file.empty()) pair.base_text = text_before(was.kernel_file, revision);
      if (!now.kernel_file.empty()) pair.changed_text = read_source(now.kernel_file);
      changes.pairs.push_back(std::move(pair));
    } catch (const Error& e) {
      changes.failures.push_back(message_of(e));
    }
  }
  for (const HostLaunch& was : before)
    changes.notes.push_back(fmt::format("{}: {}: a launch of {} is gone", flags.file, was.kernel, revision));
}

}  // namespace

ChangedSources changed_sources(const std::string& folder, const std::string& revision) {
  const std::string listed =
      git_answer(folder, revision, {"diff", "--name-status", "--no-renames", "--relative", "-z", revision, "--", "."});
  std::vector<std::string> words;
  for (std::size_t begin = 0, end; begin < listed.size(); begin = end + 1) {
    end = std::min(listed.find('\0', begin), listed.size());
    words.push_back(listed.substr(begin, end - begin));
  }
  ChangedSources found;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string path =
        folder == "." ? words[i + 1] : (std::filesystem::path(folder) / words[i + 1]).lexically_normal().string();
    if (words[i] == "D" || !is_kernel_source(path)) continue;
    (words[i] == "A" ? found.added : found.changed).push_back(path);
  }
  return found;
}

void add_pairs(const ForecastFlags& flags, const std::string& revision, const DeviceCatalog& catalog,
               Changes& changes) {
  try {
    const std::string base = read_revision(flags.file, revision), changed = read_source(flags.file);
    if (!flags.grid.empty() || !flags.global.empty() || !flags.block.empty())
      add_kernels(flags, revision, base, changed, changes);
    else if (wants_launches(flags))
      add_launches(flags, revision, base, changed, catalog, changes);
    else
      throw UsageError(flags.file +
                       ": host code is read of CUDA and HIP only: give " KC_SETTING(global) " and " KC_SETTING(block));
  } catch (const Error& e) {
    const std::string text = message_of(e);
    changes.failures.push_back(text.find(flags.file) == std::string::npos ? flags.file + ": " + text : text);
  }
}

}  // namespace kernelcast::cli
