// folder: probe
// What the programs that open a driver send: the answer is a value or an Error, whatever the bytes, and a value that is
// written is read as the same bytes again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "kernelcast/error.h"
#include "probe/cuda/plan.h"
#include "probe/opencl_wire.h"

namespace {

template <class Read>
void tried(const Read& read) {
  try {
    read();
  } catch (const kernelcast::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelcast::probe;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  tried([&] {
    const std::string once = cuda::bytes_of(cuda::record_of(bytes));
    if (cuda::bytes_of(cuda::record_of(once)) != once) std::abort();
  });
  tried([&] {
    const std::string once = cuda::bytes_of(cuda::plan_of(bytes));
    if (cuda::bytes_of(cuda::plan_of(once)) != once) std::abort();
  });
  tried([&] { (void)reply_of(bytes); });
  tried([&] { (void)batch_reply_of(bytes); });
  return 0;
}
