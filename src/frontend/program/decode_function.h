// From the optimised kernel to the form that the interpreter runs (kernelcast/program.h).
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "frontend/shape/access_shapes.h"
#include "frontend/shape/kernel_model.h"
#include "kernelcast/program.h"

namespace kernelcast::frontend {

/// Where the profile counts what the function contains.
struct ProfilePlaces {
  std::map<const llvm::BasicBlock*, int> block;   // index into profile.blocks
  std::map<int, int> last_test;                   // block -> its copy for the last test of the loop
  std::map<const llvm::BasicBlock*, int> branch;  // index into profile.branches
  AccessPlaces accesses;
};

/// Decodes the kernel. Throws LimitError, naming the line, for what the interpreter does not know.
Program decode(llvm::Function& kernel, KernelModel& model, const KernelProfile& profile, const ProfilePlaces& places);

}  // namespace kernelcast::frontend
