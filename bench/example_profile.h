// Examples as the front end reads them, for benchmarks of what comes after it.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "kernelcast/frontend.h"

namespace kernelcast {

/// The profile of the first kernel in examples/`example`.
inline KernelProfile profile_of(const std::string& example) {
  Source source;
  source.path = std::string(KERNELCAST_SOURCE_DIR "/examples/") + example;
  std::ifstream file(source.path);
  std::stringstream text;
  text << file.rdbuf();
  source.text = text.str();
  return analyze(source, FrontendOptions{}).profile;
}

}  // namespace kernelcast
