// Which device files: the flag, the environment, or what the program finds by itself.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/device.h"

namespace kernelcast::cli {

/// `flag` if not empty, else `variable` (KERNELCAST_DEVICES) if not empty, else default_device_folder(), said relative
/// to the working folder where that is shorter: messages and assumptions name files in it.
/// Its devices run at `point`.
DeviceCatalog catalog_of(const std::string& flag, const std::string& variable, const OperatingPoint& point = {});

/// The devices by name, or every GPU of the catalogue that can be read.
std::vector<Device> devices_of(const std::vector<std::string>& names, bool all, const DeviceCatalog& catalog);

}  // namespace kernelcast::cli
