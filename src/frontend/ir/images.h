// Textures, surfaces and images: what has no address in the code. Each access becomes the one machine instruction that it
// is; where it goes in memory is not known.
#pragma once

namespace llvm {
class CallBase;
class Module;
}  // namespace llvm

namespace kernelcast::frontend {

enum class TargetFamily;

/// Replaces calls of kc_texture_* (headers/kernelcast/texture.h) and of OpenCL's image functions.
void lower_image_accesses(llvm::Module& module, TargetFamily family);

/// Whether the call is such an access, also after it was replaced.
bool accesses_image(const llvm::CallBase& call);

}  // namespace kernelcast::frontend
