// folder: validate
// A table of measured times or of kernels: the answer is a value or an Error, whatever the bytes.
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernelcast/error.h"
#include "validate/csv.h"
#include "validate/measurement.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    (void)kernelcast::validate::read_rows("fuzz.csv", text);
  } catch (const kernelcast::Error&) {
  }
  try {
    (void)kernelcast::validate::read_kernels("fuzz.csv", text);
  } catch (const kernelcast::Error&) {
  }
  return 0;
}
