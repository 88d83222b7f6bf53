// Languages, targets, and the arguments of clang's compiler proper (-cc1) for each pair.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/frontend.h"

namespace kernelcast::frontend {

enum class Vendor { nvidia, amd };

/// "sm_70" and "gfx90a"; throws UserError for others.
Vendor vendor_of(const std::string& target);

/// `language` of a source, resolved: automatic becomes the language of the path's ending (standard input: of what the
/// text contains).
Language resolve_language(const Source& source);

/// In C and C++, which are compiled as for the host, kernels are loop nests.
constexpr bool is_loop_nest(Language language) { return language == Language::c || language == Language::cxx; }

/// How the compiler proper is to be called.
struct CompilerArguments {
  std::vector<std::string> arguments;  // of -cc1, the input file last
  bool c_family_host = false;          // C or C++ for the host
};

/// As the target of C and C++: OpenMP's directives make threads. Any other: they are left alone.
inline constexpr const char* openmp_target = "openmp";

/// Arguments for `source` in `language` for `target`; `preludes` are virtual headers to be read before the source. No
/// toolkit is looked for; system headers are those of the newest GCC of the machine, if there is one.
CompilerArguments compiler_arguments(const Source& source, Language language, const std::string& target,
                                     const std::string& main_file, const std::vector<std::string>& preludes);

/// Packages of the distribution whose headers are not on this machine: "libclang-common-19-dev" (Clang's own), "g++"
/// (C++'s library).
std::vector<std::string> missing_packages();

/// Whether a file lies in a folder that compiler_arguments() names as the compiler's, the machine's or ours.
bool in_system_folder(const std::string& path);

/// Folder (in the compiler's virtual file system) that holds our headers.
inline constexpr const char* kVirtualHeaderFolder = "/kernelcast-headers";

}  // namespace kernelcast::frontend
