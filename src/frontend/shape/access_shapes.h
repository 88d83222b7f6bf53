// The memory accesses and barriers of one basic block.
#pragma once

#include <unordered_map>
#include <vector>

#include "frontend/ir/ptx_calls.h"
#include "frontend/shape/bulk_copies.h"
#include "frontend/shape/kernel_model.h"
#include "frontend/shape/synchronization.h"
#include "kernelcast/profile.h"

namespace llvm {
class AtomicRMWInst;
}  // namespace llvm

namespace kernelcast::frontend {

/// A piece of a memory instruction, and the access of its block that counts it.
struct AccessPlace {
  int access;  // index into Block::accesses
  AccessKind kind;
  int at, bytes;
  int block = -1;  // of the profile, where that is not the instruction's own
};

/// An access of an instruction that not all lanes take part in.
struct PartialAccess {
  llvm::CallInst* call = nullptr;
  PtxAccess what;
};
using AccessPlaces = std::unordered_map<const llvm::Instruction*, std::vector<AccessPlace>>;

/// Fills `block.accesses` and `block.barriers`; adds unknowns and assumptions to the profile for addresses that data
/// decide. `places` learns which access counts which instruction, `steps` what the block does around its barriers.
/// `boxes`: of copies through tensor maps.
/// Returns what is left for blocks of its own: collect_partial() fills one, which has the number `index` in the
/// profile.
std::vector<PartialAccess> collect_accesses(llvm::BasicBlock& source, KernelModel& model, KernelProfile& profile,
                                            Block& block, AccessPlaces& places, std::vector<BarrierStep>& steps,
                                            const TensorBoxes& boxes);
void collect_partial(const PartialAccess& access, KernelModel& model, KernelProfile& profile, Block& block, int index,
                     AccessPlaces& places);

struct AtomicUpdate {
  AtomicKind kind = AtomicKind::integer;
  bool joined = false;             // one lane updates for all of a warp
  bool retried_in_shared = false;  // shared memory has no such instruction
};

/// `uniform`: the lanes of a warp share the address.
AtomicUpdate update_of(const llvm::AtomicRMWInst& update, bool uniform);

}  // namespace kernelcast::frontend
