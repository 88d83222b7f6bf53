// Instructions of PTX that LLVM has no instruction for: calls of functions without a body, `kc.ptx.OPCODE`, such as
//
//     { i32, i32, i32, i32 } @"kc.ptx.ldmatrix.sync.aligned.m8n8.x4.shared.b16"(ptr addrspace(3))
//
// src/frontend/lift makes them; analysis reads shape, types and addresses from name and arguments; before code is
// generated each becomes the inline assembly that it stands for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernelcast/profile.h"
#include "ptx/module.h"

namespace llvm {
class CallInst;
class Function;
class Instruction;
class Value;
}  // namespace llvm

namespace kernelcast::frontend {

inline constexpr const char* ptx_call_prefix = "kc.ptx.";
/// Attributes of such a function: the text with $0, $1, ... for results and arguments, and LLVM's constraints for them.
inline constexpr const char* ptx_text_attribute = "kc-ptx";
inline constexpr const char* ptx_constraints_attribute = "kc-ptx-constraints";

/// The instruction that a call stands for, without operands; views the function's name. Nothing: another call.
std::optional<ptx::Instruction> ptx_instruction(const llvm::Value& value);
/// "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"; empty for other calls.
std::string ptx_opcode(const llvm::Value& value);

/// Memory that the instruction touches: for each lane that takes part, `bytes` from its address on.
struct PtxAccess {
  llvm::Value* pointer = nullptr;
  AccessKind kind = AccessKind::load;
  int bytes = 0;
  int lanes = 32;                          // of a warp, from lane 0 on
  const llvm::Value* bytes_are = nullptr;  // where this is 0 nothing is touched; null: always
  /// A copy in bulk, which each lane that executes it asks for. Through a tensor map: `pointer` is the map's, `bytes`
  /// 0, and these are its coordinates.
  bool bulk = false;
  std::vector<llvm::Value*> coordinates = {};
};
/// Nothing where the instruction touches no memory that is modelled, or how much is not a constant.
std::vector<PtxAccess> ptx_accesses(const llvm::CallInst& call);

/// Whether what the instruction costs is counted: by class of operation, by its accesses, or because it takes an issue
/// slot and nothing else. False: it is listed as not modelled.
bool is_modelled(const ptx::Instruction& instruction);

/// The bytes that an mbarrier is told to expect (expect_tx); null: another instruction.
llvm::Value* expected_bytes(const llvm::Value& value);

/// Blocks that receive what a copy in bulk reads: 1 without .multicast::cluster, 0 where the mask is no constant.
int receivers(const llvm::CallInst& call);

/// A test of an mbarrier that a loop repeats until the phase is complete: the loop is a wait.
bool is_barrier_test(const llvm::Value& value);

/// tcgen05.mma takes its shape from the instruction descriptor, a register: ".m128n256k16" where that is a constant,
/// empty otherwise and for other instructions.
std::string shape_in_descriptor(const llvm::CallInst& call);

/// Inline assembly in place of the call. Of tcgen05.mma the opcode gets its shape (kernelcast/tensor.h).
void lower_ptx_call(llvm::CallInst& call);

}  // namespace kernelcast::frontend
