// folder: validate
// A table of measured times or of kernels, also compressed by gzip: the answer is a value or an Error, whatever the
// bytes.
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernelcast/error.h"
#include "validate/csv.h"
#include "validate/inputs.h"
#include "validate/measurement.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  try {
    text = kernelcast::validate::plain_or_inflated("fuzz.csv", text, std::size_t{1} << 20U);
  } catch (const kernelcast::Error&) {
    return 0;
  }
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
