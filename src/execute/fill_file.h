// Buffers filled from a file: raw bytes, or NumPy's .npy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "execute/fill.h"

namespace kernelcast::interpreter {

/// What an .npy file says of itself. Format: NumPy enhancement proposal 1 and `numpy.lib.format`.
struct NpyHeader {
  std::string dtype;  // "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;  // empty: one value
  std::int64_t data_at = 0;         // bytes before the values
};

/// Reads the header from the first bytes of a file; nothing if these are no .npy at all. Throws UserError, its message
/// without the file's name, for versions other than 1 to 3 and headers that make no sense or do not fit in `head`.
std::optional<NpyHeader> read_npy_header(std::string_view head);

/// The contents of `path`. The number of bytes must be that of the buffer; an .npy file's element type must be that of
/// the buffer's elements (integers of either sign; complex numbers as two), in C order and little-endian. Throws
/// UserError naming file and --buffer.
std::unique_ptr<const Fill> file_fill(std::string_view path, const FillTarget& target);

}  // namespace kernelcast::interpreter
