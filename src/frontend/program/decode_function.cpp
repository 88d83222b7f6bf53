// Blocks, control flow and inputs. Blocks are numbered in reverse post-order, so definitions are decoded before their
// uses; phi nodes, which may look back, get their registers first.
#include "frontend/program/decode_function.h"

#include <algorithm>

#include "frontend/ir/builtins.h"
#include "frontend/program/decode_internal.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {

using namespace llvm;

Decoder::Decoder(Function& kernel, KernelModel& model, const KernelProfile& profile, const ProfilePlaces& places)
    : kernel_(kernel),
      model_(model),
      profile_(profile),
      places_(places),
      layout_(kernel.getParent()->getDataLayout()) {}

Program Decoder::run() {
  place_memory();
  bind_arguments();
  number_blocks();
  int accesses = 0;
  for (const Block& b : profile_.blocks) {
    first_access_.push_back(accesses);
    accesses += static_cast<int>(b.accesses.size());
  }
  for (BasicBlock* block : order_)
    for (PHINode& phi : block->phis()) {
      Slots s;
      for (ValueType t : types_of(phi.getType())) s.regs.push_back(fresh(t));
      define(phi, std::move(s));
    }
  for (BasicBlock* block : order_) decode_block(*block);
  for (BasicBlock* block : order_) end_block(*block, program_.blocks[static_cast<std::size_t>(number_[block])]);
  ReversePostOrderTraversal<Function*> rpo(&kernel_);
  program_.irreducible = containsIrreducibleCFG<BasicBlock*>(rpo, model_.loops());
  mark_kept();
  collect_images();
  program_.element_types.assign(profile_.buffers.size(), ValueType::i8);
  for (std::size_t b = 0; b < element_votes_.size(); ++b) {
    int most = 0;
    for (const auto& [type, votes] : element_votes_[b])
      if (votes > most) {
        most = votes;
        program_.element_types[b] = type;
      }
  }
  return std::move(program_);
}

/// Static shared arrays one after the other, private arrays likewise.
void Decoder::place_memory() {
  program_.shared_offsets.assign(profile_.buffers.size(), -1);
  std::int64_t shared = 0;
  for (GlobalVariable& g : kernel_.getParent()->globals()) {
    if (g.getAddressSpace() != 3) continue;
    const int buffer = model_.address(&g).buffer;
    if (buffer < 0 || profile_.buffers[static_cast<std::size_t>(buffer)].bytes < 0) continue;
    const auto align = static_cast<std::int64_t>(g.getAlign().valueOrOne().value());
    const std::int64_t at = (shared + std::max<std::int64_t>(align, 16) - 1) / std::max<std::int64_t>(align, 16) *
                            std::max<std::int64_t>(align, 16);
    program_.shared_offsets[static_cast<std::size_t>(buffer)] = at;
    shared = at + profile_.buffers[static_cast<std::size_t>(buffer)].bytes;
  }
  program_.shared_bytes = (shared + 15) / 16 * 16;
  std::int64_t stack = 0;
  for (llvm::Instruction& i : instructions(kernel_)) {
    auto* slot = dyn_cast<AllocaInst>(&i);
    if (!slot) continue;
    const auto size = slot->getAllocationSize(layout_);
    if (!size) unsupported(i, "private memory of variable size");
    const auto align = static_cast<std::int64_t>(std::max<std::uint64_t>(slot->getAlign().value(), 8));
    stack = (stack + align - 1) / align * align;
    stack_place_[slot] = stack;
    stack += static_cast<std::int64_t>(size->getFixedValue());
  }
  program_.stack_bytes = (stack + 15) / 16 * 16;
}

void Decoder::bind_arguments() {
  using Kind = ProgramInput::Kind;
  std::int64_t at = 0;
  for (Argument& a : kernel_.args()) {
    const unsigned number = a.getArgNo();
    const Parameter& p = profile_.parameters[number];
    program_.parameter_bytes.push_back(0);
    if (a.hasByValAttr() || a.hasByRefAttr()) {
      Type* type = a.hasByValAttr() ? a.getParamByValType() : a.getParamByRefType();
      const auto bytes = static_cast<std::int64_t>(layout_.getTypeAllocSize(type).getFixedValue());
      program_.parameter_bytes.back() = bytes;
      define(a, input({Kind::parameter_block, ValueType::i64, 0, static_cast<std::uint64_t>(at), 0, p.name}));
      at += (bytes + 15) / 16 * 16;
    } else if (a.getType()->isPointerTy()) {
      const int buffer = model_.address(&a).buffer;
      define(a, input({Kind::buffer, ValueType::i64, 0, static_cast<std::uint64_t>(buffer), 0, p.name}));
    } else {
      Slots s;
      const auto types = types_of(a.getType());
      const auto places = places_of(a.getType());
      for (std::size_t k = 0; k < types.size(); ++k) {
        // A structure in registers: fields are named by their byte as everywhere (fields.cpp).
        std::string name = p.name;
        if (types.size() > 1) name += "+" + std::to_string(places[k]);
        s.regs.push_back(input({Kind::scalar, types[k], 0, 0, 0, name}));
      }
      define(a, std::move(s));
    }
  }
}

void Decoder::number_blocks() {
  ReversePostOrderTraversal<Function*> rpo(&kernel_);
  for (BasicBlock* block : rpo) {
    number_[block] = static_cast<int>(order_.size());
    order_.push_back(block);
  }
  program_.blocks.resize(order_.size());
  element_votes_.resize(profile_.buffers.size());
}

void Decoder::decode_block(BasicBlock& block) {
  current_ = number_[&block];
  ProgramBlock& out = program_.blocks[static_cast<std::size_t>(current_)];
  out.order = current_;
  out.line = model_.line_of(block);
  if (auto it = places_.block.find(&block); it != places_.block.end()) out.profile_block = it->second;
  if (auto it = places_.last_test.find(out.profile_block); it != places_.last_test.end()) out.last_block = it->second;
  if (auto it = places_.branch.find(&block); it != places_.branch.end()) out.branch = it->second;
  out.first = static_cast<std::uint32_t>(program_.code.size());
  for (llvm::Instruction& i : block) {
    if (i.isTerminator()) break;
    if (isa<PHINode>(i)) continue;
    line_ = model_.line_of(i);
    decode_instruction(i);
  }
  auto* end = block.getTerminator();
  line_ = model_.line_of(*end);
  if (auto* b = dyn_cast<BranchInst>(end); b && b->isConditional()) out.condition = one(b->getCondition());
  if (auto* s = dyn_cast<SwitchInst>(end)) {
    out.condition = one(s->getCondition());
    out.condition_type = program_.registers[out.condition];
  }
  program_.blocks[static_cast<std::size_t>(current_)].past = static_cast<std::uint32_t>(program_.code.size());
}

void Decoder::decode_instruction(llvm::Instruction& i) {
  if (isa<AllocaInst>(i)) {
    const std::int64_t at = stack_place_.at(&i);
    const bool generic = i.getType()->getPointerAddressSpace() != 5;
    define(i, constant(ValueType::i64, (generic ? interpreter::private_window << interpreter::window_bits : 0) +
                                           static_cast<std::uint64_t>(at)));
  } else if (id_call(i)) {
  } else if (auto* l = dyn_cast<LoadInst>(&i)) {
    load(*l);
  } else if (auto* s = dyn_cast<StoreInst>(&i)) {
    store(*s);
  } else if (auto* g = dyn_cast<GetElementPtrInst>(&i)) {
    gep(cast<GEPOperator>(*g), i);
  } else if (auto* c = dyn_cast<CallInst>(&i)) {
    call(*c);
  } else if (auto* rmw = dyn_cast<AtomicRMWInst>(&i)) {
    static const std::map<AtomicRMWInst::BinOp, AtomicOp> operations = {
        {AtomicRMWInst::Xchg, AtomicOp::exchange},    {AtomicRMWInst::Add, AtomicOp::add},
        {AtomicRMWInst::Sub, AtomicOp::sub},          {AtomicRMWInst::And, AtomicOp::and_},
        {AtomicRMWInst::Or, AtomicOp::or_},           {AtomicRMWInst::Xor, AtomicOp::xor_},
        {AtomicRMWInst::Nand, AtomicOp::nand},        {AtomicRMWInst::Min, AtomicOp::smin},
        {AtomicRMWInst::Max, AtomicOp::smax},         {AtomicRMWInst::UMin, AtomicOp::umin},
        {AtomicRMWInst::UMax, AtomicOp::umax},        {AtomicRMWInst::FAdd, AtomicOp::fadd},
        {AtomicRMWInst::FSub, AtomicOp::fsub},        {AtomicRMWInst::FMin, AtomicOp::fmin},
        {AtomicRMWInst::FMax, AtomicOp::fmax},        {AtomicRMWInst::UIncWrap, AtomicOp::wrap_inc},
        {AtomicRMWInst::UDecWrap, AtomicOp::wrap_dec}};
    auto op = operations.find(rmw->getOperation());
    if (op == operations.end()) unsupported(i, "this atomic operation");
    atomic(i, op->second, rmw->getPointerOperand(), rmw->getValOperand(), nullptr);
  } else if (auto* x = dyn_cast<AtomicCmpXchgInst>(&i)) {
    atomic(i, AtomicOp::compare_exchange, x->getPointerOperand(), x->getNewValOperand(), x->getCompareOperand());
  } else if (isa<FenceInst>(i)) {
  } else if (!arithmetic(i)) {
    unsupported(i, std::string("the instruction '") + i.getOpcodeName() + "'");
  }
}

Edge Decoder::edge(BasicBlock& from, BasicBlock& to) {
  Edge out;
  out.target = number_.lookup(&to);
  std::vector<Copy> wanted;
  for (PHINode& phi : to.phis()) {
    Value* incoming = phi.getIncomingValueForBlock(&from);
    if (isa<UndefValue>(incoming)) continue;
    const Slots dst = value(&phi);
    Slots src = value(incoming);
    if (src.displacement != 0) src = Slots{{materialised(src)}, 0};
    for (std::size_t k = 0; k < dst.regs.size(); ++k)
      if (dst.regs[k] != src.regs[k]) wanted.push_back({program_.registers[dst.regs[k]], dst.regs[k], src.regs[k]});
  }
  // All at once: a source that an earlier copy overwrites is saved first.
  std::vector<Copy> saved;
  for (std::size_t k = 0; k < wanted.size(); ++k)
    for (std::size_t before = 0; before < k; ++before)
      if (wanted[k].src == wanted[before].dst) {
        const std::uint32_t keep = fresh(wanted[k].type);
        saved.push_back({wanted[k].type, keep, wanted[k].src});
        wanted[k].src = keep;
        break;
      }
  out.copies = std::move(saved);
  out.copies.insert(out.copies.end(), wanted.begin(), wanted.end());
  const llvm::Loop* loop = model_.loops().getLoopFor(&from);
  out.leaves_loop = loop && !loop->contains(&to);
  return out;
}

void Decoder::end_block(BasicBlock& block, ProgramBlock& out) {
  // Displacements of pointers that flow into phi nodes are added at the end of the block: code grows at its place.
  const std::size_t before = program_.code.size();
  current_ = number_[&block];
  auto* end = block.getTerminator();
  line_ = model_.line_of(*end);
  if (auto* b = dyn_cast<BranchInst>(end)) {
    out.end = b->isConditional() ? ProgramBlock::End::branch : ProgramBlock::End::jump;
    for (unsigned k = 0; k < b->getNumSuccessors(); ++k) out.edges.push_back(edge(block, *b->getSuccessor(k)));
  } else if (auto* s = dyn_cast<SwitchInst>(end)) {
    out.end = ProgramBlock::End::switch_;
    out.edges.push_back(edge(block, *s->getDefaultDest()));
    for (auto& c : s->cases()) {
      out.cases.push_back(static_cast<std::int64_t>(c.getCaseValue()->getZExtValue()));
      out.edges.push_back(edge(block, *c.getCaseSuccessor()));
    }
  } else if (!isa<ReturnInst>(end) && !isa<UnreachableInst>(end)) {
    unsupported(*end, std::string("the instruction '") + end->getOpcodeName() + "'");
  }
  const std::size_t added = program_.code.size() - before;
  if (added > 0) {
    const auto place = static_cast<std::ptrdiff_t>(out.past);
    const auto count = static_cast<std::uint32_t>(added);
    std::rotate(program_.code.begin() + place, program_.code.begin() + static_cast<std::ptrdiff_t>(before),
                program_.code.end());
    std::rotate(block_of_code_.begin() + place, block_of_code_.begin() + static_cast<std::ptrdiff_t>(before),
                block_of_code_.end());
    for (ProgramBlock& b : program_.blocks)
      if (b.first >= out.past && &b != &out) {
        b.first += count;
        b.past += count;
      }
    out.past += count;
  }
}

/// A register that is read outside of the loop that writes it must keep the value of lanes that have left the loop.
void Decoder::mark_kept() {
  std::vector<int> writer(program_.registers.size(), -1);
  std::vector<char> keep(program_.registers.size(), program_.irreducible ? 1 : 0);
  for (std::size_t n = 0; n < program_.code.size(); ++n) {
    const SimtInstruction& i = program_.code[n];
    for (std::uint32_t k = 0; i.dst != no_register && k < (i.op == Opcode::load ? i.extra : 1U); ++k)
      writer[i.dst + k] = block_of_code_[n];
    if (i.dst2 != no_register) writer[i.dst2] = block_of_code_[n];
  }
  auto read = [&](std::uint32_t reg, int block) {
    if (reg == no_register || writer[reg] < 0) return;
    const llvm::Loop* loop = model_.loops().getLoopFor(order_[static_cast<std::size_t>(writer[reg])]);
    if (loop && !loop->contains(order_[static_cast<std::size_t>(block)])) keep[reg] = 1;
  };
  for (std::size_t n = 0; n < program_.code.size(); ++n) {
    const SimtInstruction& i = program_.code[n];
    read(i.a, block_of_code_[n]);
    for (std::uint32_t k = 0; k < (i.op == Opcode::store ? i.extra : 1U); ++k)
      if (i.b != no_register) read(i.b + k, block_of_code_[n]);
    read(i.c, block_of_code_[n]);
  }
  for (const ProgramBlock& b : program_.blocks) {
    read(b.condition, b.order);
    for (const Edge& e : b.edges)
      for (const Copy& c : e.copies) read(c.src, b.order);
  }
  for (SimtInstruction& i : program_.code) {
    for (std::uint32_t k = 0; i.dst != no_register && k < (i.op == Opcode::load ? i.extra : 1U); ++k)
      i.keep_inactive |= keep[i.dst + k] != 0;
    if (i.dst2 != no_register) i.keep_inactive |= keep[i.dst2] != 0;
  }
  PostDominatorTree after(kernel_);
  for (BasicBlock* block : order_) {
    auto* node = after.getNode(block);
    BasicBlock* next = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    auto found = next ? number_.find(next) : number_.end();
    program_.blocks[static_cast<std::size_t>(number_[block])].reconvergence =
        found == number_.end() ? -1 : found->second;
  }
}

void Decoder::collect_images() {
  for (GlobalVariable& g : kernel_.getParent()->globals()) {
    const int buffer = model_.address(&g).buffer;
    if (buffer < 0 || profile_.buffers[static_cast<std::size_t>(buffer)].bytes <= 0) continue;
    BufferImage image;
    image.buffer = buffer;
    image.undefined = g.getAddressSpace() == 3;
    const bool zero = !g.hasInitializer() || g.getInitializer()->isNullValue() || isa<UndefValue>(g.getInitializer());
    if (!zero) {
      image.bytes.resize(static_cast<std::size_t>(profile_.buffers[static_cast<std::size_t>(buffer)].bytes));
      if (!fill_image(*g.getInitializer(), 0, image))
        throw LimitError("the initial value of '" + g.getName().str() + "' cannot be executed");
    }
    program_.images.push_back(std::move(image));
  }
}

bool Decoder::fill_image(const Constant& c, std::int64_t at, BufferImage& image) {
  if (c.isNullValue() || isa<UndefValue>(c)) return true;
  auto put = [&](const APInt& bits) {
    for (unsigned k = 0; k * 8 < bits.getBitWidth(); ++k)
      image.bytes.at(static_cast<std::size_t>(at) + k) =
          static_cast<unsigned char>(bits.extractBitsAsZExtValue(std::min(8U, bits.getBitWidth() - k * 8), k * 8));
    return true;
  };
  if (auto* n = dyn_cast<ConstantInt>(&c)) return put(n->getValue());
  if (auto* n = dyn_cast<ConstantFP>(&c)) return put(n->getValueAPF().bitcastToAPInt());
  if (c.getType()->isPointerTy()) {
    APInt offset(layout_.getIndexTypeSizeInBits(c.getType()), 0);
    const Value* base = c.stripAndAccumulateConstantOffsets(layout_, offset, true);
    auto* g = dyn_cast<GlobalVariable>(base);
    const int buffer = g ? model_.address(const_cast<GlobalVariable*>(g)).buffer : -1;
    if (buffer < 0 || g->getAddressSpace() == 3) return false;
    image.pointers.push_back({at, buffer, offset.getSExtValue()});
    return true;
  }
  auto* structure = dyn_cast<StructType>(c.getType());
  for (unsigned k = 0; const Constant* part = c.getAggregateElement(k); ++k) {
    const std::int64_t inside =
        structure ? static_cast<std::int64_t>(layout_.getStructLayout(structure)->getElementOffset(k).getFixedValue())
                  : static_cast<std::int64_t>(k * layout_.getTypeAllocSize(part->getType()).getFixedValue());
    if (!fill_image(*part, at + inside, image)) return false;
  }
  return true;
}

Program decode(Function& kernel, KernelModel& model, const KernelProfile& profile, const ProfilePlaces& places) {
  return Decoder(kernel, model, profile, places).run();
}

}  // namespace kernelcast::frontend
