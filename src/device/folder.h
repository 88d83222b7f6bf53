// Choice of the folder of device files.
#pragma once

#include <filesystem>

namespace kernelcast {

/// ../share/kernelcast/devices from `program` if it is a folder, otherwise `source_tree` if it is one, otherwise
/// nothing.
std::filesystem::path choose_device_folder(const std::filesystem::path& source_tree,
                                           const std::filesystem::path& program);

}  // namespace kernelcast
