// folder: offload
// A table of measured offloads: the answer is a value or an Error, whatever the bytes.
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernelcast/error.h"
#include "kernelcast/offload_replay.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (void)kernelcast::offload::parse_replay({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
  } catch (const kernelcast::Error&) {
  }
  return 0;
}
