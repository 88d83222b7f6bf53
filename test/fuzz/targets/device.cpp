// folder: device
// A device file: the answer is a value or an Error, whatever the bytes.
#include <cstddef>
#include <cstdint>
#include <string>

#include "device/raw_file.h"
#include "kernelcast/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    (void)kernelcast::read_raw("fuzz.toml", text);
  } catch (const kernelcast::Error&) {
  }
  try {
    (void)kernelcast::read_head("fuzz.toml", text);
  } catch (const kernelcast::Error&) {
  }
  return 0;
}
