// Read off the machine code of ptxas 13.0 for sm_75 to sm_120 (cuobjdump -sass; test/unit/frontend/atomics_test.cpp
// compares). Where all lanes share the address:
//   additions of 32 bits, and other arithmetic of 32 bits whose old value nobody uses, are joined: VOTE and POPC of a
//   constant, REDUX of a value (shuffles before sm_80), then one lane updates;
//   additions of a constant of 64 bits likewise; no floating-point ones, no exchanges.
// LLVM's optimizer for AMD joins integer additions, logic, minima and maxima (AMDGPUAtomicOptimizer.cpp).
// In shared memory NVIDIA has additions, logic, minima and maxima of 32-bit integers, exchanges, and compare-and-swap;
// all else is a loop around the latter.
#include "frontend/shape/access_shapes.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

bool is_addition(AtomicRMWInst::BinOp op) { return op == AtomicRMWInst::Add || op == AtomicRMWInst::Sub; }

bool joins_on_nvidia(const AtomicRMWInst& update, unsigned bits) {
  if (bits == 64) return is_addition(update.getOperation()) && isa<ConstantInt>(update.getValOperand());
  return bits == 32 && (is_addition(update.getOperation()) || update.use_empty());
}

}  // namespace

AtomicUpdate update_of(const AtomicRMWInst& update, bool uniform) {
  const Triple triple(update.getModule()->getTargetTriple());
  const AtomicRMWInst::BinOp op = update.getOperation();
  const auto bits = static_cast<unsigned>(update.getType()->getPrimitiveSizeInBits().getFixedValue());
  if (op == AtomicRMWInst::Xchg) return {AtomicKind::exchange, false, bits < 32};
  if (AtomicRMWInst::isFPOperation(op)) return {AtomicKind::real, false, triple.isNVPTX()};
  const bool wraps = op == AtomicRMWInst::UIncWrap || op == AtomicRMWInst::UDecWrap;
  const bool joins = uniform && !wraps && op != AtomicRMWInst::Nand &&
                     (triple.isNVPTX() ? joins_on_nvidia(update, bits) : triple.isAMDGCN());
  return {AtomicKind::integer, joins, triple.isNVPTX() && bits != 32};
}

}  // namespace kernelcast::frontend
