#include "engines/execute/native/opencl_device.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

namespace kernelcast::agreement {

namespace {

void check(cl_int status, const char* call) {
  if (status != CL_SUCCESS)
    throw std::runtime_error(std::string(call) + " failed with status " + std::to_string(status));
}

}  // namespace

struct OpenclDevice::Impl {
  std::string reason;
  std::filesystem::path folder;
  cl_device_id device{};
  cl_context context{};
  cl_command_queue queue{};
  cl_program program{};
};

OpenclDevice::OpenclDevice() : impl_(std::make_unique<Impl>()) {
  std::string pattern = (std::filesystem::temp_directory_path() / "kernelcast-opencl-XXXXXX").string();
  if (mkdtemp(pattern.data())) {
    impl_->folder = pattern;
    setenv("POCL_CACHE_DIR", pattern.c_str(), 1);
  }
  cl_platform_id platform{};
  cl_uint count = 0;
  if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || count == 0) {
    impl_->reason = "no OpenCL platform is installed";
    return;
  }
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &impl_->device, &count) != CL_SUCCESS || count == 0) {
    impl_->reason = "the OpenCL platform has no device";
    return;
  }
  cl_int status = CL_SUCCESS;
  impl_->context = clCreateContext(nullptr, 1, &impl_->device, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  impl_->queue = clCreateCommandQueue(impl_->context, impl_->device, 0, &status);
  check(status, "clCreateCommandQueue");
}

OpenclDevice::~OpenclDevice() {
  if (impl_->program) clReleaseProgram(impl_->program);
  if (impl_->queue) clReleaseCommandQueue(impl_->queue);
  if (impl_->context) clReleaseContext(impl_->context);
  std::error_code ignored;
  if (!impl_->folder.empty()) std::filesystem::remove_all(impl_->folder, ignored);
}

const std::string& OpenclDevice::unavailable() const { return impl_->reason; }

void OpenclDevice::build(const std::string& source) {
  if (impl_->program) clReleaseProgram(impl_->program);
  const char* text = source.c_str();
  cl_int status = CL_SUCCESS;
  impl_->program = clCreateProgramWithSource(impl_->context, 1, &text, nullptr, &status);
  check(status, "clCreateProgramWithSource");
  status = clBuildProgram(impl_->program, 1, &impl_->device,
                          "-cl-std=CL1.2 -I" KERNELCAST_SOURCE_DIR "/libconverge/include", nullptr, nullptr);
  if (status == CL_SUCCESS) return;
  std::string log(1 << 16, '\0');
  std::size_t length = 0;
  clGetProgramBuildInfo(impl_->program, impl_->device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), &length);
  throw std::runtime_error("clBuildProgram: " + log.substr(0, length));
}

std::vector<std::vector<unsigned char>> OpenclDevice::run(const Case& c) {
  cl_int status = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(impl_->program, c.kernel.c_str(), &status);
  check(status, "clCreateKernel");
  std::vector<std::pair<cl_mem, std::size_t>> buffers;
  for (cl_uint i = 0; i < c.arguments.size(); ++i) {
    const Argument& a = c.arguments[i];
    if (a.kind == Argument::Kind::local) {
      status = clSetKernelArg(kernel, i, static_cast<std::size_t>(a.local_elements) * a.element_bytes, nullptr);
    } else if (a.kind == Argument::Kind::buffer) {
      auto bytes = a.bytes;
      cl_mem buffer =
          clCreateBuffer(impl_->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.size(), bytes.data(), &status);
      check(status, "clCreateBuffer");
      buffers.emplace_back(buffer, bytes.size());
      status = clSetKernelArg(kernel, i, sizeof buffer, &buffer);
    } else {
      status = clSetKernelArg(kernel, i, a.bytes.size(), a.bytes.data());
    }
    check(status, "clSetKernelArg");
  }
  const auto grid = c.grid.array(), block = c.block.array();
  std::size_t global[3], group[3];
  for (std::size_t d = 0; d < 3; ++d) {
    group[d] = static_cast<std::size_t>(block[d]);
    global[d] = static_cast<std::size_t>(grid[d]) * group[d];
  }
  check(clEnqueueNDRangeKernel(impl_->queue, kernel, 3, nullptr, global, group, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
  std::vector<std::vector<unsigned char>> result;
  for (const auto& [buffer, bytes] : buffers) {
    result.emplace_back(bytes);
    check(clEnqueueReadBuffer(impl_->queue, buffer, CL_TRUE, 0, bytes, result.back().data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    clReleaseMemObject(buffer);
  }
  clReleaseKernel(kernel);
  return result;
}

}  // namespace kernelcast::agreement
