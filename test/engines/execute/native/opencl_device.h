// The OpenCL platform as a reference: runs a kernel natively through the ICD loader.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/execute/cases/cases.h"

namespace kernelcast::agreement {

class OpenclDevice {
 public:
  /// Takes the first device of the first platform. What compiles is kept in a new temporary folder.
  OpenclDevice();
  ~OpenclDevice();
  OpenclDevice(const OpenclDevice&) = delete;
  OpenclDevice& operator=(const OpenclDevice&) = delete;

  /// Empty when there is a device; else why not.
  [[nodiscard]] const std::string& unavailable() const;
  /// Builds a translation unit of OpenCL C 1.2; throws std::runtime_error with the build log.
  void build(const std::string& source);
  /// Contents of all buffer arguments afterwards, in order. Throws std::runtime_error with the failing call.
  std::vector<std::vector<unsigned char>> run(const Case& c);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelcast::agreement
