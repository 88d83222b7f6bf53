// Measured kernel times and where the kernels' sources are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernelcast/device.h"
#include "kernelcast/frontend.h"
#include "kernelcast/launch.h"
#include "tune/positional.h"

namespace kernelcast::validate {

/// A kernel that was measured: a line of KERNELS.csv.
struct KernelEntry {
  std::string place;  // "kernels.csv:7", for messages
  std::string id;
  Language language = Language::automatic;
  std::string path;                       // the translation unit, relative to the folder of sources or of KERNELS.csv
  std::string entry;                      // the kernel's name in it
  std::vector<std::string> defines;       // of every row
  std::vector<std::string> include_dirs;  // relative to the folder of sources
  std::string standard;
  bool fast_math = false;
  std::vector<std::pair<std::string, std::string>>
      fills;                           // name, with * as a wildcard, and fill; the first match counts
  std::string cache_state;             // "cold", "warm", "unknown"
  std::vector<TensorBox> tensor_maps;  // Source::tensor_maps
};

using tune::PositionalArgument;

/// A measured launch.
struct Measurement {
  std::string place;  // "rows.csv:12", for messages
  std::string dataset, kernel_id, gpu;
  std::vector<std::string> defines;                   // NAME=VALUE, beyond the kernel's
  Launch launch;                                      // buffers in elements as the file counts them
  bool block_of_kernel = false;                       // the launch gives no block: the one that the kernel requires
  std::map<std::string, std::int64_t> element_bytes;  // of the buffers where the file gives it
  std::vector<PositionalArgument> positional;         // instead of arguments and buffers by name
  std::string symbol;                                 // mangled name for this row; empty: the kernel's entry
  std::string problem;                                // in words
  std::string statistic, note;
  std::vector<std::string> flags;
  std::optional<double> measured_s;  // nothing: it failed on the hardware, see status
  std::string status = "ok";
  std::string failure;  // why its launch cannot be worked out; empty: it can
};

/// Reads KERNELS.csv. Throws UserError with file, line and column.
std::map<std::string, KernelEntry> read_kernels(const std::string& path, const std::string& text);

/// Reads ROWS.csv: columns kernel_id, gpu, grid_x, block_x and time_ms, and those of docs/reference/validate.md that
/// are there. Throws UserError with file, line and column.
std::vector<Measurement> read_rows(const std::string& path, const std::string& text);

/// What competes: rows of one kernel on one GPU with the same arguments and the same bytes in every buffer.
std::string problem_key(const Measurement& m);

/// Flags that take a row out of the headline: its time is not the kernel's, or not of the source as given.
bool is_excluding_flag(const std::string& flag);
bool is_excluded(const Measurement& m);

/// "launch_overhead", ... in the order in which they are shown.
const std::vector<std::string>& excluding_flags();

/// Whether `name` is what `pattern` says, in which * stands for any text.
bool matches(std::string_view pattern, std::string_view name);

struct Selection {
  std::vector<std::string> kernels;  // ids with * as a wildcard; empty: all
  std::vector<std::string> devices;  // as --device names them; empty: all
  std::size_t limit = 0;             // rows of one (kernel, GPU); 0: all
};

/// The rows that a selection means, in their order. Throws UsageError for a device that is not known, and when a kernel
/// or device that was asked for has no row.
std::vector<Measurement> selected(std::vector<Measurement> rows, const Selection& selection,
                                  const DeviceCatalog& catalog);

}  // namespace kernelcast::validate
