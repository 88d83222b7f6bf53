// folder: tune
// A tuning space in Kernel Tuner's T1 format: the answer is a value or an Error, whatever the bytes.
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernelcast/error.h"
#include "tune/t1.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (void)kernelcast::tune::space_of(
        kernelcast::tune::read_t1("fuzz.json", {reinterpret_cast<const char*>(data), size}));
  } catch (const kernelcast::Error&) {
  }
  return 0;
}
