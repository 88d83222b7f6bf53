// Micro-benchmarks: what was measured, how, and how sure it is; and the device file made from it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernelcast/device.h"

namespace kernelcast::probe {

struct Result {
  std::string id;                           // "ffma.latency_cycles"
  std::optional<double> value;              // nothing: a list, or unknown for `reason`
  std::vector<std::vector<double>> lists;   // classes of registers, tables
  std::string reason;
  std::string unit;                         // SI, "cycles", "fraction of peak", "" for codes and lists
  std::string method;
  int samples = 0;
  double spread = 0;                        // (largest - smallest) / median of the samples
  std::string confidence;                   // "exact", "high", "unstable"
  std::string what;                         // one sentence
  std::optional<Field> field;               // of a device file
};

struct Report {
  std::string backend;
  Device device;                            // the base
  std::vector<Result> results;
  [[nodiscard]] const Result* find(std::string_view id) const;
};

struct Options {
  int registers = 32;                       // of the register bank test: R0 to R(n-1); 8 to 64
  double time_limit_s = 60;
  std::string device_folder;
  std::function<void(const std::string&)> progress;
};

/// The four steps on the cycle-level SM of the device. Throws UserError when there is no spec of its architecture.
Report probe_sim(const Device& device, const Options& options);

/// A device file with everything that the base knows, measured results in place of the base's numbers.
/// `id` is the stem of the file's name. Throws UserError when it cannot be an id.
std::string device_file(const Report& report, const std::string& id);

}  // namespace kernelcast::probe
