// Runs all cases of one file of kernels natively and writes the contents of their buffers:
//
//   opencl_reference KERNELS.cl OUT
//
// A program of its own, because OpenCL platforms bring their own LLVM along. Exit status 3 and a reason on standard
// output: there is no device.
#include <fstream>
#include <iostream>
#include <sstream>

#include "engines/execute/native/opencl_device.h"
#include "engines/execute/native/results.h"

namespace {

using namespace kernelcast::agreement;

std::string contents_of(const std::string& name) {
  std::ifstream file(std::string(KERNELCAST_SOURCE_DIR "/test/engines/execute/kernels/") + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

int run(const CaseFile& file, const char* to) {
  OpenclDevice device;
  if (!device.unavailable().empty()) {
    std::cout << device.unavailable() << "\n";
    return 3;
  }
  device.build(contents_of(file.opencl));
  restart_random();
  std::vector<Buffers> results;
  for (const Case& c : file.cases()) results.push_back(device.run(c));
  write_results(to, results);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    for (const CaseFile& file : all_files())
      if (argc == 3 && file.opencl == argv[1]) return run(file, argv[2]);
    std::cerr << "usage: opencl_reference KERNELS.cl OUT\n";
    return 2;
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
