// folder: validate
// Results of Kernel Tuner (T4, caches): the answer is a value or an Error, whatever the bytes.
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernelcast/error.h"
#include "validate/recorded_space.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (void)kernelcast::validate::read_tuner_results("fuzz.json", {reinterpret_cast<const char*>(data), size});
  } catch (const kernelcast::Error&) {
  }
  return 0;
}
