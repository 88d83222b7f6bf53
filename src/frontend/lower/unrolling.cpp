#include "frontend/lower/nvidia_rules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "frontend/ir/math_costs.h"
#include "frontend/lift/lift.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CodeMetrics.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/UnrollLoop.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

constexpr unsigned full_size = 405;
constexpr unsigned full_size_of_private_arrays = 6 * full_size;
constexpr unsigned partial_size = full_size / 2;
constexpr unsigned remainder_count = 4;
constexpr unsigned assembler_count = 4;
constexpr unsigned assembler_size = 45, assembler_loads = 12, assembler_size_without_loads = 20;
// Of known numbers of trips, in instructions with loads counted twice.
constexpr unsigned assembler_part_body = 80, assembler_part_size = 350;
constexpr unsigned assembler_whole_size = 1500, assembler_whole_size_of_small = 2000, assembler_small_body = 8;
constexpr double assembler_whole_room = 333, assembler_saved = 15.5;
constexpr unsigned assembler_ending_size = 3;  // counter, comparison, branch
constexpr unsigned ending_size = 2;            // the comparison and the branch at a loop's end, which stay once

/// The body that stands in place of a call of a mathematical function.
std::optional<MathBody> body_of_call(const Instruction& i) {
  const auto* call = dyn_cast<CallInst>(&i);
  const Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
  if (callee == nullptr || callee->isIntrinsic() || !callee->isDeclaration() || call->arg_empty()) return std::nullopt;
  const auto name = math_function(callee->getName());
  if (!name) return std::nullopt;
  const auto* number = dyn_cast<FPMathOperator>(call);
  return math_body(*name, call->getArgOperand(0)->getType()->getScalarType()->isDoubleTy(),
                   number != nullptr && number->hasApproxFunc());
}

bool has_pragma(const llvm::Loop& loop) {
  for (const char* name :
       {"llvm.loop.unroll.count", "llvm.loop.unroll.full", "llvm.loop.unroll.disable", "llvm.loop.unroll.enable"})
    if (findOptionMDForLoop(&loop, name)) return true;
  return false;
}

constexpr const char* pragma_mark = "kernelcast.unroll";
constexpr const char* parts_mark = "kernelcast.unrolled_in_part";
constexpr const char* copied_mark = "kernelcast.copied";
constexpr const char* pragma_for_assembler_mark = "kernelcast.nounroll";  // nvcc passes on that there was a pragma

constexpr const char* wraps_mark = "kernelcast.counter_may_wrap";

bool is_private_address(const Value* v) { return isa<AllocaInst>(getUnderlyingObject(v)); }

/// How many copies of a body of `body` instructions there is room for, for known `trips` (0: not known).
unsigned partial_count(unsigned trips, uint64_t body) {
  const auto fits = [body](unsigned count) { return count * body + ending_size <= partial_size; };
  unsigned count = 1;
  if (trips % 2 != 0 || trips == 0) {
    for (count = remainder_count; count > 1 && !fits(count);) count /= 2;
    return count;
  }
  while (trips % (2 * count) == 0 && fits(2 * count)) count *= 2;
  return count;
}

/// Whether an instruction of a loop computes the same in each passage.
bool is_invariant(const Instruction& i, const llvm::Loop& loop) {
  if (i.mayReadOrWriteMemory() || i.isTerminator() || isa<PHINode>(i) || isa<AllocaInst>(i)) return false;
  for (const Value* operand : i.operands())
    if (const auto* from = dyn_cast<Instruction>(operand); from && loop.contains(from) && !is_invariant(*from, loop))
      return false;
  return true;
}

/// Sizes of loops before and after unrolling, in instructions as NVIDIA's compilers seem to count them.
class Sizes {
 public:
  Sizes(ScalarEvolution& evolution, const LoopInfo& loops) : evolution_(evolution), loops_(loops) {}

  /// Inner loops first.
  void decide(llvm::Loop& loop) {
    for (llvm::Loop* inner : loop) decide(*inner);
    const unsigned trips = evolution_.getSmallConstantTripCount(&loop);
    // `#pragma unroll` without a number
    if (trips > 1 &&
        (findOptionMDForLoop(&loop, "llvm.loop.unroll.full") || findOptionMDForLoop(&loop, "llvm.loop.unroll.enable")))
      unroll(loop, trips);
    if (has_pragma(loop)) return;
    const uint64_t size = body(loop);
    const bool of_private = indexes_private_array(loop);
    if (trips > 1 && size * trips + ending_size <= (of_private ? full_size_of_private_arrays : full_size)) {
      unroll(loop, trips);
      if (of_private) addStringMetadataToLoop(&loop, "llvm.loop.unroll.full", 1);
    } else if (keeps_inner_loops(loop)) {
      addStringMetadataToLoop(&loop, "llvm.loop.unroll.disable", 1);
    } else if (evolution_.hasLoopInvariantBackedgeTakenCount(&loop)) {
      const unsigned count = partial_count(trips, size);
      copies_[&loop] = trips != 0 && trips % count == 0 ? count : count + 1;
    }
  }

 private:
  bool keeps_inner_loops(const llvm::Loop& loop) const {
    for (const llvm::Loop* inner : loop)
      if (!full_.contains(inner)) return true;
    for (const BasicBlock* block : loop.blocks())
      for (const Instruction& i : *block)
        if (const auto math = body_of_call(i); math && math->loops) return true;
    return false;
  }

  /// Whether a load, store or copy in the loop picks an element of a private array by the loop's counter.
  bool indexes_private_array(const llvm::Loop& loop) {
    for (BasicBlock* block : loop.blocks())
      for (Instruction& i : *block) {
        if (Value* address = getLoadStorePointerOperand(&i); address && is_private_by(*address, loop)) return true;
        if (auto* copy = dyn_cast<MemTransferInst>(&i);
            copy && (is_private_by(*copy->getRawSource(), loop) || is_private_by(*copy->getRawDest(), loop)))
          return true;
      }
    return false;
  }

  bool is_private_by(Value& address, const llvm::Loop& loop) {
    return is_private_address(&address) && evolution_.isSCEVable(address.getType()) &&
           SCEVExprContains(evolution_.getSCEV(&address), [&](const SCEV* part) {
             const auto* counter = dyn_cast<SCEVAddRecExpr>(part);
             return counter && counter->getLoop() == &loop;
           });
  }

  /// Instructions of one trip with inner loops as decided.
  uint64_t body(const llvm::Loop& loop) {
    uint64_t sum = 0;
    folded_.clear();
    for (BasicBlock* block : loop.blocks())
      for (Instruction& i : *block)
        if (counts(i, loop)) {
          const auto math = body_of_call(i);
          sum += times(i, loop) * (math ? math->instructions : 1);
        }
    return sum;
  }

  /// How often an instruction stands in one trip of `loop` once inner loops are unrolled and what does not change in
  /// them stands before them; 0 where it stands before `loop` itself.
  uint64_t times(const Instruction& i, const llvm::Loop& loop) {
    const llvm::Loop* in = loops_.getLoopFor(i.getParent());
    while (is_invariant(i, *in)) {
      if (in == &loop) return 0;
      in = in->getParentLoop();
    }
    if (is_known(i, loop)) return 0;
    uint64_t copies = 1;
    if (in != &loop && !full_.contains(in) && ends(i, *in)) in = in->getParentLoop();
    for (; in != &loop; in = in->getParentLoop())
      if (const auto at = copies_.find(in); at != copies_.end()) copies *= at->second;
    return copies;
  }

  /// Whether unrolled inner loops make a value of it that does not change in `loop`.
  bool is_known(const Value& v, const llvm::Loop& loop) {
    const auto* i = dyn_cast<Instruction>(&v);
    if (!i || !loop.contains(i)) return true;
    if (const auto at = folded_.find(i); at != folded_.end()) return at->second;
    folded_[i] = false;
    const llvm::Loop* in = loops_.getLoopFor(i->getParent());
    bool known = false;
    if (const auto* phi = dyn_cast<PHINode>(i)) {
      if (in != &loop && full_.contains(in) && phi->getParent() == in->getHeader() &&
          evolution_.isSCEVable(phi->getType())) {
        const auto* counter = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(const_cast<PHINode*>(phi)));
        known = counter && counter->getLoop() == in && isa<SCEVConstant>(counter->getStart()) &&
                isa<SCEVConstant>(counter->getStepRecurrence(evolution_));
      }
    } else if (!i->mayReadOrWriteMemory() && !i->isTerminator() && !isa<AllocaInst>(i)) {
      known = true;
      for (const Value* operand : i->operands()) known = known && is_known(*operand, loop);
    }
    return folded_[i] = known;
  }

  bool counts(const Instruction& i, const llvm::Loop& loop) const {
    if (isa<PHINode>(i) || isa<DbgInfoIntrinsic>(i) || i.isLifetimeStartOrEnd() || isa<TruncInst>(i) ||
        isa<BitCastInst>(i) || isa<AddrSpaceCastInst>(i) || isa<FreezeInst>(i) || isa<ExtractValueInst>(i) ||
        isa<IntToPtrInst>(i) || isa<PtrToIntInst>(i))
      return false;  // free in LLVM's cost model, which NVIDIA's compilers share: results of asm, casts of addresses
    if ((isa<SExtInst>(i) || isa<ZExtInst>(i) || isa<FPExtInst>(i)) && isa<LoadInst>(i.getOperand(0))) return false;
    if (const auto* gep = dyn_cast<GetElementPtrInst>(&i)) return !is_private_address(gep->getPointerOperand());
    const llvm::Loop* in = loops_.getLoopFor(i.getParent());
    if ((in == &loop || full_.contains(in)) && ends(i, *in) && !i.isBinaryOp()) return false;
    const auto* branch = dyn_cast<BranchInst>(&i);
    return !branch || branch->isConditional();
  }

  /// Whether it is the step of a counter, the comparison or the branch at the loop's end.
  bool ends(const Instruction& i, const llvm::Loop& loop) const {
    if (i.isTerminator()) return loop.isLoopLatch(i.getParent());
    if (isa<CmpInst>(i))
      return i.hasOneUse() && i.user_back()->isTerminator() && loop.isLoopLatch(i.user_back()->getParent());
    if (!i.isBinaryOp() || !i.getType()->isIntegerTy()) return false;
    for (const User* user : i.users())
      if (const auto* phi = dyn_cast<PHINode>(user); phi && phi->getParent() == loop.getHeader() &&
                                                     evolution_.isSCEVable(phi->getType()) &&
                                                     is_contained(i.operands(), phi))
        return true;
    return false;
  }

  void unroll(const llvm::Loop& loop, unsigned trips) {
    full_.insert(&loop);
    copies_[&loop] = trips;
  }

  ScalarEvolution& evolution_;
  const LoopInfo& loops_;
  std::set<const llvm::Loop*> full_;              // loops that are unrolled whole
  std::map<const llvm::Loop*, unsigned> copies_;  // of a loop's body
  std::map<const Instruction*, bool> folded_;
};

const Value* without_casts(const Value* v) {
  while (const auto* cast = dyn_cast<CastInst>(v)) v = cast->getOperand(0);
  return v;
}

/// A constant operation on a register of the launch (`%tid.x / 32`); null: it is none.
const BinaryOperator* of_launch_register(const Value* v) {
  const auto* operation = dyn_cast<BinaryOperator>(without_casts(v));
  const auto* read = operation == nullptr ? nullptr : dyn_cast<IntrinsicInst>(without_casts(operation->getOperand(0)));
  return read != nullptr && read->arg_empty() && isa<ConstantInt>(operation->getOperand(1)) ? operation : nullptr;
}

/// The addition that makes the next value of a counter, and what it adds; nothing where something else makes it.
struct Growth {
  const BinaryOperator* sum = nullptr;
  const Value* step = nullptr;
};
Growth growth_of(const PHINode& counter, const BasicBlock& latch) {
  const auto* next = dyn_cast<BinaryOperator>(counter.getIncomingValueForBlock(&latch));
  if (next == nullptr || next->getOpcode() != Instruction::Add) return {};
  return {next, next->getOperand(next->getOperand(0) == &counter ? 1 : 0)};
}

/// Whether a loop starts and steps by one operation on two registers of the launch: `for (i = threadIdx.x / 32; i < n;
/// i += blockDim.x / 32)`. nvcc 13.0 does not unroll these and does unroll others (docs/lab/h100.md has the
/// forms).
bool starts_and_steps_alike(const llvm::Loop& loop) {
  const BasicBlock *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch();
  if (before == nullptr || latch == nullptr) return false;
  return any_of(loop.getHeader()->phis(), [&](const PHINode& counter) {
    const auto [next, step] = growth_of(counter, *latch);
    if (next == nullptr) return false;
    const BinaryOperator* a = of_launch_register(counter.getIncomingValueForBlock(before));
    const BinaryOperator* b = of_launch_register(step);
    return a != nullptr && b != nullptr && a->getOpcode() == b->getOpcode() && a->getOperand(1) == b->getOperand(1);
  });
}

/// Whether a comparison with the value decides a branch.
bool is_compared(const Value& v) {
  return any_of(v.users(), [](const User* user) {
    if (isa<CastInst>(user)) return is_compared(*user);
    return isa<ICmpInst>(user) && any_of(user->users(), [](const User* u) { return isa<BranchInst>(u); });
  });
}

/// Whether a loop's counter grows by what is known only at run time, and may wrap around by the rules of the language:
/// no signed addition.
bool counter_may_wrap(const llvm::Loop& loop) {
  const BasicBlock* latch = loop.getLoopLatch();
  if (latch == nullptr) return false;
  return any_of(loop.getHeader()->phis(), [&](const PHINode& counter) {
    const auto [next, step] = growth_of(counter, *latch);
    if (next == nullptr || !is_contained(next->operands(), &counter) || isa<Constant>(step)) return false;
    const auto* computed = dyn_cast<Instruction>(step);
    const bool varies = computed != nullptr && loop.contains(computed) && !is_invariant(*computed, loop);
    return !varies && !next->hasNoSignedWrap() && !next->hasNoUnsignedWrap() &&
           (is_compared(counter) || is_compared(*next));
  });
}

class PartialUnrolling : public PassInfoMixin<PartialUnrolling> {
 public:
  static PreservedAnalyses run(Function& f, FunctionAnalysisManager& analyses) {
    auto& loops = analyses.getResult<LoopAnalysis>(f);
    auto& evolution = analyses.getResult<ScalarEvolutionAnalysis>(f);
    const auto& target = analyses.getResult<TargetIRAnalysis>(f);
    auto& assumptions = analyses.getResult<AssumptionAnalysis>(f);
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      if (has_pragma(*loop)) continue;
      if (!loop->isInnermost()) addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
      if (!loop->isInnermost() || !loop->isLoopSimplifyForm() || loop->getExitingBlock() == nullptr ||
          loop->getExitingBlock() != loop->getLoopLatch() || !evolution.hasLoopInvariantBackedgeTakenCount(loop))
        continue;
      const unsigned trips = evolution.getSmallConstantTripCount(loop);
      if (trips == 1) continue;
      if (trips == 0 && (starts_and_steps_alike(*loop) || findOptionMDForLoop(loop, wraps_mark))) {
        addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
        continue;
      }
      SmallPtrSet<const Value*, 32> ephemeral;
      CodeMetrics::collectEphemeralValues(loop, &assumptions, ephemeral);
      const UnrollCostEstimator size(loop, target, ephemeral, ending_size);
      if (!size.canUnroll()) continue;
      const std::optional<unsigned> functions = more_of_functions(*loop, target);
      if (!functions) {
        addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
        continue;
      }
      const auto body = static_cast<unsigned>(size.getRolledLoopSize()) - ending_size + *functions;
      if (trips != 0 && uint64_t{body} * trips + ending_size < full_size) continue;  // unrolled whole
      const unsigned count = partial_count(trips, body);
      // LLVM makes no remainder of a loop with a barrier.
      if (count > 1 && !size.ConvergenceAllowsRuntime && (trips == 0 || trips % count != 0)) continue;
      if (count > 1) {
        addStringMetadataToLoop(loop, "llvm.loop.unroll.count", count);
        if (trips == 0) addStringMetadataToLoop(loop, parts_mark, count);
      } else
        addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
    }
    return PreservedAnalyses::all();
  }

 private:
  /// What bodies of mathematical functions add to the size of a loop that has calls; nothing where one has a loop.
  static std::optional<unsigned> more_of_functions(const llvm::Loop& loop, const TargetTransformInfo& target) {
    unsigned more = 0;
    for (const BasicBlock* block : loop.blocks())
      for (const Instruction& i : *block) {
        const auto math = body_of_call(i);
        if (!math) continue;
        if (math->loops) return std::nullopt;
        const InstructionCost call = target.getInstructionCost(&i, TargetTransformInfo::TCK_CodeSize);
        const auto counted = call.isValid() ? static_cast<unsigned>(*call.getValue()) : 1;
        more += std::max(counted, math->instructions) - counted;
      }
    return more;
  }
};

/// Instructions of ptxas for a call of a mathematical function.
std::optional<OpCounts> assembly_of_call(const Instruction& i) {
  const auto* call = dyn_cast<CallBase>(&i);
  const Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
  const auto name = callee != nullptr && !callee->isIntrinsic() ? math_function(callee->getName()) : std::nullopt;
  if (!name) return std::nullopt;
  constexpr int measured_for = 86;
  const bool is_double = i.getType()->getScalarType()->isDoubleTy();
  return nvidia_cost(*name + (is_double ? ".f64" : ".f32"), measured_for);
}

/// Whether ptxas makes branches of it, or it must not be copied.
bool ends_block_in_assembly(const Instruction& i) {
  const bool exact = isa<FPMathOperator>(i) && !i.hasApproxFunc();
  if (i.getOpcode() == Instruction::FDiv) return exact;
  if (i.isIntDivRem()) return i.getType()->getScalarSizeInBits() > 32 && !isa<Constant>(i.getOperand(1));
  const auto* call = dyn_cast<CallBase>(&i);
  if (call == nullptr) return false;
  if (call->isConvergent() || call->isInlineAsm()) return true;
  const Function* callee = call->getCalledFunction();
  if (callee != nullptr && exact && math_function(callee->getName()) == "sqrt") return true;
  const auto cost = assembly_of_call(i);
  if (cost) return (*cost)[OpClass::control] > 0;
  return callee == nullptr || (!callee->isIntrinsic() && !math_function(callee->getName()));
}

/// Whether an address is computed anew from a 32-bit counter without a sign: the loop then keeps a counter of its own
/// for that, and ptxas does not see how often it runs.
bool extends_counter(const Instruction& i, const llvm::Loop& loop, ScalarEvolution& evolution) {
  const Value* address = getLoadStorePointerOperand(&i);
  if (address == nullptr) return false;
  return SCEVExprContains(evolution.getSCEV(const_cast<Value*>(address)), [&](const SCEV* part) {
    const auto* extended = dyn_cast<SCEVZeroExtendExpr>(part);
    const auto* counter = extended ? dyn_cast<SCEVAddRecExpr>(extended->getOperand()) : nullptr;
    return counter != nullptr && counter->getLoop() == &loop;
  });
}

/// A loop of one block as ptxas seems to count it.
struct AssemblyBody {
  unsigned instructions = 0, loads = 0;
  bool ends_block = false, extends_counter = false, has_private = false;
};

/// Whether `i` is a step of the loop's address arithmetic that grows evenly: offsets of the accesses and one addition
/// for all of them remain of it.
bool moves_addresses_evenly(const Instruction& i, const llvm::Loop& loop, ScalarEvolution& evolution) {
  const auto grows_evenly = [&](const Instruction& x) {
    if (!isa<BinaryOperator>(x) || !x.getType()->isIntegerTy()) return false;
    const auto* grows = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(const_cast<Instruction*>(&x)));
    return grows != nullptr && grows->getLoop() == &loop && grows->isAffine();
  };
  if (!grows_evenly(i)) return false;
  std::set<const Instruction*> seen{&i};
  std::vector<const Instruction*> next{&i};
  while (!next.empty()) {
    const Instruction* at = next.back();
    next.pop_back();
    for (const User* u : at->users()) {
      const auto* user = dyn_cast<Instruction>(u);
      if (user == nullptr || user->getParent() != i.getParent()) return false;
      if (isa<GetElementPtrInst>(user) || isa<CastInst>(user)) continue;
      if (!isa<PHINode>(user) && !grows_evenly(*user)) return false;  // a phi: an address of its own that grows
      if (seen.insert(user).second) next.push_back(user);
    }
  }
  return true;
}

AssemblyBody assembly_body(const llvm::Loop& loop, ScalarEvolution& evolution) {
  AssemblyBody body;
  for (Instruction& i : *loop.getHeader()) {
    body.ends_block |= ends_block_in_assembly(i);
    body.extends_counter |= extends_counter(i, loop, evolution);
    if (const Value* at = getLoadStorePointerOperand(&i)) body.has_private |= is_private_address(at);
    body.loads += isa<LoadInst>(i);
    const bool fused =
        i.getOpcode() == Instruction::FMul && i.hasOneUse() &&
        (i.user_back()->getOpcode() == Instruction::FAdd || i.user_back()->getOpcode() == Instruction::FSub);
    const bool free = isa<PHINode>(i) || isa<DbgInfoIntrinsic>(i) || isa<GetElementPtrInst>(i) || isa<CastInst>(i) ||
                      fused || moves_addresses_evenly(i, loop, evolution);
    const auto function = assembly_of_call(i);  // whose constants stay in registers
    body.instructions += function ? static_cast<unsigned>(function->total() - (*function)[OpClass::move]) : !free;
  }
  return body;
}

/// Copies that ptxas makes of a loop of unknown trips, if it makes any.
unsigned assembler_count_of(const AssemblyBody& body) {
  const bool fits = body.loads == 0 ? body.instructions <= assembler_size_without_loads
                                    : body.instructions <= assembler_size && body.loads <= assembler_loads;
  return fits && !body.extends_counter ? assembler_count : 1;
}

/// Copies that ptxas makes of a loop of `trips`; all of them where that is little, or else as many as fit together with
/// what is left over.
unsigned assembler_count_of(const AssemblyBody& body, unsigned trips) {
  const std::uint64_t size =  // 64 bits: it is multiplied with up to 2^32 - 1 trips
      std::max(body.instructions + body.loads, assembler_ending_size + 1) - assembler_ending_size;
  if (body.has_private || trips < 3) return 1;
  const unsigned most = size <= assembler_small_body ? assembler_whole_size_of_small : assembler_whole_size;
  if (size * trips <= most && (static_cast<double>(size) - assembler_saved) * trips <= assembler_whole_room)
    return trips;
  if (size > assembler_part_body) return 1;
  for (auto count = static_cast<unsigned>(assembler_part_size / size); count > 1; --count)
    if ((count + trips % count) * size <= assembler_part_size) return count;
  return 1;
}

/// Copies that ptxas makes of a loop; see unroll_as_assembler().
unsigned copies_in_assembly(const llvm::Loop& loop, ScalarEvolution& evolution) {
  if (loop.getNumBlocks() != 1) return 1;
  const SCEV* repeats = evolution.getBackedgeTakenCount(&loop);
  if (isa<SCEVCouldNotCompute>(repeats)) return 1;
  const AssemblyBody body = assembly_body(loop, evolution);
  if (body.ends_block) return 1;
  const bool left_alone = is_left_as_it_is(loop);
  if (const unsigned trips = evolution.getSmallConstantTripCount(&loop); trips != 0)
    return left_alone ? 1 : assembler_count_of(body, trips);
  if (is_ptx(*loop.getHeader()->getModule()) ? left_alone : !findOptionMDForLoop(&loop, parts_mark)) return 1;
  if (isa<SCEVConstant>(repeats) || repeats->getType()->getIntegerBitWidth() > 32) return 1;
  const unsigned most = evolution.getSmallConstantMaxTripCount(&loop);
  return most != 0 && most <= remainder_count ? 1 : assembler_count_of(body);
}

}  // namespace

bool is_left_as_it_is(const llvm::Loop& loop) {
  const bool ptx = is_ptx(*loop.getHeader()->getModule());
  return findOptionMDForLoop(&loop, ptx ? "llvm.loop.unroll.disable" : pragma_for_assembler_mark) ||
         findOptionMDForLoop(&loop, copied_mark);
}

bool unroll_as_assembler(Function& kernel, TargetMachine& machine) {
  DominatorTree dominators(kernel);
  LoopInfo loops(dominators);
  AssumptionCache assumptions(kernel);
  TargetLibraryInfoImpl library(Triple(kernel.getParent()->getTargetTriple()));
  TargetLibraryInfo names(library);
  ScalarEvolution evolution(kernel, names, assumptions, dominators, loops);
  const TargetTransformInfo target = machine.getTargetTransformInfo(kernel);
  OptimizationRemarkEmitter remarks(&kernel);
  const auto outer_first = loops.getLoopsInPreorder();
  bool any_known = false;
  for (llvm::Loop* loop : reverse(outer_first)) {
    const unsigned count = loop->isInnermost() ? copies_in_assembly(*loop, evolution) : 1;
    if (count == 1) continue;
    simplifyLoop(loop, &dominators, &loops, &evolution, &assumptions, nullptr, false);
    formLCSSARecursively(*loop, dominators, &loops, &evolution);
    const bool known = evolution.getSmallConstantTripCount(loop) != 0;
    any_known |= known;
    if (!known) addStringMetadataToLoop(loop, copied_mark, 1);
    UnrollLoop(loop, {count, true, true, true, known, false}, &loops, &evolution, &dominators, &assumptions, &target,
               &remarks, true);
  }
  return any_known;
}

void mark_loops_of_private_arrays(Function& kernel) {
  DominatorTree dominators(kernel);
  LoopInfo loops(dominators);
  AssumptionCache assumptions(kernel);
  TargetLibraryInfoImpl library(Triple(kernel.getParent()->getTargetTriple()));
  TargetLibraryInfo names(library);
  ScalarEvolution evolution(kernel, names, assumptions, dominators, loops);
  Sizes sizes(evolution, loops);
  for (llvm::Loop* loop : loops) sizes.decide(*loop);
}

void unroll_parts_of_loops(PassBuilder& builder) {
  builder.registerVectorizerStartEPCallback([](FunctionPassManager& passes, OptimizationLevel) {
    passes.addPass(LoopSimplifyPass());
    passes.addPass(PartialUnrolling());
  });
}

void note_wrapping_counters(Function& kernel) {
  DominatorTree dominators(kernel);
  const LoopInfo loops(dominators);
  for (llvm::Loop* loop : loops.getLoopsInPreorder())
    if (counter_may_wrap(*loop)) addStringMetadataToLoop(loop, wraps_mark, 1);
}

void note_unroll_pragmas(Function& kernel) {
  DominatorTree dominators(kernel);
  const LoopInfo loops(dominators);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (has_pragma(*loop)) addStringMetadataToLoop(loop, pragma_for_assembler_mark, 1);
    for (const char* name : {"llvm.loop.unroll.enable", "llvm.loop.unroll.full"})
      if (findOptionMDForLoop(loop, name)) addStringMetadataToLoop(loop, pragma_mark, 1);
  }
}

bool is_to_be_unrolled(const llvm::Loop& loop) { return findOptionMDForLoop(&loop, pragma_mark) != nullptr; }

}  // namespace kernelcast::frontend
