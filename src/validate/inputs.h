// From file names to kernels and rows: which kind of file each is, told by its contents.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "validate/measurement.h"

namespace kernelcast::validate {

struct InputFiles {
  std::string rows;     // rows as CSV, a space as CSV, a T4 file or a cache of Kernel Tuner; also compressed by gzip
  std::string kernels;  // empty: the T1 file names the kernel
  std::string t1;       // for spaces; empty: none
  std::string like;     // rows as CSV: arguments, buffers and problem of a space's kernel; empty: none
  std::string kernel;   // id of the kernel, used where the files do not say
  std::string gpu;      // GPU of the measurements, likewise
  // Of a space, before the T1 file's: numbers or expressions over its parameters, x first.
  std::vector<std::string> problem, block, tile;
};

struct Inputs {
  std::map<std::string, KernelEntry> kernels;
  std::vector<Measurement> rows;
};

/// Throws UserError naming file and line, UsageError naming the flag that is missing or of no use.
Inputs read_inputs(const InputFiles& files);

inline constexpr std::size_t most_table_bytes = std::size_t{512} << 20U;
/// The text, decompressed if it is gzip's. Throws UserError for damaged data and for more than `most_bytes`.
std::string plain_or_inflated(const std::string& path, std::string text, std::size_t most_bytes);
/// The same of a file.
std::string read_plain_or_gzip(const std::string& path);

}  // namespace kernelcast::validate
