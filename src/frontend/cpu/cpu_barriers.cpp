// A barrier means that all work-items of a group have come so far. One thread runs a group, so it runs the code up to
// the barrier for each item, then the code behind it for each item: a loop over items for every piece between barriers
// (Jaaskelainen et al., "pocl: A Performance-Portable OpenCL Implementation", Int. J. Parallel Programming 43, 2015).
// A loop that holds a barrier gets barriers of its own on the edges into its header and out of it, since all items go
// through it together; the last item says which way. Values that live across a barrier are kept in arrays ("context
// arrays"), but those that are the same for all items. The loops' iterations are independent by what barriers mean, and
// are marked so for the vectoriser.
//
// Which values are the same for all items, and which loops get barriers so that the one over items comes to stand
// inside, is decided as PoCL decides it (pocl/pocl, lib/llvmopencl: VariableUniformityAnalysis.cc, PHIsToAllocas.cc,
// WorkitemLoops.cc, ImplicitLoopBarriers.cc), since it makes the code: what merges at a join is an item's own there
// even where it is not.
#include "frontend/cpu/cpu_barriers.h"

#include <algorithm>
#include <set>
#include <vector>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

std::vector<CallInst*> calls_in(const Function& f, std::initializer_list<std::string_view> names) {
  std::vector<CallInst*> found;
  for (const Instruction& i : instructions(f))
    if (const auto* call = dyn_cast<CallInst>(&i))
      if (const Function* callee = call->getCalledFunction())
        if (std::find(names.begin(), names.end(), std::string_view(callee->getName())) != names.end())
          found.push_back(const_cast<CallInst*>(call));
  return found;
}

std::vector<CallInst*> items_in(const Function& f) { return calls_in(f, {work_item_mark}); }
std::vector<CallInst*> barriers_in(const Function& f) { return calls_in(f, {barrier_mark, barrier_of_memory}); }

void take_marks_off(Function& f) {
  for (CallInst* call : items_in(f)) call->eraseFromParent();
  for (CallInst* call : barriers_in(f)) call->eraseFromParent();
}

/// Memory accesses of these blocks depend on no other iteration of the loop that this jumps back in.
void mark_independent(ArrayRef<BasicBlock*> blocks, Instruction& back) {
  LLVMContext& context = back.getContext();
  MDNode* group = MDNode::getDistinct(context, {});
  for (BasicBlock* block : blocks)
    for (Instruction& i : *block)
      if (i.mayReadOrWriteMemory()) i.setMetadata(LLVMContext::MD_access_group, group);
  MDNode* parallel = MDNode::get(context, {MDString::get(context, "llvm.loop.parallel_accesses"), group});
  MDNode* loop = MDNode::getDistinct(context, {nullptr, parallel});
  loop->replaceOperandWith(0, loop);
  back.setMetadata(LLVMContext::MD_loop, loop);
}

/// The loop over work-items: for (item = 0; item < items; ++item), tested at its head.
struct ItemLoop {
  llvm::Loop* loop = nullptr;
  PHINode* item = nullptr;
  ConstantInt* items = nullptr;
  BasicBlock *header = nullptr, *first = nullptr, *latch = nullptr, *exit = nullptr;
};

bool is_counter(const PHINode& phi, const BasicBlock* latch) {
  const auto* next = dyn_cast<BinaryOperator>(phi.getIncomingValueForBlock(latch));
  const auto* one = next ? dyn_cast<ConstantInt>(next->getOperand(1)) : nullptr;
  return next && next->getOpcode() == Instruction::Add && next->getOperand(0) == &phi && one && one->isOne();
}

/// The counter's step and the jump back in a block of their own, which is not a work-item's code.
BasicBlock* latch_alone(const PHINode& item, BasicBlock* latch, DominatorTree& tree, LoopInfo& info) {
  auto* next = cast<Instruction>(item.getIncomingValueForBlock(latch));
  BasicBlock* alone = SplitBlock(latch, latch->getTerminator(), &tree, &info);
  next->moveBefore(alone->getTerminator());
  return alone;
}

bool find_items(LoopInfo& info, DominatorTree& tree, const CallInst& mark, ItemLoop& out) {
  out.loop = info.getLoopFor(mark.getParent());
  if (!out.loop) return false;
  out.header = out.loop->getHeader();
  out.latch = out.loop->getLoopLatch();
  out.exit = out.loop->getExitBlock();
  auto* test = dyn_cast<BranchInst>(out.header->getTerminator());
  if (!out.latch || !out.exit || out.loop->getExitingBlock() != out.header || !test || !test->isConditional())
    return false;
  for (PHINode& phi : out.header->phis()) {
    if (out.item || !is_counter(phi, out.latch)) return false;
    out.item = &phi;
  }
  const auto* compare = dyn_cast<ICmpInst>(test->getCondition());
  if (!out.item || !compare || compare->getOperand(0) != out.item) return false;
  out.items = dyn_cast<ConstantInt>(compare->getOperand(1));
  out.first = test->getSuccessor(test->getSuccessor(0) == out.exit ? 1 : 0);
  if (!out.items || !out.exit->phis().empty()) return false;
  out.latch = latch_alone(*out.item, out.latch, tree, info);
  return true;
}

/// Code between barriers.
struct ParallelRegion {
  BasicBlock* entry = nullptr;
  std::set<BasicBlock*> blocks;
  PHINode* item = nullptr;
  BranchInst* back = nullptr;  // of the loop over items
};

class Splitter {
 public:
  Splitter(Function& f, ItemLoop items, LoopInfo& info, DominatorTree& tree, bool own_arrays)
      : f_(f), items_(items), info_(info), tree_(tree) {
    if (own_arrays) find_own_arrays();
  }

  bool run() {
    find_varying();
    const PostDominatorTree behind(f_);
    const std::set<const BasicBlock*> common = common_blocks(behind);
    into_loops(common);
    around_branches(common, behind);
    around_loops();
    for (CallInst* call : barriers_in(f_)) alone(call);
    step_over();
    if (!find_stretches()) return false;
    // From here on it must succeed.
    for (ParallelRegion& p : stretches_) make_loop(p);
    for (ParallelRegion& p : stretches_) keep_across(p);
    for (const ParallelRegion& p : stretches_)
      mark_independent(SmallVector<BasicBlock*>(p.blocks.begin(), p.blocks.end()), *p.back);
    run_once();
    return true;
  }

 private:
  /// Variables in memory that no barrier has among its arguments, where barriers have the local ones.
  void find_own_arrays() {
    std::set<const Value*> local;
    for (const CallInst* call : barriers_in(f_)) local.insert(call->arg_begin(), call->arg_end());
    for (Instruction& i : f_.getEntryBlock())
      if (auto* variable = dyn_cast<AllocaInst>(&i); variable && !local.contains(variable)) slots_.insert(variable);
  }

  /// What differs between work-items, as PoCL has it, and what really does as far as is seen.
  void find_varying() {
    std::set<const Value*> counters;
    for (llvm::Loop* loop : info_.getLoopsInPreorder())
      if (const PHINode* counter = loop->getCanonicalInductionVariable()) counters.insert(counter);
    varying_.insert(items_.item);
    different_.insert(items_.item);
    for (bool more = true; more;) {
      more = false;
      for (BasicBlock* block : items_.loop->blocks())
        for (Instruction& i : *block) {
          const bool merges = isa<PHINode>(i);
          const bool own = merges
                               ? !counters.contains(&i)
                               : i.isAtomic() || isa<CallBase>(i) ||
                                     std::any_of(i.op_begin(), i.op_end(), [&](const Use& u) { return own_value(u); });
          if (own) more = varying_.insert(&i).second || more;
          const bool joins = merges && !info_.isLoopHeader(block);
          const bool from = std::any_of(i.op_begin(), i.op_end(), [&](const Use& u) { return different_.contains(u); });
          if (joins || from || i.mayReadFromMemory()) more = different_.insert(&i).second || more;
        }
    }
  }

  [[nodiscard]] bool own_value(const Value* v) const {
    if (isa<ConstantInt>(v) || isa<Argument>(v) || isa<BasicBlock>(v)) return false;
    if (const auto* variable = dyn_cast<AllocaInst>(v)) return slots_.contains(const_cast<AllocaInst*>(variable));
    const auto* made = dyn_cast<Instruction>(v);
    return !made || varying_.contains(made);
  }

  /// Blocks that all items of a group reach or none.
  [[nodiscard]] std::set<const BasicBlock*> common_blocks(const PostDominatorTree& behind) const {
    std::set<const BasicBlock*> common{items_.first};
    for (bool more = true; more;) {
      more = false;
      for (BasicBlock* block : items_.loop->blocks()) {
        if (common.contains(block)) continue;
        const bool reached = std::any_of(pred_begin(block), pred_end(block), [&](const BasicBlock* from) {
          const auto* jump = dyn_cast<BranchInst>(from->getTerminator());
          return common.contains(from) && jump && (jump->isUnconditional() || !own_value(jump->getCondition()));
        });
        if (reached || std::any_of(common.begin(), common.end(),
                                   [&](const BasicBlock* other) { return behind.dominates(block, other); }))
          more = common.insert(block).second;
      }
    }
    return common;
  }

  /// Barriers in innermost loops that all items go through together: the loop over items comes to stand inside.
  void into_loops(const std::set<const BasicBlock*>& common) {
    const std::vector<CallInst*> barriers = barriers_in(f_);
    for (llvm::Loop* loop : info_.getLoopsInPreorder()) {
      if (loop == items_.loop || !items_.loop->contains(loop) || !loop->isInnermost()) continue;
      if (std::any_of(barriers.begin(), barriers.end(), [&](const CallInst* b) { return loop->contains(b); })) continue;
      BasicBlock* last = loop->getExitingBlock();
      auto* test = last ? dyn_cast<BranchInst>(last->getTerminator()) : nullptr;
      if (!test || !common.contains(loop->getHeader()) || own_value(test->getCondition())) continue;
      for (Instruction* place : {&*loop->getHeader()->getFirstNonPHIIt(), static_cast<Instruction*>(test)})
        barriers.front()->clone()->insertBefore(place);
    }
  }

  /// Barriers before a branch that all items take alike and where its ways meet again, if one of them has a barrier.
  void around_branches(const std::set<const BasicBlock*>& common, const PostDominatorTree& behind) {
    std::set<BasicBlock*> branches;
    const std::vector<CallInst*> barriers = barriers_in(f_);
    for (const CallInst* barrier : barriers)
      for (auto* at = tree_.getNode(barrier->getParent())->getIDom(); at && at->getBlock() != items_.header;
           at = at->getIDom()) {
        BasicBlock* block = at->getBlock();
        const auto* jump = dyn_cast<BranchInst>(block->getTerminator());
        if (!jump || jump->isUnconditional() || behind.dominates(barrier->getParent(), block)) continue;
        const llvm::Loop* loop = info_.getLoopFor(block);
        const bool leaves = loop && loop != items_.loop && loop->isLoopExiting(block) && loop->contains(barrier);
        if (!leaves && common.contains(block) && !own_value(jump->getCondition())) branches.insert(block);
      }
    for (BasicBlock* branch : branches) {
      const auto* node = behind.getNode(branch)->getIDom();
      BasicBlock* meet = node ? node->getBlock() : nullptr;
      if (!meet || !items_.loop->contains(meet)) continue;
      barriers.front()->clone()->insertBefore(branch->getTerminator());
      if (meet == items_.latch) continue;
      demote_all(*meet);
      barriers.front()->clone()->insertBefore(&meet->front());
    }
  }

  /// Barriers on the edges into the headers of loops that hold one, and out of these loops.
  void around_loops() {
    std::vector<llvm::Loop*> holding;
    std::vector<llvm::Loop*> work(items_.loop->begin(), items_.loop->end());
    while (!work.empty()) {
      llvm::Loop* loop = work.back();
      work.pop_back();
      work.insert(work.end(), loop->begin(), loop->end());
      for (CallInst* call : barriers_in(f_))
        if (loop->contains(call)) {
          holding.push_back(loop);
          break;
        }
    }
    std::vector<std::pair<BasicBlock*, BasicBlock*>> edges;
    const auto add = [&](BasicBlock* from, BasicBlock* to) {
      if (std::find(edges.begin(), edges.end(), std::pair(from, to)) == edges.end()) edges.emplace_back(from, to);
    };
    for (llvm::Loop* loop : holding) {
      BasicBlock* header = loop->getHeader();
      demote_all(*header);
      for (BasicBlock* before : predecessors(header)) add(before, header);
      SmallVector<llvm::Loop::Edge, 4> out;
      loop->getExitEdges(out);
      for (const auto& [from, to] : out) add(from, to);
    }
    for (const auto& [from, to] : edges) barriers_.insert(put_between(from, to));
    tree_.recalculate(f_);
  }

  /// A block of its own on every way from one to the other. Nothing else changes, which LLVM's SplitEdge does not
  /// promise.
  BasicBlock* put_between(BasicBlock* from, BasicBlock* to) {
    BasicBlock* between = BasicBlock::Create(f_.getContext(), "all.items", &f_, to);
    BranchInst::Create(to, between);
    from->getTerminator()->replaceSuccessorWith(to, between);
    for (PHINode& phi : to->phis()) {
      phi.replaceIncomingBlockWith(from, between);
      for (int twice = 0, n = static_cast<int>(phi.getNumIncomingValues()) - 1; n >= 0; --n)  // one way now
        if (phi.getIncomingBlock(static_cast<unsigned>(n)) == between && twice++ > 0)
          phi.removeIncomingValue(static_cast<unsigned>(n), /*DeletePHIIfEmpty=*/false);
    }
    llvm::Loop* both = info_.getLoopFor(from);
    while (both && !both->contains(to)) both = both->getParentLoop();
    if (both) both->addBasicBlockToLoop(between, info_);
    return between;
  }

  /// A merged value gets its slot in keep_across.
  void demote(PHINode* phi) {
    const bool own = varying_.contains(phi), different = different_.contains(phi);
    AllocaInst* slot = DemotePHIToStack(phi, f_.getEntryBlock().getFirstInsertionPt());
    if (!slot) return;
    slots_.insert(slot);
    if (!different) same_.insert(slot);
    for (User* user : slot->users())
      if (isa<LoadInst>(user)) {
        if (own) varying_.insert(user);
        if (different) different_.insert(user);
      }
  }

  void demote_all(BasicBlock& block) {
    std::vector<PHINode*> phis;
    for (PHINode& phi : block.phis()) phis.push_back(&phi);
    for (PHINode* phi : phis) demote(phi);
  }

  /// A block of the call by itself.
  void alone(CallInst* call) {
    BasicBlock* block = call->getParent();
    if (&block->front() != call) block = SplitBlock(block, call, &tree_, &info_);
    SplitBlock(block, call->getNextNode(), &tree_, &info_);
    barriers_.insert(block);
  }

  /// A jump by itself behind a barrier, which all items do alike, is done once.
  void step_over() {
    for (bool more = true; more;) {
      more = false;
      for (BasicBlock* barrier : std::set<BasicBlock*>(barriers_))
        for (BasicBlock* next : successors(barrier)) {
          auto* jump = dyn_cast<BranchInst>(&next->front());
          if (jump && !ends(next) && items_.loop->contains(next) &&
              (jump->isUnconditional() || !own_value(jump->getCondition())))
            more = barriers_.insert(next).second;
        }
    }
  }

  bool find_stretches() {
    std::set<BasicBlock*> entries;
    if (!ends(items_.first)) entries.insert(items_.first);
    for (BasicBlock* b : barriers_)
      for (BasicBlock* next : successors(b))
        if (!ends(next)) entries.insert(next);
    std::set<BasicBlock*> taken;
    for (BasicBlock* entry : entries) {
      if (entry->getSinglePredecessor()) FoldSingleEntryPHINodes(entry);  // what comes out of a loop
      if (!entry->phis().empty()) return false;
      ParallelRegion p{entry, {}, nullptr, nullptr};
      std::vector<BasicBlock*> work{entry};
      while (!work.empty()) {
        BasicBlock* block = work.back();
        work.pop_back();
        if (ends(block) || !p.blocks.insert(block).second) continue;
        if (!items_.loop->contains(block) || block == items_.header || !taken.insert(block).second) return false;
        work.insert(work.end(), succ_begin(block), succ_end(block));
      }
      for (BasicBlock* before : predecessors(entry))
        if (p.blocks.contains(before)) return false;
      stretches_.push_back(std::move(p));
    }
    return true;
  }

  [[nodiscard]] bool ends(BasicBlock* block) const { return barriers_.contains(block) || block == items_.latch; }

  /// for each item: the piece; then on to where the last item went.
  void make_loop(ParallelRegion& p) {
    LLVMContext& context = f_.getContext();
    const auto block = [&](const char* name) { return BasicBlock::Create(context, name, &f_, p.entry); };
    BasicBlock *before = block("items.begin"), *head = block("items.head"), *tail = block("items.tail"),
               *behind = block("items.end");
    for (BasicBlock* from : std::vector<BasicBlock*>(pred_begin(p.entry), pred_end(p.entry)))
      from->getTerminator()->replaceSuccessorWith(p.entry, before);
    Type* type = items_.item->getType();
    IRBuilder<> at(before);
    at.CreateBr(head);
    at.SetInsertPoint(head);
    p.item = at.CreatePHI(type, 2, "item");
    at.CreateBr(p.entry);
    at.SetInsertPoint(tail);
    PHINode* way = at.CreatePHI(at.getInt32Ty(), 2);
    std::vector<BasicBlock*> ways;
    for (BasicBlock* from : p.blocks)
      for (unsigned s = 0; s < from->getTerminator()->getNumSuccessors(); ++s) {
        BasicBlock* to = from->getTerminator()->getSuccessor(s);
        if (p.blocks.contains(to)) continue;
        auto found = std::find(ways.begin(), ways.end(), to);
        if (found == ways.end()) found = ways.insert(ways.end(), to);
        BasicBlock* step = BasicBlock::Create(context, "items.way", &f_, tail);
        from->getTerminator()->setSuccessor(s, step);
        BranchInst::Create(tail, step);
        way->addIncoming(at.getInt32(static_cast<std::uint32_t>(found - ways.begin())), step);
      }
    Value* next = at.CreateNUWAdd(p.item, ConstantInt::get(type, 1));
    p.back = at.CreateCondBr(at.CreateICmpULT(next, items_.items), head, behind);
    for (const Instruction& i : *p.entry)  // the vectoriser's remarks need a line
      if (i.getDebugLoc()) {
        p.back->setDebugLoc(i.getDebugLoc());
        break;
      }
    p.item->addIncoming(ConstantInt::get(type, 0), before);
    p.item->addIncoming(next, tail);
    at.SetInsertPoint(behind);
    SwitchInst* go = at.CreateSwitch(way, ways.front(), static_cast<unsigned>(ways.size()));
    for (std::size_t w = 1; w < ways.size(); ++w) go->addCase(at.getInt32(static_cast<std::uint32_t>(w)), ways[w]);
    items_.item->replaceUsesWithIf(p.item, [&](Use& u) { return p.blocks.contains(place_of(u)); });
  }

  /// Where a value is needed: for a merge at the end of the block that it comes from.
  static BasicBlock* place_of(const Use& u) {
    auto* user = cast<Instruction>(u.getUser());
    auto* phi = dyn_cast<PHINode>(user);
    return phi ? phi->getIncomingBlock(u) : user->getParent();
  }

  const ParallelRegion* stretch_of(BasicBlock* block) const {
    for (const ParallelRegion& p : stretches_)
      if (p.blocks.contains(block)) return &p;
    return nullptr;
  }

  /// Slots of values that this piece makes and others need.
  void keep_across(const ParallelRegion& p) {
    for (AllocaInst* slot : std::set<AllocaInst*>(slots_)) spread(slot);
    for (BasicBlock* block : p.blocks)
      for (Instruction& i : make_early_inc_range(*block)) {
        std::vector<Use*> outside;
        for (Use& u : i.uses())
          if (!p.blocks.contains(place_of(u))) outside.push_back(&u);
        if (outside.empty()) continue;
        const bool own = varying_.contains(&i);
        IRBuilder<> entry(&*f_.getEntryBlock().getFirstInsertionPt());
        const std::string_view name = own && !different_.contains(&i) ? kept_same : "kept";
        AllocaInst* slot = entry.CreateAlloca(i.getType(), own ? entry.getInt32(count()) : nullptr, StringRef(name));
        IRBuilder<> behind(i.getParent(),
                           isa<PHINode>(i) ? i.getParent()->getFirstInsertionPt() : std::next(i.getIterator()));
        behind.CreateStore(&i, element(behind, slot, own ? &p : nullptr));
        for (Use* u : outside) {
          auto* user = cast<Instruction>(u->getUser());
          IRBuilder<> at(isa<PHINode>(user) ? place_of(*u)->getTerminator() : user);
          u->set(at.CreateLoad(i.getType(), element(at, slot, own ? stretch_of(place_of(*u)) : nullptr)));
        }
      }
  }

  /// A work-item's own slot becomes an array of all items'.
  void spread(AllocaInst* slot) {
    slots_.erase(slot);
    IRBuilder<> entry(slot);
    const std::string_view name = same_.contains(slot) ? kept_same : "kept";
    AllocaInst* all = entry.CreateAlloca(slot->getAllocatedType(), entry.getInt32(count()), StringRef(name));
    for (Use& u : make_early_inc_range(slot->uses())) {
      auto* user = cast<Instruction>(u.getUser());
      IRBuilder<> at(user);
      u.set(element(at, all, stretch_of(user->getParent())));
    }
    slot->eraseFromParent();
  }

  Value* element(IRBuilder<>& at, AllocaInst* slot, const ParallelRegion* piece) const {
    return piece ? at.CreateInBoundsGEP(slot->getAllocatedType(), slot, piece->item) : static_cast<Value*>(slot);
  }

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(items_.items->getZExtValue()); }

  /// The loop that was there runs once, through all pieces.
  void run_once() {
    Instruction* test = items_.header->getTerminator();
    BasicBlock* first = test->getSuccessor(test->getSuccessor(0) == items_.exit ? 1 : 0);
    BranchInst::Create(first, test->getIterator());
    test->eraseFromParent();
    Instruction* back = items_.latch->getTerminator();
    items_.header->removePredecessor(items_.latch);
    BranchInst::Create(items_.exit, back->getIterator());
    back->eraseFromParent();
  }

  Function& f_;
  ItemLoop items_;
  LoopInfo& info_;
  DominatorTree& tree_;
  std::set<const Value*> varying_, different_;
  std::set<BasicBlock*> barriers_;      // and what is done once between them
  std::set<AllocaInst*> slots_, same_;  // of a work-item's own; of these, the same for all items
  std::vector<ParallelRegion> stretches_;
};

/// A work-item's variables come to life again and again now.
void drop_lifetimes(Function& f) {
  for (Instruction& i : make_early_inc_range(instructions(f)))
    if (auto* call = dyn_cast<IntrinsicInst>(&i); call && call->isLifetimeStartOrEnd()) call->eraseFromParent();
}

}  // namespace

bool runs_work_items(const Function& f) { return !items_in(f).empty(); }

bool split_at_barriers(Function& f, bool own_arrays) {
  const std::vector<CallInst*> items = items_in(f);
  DominatorTree tree(f);
  LoopInfo info(tree);
  bool done = true;
  if (!barriers_in(f).empty()) {
    drop_lifetimes(f);
    ItemLoop loop;
    done =
        items.size() == 1 && find_items(info, tree, *items[0], loop) && Splitter(f, loop, info, tree, own_arrays).run();
  } else if (own_arrays) {
    for (const CallInst* mark : items) {
      const llvm::Loop* loop = info.getLoopFor(mark->getParent());
      if (!loop || !loop->getLoopLatch()) continue;
      mark_independent(loop->getBlocks(), *loop->getLoopLatch()->getTerminator());
    }
  }
  take_marks_off(f);
  removeUnreachableBlocks(f);
  return done;
}

}  // namespace kernelcast::frontend
