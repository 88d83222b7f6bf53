// The sweep on an NVIDIA GPU: sweep_cuda SWEEP.PTX [--quick] [--runs N] [--iterations N] [--groups N] > sweep.csv
// The driver library is opened at run time (KERNELCAST_CUDA_LIBRARY, else libcuda.so.1): without one, exit status 77.
#include <dlfcn.h>

#include <fstream>
#include <map>
#include <sstream>

#include "gpu_sweep.h"

namespace {

constexpr int nothing_here = 77;

/// The driver's functions by name; CUresult, CUdevice are int, handles are pointers, CUdeviceptr is 64 bits wide.
class Driver {
 public:
  Driver() {
    const char* name = std::getenv("KERNELCAST_CUDA_LIBRARY");
    library_ = dlopen(name != nullptr ? name : "libcuda.so.1", RTLD_NOW);
  }
  [[nodiscard]] bool there() const { return library_ != nullptr; }
  /// The call's status; -1: the library has no such function.
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) {
    void* const found = dlsym(library_, name);
    if (found == nullptr) return -1;
    const int status = reinterpret_cast<int (*)(Arguments...)>(found)(arguments...);
    if (status != 0 && error_.empty()) error_ = std::string(name) + ": error " + std::to_string(status);
    return status;
  }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void* library_ = nullptr;
  std::string error_;
};

}  // namespace

int main(int argc, char** argv) {
  gpu_sweep::Options options;
  std::vector<std::string> files;
  if (!gpu_sweep::read_options(argc, argv, options, files) || files.size() != 1) {
    std::fprintf(stderr, "usage: sweep_cuda SWEEP.PTX [--quick] [--runs N] [--iterations N] [--groups N] > sweep.csv\n");
    return 2;
  }
  std::ifstream in(files[0]);
  std::ostringstream text;
  text << in.rdbuf();
  const std::string ptx = text.str();
  if (ptx.empty()) {
    std::fprintf(stderr, "sweep_cuda: %s: cannot be read\n", files[0].c_str());
    return 2;
  }
  Driver driver;
  int count = 0;
  if (!driver.there() || driver.call("cuInit", 0U) != 0 || driver.call("cuDeviceGetCount", &count) != 0 || count == 0) {
    std::fprintf(stderr, "sweep_cuda: SKIP: no NVIDIA GPU\n");
    return nothing_here;
  }
  char name[256] = "GPU";
  void *context = nullptr, *module = nullptr, *begin = nullptr, *end = nullptr;
  std::uint64_t out = 0;
  const std::size_t lanes = static_cast<std::size_t>(options.groups) * static_cast<std::size_t>(options.group_size);
  int device = 0;
  const bool ready = driver.call("cuDeviceGet", &device, 0) == 0 && driver.call("cuDeviceGetName", &name[0], 256, device) == 0 &&
                     driver.call("cuDevicePrimaryCtxRetain", &context, device) == 0 && driver.call("cuCtxSetCurrent", context) == 0 &&
                     driver.call("cuModuleLoadData", &module, ptx.c_str()) == 0 && driver.call("cuEventCreate", &begin, 0U) == 0 &&
                     driver.call("cuEventCreate", &end, 0U) == 0 && driver.call("cuMemAlloc_v2", &out, lanes * sizeof(float)) == 0;
  if (!ready) {
    std::fprintf(stderr, "sweep_cuda: %s: %s\n", name, driver.error().c_str());
    return 1;
  }
  std::map<int, void*> kernels;
  return gpu_sweep::sweep(name, options, [&](const gpu_sweep::Launch& l) {
    gpu_sweep::Outcome o;
    void*& kernel = kernels[l.policy];
    const std::string entry = std::string("sweep_") + gpu_sweep::policies[l.policy];
    int status = kernel != nullptr ? 0 : driver.call("cuModuleGetFunction", &kernel, module, entry.c_str());
    int iterations = l.iterations, path = l.path, rest = l.rest;
    unsigned threshold = l.threshold, slope = l.slope;
    void* arguments[] = {&out, &iterations, &path, &rest, &threshold, &slope};
    float milliseconds = 0;
    void* const stream = nullptr;
    void** const extra = nullptr;
    if (status == 0) status = driver.call("cuEventRecord", begin, stream);
    if (status == 0)
      status = driver.call("cuLaunchKernel", kernel, static_cast<unsigned>(l.groups), 1U, 1U, static_cast<unsigned>(l.group_size), 1U, 1U,
                           0U, stream, &arguments[0], extra);
    if (status == 0) status = driver.call("cuEventRecord", end, stream);
    if (status == 0) status = driver.call("cuEventSynchronize", end);
    if (status == 0) status = driver.call("cuEventElapsedTime", &milliseconds, begin, end);
    o.seconds = static_cast<double>(milliseconds) * 1e-3;
    o.out.resize(lanes);
    if (status == 0) status = driver.call("cuMemcpyDtoH_v2", static_cast<void*>(o.out.data()), out, lanes * sizeof(float));
    if (status != 0) o.error = driver.error().empty() ? "the driver has no function that is needed" : driver.error();
    return o;
  });
}
