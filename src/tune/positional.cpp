// Files count elements of the buffer as the benchmark declared it, the binder those of the kernel's parameter type: a
// matrix of floats may be read through float4 pointers.
#include "tune/positional.h"

#include <fmt/format.h>

#include <cmath>

#include "kernelcast/error.h"

namespace kernelcast::tune {

std::int64_t elements_of(const kernelcast::Parameter& parameter, std::int64_t elements, std::int64_t element_bytes) {
  if (parameter.bytes <= 0) return elements;
  return (elements * element_bytes + parameter.bytes - 1) / parameter.bytes;
}

void place_arguments(std::vector<PositionalArgument> arguments, const KernelProfile& profile, Launch& launch) {
  if (arguments.size() != profile.parameters.size()) {  // constant memory may be a symbol instead of a parameter
    std::erase_if(arguments, [](const PositionalArgument& a) { return a.constant_memory; });
  }
  if (arguments.size() != profile.parameters.size()) {
    throw UserError(fmt::format("the file lists {} arguments, kernel {} has {}", arguments.size(), profile.kernel,
                                profile.parameters.size()));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const PositionalArgument& a = arguments[i];
    const kernelcast::Parameter& p = profile.parameters[i];
    if (a.scalar == p.pointer) {
      throw UserError(fmt::format("argument {} \"{}\" of the file is {}, parameter \"{}\" of kernel {} is not", i + 1,
                                  a.name, a.scalar ? "a scalar" : "a buffer", p.name, profile.kernel));
    }
    if (!a.scalar) {
      launch.buffers.try_emplace(p.name, BufferSpec{elements_of(p, a.elements, a.element_bytes), ""});
    } else if (p.integer && a.value == std::floor(a.value) && std::abs(a.value) < 0x1p63) {
      launch.args.try_emplace(p.name, static_cast<std::int64_t>(a.value));
    } else {
      launch.args.try_emplace(p.name, a.value);
    }
  }
}

}  // namespace kernelcast::tune
