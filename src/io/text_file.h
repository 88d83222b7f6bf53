// Whole files as text, and output that is complete or absent.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace kernelcast {

inline constexpr std::uint64_t default_file_limit_bytes = 64ULL << 20U;

/// The bytes of a file; "-" is standard input. Throws UserError, naming the path and what to do, when the file does not
/// exist, is a directory, cannot be read, or is larger than `limit_bytes` (nothing beyond the limit is read).
std::string read_text_file(const std::filesystem::path& path, std::uint64_t limit_bytes = default_file_limit_bytes);

/// Replaces the file's contents. A temporary file beside it is written first and renamed, so that a reader sees the old
/// file or the whole new one. Follows a symbolic link; writes straight into what is not a regular file (such as
/// /dev/stdout). Throws UserError when that is not possible; the old file is then as it was.
void write_text_file(const std::filesystem::path& path, std::string_view text);

/// Throws what write_text_file would throw for a folder that is not there or may not be written, or a path that is one:
/// before work whose result would be lost.
void check_writable(const std::filesystem::path& path);

}  // namespace kernelcast
