// What NVIDIA's run-time compiler says of a kernel of CUDA C++, where it is asked. Never needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernelcast/frontend.h"

namespace kernelcast::frontend {

struct KernelEntry;

/// Of the code that it makes, for one kernel.
struct NvrtcCode {
  double registers = 0;           // of a thread
  std::int64_t stack_bytes = 0;   // of a thread: arrays and spills
  std::int64_t shared_bytes = 0;  // static, of a block
  std::string compiler;           // "NVRTC 12.4"
};

struct NvrtcReport {
  std::optional<NvrtcCode> code;
  std::string obstacle;  // why it could not be asked: another language, a target that it or we cannot read
};

/// Compiles `source`, which is of `language`, for `target` by the library and reads `kernel` in the code. Throws
/// UserError, naming --nvrtc, with the library's messages where it refuses the source.
NvrtcReport ask_nvrtc(const std::string& library, const Source& source, Language language, const KernelEntry& kernel,
                      const std::string& target);

}  // namespace kernelcast::frontend
