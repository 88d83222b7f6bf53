// LLVM keeps addresses where it finds them cheap on a CPU. What follows was found by comparing PTX with NVRTC's for
// guarded and unguarded stencils with signed, unsigned and 64-bit indices, plain and through __ldg.
#include "frontend/shape/addresses.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "frontend/ir/builtins.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

constexpr unsigned shared_space = 3;  // NVPTX

/// Whether a load or store takes its address from an index. Inline assembly, which __ldg is, gets no such care.
bool addresses_an_access(const Value* index, int depth = 6) {
  return depth > 0 && std::any_of(index->user_begin(), index->user_end(), [depth](const User* user) {
           if (isa<GetElementPtrInst, CastInst, BinaryOperator, PHINode>(user))
             return addresses_an_access(user, depth - 1);
           return isa<LoadInst, StoreInst, AtomicRMWInst, AtomicCmpXchgInst>(user);
         });
}

bool is_sum(const Value* v) {
  if (const auto* disjoint = dyn_cast<PossiblyDisjointInst>(v)) return disjoint->isDisjoint();
  const auto* i = dyn_cast<BinaryOperator>(v);
  return i && (i->getOpcode() == Instruction::Add || i->getOpcode() == Instruction::Sub ||
               i->getOpcode() == Instruction::Mul || i->getOpcode() == Instruction::Shl);
}

/// An `or` of values that have no bit in common is their sum, and never overflows.
bool is_signed_sum(const Value* v) {
  return is_sum(v) && (isa<PossiblyDisjointInst>(v) || cast<BinaryOperator>(v)->hasNoSignedWrap());
}

/// An extension by the sign, or one that amounts to it.
bool extends_signed(const Value* v) {
  const auto* by_zero = dyn_cast<ZExtInst>(v);
  return isa<SExtInst>(v) || (by_zero && by_zero->hasNonNeg());
}

/// Terms may share terms (h + (h << 3), again and again): `seen` has those that were visited.
void collect_leaves(Value* v, SmallPtrSetImpl<Value*>& leaves, SmallPtrSetImpl<Value*>& seen) {
  if (!is_signed_sum(v)) {
    if (!isa<Constant>(v)) leaves.insert(v);
  } else if (seen.insert(v).second) {
    for (Value* operand : cast<BinaryOperator>(v)->operands()) collect_leaves(operand, leaves, seen);
  }
}

void mark_signed(Value* v, const SmallPtrSetImpl<Value*>& leaves, SmallPtrSetImpl<Value*>& seen) {
  if (!is_sum(v) || leaves.contains(v) || !seen.insert(v).second) return;
  auto* sum = cast<BinaryOperator>(v);
  if (!is_signed_sum(sum)) sum->setHasNoSignedWrap(true);
  for (Value* operand : sum->operands()) mark_signed(operand, leaves, seen);
}

constexpr std::size_t most_terms = 16;

/// The terms of a sum, each as often as it is added; with `all`, of one whose `or`s may have bits in common too. More
/// than most_terms: what is left of the sum is not taken apart.
void collect_terms(Value* v, bool all, SmallVectorImpl<Value*>& terms, std::int64_t& constant) {
  const auto* sum = dyn_cast<BinaryOperator>(v);
  const auto* joined = dyn_cast<PossiblyDisjointInst>(v);
  if (const auto* c = dyn_cast<ConstantInt>(v); c && c->getBitWidth() <= 32)
    constant += c->getSExtValue();
  else if (terms.size() < most_terms && sum &&
           (sum->getOpcode() == Instruction::Add || (joined && (all || joined->isDisjoint()))))
    for (Value* operand : sum->operands()) collect_terms(operand, all, terms, constant);
  else
    terms.push_back(v);
}

void mark_disjoint(Value* v) {
  auto* sum = dyn_cast<BinaryOperator>(v);
  if (!sum || (sum->getOpcode() != Instruction::Add && sum->getOpcode() != Instruction::Or)) return;
  if (auto* joined = dyn_cast<PossiblyDisjointInst>(sum)) joined->setIsDisjoint(true);
  for (Value* operand : sum->operands()) mark_disjoint(operand);
}

/// Whether `before` and `now` are all terms of a sum and the same, none of them twice.
bool same_terms(const SmallVectorImpl<WeakTrackingVH>& before, SmallVectorImpl<Value*>& now) {
  SmallVector<Value*, 4> noted;
  for (const WeakTrackingVH& term : before) noted.push_back(term);
  llvm::sort(noted);
  llvm::sort(now);
  return now.size() <= most_terms && noted.size() == now.size() &&
         std::equal(noted.begin(), noted.end(), now.begin()) &&
         std::adjacent_find(now.begin(), now.end()) == now.end() && !llvm::is_contained(now, nullptr);
}

Function* forgotten_in(StringRef pass, const Any& ir) {
  static constexpr std::array<const char*, 4> forgetful = {"ReassociatePass", "InstCombinePass", "LICMPass",
                                                           "IndVarSimplifyPass"};
  if (std::find(forgetful.begin(), forgetful.end(), pass) == forgetful.end()) return nullptr;
  if (const auto* f = any_cast<const Function*>(&ir)) return const_cast<Function*>(*f);
  if (const auto* loop = any_cast<const llvm::Loop*>(&ir)) return (*loop)->getHeader()->getParent();
  return nullptr;
}

/// Extensions of values that are not negative, as one kind: the pass that splits constants off looks through that one.
void extend_by_sign(Function& kernel) {
  for (Instruction& i : make_early_inc_range(instructions(kernel))) {
    auto* extension = dyn_cast<ZExtInst>(&i);
    if (!extension || !extension->hasNonNeg() || !is_sum(extension->getOperand(0))) continue;
    auto* by_sign = new SExtInst(extension->getOperand(0), extension->getType(), "", extension->getIterator());
    by_sign->setDebugLoc(extension->getDebugLoc());
    extension->replaceAllUsesWith(by_sign);
    extension->eraseFromParent();
  }
}

/// A sum of signed integers without its constants, and what they add up to.
struct WithoutConstants {
  Value* rest = nullptr;  // null: nothing else
  std::int64_t constant = 0;
};

/// Sums that are taken apart already. Where what wraps around may be taken apart too, nothing says of what is built
/// that it does not.
struct KnownSums {
  bool wrapping = false;
  SmallDenseMap<Value*, WithoutConstants> found;
};

WithoutConstants without_constants(Value* v, IRBuilder<>& b, KnownSums& known);

WithoutConstants split_sum(Value* v, IRBuilder<>& b, KnownSums& known) {
  if (const auto* c = dyn_cast<ConstantInt>(v)) return {nullptr, c->getSExtValue()};
  if (known.wrapping ? !is_sum(v) : !is_signed_sum(v)) return {v, 0};
  const bool fits = !known.wrapping;
  auto* sum = cast<BinaryOperator>(v);
  const auto* factor = dyn_cast<ConstantInt>(sum->getOperand(1));
  const bool scales = sum->getOpcode() == Instruction::Mul || sum->getOpcode() == Instruction::Shl;
  if (scales && (!factor || factor->getValue().ugt(1U << 30))) return {v, 0};
  const WithoutConstants left = without_constants(sum->getOperand(0), b, known);
  if (scales) {
    if (left.constant == 0 || !left.rest) return {v, 0};
    const std::int64_t by = sum->getOpcode() == Instruction::Mul
                                ? factor->getSExtValue()
                                : std::int64_t{1} << std::min<std::uint64_t>(factor->getZExtValue(), 62);
    std::int64_t scaled = 0;
    if (__builtin_mul_overflow(left.constant, by, &scaled)) return {v, 0};
    return {b.CreateMul(left.rest, ConstantInt::get(v->getType(), by), "", false, fits), scaled};
  }
  const WithoutConstants right = without_constants(sum->getOperand(1), b, known);
  const bool minus = sum->getOpcode() == Instruction::Sub;
  std::int64_t constant = 0;
  if (minus ? __builtin_sub_overflow(left.constant, right.constant, &constant)
            : __builtin_add_overflow(left.constant, right.constant, &constant))
    return {v, 0};
  if (!right.rest) return {left.rest, constant};
  if (!left.rest) return minus ? WithoutConstants{v, 0} : WithoutConstants{right.rest, constant};
  if (left.constant == 0 && right.constant == 0) return {v, 0};
  return {
      minus ? b.CreateSub(left.rest, right.rest, "", false, fits) : b.CreateAdd(left.rest, right.rest, "", false, fits),
      constant};
}

WithoutConstants without_constants(Value* v, IRBuilder<>& b, KnownSums& known) {
  if (const auto at = known.found.find(v); at != known.found.end()) return at->second;
  const WithoutConstants split = split_sum(v, b, known);
  known.found.insert({v, split});
  return split;
}

/// Constants of signed indices become offsets of the address, through products by constants too.
void split_constants(Function& kernel) {
  const DataLayout& layout = kernel.getParent()->getDataLayout();
  for (Instruction& i : make_early_inc_range(instructions(kernel))) {
    auto* address = dyn_cast<GetElementPtrInst>(&i);
    auto* extension = address && address->getNumIndices() == 1 ? dyn_cast<SExtInst>(address->getOperand(1)) : nullptr;
    if (!extension || !addresses_an_access(address)) continue;
    IRBuilder<> b(address);
    KnownSums known;  // of this address: what is built for another need not come before this one
    const WithoutConstants split = without_constants(extension->getOperand(0), b, known);
    if (split.constant == 0 || !split.rest) continue;
    Type* element = address->getSourceElementType();
    Value* base = b.CreateGEP(element, address->getPointerOperand(), b.CreateSExt(split.rest, extension->getType()));
    const auto size = static_cast<std::int64_t>(layout.getTypeAllocSize(element).getFixedValue());
    address->replaceAllUsesWith(
        b.CreateGEP(b.getInt8Ty(), base, b.getInt64(static_cast<std::uint64_t>(split.constant * size))));
    address->eraseFromParent();
  }
}

/// Whether something is an intrinsic's address and nothing else's.
bool opaque_address(const Value* address) {
  return !address->use_empty() && all_of(address->users(), [](const User* user) { return isa<IntrinsicInst>(user); });
}

/// Constants stay in the index of an __ldg where nothing says that the sum does not overflow, so that a compiler keeps
/// one index in registers for every such constant. LLVM concludes it from the range of thread ids; NVRTC 11.8 does not.
void keep_constants_of_opaque_reads(Function& kernel) {
  for (Instruction& i : make_early_inc_range(instructions(kernel))) {
    auto* address = dyn_cast<GetElementPtrInst>(&i);
    if (!address || address->getNumIndices() != 1 || !opaque_address(address)) continue;
    auto* extension = dyn_cast<SExtInst>(address->getOperand(1));
    auto* sum = extension ? dyn_cast<BinaryOperator>(extension->getOperand(0)) : nullptr;
    if (!sum || !is_sum(sum) || is_signed_sum(sum)) continue;
    address->setOperand(1, IRBuilder<>(address).CreateFreeze(extension));
  }
}

/// An address that one extended index adds to a pointer; null: another one.
GetElementPtrInst* extended_index(Value* pointer) {
  auto* address = dyn_cast<GetElementPtrInst>(pointer);
  return address && address->getNumIndices() == 1 && isa<SExtInst, ZExtInst>(address->getOperand(1)) ? address
                                                                                                     : nullptr;
}

/// An address and the elements that a pass has split off its index.
struct IndexedAddress {
  GetElementPtrInst* address = nullptr;  // null: no such address
  std::int64_t constant = 0;
};

IndexedAddress indexed_address(Value* pointer, const Type* element, const DataLayout& layout) {
  APInt bytes(64, 0);
  auto* split = dyn_cast<GetElementPtrInst>(pointer);
  if (split && split->hasAllConstantIndices() && split->accumulateConstantOffset(layout, bytes))
    pointer = split->getPointerOperand();
  GetElementPtrInst* address = extended_index(pointer);
  if (!address || (element && address->getSourceElementType() != element)) return {};
  const std::uint64_t size = layout.getTypeAllocSize(address->getSourceElementType()).getFixedValue();
  const auto whole = static_cast<std::int64_t>(std::max<std::uint64_t>(size, 1));
  if (bytes.getSExtValue() % whole != 0) return {};
  return {address, bytes.getSExtValue() / whole};
}

/// A sum of a pointer and two indices, added one after the other, that only an opaque reader uses.
struct TwoIndices {
  IndexedAddress first, second;  // the second's pointer is the first
  explicit operator bool() const { return first.address != nullptr; }
};

TwoIndices two_indices(GetElementPtrInst* sum, const DataLayout& layout) {
  if (!sum || !opaque_address(sum)) return {};
  const IndexedAddress second = indexed_address(sum, nullptr, layout);
  if (!second.address) return {};
  return {indexed_address(second.address->getPointerOperand(), second.address->getSourceElementType(), layout), second};
}

void freeze_index(GetElementPtrInst& address) {
  auto* extension = cast<CastInst>(address.getOperand(1));
  if (isa<FreezeInst>(extension->getOperand(0))) return;
  IRBuilder<> b(extension);
  address.setOperand(
      1, b.CreateCast(extension->getOpcode(), b.CreateFreeze(extension->getOperand(0)), extension->getType()));
}

/// Two indices that are added one after the other, as one sum, with the constants in the indices.
void add_indices_first(Function& kernel) {
  const DataLayout& layout = kernel.getParent()->getDataLayout();
  std::map<std::pair<CastInst*, std::int64_t>, Value*> with_constant;
  const auto index_of = [&](const IndexedAddress& part) {
    auto* extension = cast<CastInst>(part.address->getOperand(1));
    Value*& index = with_constant[{extension, part.constant}];
    if (index) return index;
    IRBuilder<> early(extension);
    KnownSums known;
    known.wrapping = true;
    const WithoutConstants split = without_constants(extension->getOperand(0), early, known);
    Value* constants = ConstantInt::getSigned(extension->getOperand(0)->getType(), split.constant + part.constant);
    Value* narrow = split.rest ? early.CreateAdd(split.rest, constants) : constants;
    return index = early.CreateCast(extension->getOpcode(), narrow, extension->getType());
  };
  for (Instruction& i : make_early_inc_range(instructions(kernel))) {
    auto* address = dyn_cast<GetElementPtrInst>(&i);
    const TwoIndices two = two_indices(address, layout);
    if (!two) continue;
    IRBuilder<> b(address);
    Value* sum = b.CreateAdd(index_of(two.first), index_of(two.second));
    Value* base = two.first.address->getPointerOperand();
    address->replaceAllUsesWith(b.CreateGEP(two.first.address->getSourceElementType(), base, sum));
    address->eraseFromParent();
  }
}

/// The only block with users of `i`, if control reaches it from i's block through a branch and through no loop that i
/// is outside of.
BasicBlock* place_of_use(Instruction& i, const DominatorTree& dominators, const llvm::LoopInfo& loops) {
  BasicBlock* place = nullptr;
  for (const User* user : i.users()) {
    auto* at = const_cast<Instruction*>(cast<Instruction>(user));
    if (isa<PHINode>(at) || (place && place != at->getParent())) return nullptr;
    place = at->getParent();
  }
  if (!place || place == i.getParent() || !dominators.dominates(i.getParent(), place)) return nullptr;
  return loops.getLoopFor(place) == loops.getLoopFor(i.getParent()) ? place : nullptr;
}

bool is_address_arithmetic(const Instruction& i) {
  return isa<GetElementPtrInst>(i) || isa<SExtInst>(i) || isa<ZExtInst>(i) ||
         (is_sum(&i) && i.getType()->isIntOrIntVectorTy());
}

}  // namespace

SignedIndices::SignedIndices(PassInstrumentationCallbacks& callbacks) {
  callbacks.registerBeforeNonSkippedPassCallback([this](StringRef pass, Any ir) {
    if (Function* f = forgotten_in(pass, ir)) note(*f);
  });
  callbacks.registerAfterPassCallback([this](StringRef pass, Any ir, const PreservedAnalyses&) {
    if (forgotten_in(pass, ir)) mark();
  });
}

void SignedIndices::note(Function& f) {
  sums_.clear();
  for (Instruction& i : instructions(f)) {
    if (!extends_signed(&i) || !is_signed_sum(i.getOperand(0)) || !addresses_an_access(&i)) continue;
    sums_.emplace_back();
    sums_.back().extension = &i;
    SmallPtrSet<Value*, 8> leaves, seen;
    collect_leaves(i.getOperand(0), leaves, seen);
    sums_.back().leaves.assign(leaves.begin(), leaves.end());
    SmallVector<Value*, 4> terms;
    collect_terms(i.getOperand(0), false, terms, sums_.back().constant);
    sums_.back().terms.assign(terms.begin(), terms.end());
  }
}

void SignedIndices::mark() {
  for (Sum& s : sums_) {
    const Value* extension = s.extension;
    if (!extension || !extends_signed(extension)) continue;
    SmallPtrSet<Value*, 8> leaves, seen;
    for (const WeakTrackingVH& leaf : s.leaves)
      if (leaf) leaves.insert(leaf);
    Value* sum = cast<CastInst>(extension)->getOperand(0);
    SmallVector<Value*, 4> terms;
    std::int64_t constant = 0;
    collect_terms(sum, true, terms, constant);
    if (constant == s.constant && same_terms(s.terms, terms)) mark_disjoint(sum);
    mark_signed(sum, leaves, seen);
  }
  sums_.clear();
}

void keep_sums_of_opaque_reads(Function& kernel) {
  const DataLayout& layout = kernel.getParent()->getDataLayout();
  for (Instruction& i : make_early_inc_range(instructions(kernel))) {
    const TwoIndices two = two_indices(dyn_cast<GetElementPtrInst>(&i), layout);
    if (!two) continue;
    freeze_index(*two.first.address);
    freeze_index(*two.second.address);
  }
}

void split_address_constants(Function& kernel) {
  extend_by_sign(kernel);
  split_constants(kernel);
  add_indices_first(kernel);
  keep_constants_of_opaque_reads(kernel);
}

void share_addresses(Function& kernel) {
  DominatorTree dominators(kernel);
  const llvm::LoopInfo loops(dominators);
  std::unordered_map<std::size_t, SmallVector<Instruction*, 1>> known;
  const auto hash = [](const Instruction& i) {
    return static_cast<std::size_t>(
        hash_combine(i.getOpcode(), i.getType(), hash_combine_range(i.value_op_begin(), i.value_op_end())));
  };
  for (BasicBlock* block : ReversePostOrderTraversal<Function*>(&kernel))
    for (Instruction& i : make_early_inc_range(*block)) {
      if (!is_address_arithmetic(i) || !addresses_an_access(&i)) continue;
      auto& same = known[hash(i)];
      const auto found = find_if(same, [&](const Instruction* other) { return other->isIdenticalToWhenDefined(&i); });
      if (found == same.end()) {
        same.push_back(&i);
        continue;
      }
      Instruction* first = *found;
      BasicBlock* place = dominators.findNearestCommonDominator(first->getParent(), block);
      if (place != first->getParent()) {
        if (loops.getLoopFor(place) != loops.getLoopFor(first->getParent()) ||
            loops.getLoopFor(place) != loops.getLoopFor(block))
          continue;
        first->moveBefore(place->getTerminator());
      }
      i.replaceAllUsesWith(first);
      i.eraseFromParent();
    }
}

void share_chosen_addresses(Function& kernel) {
  const DataLayout& layout = kernel.getParent()->getDataLayout();
  struct Way {
    const Value* root;  // null: the phi itself
    std::int64_t offset;
  };
  struct Chosen {
    PHINode* phi;
    SmallVector<Way, 4> ways;
  };
  const auto offset_from = [](const Chosen& one, const Chosen& other) -> std::optional<std::int64_t> {
    std::optional<std::int64_t> apart;
    for (const auto& [a, b] : zip_equal(one.ways, other.ways)) {
      if (a.root != b.root) return std::nullopt;
      if (!a.root && a.offset != b.offset) return std::nullopt;
      if (a.root && apart && *apart != b.offset - a.offset) return std::nullopt;
      if (a.root) apart = b.offset - a.offset;
    }
    return apart;
  };
  for (BasicBlock& block : kernel) {
    if (block.phis().empty()) continue;
    const SmallVector<const BasicBlock*, 4> origins(block.phis().begin()->blocks());
    std::map<std::pair<Type*, std::vector<const Value*>>, SmallVector<Chosen, 2>> leaders;
    for (PHINode& phi : make_early_inc_range(block.phis())) {
      if (!phi.getType()->isPointerTy()) continue;
      Chosen chosen{&phi, {}};
      std::vector<const Value*> roots;
      for (const BasicBlock* from : origins) {  // phis may differ in their order
        APInt offset(layout.getIndexTypeSizeInBits(phi.getType()), 0);
        const Value* root = phi.getIncomingValueForBlock(from)->stripAndAccumulateConstantOffsets(
            layout, offset, /*AllowNonInbounds=*/true);
        chosen.ways.push_back({root == &phi ? nullptr : root, offset.getSExtValue()});
        roots.push_back(chosen.ways.back().root);
      }
      auto& known = leaders[{phi.getType(), std::move(roots)}];
      std::optional<std::int64_t> apart;
      const auto leader =
          find_if(known, [&](const Chosen& other) { return (apart = offset_from(other, chosen)).has_value(); });
      if (leader == known.end()) {
        known.push_back(std::move(chosen));
        continue;
      }
      IRBuilder<> b(&block, block.getFirstInsertionPt());
      Value* address = *apart == 0
                           ? static_cast<Value*>(leader->phi)
                           : b.CreateGEP(b.getInt8Ty(), leader->phi, b.getInt64(static_cast<std::uint64_t>(*apart)));
      phi.replaceAllUsesWith(address);
      phi.eraseFromParent();
    }
  }
}

void merge_loads(Function& kernel, LoadsToMerge which) {
  for (BasicBlock& block : kernel) {
    std::map<std::pair<Value*, Type*>, Instruction*> loaded, constant;  // by address and type
    for (Instruction& i : make_early_inc_range(block)) {
      auto* load = dyn_cast<LoadInst>(&i);
      const auto* intrinsic = dyn_cast<IntrinsicInst>(&i);
      const bool unchanged = which == LoadsToMerge::all &&
                             ((intrinsic && is_read_only_load(*intrinsic)) ||
                              (load && load->isUnordered() && load->hasMetadata(LLVMContext::MD_invariant_load)));
      if (!unchanged && (!load || !load->isUnordered())) {
        if (i.mayWriteToMemory()) loaded.clear();
        continue;
      }
      if (load && which == LoadsToMerge::shared && load->getPointerAddressSpace() != shared_space) continue;
      Value* address = load ? load->getPointerOperand() : intrinsic->getArgOperand(0);
      const auto [first, is_new] = (unchanged ? constant : loaded).try_emplace({address, i.getType()}, &i);
      if (is_new) continue;
      i.replaceAllUsesWith(first->second);
      i.eraseFromParent();
    }
  }
}

void sink_addresses(Function& kernel) {
  const DominatorTree dominators(kernel);
  const llvm::LoopInfo loops(dominators);
  for (BasicBlock* block : post_order(&kernel))
    for (Instruction& i : make_early_inc_range(reverse(*block))) {
      const bool address = isa<GetElementPtrInst>(i) || isa<CastInst>(i) ||
                           (isa<BinaryOperator>(i) && i.getType()->isIntOrIntVectorTy());
      if (!address || i.isTerminator()) continue;
      if (BasicBlock* place = place_of_use(i, dominators, loops)) i.moveBefore(*place, place->getFirstInsertionPt());
    }
}

}  // namespace kernelcast::frontend
