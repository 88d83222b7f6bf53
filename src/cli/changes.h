// What a change since a git revision touches, as launches before and after: of `check --base-ref`.
#pragma once

#include <string>
#include <vector>

#include "cli/catalog.h"
#include "cli/request.h"

namespace kernelcast::cli {

/// One launch on both sides: flags with its sizes and arguments, and the text of the source.
struct LaunchPair {
  ForecastFlags base, changed;
  std::string base_text, changed_text;
};

struct Changes {
  std::vector<LaunchPair> pairs;
  std::vector<std::string> notes;     // new files; kernels and launches that one side does not have
  std::vector<std::string> failures;  // sources that cannot be compared, and why
};

/// Kernel sources below a folder that differ from those of the revision, and those that it does not have. Runs git,
/// found on PATH. Throws UserError in git's words.
struct ChangedSources {
  std::vector<std::string> changed, added;
};
ChangedSources changed_sources(const std::string& folder, const std::string& revision);

/// Adds the launches of the source `flags.file`. With sizes among the flags: each kernel that both sides have, by name.
/// Without: the launches in the host code, the k-th of a kernel before and the k-th of that kernel after.
void add_pairs(const ForecastFlags& flags, const std::string& revision, const DeviceCatalog& catalog, Changes& changes);

}  // namespace kernelcast::cli
