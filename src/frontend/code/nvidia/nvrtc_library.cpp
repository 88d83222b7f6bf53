// Functions as NVIDIA's manual of NVRTC declares them; all of them are there since CUDA 11.2, the first whose NVRTC
// says which architectures it makes machine code for.
#include "frontend/code/nvidia/nvrtc_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "kernelcast/error.h"

namespace kernelcast::frontend {

const NvrtcLibrary& NvrtcLibrary::at(const std::string& path) {
  static std::mutex mutex;
  static auto& libraries = *new std::map<std::string, std::unique_ptr<NvrtcLibrary>>;  // outlives a compiler's thread
  const std::lock_guard lock(mutex);
  std::unique_ptr<NvrtcLibrary>& known = libraries[path];
  if (known == nullptr) known = std::make_unique<NvrtcLibrary>(path);
  return *known;
}

template <class F>
void NvrtcLibrary::find(F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(library_, name));
  if (function == nullptr)
    throw UserError(path_ + ": the library has no " + name + ", as NVRTC of CUDA 11.2 and later has");
}

NvrtcLibrary::NvrtcLibrary(const std::string& path)
    : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)), path_(path) {
  if (library_ == nullptr) {
    const char* text = dlerror();
    throw UserError(text != nullptr ? text : path + ": cannot be opened");
  }
  int (*version)(int*, int*) = nullptr;
  int (*count)(int*) = nullptr;
  int (*architectures)(int*) = nullptr;
  find(version, "nvrtcVersion");
  find(count, "nvrtcGetNumSupportedArchs");
  find(architectures, "nvrtcGetSupportedArchs");
  find(create_, "nvrtcCreateProgram");
  find(destroy_, "nvrtcDestroyProgram");
  find(add_name_, "nvrtcAddNameExpression");
  find(compile_, "nvrtcCompileProgram");
  find(lowered_name_, "nvrtcGetLoweredName");
  find(log_size_, "nvrtcGetProgramLogSize");
  find(log_, "nvrtcGetProgramLog");
  find(cubin_size_, "nvrtcGetCUBINSize");
  find(cubin_, "nvrtcGetCUBIN");
  find(error_string_, "nvrtcGetErrorString");
  int major = 0, minor = 0, known = 0;
  if (const int status = version(&major, &minor); status != 0)
    throw UserError(path + ": nvrtcVersion: " + error_text(status));
  version_ = std::to_string(major) + "." + std::to_string(minor);
  if (count(&known) != 0 || known <= 0) return;
  architectures_.resize(static_cast<std::size_t>(known));
  if (architectures(architectures_.data()) != 0) architectures_.clear();
}

bool NvrtcLibrary::knows(const std::string& arch) const {
  return std::ranges::any_of(architectures_, [&](int number) { return arch == "sm_" + std::to_string(number); });
}

std::string NvrtcLibrary::error_text(int status) const {
  const char* text = error_string_(status);
  return text != nullptr ? text : "status " + std::to_string(status);
}

std::string NvrtcLibrary::read(Program program, int (*size)(Program, std::size_t*),
                               int (*bytes)(Program, char*)) const {
  std::size_t length = 0;
  if (size(program, &length) != 0) return {};
  std::string out(length, '\0');
  return bytes(program, out.data()) == 0 ? out : std::string();
}

NvrtcResult NvrtcLibrary::compile(const NvrtcJob& job) const {
  NvrtcResult out;
  Program program = nullptr;
  if (const int status = create_(&program, job.text.c_str(), job.path.c_str(), 0, nullptr, nullptr); status != 0) {
    out.log = "nvrtcCreateProgram: " + error_text(status);
    return out;
  }
  const std::unique_ptr<Program, int (*)(Program*)> end(&program, destroy_);
  int status = job.expression.empty() ? 0 : add_name_(program, job.expression.c_str());
  std::vector<const char*> options;
  for (const std::string& option : job.options) options.push_back(option.c_str());
  if (status == 0) status = compile_(program, static_cast<int>(options.size()), options.data());
  out.log = read(program, log_size_, log_);
  out.log.resize(std::min(out.log.size(), out.log.find('\0')));  // the log's own end
  if (status != 0) {
    if (out.log.empty()) out.log = error_text(status);
    return out;
  }
  const char* lowered = nullptr;
  if (!job.expression.empty() && lowered_name_(program, job.expression.c_str(), &lowered) == 0 && lowered != nullptr)
    out.lowered_name = lowered;
  out.cubin = read(program, cubin_size_, cubin_);
  if (out.cubin.empty()) out.log = "it made no machine code";
  return out;
}

}  // namespace kernelcast::frontend
