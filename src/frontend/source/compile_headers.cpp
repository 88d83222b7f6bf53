// nvcc reads cuda_runtime.h before every source, so a .cu file may use all of it without an include. Reading all of
// ours takes a good part of a small kernel's compile time; a source that includes nothing but what we stand in for gets
// only the families whose words it holds. A family too many costs a few milliseconds, so the tests are coarse: a word
// counts wherever it stands, in a comment as well.
#include "frontend/source/compile_headers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "frontend/source/host_code.h"

namespace kernelcast::frontend {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::string_view kMathWords[] = {
    "sqrt",  "exp",   "pow",  "log", "sin",  "cos",   "tan",   "abs",   "min",      "max",    "floor", "ceil",
    "round", "trunc", "rint", "fma", "mod",  "hypot", "erf",   "gamma", "cbrt",     "isn",    "isi",   "finite",
    "nan",   "NAN",   "INF",  "M_",  "HUGE", "dexp",  "scalb", "dim",   "remain",   "nearby", "norm",  "bessel",
    "j0",    "j1",    "jn",   "y0",  "y1",   "yn",    "sign",  "next",  "saturate", "divide"};
constexpr std::string_view kAtomicWords[] = {"tomic"};
constexpr std::string_view kWideAtomicWords[] = {"float2", "float4", "atomicCAS", "atomicExch"};
constexpr std::string_view kScopedWords[] = {"_block", "_system"};
constexpr std::string_view kWarpWords[] = {"__shfl",   "__ballot",     "__any", "__all", "__match",
                                           "__reduce", "__activemask", "__uni", "__lane"};
constexpr std::string_view kPackedWords[] = {"__vab", "__vad", "__vav", "__vc", "__vh", "__vi", "__vm", "__vn", "__vs"};
// What nvcc includes before every source, by its names.
constexpr std::string_view kStandardWords[] = {"std::m", "std::forward", "std::swap", "std::pair", "std::enable_if"};
constexpr std::string_view kRareWords[] = {"llm",      "norm",     "scalbln", "fdivide", "__signbit",  "__finitel",
                                           "__isinfl", "__isnanl", "_ieee_",  "bswap",   "shift_",     "__dp",
                                           "__fadd2",  "__fmul2",  "__ffma2", "__fns",   "__barrier_", "__pm",
                                           "__cvta_",  "__isCo",   "__isL",   "__isG",   "_aligned_"};
constexpr std::string_view kClusterWords[] = {"luster", "__isC"};
constexpr std::string_view kHostWords[] = {"<<<", "cuda", "hip", "CU"};
constexpr std::string_view kTextureWords[] = {"tex", "surf", "Tex", "Channel", "Resource"};

// Words with two underscores that the core, or clang itself, knows.
constexpr std::string_view kCoreWords[] = {"__global__",
                                           "__device__",
                                           "__host__",
                                           "__shared__",
                                           "__constant__",
                                           "__restrict__",
                                           "__restrict",
                                           "__launch_bounds__",
                                           "__forceinline__",
                                           "__inline__",
                                           "__inline",
                                           "__noinline__",
                                           "__align__",
                                           "__syncthreads",
                                           "__syncwarp",
                                           "__threadfence",
                                           "__threadfence_block",
                                           "__volatile__",
                                           "__asm__",
                                           "__attribute__",
                                           "__managed__",
                                           "__cplusplus",
                                           "__CUDA_ARCH__",
                                           "__CUDACC__",
                                           "__LINE__",
                                           "__FILE__",
                                           "__VA_ARGS__",
                                           "__func__",
                                           "__FUNCTION__",
                                           "__HIP_PLATFORM_AMD__",
                                           "__HIPCC__",
                                           "__kernel",
                                           "__local",
                                           "__expf",
                                           "__logf"};

bool has_any(std::string_view text, Words words) {
  return std::any_of(words.begin(), words.end(), [&](auto word) { return text.find(word) != std::string_view::npos; });
}

/// A word that starts with "__" and is none of the core's: an intrinsic, for all we know.
bool has_intrinsic(std::string_view text) {
  if (text.find("hadd") != std::string_view::npos) return true;
  for (std::size_t at = 0; (at = text.find("__", at)) != std::string_view::npos;) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    const bool inner = at > 0 && is_word(text[at - 1]);
    at = end;
    if (!inner && std::find(std::begin(kCoreWords), std::end(kCoreWords), word) == std::end(kCoreWords)) return true;
  }
  return false;
}

/// Calls `use` with every word that begins with "cu", "CU" or "PFN".
template <class Use>
void for_runtime_words(std::string_view text, const Use& use) {
  for (const std::string_view begin : {"cu", "CU", "PFN"}) {
    for (std::size_t at = 0; (at = text.find(begin, at)) != std::string_view::npos;) {
      std::size_t end = at;
      while (end < text.size() && is_word(text[end])) ++end;
      if (at == 0 || !is_word(text[at - 1])) use(text.substr(at, end - at));
      at = end;
    }
  }
}

constexpr const char* kRareHostHeaders[] = {"kernelcast/host_api_more.h", "kernelcast/driver_api.h"};

/// Names of the runtime's and the driver's that stand in headers of their own.
std::set<std::string_view> rare_runtime_names() {
  std::set<std::string_view> names;
  for (const VirtualHeader& h : virtual_headers())
    if (std::ranges::find(kRareHostHeaders, h.name) != std::end(kRareHostHeaders))
      for_runtime_words(h.text, [&](std::string_view word) { names.insert(word); });
  return names;
}

bool has_rare_runtime_name(std::string_view text) {
  static const std::set<std::string_view> names = rare_runtime_names();
  bool found = false;
  for_runtime_words(text, [&](std::string_view word) { found = found || names.contains(word); });
  return found;
}

/// A vector type or its make function: float4, make_int2, ... (uint3 and dim3 belong to the core).
bool has_vector_type(std::string_view text) {
  constexpr std::string_view ends[] = {"char", "short", "int", "long", "float", "double"};
  for (std::string_view end : ends) {
    for (std::size_t at = 0; (at = text.find(end, at)) != std::string_view::npos; at += end.size()) {
      const std::size_t digit = at + end.size();
      if (digit < text.size() && text[digit] >= '1' && text[digit] <= '4' &&
          (digit + 1 == text.size() || !is_word(text[digit + 1]) || text[digit + 1] == '_'))
        return true;
    }
  }
  return false;
}

/// Includes that may use anything: of local headers, of the C++ library and of the toolkits' libraries.
bool includes_more(std::string_view text) {
  constexpr std::string_view harmless[] = {"stdio.h",           "stdlib.h", "string.h",
                                           "assert.h",          "time.h",   "stdint.h",
                                           "limits.h",          "float.h",  "stddef.h",
                                           "cuda_runtime.h",    "cuda.h",   "hip/hip_runtime.h",
                                           "sys/time.h",        "unistd.h", "device_launch_parameters.h",
                                           "cuda_runtime_api.h"};
  for (std::size_t at = 0; (at = text.find("include", at)) != std::string_view::npos;) {
    at += 7;
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    if (at >= text.size() || (text[at] != '"' && text[at] != '<')) continue;
    const std::size_t end = text.find_first_of("\">\n", at + 1);
    const std::string_view name = text.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    if (std::find(std::begin(harmless), std::end(harmless), name) == std::end(harmless)) return true;
  }
  return false;
}

/// Whether the text is all that there is: it includes nothing but headers of the toolkit that stand in for CUDA's own.
bool is_whole(std::string_view text) {
  constexpr std::string_view known[] = {"cuda_fp16.h", "cuda_bf16.h",     "cooperative_groups.h",
                                        "mma.h",       "cuda_pipeline.h", "math_constants.h"};
  if (text.find("##") != std::string_view::npos) return false;  // names that the preprocessor makes
  std::string rest(text);
  for (std::string_view name : known)
    for (std::size_t at = 0; (at = rest.find(name, at)) != std::string::npos;) rest.replace(at, name.size(), "cuda.h");
  // The C++ library, <vector>, names no device function.
  for (std::size_t at = 0; (at = rest.find('<', at)) != std::string::npos; ++at) {
    std::size_t end = at + 1;
    while (end < rest.size() && is_word(rest[end])) ++end;
    if (end > at + 1 && end < rest.size() && rest[end] == '>') rest.replace(at + 1, end - at - 1, "cuda.h");
  }
  return !includes_more(rest);
}

/// Parts of cuda_fp16.h and cuda_bf16.h that a source which is whole does not use.
void leave_out_halves(std::string_view text, std::vector<std::string>& headers) {
  constexpr std::string_view halves[] = {"half", "fp16"};
  constexpr std::string_view conversions[] = {
      "half2i",     "half2u",     "half2s", "half2l", "half2c", "bfloat162i", "bfloat162u", "bfloat162s",
      "bfloat162l", "bfloat162c", "int2",   "short2", "ll2",    "_rd",        "_ru",        "_rz"};
  constexpr std::string_view comparisons[] = {"__heq", "__hne", "__hl", "__hg", "__hb", "isnan2"};
  constexpr std::string_view limits[] = {"_sat", "_relu", "_nan", "cmadd"};
  if (!has_any(text, halves)) headers.emplace_back("kernelcast/skip_halves.h");
  if (!has_any(text, conversions)) headers.emplace_back("kernelcast/skip_conversions.h");
  if (!has_any(text, comparisons)) headers.emplace_back("kernelcast/skip_comparisons.h");
  if (!has_any(text, limits)) headers.emplace_back("kernelcast/skip_limits.h");
}

}  // namespace

std::vector<std::string> preludes_for(std::string_view text) {
  const bool all = includes_more(text);
  const bool textures = all || has_any(text, kTextureWords);
  const bool unseen = !is_whole(text);  // other files may name anything
  const bool rare = unseen || has_any(text, kRareWords);
  const bool intrinsics = all || rare || has_intrinsic(text);
  const bool wide_atomics = unseen || (has_any(text, kAtomicWords) && has_any(text, kWideAtomicWords));
  std::vector<std::string> headers = {"kernelcast/core.h"};
  const auto add_if = [&](bool wanted, const char* header) {
    if (wanted) headers.emplace_back(header);
  };
  const bool read_only_loads = all || text.find("__ldg") != std::string_view::npos;
  add_if(textures || read_only_loads || rare || wide_atomics || has_vector_type(text), "kernelcast/vectors.h");
  add_if(intrinsics || has_any(text, kMathWords), "kernelcast/math.h");
  add_if(intrinsics, "kernelcast/intrinsics.h");
  add_if(all || has_any(text, kPackedWords), "kernelcast/simd.h");
  add_if(read_only_loads, "kernelcast/loads.h");
  add_if(all || has_any(text, kAtomicWords), "kernelcast/atomics.h");
  add_if(all || (has_any(text, kAtomicWords) && has_any(text, kScopedWords)), "kernelcast/atomics_scoped.h");
  add_if(wide_atomics, "kernelcast/atomics_wide.h");
  add_if(rare, "kernelcast/rare.h");
  add_if(unseen || has_any(text, kClusterWords), "kernelcast/cluster.h");
  add_if(all || has_any(text, kWarpWords), "kernelcast/warp.h");
  const bool host = textures || has_any(text, kHostWords);
  add_if(host, "kernelcast/host_api.h");
  const bool rare_host = host && (all || has_rare_runtime_name(text));
  for (const char* header : kRareHostHeaders) add_if(rare_host, header);
  add_if(textures, "kernelcast/texture.h");
  add_if(all || text.find("__kc_launch_child") != std::string_view::npos, "kernelcast/child.h");
  add_if(all, "kernelcast/hip_std.h");
  add_if(has_any(text, kStandardWords), "kernelcast/std.h");
  if (!unseen && text.find("16.h") != std::string_view::npos) leave_out_halves(text, headers);
  return headers;
}

std::vector<std::string> opencl_preludes_for(std::string_view text) {
  constexpr std::string_view words[] = {"sub_group_", "4x8packed"};
  if (!has_any(text, words) && !includes_more(text)) return {};
  return {"kernelcast/sub_groups.h"};
}

}  // namespace kernelcast::frontend
