// From source text to KernelProfile. The only folder behind this header that knows Clang and LLVM.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernelcast/profile.h"
#include "kernelcast/program.h"
#include "kernelcast/source.h"

namespace kernelcast {

/// A part of a source file between two places, both within; lines and columns from 1. The last token counts by where it begins.
struct CodeRegion {
  std::string file;  // as the compiler names it
  int first_line = 0, first_column = 0, last_line = 0, last_column = 0;
};
/// Lines of instructions in region k of FrontendOptions::regions; all other lines are below region_line(0, 0).
inline constexpr int region_shift = 22;
constexpr int region_line(int k, int line) { return ((k + 1) << region_shift) + line; }
/// Region of such a line, -1: none.
constexpr int region_of(int line) { return (line >> region_shift) - 1; }
constexpr int line_in_region(int line) { return line & ((1 << region_shift) - 1); }

struct FrontendOptions {
  std::string kernel;               // plain, demangled or mangled name; empty: the only kernel
  std::string target = "sm_70";     // code generation target from the device file: sm_NN or gfxNNN
  std::string capability;           // sm_NN that an NVIDIA device is, where code is generated for another: what PTX may use, and
                                    // __CUDA_ARCH__; empty: target
  std::vector<std::string> map;     // loop counters that become work-items, outermost first (--map i,j)
  Dim3 block{0, 0, 0};              // when known: helps the AMD code generator
  Dim3 cluster{0, 0, 0};            // blocks of a cluster where the launch says it: Launch::cluster
  double time_limit_s = 120;        // processor time for the whole front end
  std::string ptxas;                // path of NVIDIA's assembler, whose code is counted in place of PTX; empty: not asked
  std::string nvrtc;                // path of NVIDIA's run-time compiler (libnvrtc.so), whose registers, spills and static shared memory
                                    // of CUDA C++ take the place of ours; empty: not asked
  /// Instructions in these, or inlined into them, have lines of region_line() in the profile; the last that holds one wins.
  std::vector<CodeRegion> regions;
  bool program = false;             // also decode the kernel for execution
  bool listing = false;             // also the target's code, for people to read
  /// Asked, with a digest of the optimised module, before code is generated: a profile that an earlier analysis with
  /// that digest made, or null. Variants of a source that differ in nothing that matters are analysed once. Not asked
  /// when `program` is set. An analysis that a limit or an interrupt ended may ask later: it owns all that it reads.
  std::function<std::shared_ptr<const KernelProfile>(const std::string& digest)> known;
};

struct Diagnostic {
  enum class Severity : std::uint8_t { note, warning, error } severity;
  std::string text;                 // as clang renders it, with file:line:column, source line and caret
};

/// An instruction or a label of PTX or AMDGCN.
struct TargetLine {
  std::string text;
  std::string file;  // of the source, as the compiler names it; empty: not known
  int line = 0;      // 0: not known
};

struct Analysis {
  KernelProfile profile;
  std::shared_ptr<const Program> program;  // FrontendOptions::program; null when the kernel cannot be interpreted
  std::string no_program;                  // why not
  std::vector<Diagnostic> diagnostics;  // warnings
  std::vector<std::string> headers;     // files that were included, without those that come with kernelcast
  /// Names of macros in Source::defines whose values the analysis may depend on, in order of name. A Source that differs
  /// in nothing but values of other defines has the same analysis: its text after preprocessing is the same. Empty: it
  /// is not known which.
  std::optional<std::vector<std::string>> consulted;
  std::vector<TargetLine> listing;      // FrontendOptions::listing: the code that is counted
  std::string digest;                   // of kernel, target and the optimised module; when FrontendOptions::known is set
};

/// Reads the source, generates code for the target and profiles one kernel. Throws UserError with clang's rendered
/// messages for bad source, recursion, indirect calls, and with NVRTC's where that was asked and refuses the source;
/// UsageError for an unknown kernel (naming the nearest) or a name that several have; LimitError when a limit of time or
/// size strikes.
Analysis analyze(const Source& source, const FrontendOptions& options);

/// Names of the kernels in the source, demangled, in order of appearance.
std::vector<std::string> kernels_in(const Source& source, const FrontendOptions& options);

/// Name and version of NVIDIA's run-time compiler in a library: "NVRTC 12.4". Throws UserError where there is none that
/// can be used.
std::string nvrtc_version(const std::string& library);

/// Language by file ending (.cl .cu .cuh .hip .c .cc .cpp .cxx .ll .bc .ptx); throws UserError for others.
Language language_of(const std::string& path);

}  // namespace kernelcast
