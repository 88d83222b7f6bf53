// The compiler proper is called without clang's driver: the lines below are what the driver of clang 19.1 would pass,
// minus its search for toolkits.
#include "frontend/source/compile_language.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "ptx/requirements.h"

namespace kernelcast {
namespace {

/// An executable or object, whatever its name.
bool is_elf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char start[4] = {};
  return file.read(start, 4) && std::string_view(start, 4) ==
                                    "\x7f"
                                    "ELF";
}

}  // namespace

Language language_of(const std::string& path) {
  static const std::map<std::string, Language> endings = {
      {".cl", Language::opencl},  {".ocl", Language::opencl}, {".cu", Language::cuda},
      {".cuh", Language::cuda},   {".hip", Language::hip},    {".c", Language::c},
      {".cc", Language::cxx},     {".cpp", Language::cxx},    {".cxx", Language::cxx},
      {".C", Language::cxx},      {".ll", Language::llvm_ir}, {".llir", Language::llvm_ir},
      {".bc", Language::llvm_ir}, {".ptx", Language::ptx},    {".cubin", Language::ptx},
      {".fatbin", Language::ptx}};  // the latter two: to say
                                    // what to do
  std::string name = std::filesystem::path(path).filename().string();
  if (name.ends_with(".hip.cpp")) return Language::hip;
  const std::size_t dot = name.rfind('.');
  const auto found = dot == std::string::npos ? endings.end() : endings.find(name.substr(dot));
  if (found == endings.end() && is_elf(path)) return Language::ptx;  // to say what to do
  if (found == endings.end())
    throw UserError(
        path +
        ": the ending does not tell the language; known are .cl .cu .cuh .hip .c .cc .cpp .cxx .ll .llir .bc .ptx");
  return found->second;
}

}  // namespace kernelcast

namespace kernelcast::frontend {
namespace {

namespace fs = std::filesystem;

struct SystemHeaders {
  std::vector<std::string> cxx;
  std::vector<std::string> c;
};

std::string resource_folder() {
  // KERNELCAST_CLANG_PATH is <prefix>/bin/clang; the headers that ship with the compiler lie in <prefix>/lib/clang/19.
  return (fs::path(KERNELCAST_CLANG_PATH).parent_path().parent_path() / "lib" / "clang" / "19").string();
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

const SystemHeaders& system_headers() {
  static const SystemHeaders headers = [] {
    SystemHeaders found;
#if defined(__aarch64__)
    const std::string triple = "aarch64-linux-gnu";
#else
    const std::string triple = "x86_64-linux-gnu";
#endif
    int newest = 0;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/usr/include/c++", error)) {
      const std::string name = entry.path().filename().string();
      int version = 0;
      const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), version);
      if (failed == std::errc() && version > newest && is_folder(fs::path("/usr/include") / triple / "c++" / name))
        newest = version;
    }
    if (newest > 0) {
      const std::string version = std::to_string(newest);
      found.cxx = {"/usr/include/c++/" + version, "/usr/include/" + triple + "/c++/" + version,
                   "/usr/include/c++/" + version + "/backward"};
    }
    for (const std::string& folder :
         {std::string("/usr/local/include"), "/usr/include/" + triple, std::string("/usr/include")}) {
      if (is_folder(folder)) found.c.push_back(folder);
    }
    return found;
  }();
  return headers;
}

void append(std::vector<std::string>& to, std::initializer_list<std::string> more) { to.insert(to.end(), more); }

// A toolkit's headers may be linked into /usr/local/include; they would not fit ours.
bool toolkits_may_be_there(const std::string& folder) { return folder == "/usr/local/include"; }

void add_system_headers(std::vector<std::string>& args, bool cxx, bool device_code) {
  append(args, {"-internal-isystem", kVirtualHeaderFolder});
  if (cxx) {
    for (const auto& folder : system_headers().cxx) append(args, {"-internal-isystem", folder});
  }
  append(args, {"-internal-isystem", resource_folder() + "/include"});
  for (const auto& folder : system_headers().c) {
    if (toolkits_may_be_there(folder) && device_code) continue;
    append(args, {"-internal-externc-isystem", folder});
  }
}

// NVIDIA's and AMD's own headers define what ours define: of a folder that -I names, ours go first.
bool is_toolkit_folder(const std::string& folder) {
  const auto has = [&folder](const char* file) {
    std::error_code unknown;
    return fs::exists(fs::path(folder) / file, unknown);
  };
  return has("cuda_runtime_api.h") || has("hip/hip_runtime_api.h");
}

// Kernel files often name headers relative to where their program is built or run: the folders around the source are
// searched last.
void add_neighbour_folders(std::vector<std::string>& args, const std::string& main_file) {
  if (main_file == "<stdin>") return;
  const fs::path here = fs::path(main_file).parent_path();
  for (const char* neighbour : {"include", "..", "../include", "../common", "../../common", "../../include"}) {
    const fs::path folder = here / neighbour;
    if (is_folder(folder)) append(args, {"-idirafter", folder.string()});
  }
}

std::string default_standard(Language language) {
  switch (language) {
    case Language::opencl:
      return "CL2.0";
    case Language::c:
      return "gnu17";
    default:
      return "gnu++17";
  }
}

void add_target(std::vector<std::string>& args, const std::string& target, Vendor vendor) {
  if (vendor == Vendor::nvidia) {
    // Without a PTX version clang would derive one from an installed toolkit; 8.3 has every instruction that clang 19
    // knows.
    append(args, {"-triple", "nvptx64-nvidia-cuda", "-target-cpu", target, "-target-feature", "+ptx83",
                  "-mrelocation-model", "static", "-mframe-pointer=all", "-no-integrated-as"});
  } else {
    append(args, {"-triple", "amdgcn-amd-amdhsa", "-target-cpu", target, "-mrelocation-model", "pic", "-pic-level", "2",
                  "-fhalf-no-semantic-interposition", "-mframe-pointer=none", "-mconstructor-aliases",
                  "-fvisibility=hidden", "-fapply-global-visibility-to-externs"});
  }
}

/// gfx6xx to gfx9xx run 64 lanes, gfx10xx and later 32.
std::string lanes_of(const std::string& target) {
  return target.starts_with("gfx9") || (target.starts_with("gfx") && target.size() < 7) ? "64" : "32";
}

void add_opencl(std::vector<std::string>& args, const Source& source, Vendor vendor, const std::string& target) {
  append(args, {"-ffp-contract=on", "-finclude-default-header", "-fdeclare-opencl-builtins", "-fgnuc-version=4.2.1",
                "-fno-threadsafe-statics", "-Wno-unused-value"});
  // Clang's NVPTX target leaves them out; every GPU since Fermi has them, and NVIDIA's own compiler offers them.
  if (vendor == Vendor::nvidia) args.push_back("-cl-ext=+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics");
  if (source.fast_math) args.push_back("-cl-fast-relaxed-math");
  append(args, {"-D", "__KERNELCAST_WARP_SIZE=" + lanes_of(target)});
}

/// What nvcc says of sm_90 and later when it compiles for exactly that architecture (sm_90a), as users of its matrix
/// instructions do (CUDA C++ Programming Guide, "Feature Set Compiler Targets"). Clang knows the target of code
/// generation alone.
void add_architecture(std::vector<std::string>& args, const std::string& architecture) {
  const int number = ptx::sm_number(architecture);
  if (number < 90) return;
  const std::string arch = std::to_string(number * 10);
  append(args, {"-U", "__CUDA_ARCH__", "-D", "__CUDA_ARCH__=" + arch, "-D",
                "__CUDA_ARCH_FEAT_SM" + std::to_string(number) + "_ALL=1"});
  if (number >= 100)
    append(args, {"-D", "__CUDA_ARCH_SPECIFIC__=" + arch, "-D", "__CUDA_ARCH_FAMILY_SPECIFIC__=" + arch});
}

void add_cuda(std::vector<std::string>& args, const Source& source, Vendor vendor, Language language,
              const std::string& target) {
  append(args, {"-fcuda-is-device", "-aux-triple", "x86_64-pc-linux-gnu", "-aux-target-cpu", "x86-64", "-fdeclspec",
                "-fcxx-exceptions", "-fexceptions", "-fgnuc-version=4.2.1", "-fdeprecated-macro",
                "-fcuda-allow-variadic-functions", "-fno-threadsafe-statics"});
  append(args, {"-Wno-register", "-Wno-c++11-narrowing", "-Wno-dynamic-exception-spec", "-Wno-unknown-cuda-version",
                "-Wno-writable-strings", "-Wno-unused-result", "-Wno-pass-failed", "-Wno-format",
                "-Wno-reserved-user-defined-literal"});
  if (source.fast_math) {
    append(args, {"-ffast-math", "-menable-no-infs", "-menable-no-nans", "-fno-signed-zeros", "-mreassociate",
                  "-freciprocal-math", "-ffp-contract=fast"});
    std::erase(args, "-menable-no-infs");  // spelled so by the driver of other versions only; -ffast-math implies them
    std::erase(args, "-menable-no-nans");
  }
  if (vendor == Vendor::amd) {
    append(args, {"-fhip-new-launch-api", "-ffp-contract=fast-honor-pragmas"});
    if (language == Language::cuda) {  // the source asks for CUDA's compiler, not for HIP's
      append(args, {"-D", "__CUDACC__=1", "-D", "__CUDA_ARCH__=700", "-D", "__NVCC__=1", "-U", "__HIPCC__", "-U",
                    "__HIP_DEVICE_COMPILE__"});
    }
  } else {
    // Clang's name for its own CUDA, which nvcc does not have: libraries leave parts out where they see it.
    append(args, {"-D", "__CUDACC__=1", "-D", "__NVCC__=1", "-U", "__CUDA__"});
    add_architecture(args, source.capability.empty() ? target : source.capability);
  }
  append(args, {"-D", "__KERNELCAST_WARP_SIZE=" + lanes_of(target)});
  // The first version that has sm_100 is 12.8.
  const std::string minor = vendor == Vendor::nvidia && ptx::sm_number(source.capability) >= 100 ? "9" : "2";
  append(args, {"-D", "__CUDACC_VER_MAJOR__=12", "-D", "__CUDACC_VER_MINOR__=" + minor, "-D",
                "CUDART_VERSION=120" + minor + "0", "-D", "CUDA_VERSION=120" + minor + "0"});
}

}  // namespace

Vendor vendor_of(const std::string& target) {
  if (target.starts_with("sm_")) return Vendor::nvidia;
  if (target.starts_with("gfx")) return Vendor::amd;
  throw UserError("unknown code generation target '" + target + "': known are sm_NN and gfxNNN");
}

std::vector<std::string> missing_packages() {
  std::vector<std::string> missing;
  if (!is_folder(resource_folder() + "/include")) missing.emplace_back("libclang-common-19-dev");
  if (system_headers().cxx.empty()) missing.emplace_back("g++");
  return missing;
}

bool in_system_folder(const std::string& path) {
  const std::string file = fs::absolute(path).lexically_normal().string();
  const auto holds = [&file](const std::string& folder) { return file == folder || file.starts_with(folder + "/"); };
  const SystemHeaders& headers = system_headers();
  return holds(kVirtualHeaderFolder) || holds(resource_folder()) || std::ranges::any_of(headers.cxx, holds) ||
         std::ranges::any_of(headers.c, holds);
}

Language resolve_language(const Source& source) {
  if (source.language != Language::automatic) return source.language;
  if (source.path != "<stdin>" && source.path != "-") return language_of(source.path);
  const auto has = [&](const char* word) { return source.text.find(word) != std::string::npos; };
  if (source.text.starts_with("BC\xC0\xDE") || has("\ntarget triple") || has("\ndefine ") ||
      source.text.starts_with("define "))
    return Language::llvm_ir;
  if (has(".version") && has(".target") && has(".address_size")) return Language::ptx;
  if (has("hip/hip_runtime.h")) return Language::hip;
  if (has("__global__")) return Language::cuda;
  if (has("__kernel") || has("get_global_id")) return Language::opencl;
  throw UserError("<stdin>: the text does not tell its language; give it by " KC_SETTING(lang));
}

CompilerArguments compiler_arguments(const Source& source, Language language, const std::string& target,
                                     const std::string& main_file, const std::vector<std::string>& preludes) {
  CompilerArguments result;
  auto& args = result.arguments;
  result.c_family_host = is_loop_nest(language);
  append(args, {"-emit-llvm-only", "-O2", "-disable-llvm-passes", "-disable-llvm-verifier",
                "-debug-info-kind=line-tables-only", "-dwarf-version=4", "-debugger-tuning=gdb", "-resource-dir",
                resource_folder(), "-fno-rounding-math", "-ferror-limit", "0", "-fcolor-diagnostics"});
  args.pop_back();  // plain text
  std::string kind;
  if (result.c_family_host) {
    append(args, {"-triple", "x86_64-pc-linux-gnu", "-target-cpu", "x86-64", "-ffp-contract=on", "-fgnuc-version=4.2.1",
                  "-Wno-unknown-pragmas"});
    if (language == Language::cxx) append(args, {"-fcxx-exceptions", "-fexceptions", "-fdeprecated-macro"});
    if (source.fast_math) args.push_back("-ffast-math");
    if (target == openmp_target) args.push_back("-fopenmp");
    kind = language == Language::c ? "c" : "c++";
    add_system_headers(args, language == Language::cxx, /*device_code=*/false);
  } else if (language == Language::opencl) {
    add_target(args, target, vendor_of(target));
    add_opencl(args, source, vendor_of(target), target);
    append(args, {"-internal-isystem", kVirtualHeaderFolder, "-internal-isystem", resource_folder() + "/include"});
    kind = "cl";
  } else {
    const Vendor vendor = vendor_of(target);
    add_target(args, target, vendor);
    add_cuda(args, source, vendor, language, target);
    add_system_headers(args, /*cxx=*/true, /*device_code=*/true);
    kind = vendor == Vendor::amd ? "hip" : "cuda";
  }
  const std::string standard = source.standard.empty() ? default_standard(language) : source.standard;
  args.push_back((language == Language::opencl ? "-cl-std=" : "-std=") + standard);
  for (const auto& folder : source.include_dirs)
    append(args, {is_toolkit_folder(folder) ? "-idirafter" : "-I", folder});
  add_neighbour_folders(args, main_file);
  for (const auto& define : source.defines) append(args, {"-D", define});
  for (const auto& name : source.undefines) append(args, {"-U", name});
  for (const auto& header : preludes) append(args, {"-include", header});  // found as system headers
  append(args, {"-main-file-name", fs::path(main_file).filename().string(), "-x", kind, main_file});
  return result;
}

}  // namespace kernelcast::frontend
