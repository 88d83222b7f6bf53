// A program of its own that is given some time, and a folder for what is exchanged with it.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::probe {

/// A folder of its own that goes with the object. Throws LimitError when none can be made.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const;

 private:
  std::string path_;
};

struct Ended {
  std::string failure;  // why it has no exit status; empty: it has one
  int status = 0;
};

/// Runs `command` (program and arguments) and waits at most `seconds`. Its output goes to the file `output`, nowhere if
/// that is empty. `driver` names what may have crashed ("the OpenCL driver").
Ended run_process(const std::vector<std::string>& command, double seconds, const std::string& driver,
                  const std::string& output = "");

}  // namespace kernelcast::probe
