// A program of its own that is given some time, and files for what is exchanged with it.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "io/interrupt.h"

namespace kernelcast {

/// A folder of its own that goes with the object, and with the program when that is interrupted. Throws LimitError when
/// none can be made.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  /// The path of a file in it.
  [[nodiscard]] std::string file(const std::string& name);

 private:
  std::string path_;
  std::list<TemporaryName> files_, folder_;
};

struct Ended {
  std::string failure{};  // why it has no exit status; empty: it has one
  int status = 0;
};

/// Runs `command` (program and arguments) and waits at most `seconds`, then kills it with its children. Its output goes
/// to the file `output`, nowhere if that is empty. `driver` names what may have crashed ("the OpenCL driver").
Ended run_process(const std::vector<std::string>& command, double seconds, const std::string& driver,
                  const std::string& output = "");

}  // namespace kernelcast
