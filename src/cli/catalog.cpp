// The order of precedence is that of most programs: flag, environment, default.
#include "cli/catalog.h"

#include <filesystem>

#include "kernelcast/error.h"

namespace kernelcast::cli {

namespace {

std::string folder_of(const std::string& flag, const std::string& variable) {
  if (!flag.empty()) return flag;
  if (!variable.empty()) return variable;
  const std::string found = default_device_folder();
  std::error_code ignored;
  const std::string near = std::filesystem::proximate(found, ignored).string();
  return !ignored && !near.empty() && near.size() < found.size() ? near : found;
}

}  // namespace

DeviceCatalog catalog_of(const std::string& flag, const std::string& variable, const OperatingPoint& point) {
  DeviceCatalog catalog(folder_of(flag, variable));
  catalog.run_at(point);
  return catalog;
}

std::vector<Device> devices_of(const std::vector<std::string>& names, bool all, const DeviceCatalog& catalog) {
  std::vector<Device> devices;
  if (!all) {
    for (const std::string& name : names) devices.push_back(catalog.find(name));
    return devices;
  }
  for (const DeviceHead& head : catalog.heads()) {
    if (head.trouble.empty() && head.kind != "cpu") devices.push_back(catalog.find(head.id));
  }
  if (devices.empty()) throw UserError("no device file of a GPU in " + catalog.folder());
  return devices;
}

}  // namespace kernelcast::cli
