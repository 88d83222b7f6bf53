// Addresses as NVIDIA's compiler arranges them, where that differs from LLVM. Compared with the PTX of NVRTC 11.8; the
// tests in test/unit/frontend/addresses_test.cpp hold what was found.
#pragma once

#include <cstdint>
#include <vector>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/ValueHandle.h"

namespace llvm {
class Function;
class Value;
}  // namespace llvm

namespace kernelcast::frontend {

/// An index that the source computes in signed integers does not overflow, however a pass arranges its terms: LLVM
/// forgets that where it reassociates and distributes, NVIDIA's compiler does not (it folds all constants of such an
/// index into the offset of the access, and none of an unsigned one). Before such passes the sums under sign
/// extensions are noted, and after them what became of them is marked again. Must outlive the passes' run.
class SignedIndices {
 public:
  explicit SignedIndices(llvm::PassInstrumentationCallbacks& callbacks);

 private:
  // What a sign extension reads, while it is a sum that cannot overflow, and where that sum ends: at values that are no
  // such operations. A pass may delete these, and what it makes may get their place in memory.
  struct Sum {
    llvm::WeakTrackingVH extension;
    llvm::SmallVector<llvm::WeakTrackingVH, 4> leaves;
    llvm::SmallVector<llvm::WeakTrackingVH, 4> terms;  // what is added up, a product as one
    std::int64_t constant = 0;                         // and added to the terms
  };
  void note(llvm::Function& f);
  void mark();
  std::vector<Sum> sums_;
};

/// Constants of signed indices become offsets of the address, through products by constants too. An __ldg, which is
/// inline assembly in NVIDIA's header, keeps them in its index where nothing says that the sum does not overflow.
void split_address_constants(llvm::Function& kernel);

/// Where the address of an __ldg is a pointer to which two indices are added one after the other, NVIDIA's compiler
/// adds the indices, extended to 64 bits each, before it scales them, and constants stay in either (NVRTC 11.8
/// and 12.4, nvcc 13.0). For code whose loops are not unrolled yet.
void keep_sums_of_opaque_reads(llvm::Function& kernel);

/// Arithmetic of addresses that several blocks repeat moves in front of the branch that they share, if no loop begins
/// in between: guarded accesses with one base and constant offsets share that base. Addresses of inline assembly stay.
void share_addresses(llvm::Function& kernel);

/// Of addresses that the way to a block chooses, or that a loop moves on, those a constant away from another become
/// that one plus the constant. LLVM 19 makes one store of what two branches store after equal steps, and its address a
/// choice; where NVIDIA's headers have inline assembly among the steps, its compiler keeps the stores in the branches.
void share_chosen_addresses(llvm::Function& kernel);

/// Equal loads of one block with no write in between become one, and those of __ldg, which nothing changes, whatever
/// lies in between. NVRTC 11.8 leaves equal loads of a stencil in PTX that are some 200 loads apart; ptxas merges what
/// is left at any distance (SASS of ptxas 11.8, 12.4 and 13.0: 690 loads of 900, 1,170 of 1,800, 2,340 of 3,600).
enum class LoadsToMerge { all, shared };
void merge_loads(llvm::Function& kernel, LoadsToMerge which);

/// Addresses with one block of users are computed there, behind the guard; sums stay where they are
/// (vendor_options.cpp).
void sink_addresses(llvm::Function& kernel);

}  // namespace kernelcast::frontend
