// Vector width and vector units of the host's cores. The operating system tells the instruction set, not how many units
// execute it; that comes from the makers' optimisation manuals, by family and model. A core that is not here stays
// unknown: a wrong row would be off by a factor of two and nobody would notice.
#include <algorithm>
#include <array>

#include "device/host.h"

namespace kernelcast {
namespace {

// Intel cores with FMA that are not of the Haswell line: Knights Landing and Mill, Gracemont and Crestmont alone.
constexpr std::array<int, 5> other_intel_models = {0x57, 0x85, 0xbe, 0xaf, 0xb6};

}  // namespace

std::optional<SimdWidth> simd_width(const CpuInfo& cpu) {
  bool intel = cpu.vendor_id == "GenuineIntel";
  // Clang 19 and GCC 12 vectorise for 256 bits on Intel targets with AVX-512 (prefer-vector-width), Clang 19 for 512
  // bits on znver4 and znver5.
  if (cpu.has("avx512f") && !intel) return SimdWidth{512, "flag avx512f"};
  if (cpu.has("avx512f")) return SimdWidth{256, "flag avx512f; compilers use 256-bit vectors by default on Intel"};
  for (std::string_view flag : {"avx2", "avx"})
    if (cpu.has(flag)) return SimdWidth{256, "flag " + std::string(flag)};
  if (cpu.has("sse2")) return SimdWidth{128, "flag sse2"};
  if (cpu.has("asimd") && !cpu.has("sve")) return SimdWidth{128, "flag asimd"};
  return std::nullopt;
}

std::optional<VectorUnits> vector_units(const CpuInfo& cpu) {
  if (!cpu.family || !cpu.model || !cpu.has("fma")) return std::nullopt;
  if (cpu.vendor_id == "GenuineIntel" && *cpu.family == 6 && cpu.has("avx2") &&
      std::ranges::find(other_intel_models, *cpu.model) == other_intel_models.end()) {
    return VectorUnits{
        2, 2,
        "Intel 64 and IA-32 Architectures Optimization Reference Manual (248966), Haswell and later: FMA "
        "on ports 0 and 1 (separate adders of newer cores not counted)"};
  }
  if (cpu.vendor_id != "AuthenticAMD") return std::nullopt;
  if (*cpu.family == 0x17 && *cpu.model >= 0x30)
    return VectorUnits{
        2, 4,
        "AMD, Software Optimization Guide for AMD Family 17h Models 30h and Greater Processors (56305): two "
        "256-bit pipes for multiplication and FMA, two for addition"};
  if (*cpu.family == 0x19 && !cpu.has("avx512f"))
    return VectorUnits{2, 4,
                       "AMD, Software Optimization Guide for AMD Family 19h Processors (56665): two 256-bit pipes for "
                       "multiplication and FMA, two for addition"};
  if (*cpu.family == 0x19)
    return VectorUnits{1, 2,
                       "AMD, Software Optimization Guide for the AMD Zen4 Microarchitecture (57647): the 256-bit pipes "
                       "take 512-bit instructions in two passes"};
  return std::nullopt;
}

}  // namespace kernelcast
