// Bound rows kept in a file, so that a fit need not analyse sources again.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/device.h"
#include "validate/results.h"

namespace kernelcast::fit {

/// A measured row with what the model reads of it.
struct Row {
  validate::RowResult result;  // facts are there
  Device device;
  double resident_blocks = 0;  // filled by the reader; 0: the launch cannot run
  std::size_t set = 0;           // of several
  double launch_overhead_s = 0;  // of a host, in the measured time
};

void write_facts(const std::string& path, const std::vector<validate::RowResult>& rows);
/// Rows of the file whose facts are there. `measured` must be the rows that the file was made from.
std::vector<Row> read_facts(const std::string& path, std::vector<validate::Measurement> measured,
                            const DeviceCatalog& catalog);

}  // namespace kernelcast::fit
