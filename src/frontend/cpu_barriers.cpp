// A barrier means that all work-items of a group have come so far. One thread runs a group, so it runs the code up to
// the barrier for each item, then the code behind it for each item: a loop over items for every piece between barriers
// (Jaaskelainen et al., "pocl: A Performance-Portable OpenCL Implementation", Int. J. Parallel Programming 43, 2015).
// A loop that holds a barrier gets barriers of its own on the edges into its header and out of it, since all items go
// through it together; the last item says which way. Values that live across a barrier are kept in arrays ("context
// arrays"), but those that are the same for all items. The loops' iterations are independent by what barriers mean, and
// are marked so for the vectoriser.
//
// Local memory is whatever variable in memory is left: it is the group's. An array of a work-item's own that lives
// across a barrier is taken for that as well.
#include "frontend/cpu_barriers.h"

#include <algorithm>
#include <set>
#include <vector>

#include "llvm/Analysis/LoopInfo.h"
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

std::vector<CallInst*> marks_in(const Function& f, std::string_view name) {
  std::vector<CallInst*> found;
  for (const Instruction& i : instructions(f))
    if (const auto* call = dyn_cast<CallInst>(&i))
      if (const Function* callee = call->getCalledFunction(); callee && callee->getName() == StringRef(name))
        found.push_back(const_cast<CallInst*>(call));
  return found;
}

void take_marks_off(Function& f) {
  for (const std::string_view name : {work_item_mark, barrier_mark})
    for (CallInst* call : marks_in(f, name)) call->eraseFromParent();
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
struct Stretch {
  BasicBlock* entry = nullptr;
  std::set<BasicBlock*> blocks;
  PHINode* item = nullptr;
};

class Splitter {
 public:
  Splitter(Function& f, ItemLoop items, LoopInfo& info, DominatorTree& tree)
      : f_(f), items_(items), info_(info), tree_(tree) {}

  bool run() {
    find_varying();
    around_loops();
    for (CallInst* call : marks_in(f_, barrier_mark)) alone(call);
    if (!find_stretches()) return false;
    // From here on it must succeed.
    for (Stretch& p : stretches_) make_loop(p);
    for (Stretch& p : stretches_) keep_across(p);
    run_once();
    return true;
  }

 private:
  /// What differs between work-items: the item's number, what memory holds, and what is computed from them.
  void find_varying() {
    varying_.insert(items_.item);
    for (bool more = true; more;) {
      more = false;
      for (BasicBlock* block : items_.loop->blocks())
        for (Instruction& i : *block) {
          if (varying_.contains(&i)) continue;
          const bool reads = i.mayReadFromMemory();
          const bool from = std::any_of(i.op_begin(), i.op_end(), [&](const Use& u) { return varying_.contains(u); });
          if (reads || from) more = varying_.insert(&i).second;
        }
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
      for (CallInst* call : marks_in(f_, barrier_mark))
        if (loop->contains(call)) {
          holding.push_back(loop);
          break;
        }
    }
    std::vector<std::pair<BasicBlock*, BasicBlock*>> edges;
    for (llvm::Loop* loop : holding) {
      BasicBlock* header = loop->getHeader();
      std::vector<PHINode*> phis;
      for (PHINode& phi : header->phis()) phis.push_back(&phi);
      for (PHINode* phi : phis) demote(phi);
      for (BasicBlock* before : predecessors(header)) edges.emplace_back(before, header);
      SmallVector<llvm::Loop::Edge, 4> out;
      loop->getExitEdges(out);
      for (const auto& [from, to] : out) edges.emplace_back(from, to);
    }
    for (const auto& [from, to] : edges)
      if (BasicBlock* between = SplitEdge(from, to, &tree_, &info_)) barriers_.insert(between);
  }

  /// A value of all items stays a scalar, to become a value again; a work-item's own gets its slot in keep_across.
  void demote(PHINode* phi) {
    const bool own = varying_.contains(phi);
    AllocaInst* slot = DemotePHIToStack(phi, f_.getEntryBlock().getFirstInsertionPt());
    if (!slot || !own) return;
    slots_.insert(slot);
    for (User* user : slot->users())
      if (isa<LoadInst>(user)) varying_.insert(user);
  }

  /// A block of the call by itself.
  void alone(CallInst* call) {
    BasicBlock* block = SplitBlock(call->getParent(), call, &tree_, &info_);
    SplitBlock(block, call->getNextNode(), &tree_, &info_);
    barriers_.insert(block);
  }

  bool find_stretches() {
    std::set<BasicBlock*> entries{items_.first};
    for (BasicBlock* b : barriers_)
      if (BasicBlock* next = b->getSingleSuccessor(); next && !ends(next)) entries.insert(next);
    std::set<BasicBlock*> taken;
    for (BasicBlock* entry : entries) {
      if (!entry->phis().empty()) return false;
      Stretch p{entry, {}, nullptr};
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
  void make_loop(Stretch& p) {
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
    BranchInst* back = at.CreateCondBr(at.CreateICmpULT(next, items_.items), head, behind);
    p.item->addIncoming(ConstantInt::get(type, 0), before);
    p.item->addIncoming(next, tail);
    at.SetInsertPoint(behind);
    SwitchInst* go = at.CreateSwitch(way, ways.front(), static_cast<unsigned>(ways.size()));
    for (std::size_t w = 1; w < ways.size(); ++w) go->addCase(at.getInt32(static_cast<std::uint32_t>(w)), ways[w]);
    items_.item->replaceUsesWithIf(p.item, [&](Use& u) { return p.blocks.contains(place_of(u)); });
    mark_independent(p, *back);
  }

  void mark_independent(const Stretch& p, BranchInst& back) {
    LLVMContext& context = f_.getContext();
    MDNode* group = MDNode::getDistinct(context, {});
    for (BasicBlock* block : p.blocks)
      for (Instruction& i : *block)
        if (i.mayReadOrWriteMemory()) i.setMetadata(LLVMContext::MD_access_group, group);
    MDNode* parallel = MDNode::get(context, {MDString::get(context, "llvm.loop.parallel_accesses"), group});
    MDNode* loop = MDNode::getDistinct(context, {nullptr, parallel});
    loop->replaceOperandWith(0, loop);
    back.setMetadata(LLVMContext::MD_loop, loop);
  }

  /// Where a value is needed: for a merge at the end of the block that it comes from.
  static BasicBlock* place_of(const Use& u) {
    auto* user = cast<Instruction>(u.getUser());
    auto* phi = dyn_cast<PHINode>(user);
    return phi ? phi->getIncomingBlock(u) : user->getParent();
  }

  const Stretch* stretch_of(BasicBlock* block) const {
    for (const Stretch& p : stretches_)
      if (p.blocks.contains(block)) return &p;
    return nullptr;
  }

  /// Slots of values that this piece makes and others need.
  void keep_across(const Stretch& p) {
    for (AllocaInst* slot : std::set<AllocaInst*>(slots_)) spread(slot);
    for (BasicBlock* block : p.blocks)
      for (Instruction& i : make_early_inc_range(*block)) {
        std::vector<Use*> outside;
        for (Use& u : i.uses())
          if (!p.blocks.contains(place_of(u))) outside.push_back(&u);
        if (outside.empty()) continue;
        const bool own = varying_.contains(&i);
        IRBuilder<> entry(&*f_.getEntryBlock().getFirstInsertionPt());
        AllocaInst* slot = entry.CreateAlloca(i.getType(), own ? entry.getInt32(count()) : nullptr, "kept");
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
    AllocaInst* all = entry.CreateAlloca(slot->getAllocatedType(), entry.getInt32(count()), "kept");
    for (Use& u : make_early_inc_range(slot->uses())) {
      auto* user = cast<Instruction>(u.getUser());
      IRBuilder<> at(user);
      u.set(element(at, all, stretch_of(user->getParent())));
    }
    slot->eraseFromParent();
  }

  Value* element(IRBuilder<>& at, AllocaInst* slot, const Stretch* piece) const {
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
  std::set<const Value*> varying_;
  std::set<BasicBlock*> barriers_;
  std::set<AllocaInst*> slots_;
  std::vector<Stretch> stretches_;
};

/// A work-item's variables come to life again and again now.
void drop_lifetimes(Function& f) {
  for (Instruction& i : make_early_inc_range(instructions(f)))
    if (auto* call = dyn_cast<IntrinsicInst>(&i); call && call->isLifetimeStartOrEnd()) call->eraseFromParent();
}

}  // namespace

bool runs_work_items(const Function& f) { return !marks_in(f, work_item_mark).empty(); }

bool split_at_barriers(Function& f) {
  const std::vector<CallInst*> items = marks_in(f, work_item_mark);
  bool done = true;
  if (!marks_in(f, barrier_mark).empty()) {
    drop_lifetimes(f);
    DominatorTree tree(f);
    LoopInfo info(tree);
    ItemLoop loop;
    done = items.size() == 1 && find_items(info, tree, *items[0], loop) && Splitter(f, loop, info, tree).run();
  }
  take_marks_off(f);
  removeUnreachableBlocks(f);
  return done;
}

}  // namespace kernelcast::frontend
