// How the target's code does an atomic.
#pragma once

#include "kernelcast/profile.h"

namespace llvm {
class AtomicRMWInst;
}

namespace kernelcast::frontend {

struct AtomicUpdate {
  AtomicKind kind = AtomicKind::integer;
  bool joined = false;             // one lane updates for all of a warp
  bool retried_in_shared = false;  // shared memory has no such instruction
};

/// `uniform`: the lanes of a warp share the address.
AtomicUpdate update_of(const llvm::AtomicRMWInst& update, bool uniform);

}  // namespace kernelcast::frontend
