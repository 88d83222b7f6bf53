// Headers give types only; every function comes from the loader by dlsym (Khronos OpenCL ICD loader, libOpenCL.so.1).
#include "probe/opencl_run.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>

#include "kernelcast/error.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

namespace kernelcast::probe {
namespace {

void check(cl_int status, const char* call) {
  if (status != CL_SUCCESS)
    throw LimitError(std::string(call) + " failed with OpenCL status " + std::to_string(status));
}

// clang-format off
/// Every function that is used.
#define KC_OPENCL_FUNCTIONS(X) \
  X(clGetPlatformIDs) \
  X(clGetDeviceIDs) \
  X(clGetDeviceInfo) \
  X(clCreateContext) \
  X(clReleaseContext) \
  X(clCreateCommandQueue) \
  X(clReleaseCommandQueue) \
  X(clCreateProgramWithSource) \
  X(clBuildProgram) \
  X(clGetProgramBuildInfo) \
  X(clReleaseProgram) \
  X(clCreateKernel) \
  X(clReleaseKernel) \
  X(clCreateBuffer) \
  X(clReleaseMemObject) \
  X(clSetKernelArg) \
  X(clEnqueueNDRangeKernel) \
  X(clWaitForEvents) \
  X(clGetEventProfilingInfo) \
  X(clReleaseEvent)
// clang-format on

/// The functions, by name.
struct Api {
#define KC_MEMBER(name) decltype(&::name) name = nullptr;
  KC_OPENCL_FUNCTIONS(KC_MEMBER)
#undef KC_MEMBER

  /// Empty when every function was found, otherwise the first that was not.
  std::string load(void* library) {
    std::string missing;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr && missing.empty()) missing = name;
    };
#define KC_FIND(name) find(name, #name);
    KC_OPENCL_FUNCTIONS(KC_FIND)
#undef KC_FIND
    return missing;
  }
};

/// Runs a clean-up when it leaves the scope.
template <class F>
class Finally {
 public:
  explicit Finally(F f) : f_(std::move(f)) {}
  ~Finally() { f_(); }
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;

 private:
  F f_;
};

std::vector<unsigned char> contents(const OpenclArgument& a) {
  std::vector<unsigned char> bytes(a.bytes);
  std::minstd_rand random(1);
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    const auto small = static_cast<std::int32_t>(random() % 16);
    const float real = static_cast<float>(random() % 65536) / 65536.0F;
    std::memcpy(bytes.data() + i, a.real ? static_cast<const void*>(&real) : &small, 4);
  }
  return bytes;
}

}  // namespace

struct OpenclRunner::Impl {
  std::string reason, name;
  Api cl;
  cl_device_id device{};
  cl_context context{};
  cl_command_queue queue{};

  void open() {
    void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      reason = "no OpenCL loader (libOpenCL.so.1) is installed";
      return;
    }
    if (const std::string missing = cl.load(library); !missing.empty()) {
      reason = "the OpenCL loader has no " + missing;
      return;
    }
    std::array<cl_platform_id, 16> platforms{};
    cl_uint count = 0;
    if (cl.clGetPlatformIDs(platforms.size(), platforms.data(), &count) != CL_SUCCESS) count = 0;
    for (cl_uint i = 0; i < std::min<cl_uint>(count, platforms.size()) && device == nullptr; ++i) {
      cl_uint devices = 0;
      if (cl.clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, &devices) != CL_SUCCESS) device = nullptr;
    }
    if (device == nullptr) {
      reason = count == 0 ? "no OpenCL platform is installed" : "no OpenCL platform has a device";
      return;
    }
    std::string text(256, '\0');
    std::size_t length = 0;
    check(cl.clGetDeviceInfo(device, CL_DEVICE_NAME, text.size(), text.data(), &length), "clGetDeviceInfo");
    name = text.substr(0, length > 0 ? length - 1 : 0);
    cl_int status = CL_SUCCESS;
    context = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    queue = cl.clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &status);
    check(status, "clCreateCommandQueue");
  }

  cl_program build(const OpenclLaunch& launch) {
    const char* text = launch.source.c_str();
    cl_int status = CL_SUCCESS;
    cl_program program = cl.clCreateProgramWithSource(context, 1, &text, nullptr, &status);
    check(status, "clCreateProgramWithSource");
    status = cl.clBuildProgram(program, 1, &device, launch.options.c_str(), nullptr, nullptr);
    if (status == CL_SUCCESS) return program;
    std::string log(1 << 14, '\0');
    std::size_t length = 0;
    cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), &length);
    cl.clReleaseProgram(program);
    throw LimitError("clBuildProgram failed with OpenCL status " + std::to_string(status) + ": " +
                     log.substr(0, length));
  }

  double run(cl_kernel kernel, const OpenclLaunch& launch) {
    std::array<std::size_t, 3> global{};
    for (std::size_t i = 0; i < 3; ++i) global[i] = launch.grid[i] * launch.block[i];
    cl_event event{};
    const auto start = std::chrono::steady_clock::now();
    check(cl.clEnqueueNDRangeKernel(queue, kernel, 3, nullptr, global.data(), launch.block.data(), 0, nullptr, &event),
          "clEnqueueNDRangeKernel");
    const Finally release([&] { cl.clReleaseEvent(event); });
    check(cl.clWaitForEvents(1, &event), "clWaitForEvents");
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    cl_ulong begin = 0, end = 0;
    const bool profiled =
        cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr) == CL_SUCCESS &&
        cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) == CL_SUCCESS &&
        end > begin;
    return profiled ? static_cast<double>(end - begin) * 1e-9 : wall;
  }
};

OpenclRunner::OpenclRunner() : impl_(std::make_unique<Impl>()) {
  try {
    impl_->open();
  } catch (const LimitError& e) {
    impl_->reason = e.what();
  }
}

OpenclRunner::~OpenclRunner() {
  if (impl_->queue != nullptr) impl_->cl.clReleaseCommandQueue(impl_->queue);
  if (impl_->context != nullptr) impl_->cl.clReleaseContext(impl_->context);
}

const std::string& OpenclRunner::unavailable() const { return impl_->reason; }
const std::string& OpenclRunner::device_name() const { return impl_->name; }

OpenclTiming OpenclRunner::time(const OpenclLaunch& launch, int runs) {
  if (!impl_->reason.empty()) throw LimitError(impl_->reason);
  const Api& cl = impl_->cl;
  cl_program program = impl_->build(launch);
  const Finally release_program([&] { cl.clReleaseProgram(program); });
  cl_int status = CL_SUCCESS;
  cl_kernel kernel = cl.clCreateKernel(program, launch.kernel.c_str(), &status);
  check(status, "clCreateKernel");
  const Finally release_kernel([&] { cl.clReleaseKernel(kernel); });
  std::vector<cl_mem> buffers;
  const Finally release_buffers([&] {
    for (cl_mem b : buffers) cl.clReleaseMemObject(b);
  });
  for (cl_uint i = 0; i < launch.arguments.size(); ++i) {
    const OpenclArgument& a = launch.arguments[i];
    if (a.kind == OpenclArgument::Kind::local) {
      check(cl.clSetKernelArg(kernel, i, a.bytes, nullptr), "clSetKernelArg");
    } else if (a.kind == OpenclArgument::Kind::scalar) {
      check(cl.clSetKernelArg(kernel, i, a.value.size(), a.value.data()), "clSetKernelArg");
    } else {
      std::vector<unsigned char> bytes = contents(a);
      cl_mem buffer = cl.clCreateBuffer(impl_->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.size(),
                                        bytes.data(), &status);
      check(status, "clCreateBuffer");
      buffers.push_back(buffer);
      check(cl.clSetKernelArg(kernel, i, sizeof buffer, &buffer), "clSetKernelArg");
    }
  }
  impl_->run(kernel, launch);
  std::vector<double> times;
  for (int i = 0; i < std::max(1, runs); ++i) times.push_back(impl_->run(kernel, launch));
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times.back(), static_cast<int>(times.size())};
}

}  // namespace kernelcast::probe
