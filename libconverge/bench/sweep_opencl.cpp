// The sweep on an OpenCL device: sweep_opencl FOLDER [--quick] [--runs N] [--iterations N] [--groups N] > sweep.csv
// FOLDER holds sweep.cl; converge/ is found beside it or by -I. The loader is opened at run time: without one, exit status 77.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#include <fstream>
#include <map>
#include <sstream>

#include "converge/policy.h"
#include "gpu_sweep.h"

namespace {

constexpr int nothing_here = 77;

struct Loader {
  void* library = nullptr;
  template <class F>
  F* find(const char* name) const {
    return reinterpret_cast<F*>(dlsym(library, name));
  }
};
#define CL(name) loader.find<decltype(name)>(#name)

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

int main(int argc, char** argv) {
  gpu_sweep::Options options;
  options.group_size = 64;
  std::vector<std::string> folders;
  if (!gpu_sweep::read_options(argc, argv, options, folders) || folders.size() != 1) {
    std::fprintf(stderr, "usage: sweep_opencl FOLDER [--quick] [--runs N] [--iterations N] [--groups N] > sweep.csv\n");
    return 2;
  }
  const std::string source = text_of(folders[0] + "/sweep.cl");
  if (source.empty()) {
    std::fprintf(stderr, "sweep_opencl: %s/sweep.cl: cannot be read\n", folders[0].c_str());
    return 2;
  }
  Loader loader;
  loader.library = dlopen("libOpenCL.so.1", RTLD_NOW);
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_uint platforms = 0;
  if (loader.library == nullptr || CL(clGetPlatformIDs)(1, &platform, &platforms) != CL_SUCCESS || platforms == 0 ||
      CL(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
    std::fprintf(stderr, "sweep_opencl: SKIP: no OpenCL device\n");
    return nothing_here;
  }
  char name[256] = "";
  CL(clGetDeviceInfo)(device, CL_DEVICE_NAME, sizeof name, name, nullptr);
  cl_int error = CL_SUCCESS;
  cl_context context = CL(clCreateContext)(nullptr, 1, &device, nullptr, nullptr, &error);
  cl_command_queue queue = error == CL_SUCCESS ? CL(clCreateCommandQueue)(context, device, CL_QUEUE_PROFILING_ENABLE, &error) : nullptr;
  if (error != CL_SUCCESS) {
    std::fprintf(stderr, "sweep_opencl: %s: error %d\n", name, error);
    return 1;
  }
  const std::size_t lanes = static_cast<std::size_t>(options.groups) * static_cast<std::size_t>(options.group_size);
  cl_mem out = CL(clCreateBuffer)(context, CL_MEM_WRITE_ONLY, lanes * sizeof(float), nullptr, &error);

  std::map<std::pair<int, int>, cl_kernel> kernels;  // by policy and ratio in eighths, which the choice of auto rests on
  const auto kernel_of = [&](const gpu_sweep::Launch& l, std::string& why) -> cl_kernel {
    const auto [place, fresh] = kernels.try_emplace({l.policy, l.policy == CONVERGE_AUTO ? l.path : 0}, nullptr);
    if (!fresh) return place->second;
    const char* text = source.c_str();
    cl_program program = CL(clCreateProgramWithSource)(context, 1, &text, nullptr, &error);
    const bool by_hand = l.policy == gpu_sweep::hand;
    std::ostringstream flags;
    flags << "-I " << folders[0] << " -I " << folders[0] << "/../include -D POLICY=" << (by_hand ? 0 : l.policy) << " -D HAND=" << by_hand
          << " -D CONVERGE_ALLOW=7 -D CONVERGE_RHO=" << std::to_string(2.0 * l.path / l.rest) << "f";
    if (CL(clBuildProgram)(program, 1, &device, flags.str().c_str(), nullptr, nullptr) != CL_SUCCESS) {
      std::vector<char> log(20000);
      CL(clGetProgramBuildInfo)(program, device, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), nullptr);
      why = log.data();
      return nullptr;
    }
    return place->second = CL(clCreateKernel)(program, "sweep", &error);
  };

  return gpu_sweep::sweep(name, options, [&](const gpu_sweep::Launch& l) {
    gpu_sweep::Outcome o;
    cl_kernel kernel = kernel_of(l, o.error);
    if (kernel == nullptr) {
      if (o.error.empty()) o.error = "cannot be built";
      return o;
    }
    const cl_int numbers[] = {l.iterations, l.path, l.rest};
    const cl_uint pattern[] = {l.threshold, l.slope};
    CL(clSetKernelArg)(kernel, 0, sizeof out, &out);
    for (cl_uint k = 0; k < 3; ++k) CL(clSetKernelArg)(kernel, 1 + k, sizeof numbers[k], &numbers[k]);
    for (cl_uint k = 0; k < 2; ++k) CL(clSetKernelArg)(kernel, 4 + k, sizeof pattern[k], &pattern[k]);
    const std::size_t local = static_cast<std::size_t>(l.group_size);
    cl_event event = nullptr;
    error = CL(clEnqueueNDRangeKernel)(queue, kernel, 1, nullptr, &lanes, &local, 0, nullptr, &event);
    if (error == CL_SUCCESS) error = CL(clWaitForEvents)(1, &event);
    cl_ulong from = 0, to = 0;
    if (error == CL_SUCCESS) {
      CL(clGetEventProfilingInfo)(event, CL_PROFILING_COMMAND_START, sizeof from, &from, nullptr);
      CL(clGetEventProfilingInfo)(event, CL_PROFILING_COMMAND_END, sizeof to, &to, nullptr);
      CL(clReleaseEvent)(event);
      o.seconds = static_cast<double>(to - from) * 1e-9;
      o.out.resize(lanes);
      error = CL(clEnqueueReadBuffer)(queue, out, CL_TRUE, 0, lanes * sizeof(float), o.out.data(), 0, nullptr, nullptr);
    }
    if (error != CL_SUCCESS) o.error = "error " + std::to_string(error);
    return o;
  });
}
