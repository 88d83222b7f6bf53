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
  double spread = 0;                        // (largest - smallest) / median of the samples that the value rests on
  std::string confidence;                   // "exact", "high", "unstable", "none"
  std::string what;                         // one sentence
  std::vector<Field> fields;                // of a device file
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
  std::string opencl_runner;                // opencl: the program kernelcast-opencl
  std::string cuda_runner;                  // cuda: the program kernelcast-cuda
  std::string cuda_library;                 // cuda: path of the driver library; empty: libcuda.so.1
  std::string cuda_record;                  // cuda: a record in place of the machine's device
  std::string ptxas;                        // cuda: path of NVIDIA's assembler; empty: CUDA's usual places
  bool quick = false;                       // host, opencl, cuda: fewer repeats; more figures will be flagged
  std::string device_folder;
  std::function<void(const std::string&)> progress;
};

/// The four steps on the cycle-level SM of the device. Throws UserError when there is no spec of its architecture.
Report probe_sim(const Device& device, const Options& options);

/// The CPU that we run on, measured by native code, over what `base` (kind "cpu") knows already. Throws UsageError for a
/// base of another kind, LimitError on processors that the loops are not written for and when memory is short.
Report probe_host(const Device& base, const Options& options);

/// The first device of the machine's first OpenCL platform, over what `base` knows of it. Throws UsageError when one is a
/// CPU and the other is not, LimitError with the reason when there is no device or it refuses a kernel.
Report probe_opencl(const Device& base, const Options& options);

/// The machine's first NVIDIA GPU through its driver library, or what was recorded of one, over what `base` (its device
/// file, or one of its architecture) knows. Throws UsageError for another kind of base, LimitError with the reason when
/// there is no driver, no device or no record.
Report probe_cuda(const Device& base, const Options& options);
/// Name of that GPU as the driver gives it. Throws LimitError as above.
std::string cuda_device_name(const Options& options);
/// What `kernelcast-cuda` runs on a machine that has the GPU but not this program, made for the device of the file.
std::string cuda_plan(const Device& base, const Options& options);

/// A device file with everything that the base knows, measured results in place of the base's numbers.
/// `id` is the stem of the file's name. Throws UserError when it cannot be an id.
std::string device_file(const Report& report, const std::string& id);

}  // namespace kernelcast::probe
