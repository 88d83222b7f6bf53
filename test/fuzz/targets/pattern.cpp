// folder: converge
// A recorded pattern of branches: the answer is a value or an Error, whatever the bytes.
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernelcast/converge.h"
#include "kernelcast/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (void)kernelcast::parse_pattern({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const kernelcast::Error&) {
  }
  return 0;
}
