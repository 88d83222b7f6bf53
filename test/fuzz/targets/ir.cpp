// folder: frontend
// LLVM IR as text, or as bitcode where the bytes begin like it: the answer is a profile or an Error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernelcast/error.h"
#include "kernelcast/frontend.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelcast;
  Source source;
  source.text.assign(reinterpret_cast<const char*>(data), size);
  source.path = source.text.starts_with("BC") ? "fuzz.bc" : "fuzz.ll";
  source.language = Language::llvm_ir;
  FrontendOptions options;
  options.time_limit_s = 5;
  try {
    (void)analyze(source, options);
  } catch (const Error&) {
  }
  return 0;
}
