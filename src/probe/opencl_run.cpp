// Headers give types only; every function comes from the loader by dlsym (Khronos OpenCL ICD loader, libOpenCL.so.1).
#include "probe/opencl_run.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <random>

#include "kernelcast/error.h"
#include "probe/host/host_memory.h"

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
  X(clEnqueueReadBuffer) \
  X(clEnqueueWriteBuffer) \
  X(clFinish) \
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
  if (a.walk) {
    const std::size_t lines = a.bytes / host::line_bytes;
    for (std::size_t i = 0; i < lines; ++i) {
      const auto next = static_cast<std::uint32_t>(host::next_line(i, lines) * host::line_bytes / 4);
      std::memcpy(bytes.data() + i * host::line_bytes, &next, sizeof next);
    }
    return bytes;
  }
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
  struct Prepared {
    cl_kernel kernel{};
    OpenclLaunch launch;
  };
  std::map<std::string, cl_program> programs;  // by options and source
  std::vector<Prepared> prepared;
  std::vector<cl_mem> buffers;
  cl_mem copied{};  // of transfers
  std::vector<unsigned char> host_copy;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    release();
    if (queue != nullptr) cl.clReleaseCommandQueue(queue);
    if (context != nullptr) cl.clReleaseContext(context);
  }
  void release() {
    for (cl_mem b : buffers) cl.clReleaseMemObject(b);
    for (const Prepared& p : prepared) cl.clReleaseKernel(p.kernel);
    for (const auto& [key, program] : programs) cl.clReleaseProgram(program);
    buffers.clear();
    prepared.clear();
    programs.clear();
    copied = nullptr;
  }

  cl_mem buffer(std::size_t bytes, void* from) {
    cl_int status = CL_SUCCESS;
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (from != nullptr ? CL_MEM_COPY_HOST_PTR : 0);
    cl_mem out = cl.clCreateBuffer(context, flags, bytes, from, &status);
    check(status, "clCreateBuffer");
    buffers.push_back(out);
    return out;
  }

  template <class T>
  T number(cl_device_info what) {
    T value{};
    check(cl.clGetDeviceInfo(device, what, sizeof value, &value, nullptr), "clGetDeviceInfo");
    return value;
  }

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

  OpenclSeconds run(cl_kernel kernel, const OpenclLaunch& launch) {
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
    return {profiled ? static_cast<double>(end - begin) * 1e-9 : wall, wall};
  }
};

OpenclRunner::OpenclRunner() : impl_(std::make_unique<Impl>()) {
  try {
    impl_->open();
  } catch (const LimitError& e) {
    impl_->reason = message_of(e);
  }
}

OpenclRunner::~OpenclRunner() = default;

const std::string& OpenclRunner::unavailable() const { return impl_->reason; }
const std::string& OpenclRunner::device_name() const { return impl_->name; }

OpenclInfo OpenclRunner::info() const {
  if (!impl_->reason.empty()) throw LimitError(impl_->reason);
  OpenclInfo out;
  out.name = impl_->name;
  out.cpu = (impl_->number<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  out.doubles = impl_->number<cl_device_fp_config>(CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  out.units = impl_->number<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS);
  out.clock_hz = 1e6 * impl_->number<cl_uint>(CL_DEVICE_MAX_CLOCK_FREQUENCY);
  out.memory_bytes = static_cast<double>(impl_->number<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE));
  out.largest_buffer_bytes = static_cast<double>(impl_->number<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  return out;
}

int OpenclRunner::prepare(const OpenclLaunch& launch) {
  if (!impl_->reason.empty()) throw LimitError(impl_->reason);
  const Api& cl = impl_->cl;
  cl_program& program = impl_->programs[launch.options + '\n' + launch.source];
  if (program == nullptr) program = impl_->build(launch);
  cl_int status = CL_SUCCESS;
  cl_kernel kernel = cl.clCreateKernel(program, launch.kernel.c_str(), &status);
  check(status, "clCreateKernel");
  impl_->prepared.push_back({kernel, launch});
  for (cl_uint i = 0; i < launch.arguments.size(); ++i) {
    const OpenclArgument& a = launch.arguments[i];
    if (a.kind == OpenclArgument::Kind::local) {
      check(cl.clSetKernelArg(kernel, i, a.bytes, nullptr), "clSetKernelArg");
    } else if (a.kind == OpenclArgument::Kind::scalar) {
      check(cl.clSetKernelArg(kernel, i, a.value.size(), a.value.data()), "clSetKernelArg");
    } else {
      std::vector<unsigned char> bytes = contents(a);
      cl_mem buffer = impl_->buffer(bytes.size(), bytes.data());
      check(cl.clSetKernelArg(kernel, i, sizeof(cl_mem), &buffer), "clSetKernelArg");
    }
  }
  impl_->run(kernel, launch);
  return static_cast<int>(impl_->prepared.size()) - 1;
}

OpenclSeconds OpenclRunner::run(int prepared) {
  const Impl::Prepared& p = impl_->prepared.at(static_cast<std::size_t>(prepared));
  return impl_->run(p.kernel, p.launch);
}

OpenclRunner::Transfer OpenclRunner::transfer(std::size_t bytes, bool to_device, int count) {
  if (!impl_->reason.empty()) throw LimitError(impl_->reason);
  if (impl_->host_copy.size() < bytes) {
    impl_->host_copy.assign(bytes, 1);
    impl_->copied = impl_->buffer(bytes, nullptr);
  }
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  for (int i = 0; i < count; ++i) {
    if (to_device) {
      check(impl_->cl.clEnqueueWriteBuffer(impl_->queue, impl_->copied, CL_FALSE, 0, bytes, impl_->host_copy.data(), 0,
                                           nullptr, nullptr),
            "clEnqueueWriteBuffer");
    } else {
      check(impl_->cl.clEnqueueReadBuffer(impl_->queue, impl_->copied, CL_FALSE, 0, bytes, impl_->host_copy.data(), 0,
                                          nullptr, nullptr),
            "clEnqueueReadBuffer");
    }
  }
  const double started = passed();
  check(impl_->cl.clFinish(impl_->queue), "clFinish");
  return {passed(), started};
}

OpenclTiming OpenclRunner::time(const OpenclLaunch& launch, int runs) {
  const Finally release([&] { impl_->release(); });
  const int prepared = prepare(launch);
  std::vector<double> times;
  for (int i = 0; i < std::max(1, runs); ++i) times.push_back(run(prepared).device_s);
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times.back(), static_cast<int>(times.size())};
}

}  // namespace kernelcast::probe
