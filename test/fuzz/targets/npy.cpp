// folder: execute
// The head of an .npy file: the answer is a value or an Error, whatever the bytes.
#include <cstddef>
#include <cstdint>
#include <string>

#include "execute/fill_file.h"
#include "kernelcast/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (void)kernelcast::interpreter::read_npy_header({reinterpret_cast<const char*>(data), size});
  } catch (const kernelcast::Error&) {
  }
  return 0;
}
