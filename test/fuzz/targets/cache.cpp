// folder: profile
// A kept analysis behind a right checksum: the answer is a profile, which is written as bytes that read the same, or an
// Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "kernelcast/error.h"
#include "profile/profile_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelcast;
  static const std::string magic = bytes_of({}).substr(0, 8);
  std::uint64_t sum = 0xcbf29ce484222325ULL;  // FNV-1a
  for (std::size_t i = 0; i < size; ++i) sum = (sum ^ data[i]) * 0x100000001b3ULL;
  const std::string bytes = magic + std::string(reinterpret_cast<const char*>(&sum), sizeof sum) +
                            std::string(reinterpret_cast<const char*>(data), size);
  try {
    const std::string once = bytes_of(profile_of(bytes));
    if (bytes_of(profile_of(once)) != once) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
