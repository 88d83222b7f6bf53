// folder: cli
// Triton's metadata beside a .ptx file: the answer is a value within its range or an Error, whatever the bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cli/triton.h"
#include "kernelcast/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto metadata = kernelcast::cli::triton_metadata_of({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    if (!metadata.threads || *metadata.threads < 32 || *metadata.threads > 1024) std::abort();
  } catch (const kernelcast::Error&) {
  }
  return 0;
}
