// Files that an untrusted source names, confined to folders that the user named.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kernelcast {

/// Whether a file or folder is one of `folders` or lies below one, with symbolic links and ".." resolved in all of
/// them. A path that does not exist is judged by the part of it that does.
bool lies_within(const std::filesystem::path& path, const std::vector<std::string>& folders);

}  // namespace kernelcast
