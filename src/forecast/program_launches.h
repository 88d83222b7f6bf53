// Launches of a program of several source files.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/host.h"

namespace kernelcast {

struct ProgramLaunches {
  HostProgram program;
  std::vector<std::string> files;  // that were read beside the source
};

/// host_launches() of the source and `options.more_files`; functions and variables that these use and do not define are
/// looked for in the other source files of the source's folder, and those files are read, too.
ProgramLaunches program_launches(const Source& source, const HostOptions& options);

/// Whether the text defines a function or variable `name` at any level; comments are not told apart.
bool defines_name(const std::string& text, const std::string& name);

}  // namespace kernelcast
