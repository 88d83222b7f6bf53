// Choice of the folder of device files.
#pragma once

#include <filesystem>

namespace kernelcast {

/// `source_tree` if it is a folder, otherwise ../share/kernelcast/devices from `program`, otherwise nothing.
std::filesystem::path choose_device_folder(const std::filesystem::path& source_tree,
                                           const std::filesystem::path& program);

}  // namespace kernelcast
