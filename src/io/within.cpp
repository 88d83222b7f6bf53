#include "io/within.h"

#include <algorithm>

namespace kernelcast {
namespace {

namespace fs = std::filesystem;

/// Empty where it cannot be resolved, for instance in a loop of symbolic links.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path out = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) return {};
  return out.has_filename() ? out : out.parent_path();  // "folder/" is "folder"
}

}  // namespace

bool lies_within(const fs::path& path, const std::vector<std::string>& folders) {
  const fs::path file = resolved(path);
  return !file.empty() && std::any_of(folders.begin(), folders.end(), [&](const std::string& name) {
    const fs::path folder = resolved(name);
    return !folder.empty() &&
           std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
  });
}

}  // namespace kernelcast
