// The order of precedence is that of most programs: flag, environment, default.
#include "cli/catalog.h"

#include <filesystem>

namespace kernelcast::cli {

DeviceCatalog catalog_of(const std::string& flag, const std::string& variable) {
  if (!flag.empty()) return DeviceCatalog(flag);
  if (!variable.empty()) return DeviceCatalog(variable);
  const std::string found = default_device_folder();
  std::error_code ignored;
  const std::string near = std::filesystem::proximate(found, ignored).string();
  return DeviceCatalog(!ignored && !near.empty() && near.size() < found.size() ? near : found);
}

}  // namespace kernelcast::cli
