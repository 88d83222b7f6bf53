#include "probe/cuda/driver.h"

#include <dlfcn.h>

#include <type_traits>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast::probe::cuda {
namespace {

constexpr const char* instead =
    "; " KC_SETTING(backend) " sim models the SM without one, " KC_SETTING(backend) " opencl measures an OpenCL device";

}  // namespace

void Driver::load(void* library) {
  const auto find = [&](auto& entry, const char* name) {
    entry = reinterpret_cast<std::remove_reference_t<decltype(entry)>>(dlsym(library, name));
    if (entry == nullptr) throw LimitError(std::string("NVIDIA's driver library has no ") + name);
  };
#define KC_CUDA_FIND(name, ours, parameters) find(ours, name);
  KC_CUDA_FUNCTIONS(KC_CUDA_FIND)
#undef KC_CUDA_FIND
}

Driver::Driver(const std::string& path) {
  const std::string name = path.empty() ? "libcuda.so.1" : path;
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    // The loader's own words: "NAME: cannot open shared object file: ...".
    const char* why = dlerror();
    throw LimitError("NVIDIA's driver library cannot be opened (" + std::string(why != nullptr ? why : name) + ")" +
                     instead);
  }
  load(library);
  const Status started = init(0);
  int count = 0;
  if (started == no_device || (started == success && device_count(&count) == success && count == 0))
    throw LimitError(std::string("the machine has no NVIDIA GPU that the driver can use") + instead);
  if (started != success) throw LimitError("cuInit failed: " + name_of(started) + instead);
}

std::string Driver::name_of(Status status) const {
  const char* name = nullptr;
  const std::string number = " (" + std::to_string(status) + ")";
  if (error_name == nullptr || error_name(status, &name) != success || name == nullptr) return "error" + number;
  return name + number;
}

void Driver::check(Status status, const char* call) const {
  if (status != success) throw LimitError(std::string(call) + " failed: " + name_of(status));
}

}  // namespace kernelcast::probe::cuda
