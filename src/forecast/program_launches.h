// Launches of a program of several source files.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernelcast/device.h"
#include "kernelcast/host.h"

namespace kernelcast {

struct ProgramLaunches {
  HostProgram program;
  std::vector<std::string> files;  // that were read beside the source
  bool of_a_part = false;          // the program starts in the first of them, and launches from elsewhere are left out
};

/// Resources of a kernel that the host code asks for; nothing: not known.
using KernelResources = std::function<std::optional<HostKernel>(const HostKernelAsked&)>;

/// host_launches() of the source and `options.more_files`; functions and variables that these use and do not define are
/// looked for in the other source files of the source's folder, and those files are read, too. Evaluation is repeated
/// with the resources of kernels that it asked for. A source that has no main, and of whose launches not all is known,
/// is a part of the program of a file with one, beside it or one folder up, if that program gets to a launch in the
/// source.
ProgramLaunches program_launches(const Source& source, const HostOptions& options,
                                 const KernelResources& resources = {});

/// Resources of a kernel of the source or of one of its other files on the device; nothing: it cannot be analyzed.
std::optional<HostKernel> kernel_resources(const Source& source, const HostKernelAsked& asked, const Device& device,
                                           double compile_seconds);

/// Sets HostOptions::resident_blocks to the occupancy model of the device.
void put_occupancy_model(const Device& device, HostOptions& options);

/// Whether the text defines a function or variable `name` at any level; comments are not told apart.
bool defines_name(const std::string& text, const std::string& name);

}  // namespace kernelcast
