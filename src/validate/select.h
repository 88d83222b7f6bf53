// Choosing rows by kernel, device and number.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernelcast/device.h"
#include "validate/measurement.h"

namespace kernelcast::validate {

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
