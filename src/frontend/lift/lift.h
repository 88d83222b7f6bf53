// PTX as LLVM IR: a file of it, asm statements, and pointers found in numbers (PTX adds addresses as integers).
#pragma once

#include <string>
#include <vector>

#include "frontend/source/compile.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace kernelcast::frontend {

/// `kernel`, if given, is the one that is wanted: what others hold may be beyond us. Throws UserError for text that is
/// no PTX, and for code that the target does not have; LimitError, naming the line, for what cannot be lifted.
CompiledUnit lift_ptx(const Source& source, const std::string& target, const std::string& capability,
                      const std::string& kernel);

/// Whether lift_ptx() made the module: a compiler of NVIDIA's front end has optimized it already.
bool is_ptx(const llvm::Module& module);

/// Replaces every asm statement whose text the reader knows by a call of a function with the same meaning. The others
/// stay. Returns how many were replaced. Throws UserError, with the line, for an instruction that `capability`
/// ("sm_80") does not have in a function that `kernel` may call; empty: any may be there.
int lift_asm_statements(llvm::Module& module, const std::string& kernel = "", const std::string& capability = "");

/// Rewrites what casts a sum of an address and other numbers to a pointer as an offset from that pointer, in the space
/// that the access names. Registers must be values already (SROA).
void recover_pointers(llvm::Function& kernel);

/// Makes pointers of the 64-bit integers that accesses have for their base: the kernel's parameters, fields of
/// structures among them, and what it loads. Returns the kernel, which may be another function then, of the same name.
llvm::Function* with_pointer_parameters(llvm::Function& kernel);

}  // namespace kernelcast::frontend
