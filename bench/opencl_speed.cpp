// One kernel at one size by the OpenCL platform of the environment, which may be Oclgrind.
//
//   opencl_speed KERNEL SIZE
#include <exception>
#include <iostream>
#include <stdexcept>

#include "engines/execute/native/opencl_device.h"
#include "speed_cases.h"

int main(int argc, char** argv) {
  using namespace kernelcast;
  try {
    if (argc != 3) throw std::runtime_error("usage: opencl_speed KERNEL SIZE");
    const auto [subject, c] = speed::subject_of(argv[1], argv[2]);
    agreement::OpenclDevice device;
    if (!device.unavailable().empty()) throw std::runtime_error(device.unavailable());
    device.build(speed::contents_of(subject.file));
    device.run(c);
    return 0;
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
