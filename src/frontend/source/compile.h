// From source text to an LLVM module for one code generation target, with Clang as a library.
//
// Names that the module uses for what has no LLVM instruction. OpenCL C and CUDA share them, so one table of costs
// serves both:
//   - Ids of OpenCL C stay calls: _Z13get_global_idj, _Z12get_local_idj, _Z12get_group_idj, _Z14get_local_sizej,
//   _Z14get_num_groupsj,
//     _Z15get_global_sizej, _Z12get_work_dimv, _Z17get_global_offsetj, _Z7barrierj (and the rest of OpenCL's builtins,
//     Itanium-mangled). CUDA ids are llvm.nvvm.read.ptx.sreg.{tid,ctaid,ntid,nctaid}.{x,y,z}; on gfx targets
//     llvm.amdgcn.work{item,group}.id.{x,y,z} and, for blockDim and gridDim, calls of _Z14get_local_sizej and
//     _Z14get_num_groupsj.
//   - Math is undefined functions with OpenCL's mangling, in float (f), double (d) and where CUDA has it half (Dh):
//       one argument: acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi erf erfc exp exp2 exp10 expm1 fabs
//       floor lgamma log
//         log10 log1p log2 logb rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc           (_Z3expf,
//         _Z5rsqrtd, ...)
//       two: atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder                        (_Z3powff, ...)
//       three: fma (_Z3fmafff); integer second argument: ldexp (_Z5ldexpfi), pown (_Z4pownfi); ilogb (_Z5ilogbf -> i32)
//       pointers: sincos (_Z6sincosfPf), frexp (_Z5frexpfPi), modf (_Z4modffPf), remquo (_Z6remquoffPi)
//       CUDA only: rcbrt erfcinv erfinv erfcx normcdf normcdfinv cyl_bessel_i0 cyl_bessel_i1 j0 j1 y0 y1 nearbyint (one
//       argument), jn, yn (_Z2jnif),
//         rhypot (two), norm3d rnorm3d (three), norm4d rnorm4d (four), lrint llrint lround llround (to integers:
//         _Z5lrintf)
//     fast forms carry OpenCL's native_ names: _Z10native_expf (__expf), _Z12native_exp10f, _Z10native_logf,
//     _Z11native_log2f,
//       _Z12native_log10f, _Z10native_sinf, _Z10native_cosf, _Z10native_tanf, _Z11native_powrff (__powf),
//       _Z13native_divideff (__fdividef), _Z11native_tanhf, _Z12native_rsqrtf, _Z12native_recipf (__frcp_*),
//       _Z11native_sqrtf (__fsqrt_* is _Z4sqrtf)
//   - kc_texture_*: reads through texture and surface objects (not modelled). kc_wmma_*: warp matrix operations.
//   kc_rand_*: cuRAND.
//   - kc_grid_sync: a barrier of the whole grid. On gfx targets __syncthreads_or, _and, _count are _Z14work_group_anyi,
//   _Z14work_group_alli,
//     _Z21work_group_reduce_addi.
//   - printf, vprintf, __assertfail, malloc, free: as in device code, no cost known.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernelcast/frontend.h"
#include "kernelcast/setting.h"

namespace clang {
class ASTContext;
}
namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace kernelcast::frontend {

/// Metadata of a function: the canonical types of its parameters as text, which LLVM's types do not tell.
inline constexpr const char* parameter_types_key = "kernelcast_parameter_types";

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

/// The module as LLVM's assembly text, for tests and bug reports.
std::string module_text(const CompiledUnit& unit);

}  // namespace kernelcast::frontend
