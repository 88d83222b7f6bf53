// From source text to an LLVM module for one code generation target, with Clang as a library.
//
// Names that the module uses where LLVM has no instruction. OpenCL C and CUDA share them, so one table of costs serves
// both. Manglings are OpenCL's (Itanium).
//
// ids, OpenCL C    calls of _Z13get_global_idj, _Z12get_local_idj, _Z12get_group_idj, _Z14get_local_sizej,
//                  _Z14get_num_groupsj, _Z15get_global_sizej, _Z12get_work_dimv, _Z17get_global_offsetj, _Z7barrierj
//                  and the rest of OpenCL's builtins
// ids, CUDA        llvm.nvvm.read.ptx.sreg.{tid,ctaid,ntid,nctaid}.{x,y,z}
// ids, gfx         llvm.amdgcn.work{item,group}.id.{x,y,z}; blockDim, gridDim: _Z14get_local_sizej, _Z14get_num_groupsj
//
// Math: undefined functions in float (f), double (d) and where CUDA has it half (Dh), such as _Z3expf, _Z5rsqrtd:
// 1 argument       acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi erf erfc exp exp2 exp10 expm1 fabs floor
//                  lgamma log log10 log1p log2 logb rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc
// 2 arguments      atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder (_Z3powff)
// 3 arguments      fma (_Z3fmafff)
// with an integer  ldexp (_Z5ldexpfi), pown (_Z4pownfi), ilogb (_Z5ilogbf -> i32)
// with a pointer   sincos (_Z6sincosfPf), frexp (_Z5frexpfPi), modf (_Z4modffPf), remquo (_Z6remquoffPi)
// CUDA only        1: rcbrt erfcinv erfinv erfcx normcdf normcdfinv cyl_bessel_i0 cyl_bessel_i1 j0 j1 y0 y1 nearbyint;
//                  jn, yn (_Z2jnif); 2: rhypot; 3: norm3d rnorm3d; 4: norm4d rnorm4d;
//                  to integers: lrint llrint lround llround (_Z5lrintf)
// fast forms       OpenCL's native_ names: _Z10native_expf (__expf), _Z12native_exp10f, _Z10native_logf,
//                  _Z11native_log2f, _Z12native_log10f, _Z10native_sinf, _Z10native_cosf, _Z10native_tanf,
//                  _Z11native_powrff (__powf), _Z13native_divideff (__fdividef), _Z11native_tanhf, _Z12native_rsqrtf,
//                  _Z12native_recipf (__frcp_*), _Z11native_sqrtf (__fsqrt_* is _Z4sqrtf)
// Others:
// kc_texture_*     reads through texture and surface objects (not modeled)
// kc_wmma_*        warp matrix operations
// kc_rand_*        cuRAND
// kc_grid_sync     barrier of the whole grid
// block votes      gfx: __syncthreads_or, _and, _count are _Z14work_group_anyi, _Z14work_group_alli,
//                  _Z21work_group_reduce_addi
// no cost known    printf, vprintf, __assertfail, malloc, free: as in device code
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "kernelcast/frontend.h"
#include "kernelcast/setting.h"

namespace clang {
class ASTContext;
}  // namespace clang

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace kernelcast::frontend {

/// Metadata of a function: the canonical types of its parameters as text, which LLVM's types do not tell.
inline constexpr const char* parameter_types_key = "kernelcast_parameter_types";
/// Likewise: bytes of an element that each parameter points to, 0 where it is no pointer to a complete type.
inline constexpr const char* pointee_bytes_key = "kernelcast_pointee_bytes";

/// `#pragma omp` or `#pragma acc` of a C or C++ source: the line it stands on and its text from "omp" or "acc" on.
struct LoopPragma {
  int line = 0;
  std::string text;
};

/// A module that is not optimised yet but may be (-O2 -disable-llvm-passes): value names and line tables are kept.
struct CompiledUnit {
  CompiledUnit();
  CompiledUnit(CompiledUnit&&) noexcept;
  CompiledUnit& operator=(CompiledUnit&&) noexcept;
  ~CompiledUnit();

  void (*before_end)(llvm::Module&) = nullptr;  // called when the module is about to end
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;  // triple nvptx64-nvidia-cuda, amdgcn-amd-amdhsa, or the host's for C and C++
  std::vector<Diagnostic> diagnostics;   // warnings as clang renders them
  std::vector<std::string> notes;        // skipped headers, host code left out, ...
  std::vector<LoopPragma> pragmas;       // C and C++ only
  std::vector<std::string> headers;      // real files that were included, in order of name
  std::optional<std::vector<std::string>> consulted;  // as Analysis::consulted
  Language language = Language::automatic;
  std::string wanted_symbol;  // of the template's instance that was made for the kernel that is wanted; else empty
};

/// Attribute of instances of kernel templates: KernelEntry::written.
inline constexpr const char* written_name_key = "kernelcast-written-name";

/// Attribute of functions that the source declares and for which no file that was read has a body.
inline constexpr const char* without_body_key = "kernelcast-without-body";

/// Compiles `source` for `target` ("sm_70", "gfx90a"). `kernel`, when given, is the kernel that is wanted: errors in
/// code that it does not reach become notes, and a template that the source never instantiates is instantiated for it
/// ("reduce<256>"). Throws UserError with clang's text for bad source, LimitError when `time_limit_s` or the limit of
/// memory strikes. The thread that compiles cannot be stopped then: it stays behind until it is done, so a caller that
/// got a LimitError should end the process soon (by quick_exit or _exit).
CompiledUnit compile_unit(const Source& source, const std::string& target, double time_limit_s,
                          const std::string& kernel = {});

/// The variable by which an instance of a template is asked for.
inline constexpr const char* wanted_variable = "__kernelcast_wanted";
/// What stands behind the source's own text where an instance of a template that is asked for has been added.
inline constexpr const char* added_text = "\n#line 1 \"<kernel>\"\n";

/// Shows the parsed source to `inspect`, on the same terms; errors that concern the kernel that is wanted are thrown
/// first. Returns notes, as of CompiledUnit.
std::vector<std::string> inspect_unit(const Source& source, const FrontendOptions& options,
                                      const std::function<void(clang::ASTContext&)>& inspect);

/// Shows the whole of a CUDA or HIP source, host code with its bodies, to `inspect`; errors are passed over. Functions
/// that nothing declares are declared. UserError for other languages.
void inspect_host(const Source& source, const std::string& target, double time_limit_s,
                  const std::function<void(clang::ASTContext&)>& inspect);

/// The module as LLVM's assembly text, for tests and bug reports.
std::string module_text(const CompiledUnit& unit);

/// Parses and verifies; throws UserError with LLVM's message, which names line and column for text.
CompiledUnit read_llvm_ir(const Source& source);

/// What is malformed in the module's notes about kernels; empty: nothing.
std::string malformed_metadata(const llvm::Module& module);

/// Files in the source's folder and in those of -I, not below them, in which functions of these plain names have a body
/// that looks like device code of the language. Absolute, in order of name; one for each name that is found.
std::vector<std::string> files_with_bodies(const Source& source, Language language, const std::set<std::string>& names);

/// The source with the text of these files behind its own. Static functions and variables of one name in several of
/// them stay apart: those of later files get another name. Throws as read_text_file().
Source with_bodies(Source source, const std::vector<std::string>& files);

}  // namespace kernelcast::frontend
