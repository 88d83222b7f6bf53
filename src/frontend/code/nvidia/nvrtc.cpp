// The source goes to the library as it is, with the user's own macros and folders, those of the toolkit that the
// library lies in, and no stand-ins of ours. Its code names kernels by their mangled names as ours does, but for static
// ones and those of unnamed namespaces, which are found by the rest of their name.
//
// Limits: NVRTC reads device code alone. A file with host code that includes headers of the host is refused, and the
// message says so. Code of sm_70 and later can be read (src/sass/cubin.h).
#include "frontend/code/nvidia/nvrtc.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "frontend/code/nvidia/nvrtc_library.h"
#include "frontend/source/kernels.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "llvm/Demangle/Demangle.h"
#include "machine/nvidia_targets.h"
#include "machine/sass/cubin.h"

namespace kernelcast {

std::string nvrtc_version(const std::string& library) {
  return "NVRTC " + frontend::NvrtcLibrary::at(library).version();
}

}  // namespace kernelcast

namespace kernelcast::frontend {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_lines = 12;  // of messages that are shown

/// Headers of a toolkit, or of NVIDIA's packages for Python, that belong to the library.
std::vector<std::string> toolkit_headers(const std::string& library) {
  std::vector<std::string> folders;
  std::error_code error;
  const fs::path real = fs::canonical(library, error);
  if (error) return folders;  // found where the system looks for libraries
  for (const char* place : {"../include", "../../cuda_runtime/include"}) {
    const fs::path folder = (real.parent_path() / place).lexically_normal();
    if (fs::exists(folder / "cuda_runtime.h", error)) folders.push_back(folder.string());
  }
  return folders;
}

/// "gnu++17" is "c++17" to NVRTC.
std::string standard_of(const std::string& standard) {
  return standard.starts_with("gnu") ? "c" + standard.substr(3) : standard;
}

std::vector<std::string> options_for(const Source& source, const std::string& target, const std::string& library) {
  std::vector<std::string> out{"--gpu-architecture=" + target};
  for (const std::string& define : source.defines) out.push_back("-D" + define);
  for (const std::string& name : source.undefines) out.push_back("-U" + name);
  for (const std::string& folder : source.include_dirs) out.push_back("-I" + folder);
  for (const std::string& folder : toolkit_headers(library)) out.push_back("-I" + folder);
  if (!source.standard.empty()) out.push_back("--std=" + standard_of(source.standard));
  if (source.fast_math) out.emplace_back("--use_fast_math");
  return out;
}

/// The messages from the first error on, warnings before it left out.
std::string errors_in(const std::string& log) {
  std::istringstream lines(log);
  std::string out;
  std::size_t count = 0;
  bool began = log.find("error") == std::string::npos;
  for (std::string line; std::getline(lines, line) && count < most_lines;) {
    began = began || line.find("error") != std::string::npos;
    if (!began || line.find_first_not_of(" \t\r") == std::string::npos) continue;
    out += (count++ == 0 ? "" : "\n") + line;
  }
  return out;
}

/// A kernel's name without parameters and without the unnamed namespaces that compilers spell differently.
std::string local_name(const std::string& symbol) {
  std::string name = without_parameters(llvm::demangle(symbol));
  if (name.starts_with("void ")) name.erase(0, 5);
  const std::size_t arguments = name.find('<');
  if (const std::size_t colons = name.rfind("::", arguments); colons != std::string::npos) name.erase(0, colons + 2);
  return name;
}

const sass::Cubin::Kernel* kernel_in(const sass::Cubin& cubin, const KernelEntry& wanted, const std::string& lowered) {
  for (const sass::Cubin::Kernel& k : cubin.kernels())
    if (k.name == (lowered.empty() ? wanted.symbol : lowered)) return &k;
  const sass::Cubin::Kernel* found = nullptr;
  for (const sass::Cubin::Kernel& k : cubin.kernels()) {
    if (local_name(k.name) != local_name(wanted.symbol)) continue;
    if (found != nullptr) return nullptr;  // either may be meant
    found = &k;
  }
  return found;
}

std::string obstacle_of(const NvrtcLibrary& library, Language language, const std::string& target) {
  if (language != Language::cuda) return "NVRTC compiles CUDA C++ alone";
  if (!machine::nvidia_target(std::atoi(target.c_str() + 3)).readable_code)
    return "code of " + target + " cannot be read, that of sm_70 and later can";
  if (!library.knows(target)) return "NVRTC " + library.version() + " does not know " + target;
  return "";
}

}  // namespace

NvrtcReport ask_nvrtc(const std::string& path, const Source& source, Language language, const KernelEntry& kernel,
                      const std::string& target) {
  const NvrtcLibrary& library = NvrtcLibrary::at(path);
  NvrtcReport report;
  report.obstacle = obstacle_of(library, language, target);
  if (!report.obstacle.empty()) return report;
  const bool of_template = kernel.demangled.find('<') != std::string::npos;
  const NvrtcResult result =
      library.compile({source.path, source.text, of_template ? without_parameters(kernel.demangled) : std::string(),
                       options_for(source, target, path)});
  const std::string who = KC_SETTING(nvrtc) ": NVRTC " + library.version();
  if (result.cubin.empty())
    throw UserError(who + " does not compile it: " + errors_in(result.log) +
                    "\nnote: it compiles device code alone: give a file without host code and headers of the host, or "
                    "leave " KC_SETTING(nvrtc) " out");
  const sass::Cubin cubin(result.cubin, who + ": its code for " + target);
  const sass::Cubin::Kernel* found = kernel_in(cubin, kernel, result.lowered_name);
  if (found == nullptr) throw UserError(who + " made no code for " + kernel.demangled);
  if (found->registers <= 0) throw UserError(who + " does not say how many registers " + kernel.demangled + " takes");
  report.code = NvrtcCode{static_cast<double>(found->registers), static_cast<std::int64_t>(found->stack_bytes),
                          static_cast<std::int64_t>(found->shared_bytes), "NVRTC " + library.version()};
  return report;
}

}  // namespace kernelcast::frontend
