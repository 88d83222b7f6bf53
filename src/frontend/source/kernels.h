// Which kernels a module holds, and which of them a name means.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "kernelcast/frontend.h"

namespace llvm {
class DIFile;
class Module;
}  // namespace llvm

namespace kernelcast::frontend {

/// A kernel by its symbol ("_Z6reduceILi256EEvPKf"), demangled without return type ("ns::reduce<256>(float const*)")
/// and plain ("reduce").
struct KernelEntry {
  std::string symbol, demangled, plain;
  int line = 0;              // 0: unknown
  std::string written = {};  // an instance of a template by instance_name(): "f<Mode::fast>" for "f<(Mode)1>"
};

/// The kernels of a module in order of appearance: by calling convention or annotation; where there are none, as in C,
/// C++ or unannotated IR, every defined function that has a loop (in C and C++: of the main file).
std::vector<KernelEntry> list_kernels(const llvm::Module& module, Language language);

/// The entry that `name` means: a mangled, demangled ("ns::reduce<256>(float const*)"), qualified or plain name, or
/// "reduce<256>"; blanks do not count. An empty name means the only kernel. Throws UserError, with the candidates or
/// the nearest names.
const KernelEntry& pick_kernel(std::span<const KernelEntry> kernels, const std::string& name);

/// Debug information splits a path into folder and file at places of its own choice.
std::filesystem::path whole_path(const llvm::DIFile& file);

/// A mangled name as people write it ("void reduce<256>(float const*)"); others as they are.
std::string spoken_name(const std::string& name);

/// A name up to where its parameter list opens.
std::string without_parameters(const std::string& name);

/// True if a plain, qualified or demangled name in any of the spellings above means `entry`.
bool means_kernel(const KernelEntry& entry, const std::string& name);

}  // namespace kernelcast::frontend
