// Tuning spaces as measurements: what was the same for every configuration, and the step from one configuration to a
// launch. Kernel Tuner's rule throughout: grid = ceil(problem / product of the grid divisors).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tune/t1.h"
#include "validate/measurement.h"

namespace kernelcast::validate {

/// What every configuration of a space has in common. From a T1 file, from flags, or both.
struct SpaceDescription : tune::T1File {
  std::string kernel_id;
  std::optional<Measurement> like;  // a row of the same kernel: its arguments, buffers and problem instead
};

/// A configuration and what was measured.
struct Configuration {
  std::string place;
  std::string kernel_id, gpu;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::optional<double> measured_s;
  std::string status = "ok";
};

/// The launch of a configuration. Throws UserError naming the description's file for an expression that has no value.
Measurement measurement_of(const SpaceDescription& space, const Configuration& configuration);

/// Reads a space as CSV: kernel_id, gpu, time_ms, status; every other column is a parameter.
std::vector<Configuration> read_space_csv(const std::string& path, const std::string& text);

/// Whether the first line of a CSV text is that of a file of rows (it has a column grid_x).
bool is_rows_csv(const std::string& text);

/// A T1 file ("ConfigurationSpace", "KernelSpecification"). Throws UserError with the file, and the position in broken
/// JSON.
SpaceDescription read_t1(const std::string& path, const std::string& text);

/// A T4 file ("results") or a cache ("cache", also one that Kernel Tuner has left open). Times are the median of the
/// single runs where they are listed, otherwise the objective "time"; milliseconds unless a T4 measurement says
/// otherwise. Throws UserError as above, and for JSON that is neither. Configurations that failed have a status and no
/// time. `gpu` is the cache's "device_name", empty for T4.
std::vector<Configuration> read_tuner_results(const std::string& path, const std::string& text);

}  // namespace kernelcast::validate
