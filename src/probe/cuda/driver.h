// NVIDIA's driver library, opened at run time. Neither headers nor libraries of the toolkit: the few functions, types
// and numbers that are used are declared here, as the driver API's documentation gives them ("CUDA Driver API",
// NVIDIA).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace kernelcast::probe::cuda {

using Status = int;  // CUresult
using DeviceHandle = int;
using Pointer = std::uint64_t;  // CUdeviceptr
struct ContextOpaque;
struct ModuleOpaque;
struct FunctionOpaque;
struct StreamOpaque;
struct EventOpaque;
using Context = ContextOpaque*;
using Module = ModuleOpaque*;
using Function = FunctionOpaque*;
using Stream = StreamOpaque*;
using Event = EventOpaque*;

inline constexpr Status success = 0, no_device = 100, out_of_memory = 2;

/// CUdevice_attribute.
enum class Attribute : int {
  warp_size = 10,
  clock_khz = 13,
  units = 16,
  memory_clock_khz = 36,
  bus_bits = 37,
  l2_bytes = 38,
  capability_major = 75,
  capability_minor = 76
};
/// CUfunction_attribute.
enum class FunctionAttribute : int { most_dynamic_shared_bytes = 8, nonportable_cluster = 14 };
/// CUjit_option.
enum class JitOption : int { error_log = 5, error_log_bytes = 6 };

/// Every function that is used: its name in the library (with the suffix of its current version), ours, its parameters.
// clang-format off
#define KC_CUDA_FUNCTIONS(X) \
  X("cuInit", init, (unsigned)) \
  X("cuDriverGetVersion", driver_version, (int*)) \
  X("cuDeviceGetCount", device_count, (int*)) \
  X("cuDeviceGet", device, (DeviceHandle*, int)) \
  X("cuDeviceGetName", device_name, (char*, int, DeviceHandle)) \
  X("cuDeviceTotalMem_v2", total_memory, (std::size_t*, DeviceHandle)) \
  X("cuDeviceGetAttribute", attribute, (int*, int, DeviceHandle)) \
  X("cuCtxCreate_v2", create_context, (Context*, unsigned, DeviceHandle)) \
  X("cuCtxDestroy_v2", destroy_context, (Context)) \
  X("cuCtxSynchronize", synchronize, ()) \
  X("cuModuleLoadDataEx", load_module, (Module*, const void*, unsigned, int*, void**)) \
  X("cuModuleGetFunction", function, (Function*, Module, const char*)) \
  X("cuFuncSetAttribute", set_function, (Function, int, int)) \
  X("cuMemAlloc_v2", allocate, (Pointer*, std::size_t)) \
  X("cuMemFree_v2", release, (Pointer)) \
  X("cuMemHostAlloc", allocate_pinned, (void**, std::size_t, unsigned)) \
  X("cuMemFreeHost", release_pinned, (void*)) \
  X("cuMemcpyHtoD_v2", to_device, (Pointer, const void*, std::size_t)) \
  X("cuMemcpyDtoH_v2", from_device, (void*, Pointer, std::size_t)) \
  X("cuMemcpyHtoDAsync_v2", to_device_async, (Pointer, const void*, std::size_t, Stream)) \
  X("cuMemcpyDtoHAsync_v2", from_device_async, (void*, Pointer, std::size_t, Stream)) \
  X("cuMemsetD8_v2", fill, (Pointer, unsigned char, std::size_t)) \
  X("cuLaunchKernel", launch, (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**, void**)) \
  X("cuEventCreate", create_event, (Event*, unsigned)) \
  X("cuEventRecord", record_event, (Event, Stream)) \
  X("cuEventSynchronize", wait_event, (Event)) \
  X("cuEventElapsedTime", elapsed_ms, (float*, Event, Event)) \
  X("cuEventDestroy_v2", destroy_event, (Event)) \
  X("cuGetErrorName", error_name, (Status, const char**))
// clang-format on

class Driver {
 public:
  /// Opens the library `path` (libcuda.so.1 if empty) and starts the driver. Throws LimitError that says what is
  /// missing and what works without.
  explicit Driver(const std::string& path);

#define KC_CUDA_MEMBER(name, ours, parameters) Status(*ours) parameters = nullptr;
  KC_CUDA_FUNCTIONS(KC_CUDA_MEMBER)
#undef KC_CUDA_MEMBER

  /// "CUDA_ERROR_..." and its number.
  [[nodiscard]] std::string name_of(Status status) const;
  /// Throws LimitError "CALL failed: NAME (NUMBER)".
  void check(Status status, const char* call) const;

 private:
  void load(void* library);
};

}  // namespace kernelcast::probe::cuda
