// Setting up the reading of a kernel: buffers and parameters, ranges of the built-in symbols, source lines, and which
// values may differ between lanes. Divergence is a taint: it starts at local ids, lane-dependent loads, atomics and
// private memory, and flows through operands and, for phis, through the branches that choose among their values.
#include "frontend/shape/kernel_model.h"

#include <limits>

#include "frontend/ir/builtins.h"
#include "frontend/ir/ptx_calls.h"
#include "frontend/source/compile.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

std::string type_text(Type* type) {
  std::string text;
  raw_string_ostream out(text);
  type->print(out);
  return text;
}

/// The type as the source has it, kept beside the function: by Clang for OpenCL C, by KernelConsumer for the other
/// languages. None for LLVM IR.
std::optional<std::string> source_type(const Function& function, const Argument& argument) {
  const MDNode* types = function.getMetadata("kernel_arg_base_type");
  if (!types) types = function.getMetadata(parameter_types_key);
  if (!types || argument.getArgNo() >= types->getNumOperands()) return std::nullopt;
  const auto* text = dyn_cast_or_null<MDString>(types->getOperand(argument.getArgNo()).get());
  return text && !text->getString().empty() ? std::optional(text->getString().str()) : std::nullopt;
}

/// Bytes of an element that the parameter points to; 0: not known.
int pointee_bytes(const Function& function, const Argument& argument) {
  const MDNode* bytes = function.getMetadata(pointee_bytes_key);
  if (!bytes || argument.getArgNo() >= bytes->getNumOperands()) return 0;
  const auto* number = mdconst::dyn_extract_or_null<ConstantInt>(bytes->getOperand(argument.getArgNo()));
  return number && number->getBitWidth() <= 64 && number->getZExtValue() <= std::numeric_limits<int>::max()
             ? static_cast<int>(number->getZExtValue())
             : 0;
}

}  // namespace

KernelModel::KernelModel(Function& function, KernelProfile& profile)
    : function_(function), profile_(profile), dominators_(function), post_dominators_(function), loops_(dominators_) {
  constexpr std::int64_t many = std::int64_t{1} << 31;
  for (int axis = 0; axis < 3; ++axis) {
    ranges_[local_id(axis)] = Interval{0, 1023};
    ranges_[group_id(axis)] = Interval{0, many};
    ranges_[local_size(axis)] = Interval{1, 1024};
    ranges_[num_groups(axis)] = Interval{1, many};
  }
  ranges_[Symbol("warp_size")] = Interval{1, 128};
  int index = 0;
  for (Argument& argument : function_.args()) {
    Parameter p;
    StringRef name = argument.getName();
    name.consume_back(".coerce");  // clang's mark of a pointer in a known address space
    p.name = name.empty() ? "arg" + std::to_string(index) : name.str();
    p.type = source_type(function_, argument).value_or(type_text(argument.getType()));
    p.structure = argument.hasByValAttr();
    p.pointer = argument.getType()->isPointerTy() && !p.structure;
    p.integer = argument.getType()->isIntegerTy();
    if (p.pointer) p.bytes = pointee_bytes(function_, argument);
    if (!p.pointer && argument.getType()->isSized())
      p.bytes =
          static_cast<int>(function_.getParent()->getDataLayout().getTypeStoreSize(argument.getType()).getFixedValue());
    if (p.integer) argument_symbol_.try_emplace(&argument, kernelcast::argument(p.name));
    if (p.pointer) {
      const unsigned space = argument.getType()->getPointerAddressSpace();
      Buffer b{p.name,
               space == 3   ? MemorySpace::shared
               : space == 4 ? MemorySpace::constant
                            : MemorySpace::global,
               -1, 256, index};
      buffer_of_[&argument] = static_cast<int>(profile_.buffers.size());
      profile_.buffers.push_back(b);
    }
    profile_.parameters.push_back(p);
    ++index;
  }
  const DataLayout& layout = function_.getParent()->getDataLayout();
  // A static array of a function is "kernel.As" in OpenCL C and "kernel(int)::As" in C++.
  auto plain = [](const Value& v) {
    std::string name = demangle(v.getName().str());
    if (auto at = name.rfind("::"); at != std::string::npos) name = name.substr(at + 2);
    if (auto at = name.rfind('.');
        at != std::string::npos && at + 1 < name.size() && !std::isdigit(static_cast<unsigned char>(name[at + 1])))
      name = name.substr(at + 1);
    return name;
  };
  for (GlobalVariable& g : function_.getParent()->globals()) {
    const unsigned space = g.getAddressSpace();
    Buffer b{plain(g), MemorySpace::global, 0, 256, -1};
    b.bytes = static_cast<std::int64_t>(layout.getTypeAllocSize(g.getValueType()).getFixedValue());
    if (space == 3) b.space = MemorySpace::shared;
    if (space == 4) b.space = MemorySpace::constant;
    if (space == 3 && b.bytes == 0) b.bytes = -1;  // extern __shared__
    buffer_of_[&g] = static_cast<int>(profile_.buffers.size());
    profile_.buffers.push_back(b);
  }
  for (Instruction& i : instructions(function_))
    if (auto* slot = dyn_cast<AllocaInst>(&i)) {
      Buffer b{slot->hasName() ? slot->getName().str() : "private", MemorySpace::local, -1, 16, -1};
      if (auto size = slot->getAllocationSize(layout)) b.bytes = static_cast<std::int64_t>(size->getFixedValue());
      buffer_of_[slot] = static_cast<int>(profile_.buffers.size());
      profile_.buffers.push_back(b);
    }
  find_divergence();
}

void KernelModel::find_divergence() {
  auto source = [&](Instruction& i) {
    if (auto id = id_value(i)) return id->kind == IdValue::Kind::local_id;
    if (isa<AtomicRMWInst>(i) || isa<AtomicCmpXchgInst>(i) || isa<AllocaInst>(i)) return true;
    if (auto* call = dyn_cast<CallInst>(&i)) {
      if (call->isInlineAsm()) return true;
      const StringRef name = call->getCalledFunction() ? call->getCalledFunction()->getName() : "";
      if (name.starts_with(ptx_call_prefix)) return !is_barrier_test(i);
      return name.contains("laneid") || name.contains("mbcnt") || name.contains("shfl") || name.contains("clock");
    }
    return false;
  };
  // Where all paths behind a branch meet again on the way to a phi, the branch does not choose there.
  auto chooses = [&](const BasicBlock& branch, const BasicBlock& incoming) {
    if (branch.getTerminator()->getNumSuccessors() < 2 || !divergent_.contains(branch.getTerminator())) return false;
    const auto* after = post_dominators_.getNode(&branch)->getIDom();
    return !after || !after->getBlock() || !dominators_.dominates(after->getBlock(), &incoming);
  };
  bool changed = true;
  auto taint = [&](const Value& v) { changed = divergent_.insert(&v).second || changed; };
  for (Instruction& i : instructions(function_))
    if (source(i)) divergent_.insert(&i);
  while (changed) {
    changed = false;
    for (BasicBlock& block : function_)
      for (Instruction& i : block) {
        if (divergent_.contains(&i)) continue;
        bool any = false;
        for (Value* operand : i.operands()) any = any || divergent_.contains(operand);
        if (auto* phi = dyn_cast<PHINode>(&i);
            phi && !any && !loops_.isLoopHeader(&block) && !phi->hasConstantOrUndefValue()) {
          // Chosen by a divergent branch between the immediate dominator and here.
          auto* node = dominators_.getNode(&block)->getIDom();
          for (unsigned n = 0; n < phi->getNumIncomingValues() && node && !any; ++n)
            for (auto* up = dominators_.getNode(phi->getIncomingBlock(n)); up && up != node->getIDom();
                 up = up->getIDom())
              any = any || chooses(*up->getBlock(), *phi->getIncomingBlock(n));
        }
        if (any) taint(i);
      }
  }
}

SourceLine KernelModel::line_of(const Instruction& instruction) const {
  // Code that the optimiser moved or merged has no line: its neighbour's is the nearest.
  const DILocation* at = nullptr;
  auto take = [&](const Instruction* i) {
    const DebugLoc& where = i->getDebugLoc();
    if (where && where.getLine() != 0) at = where.get();
  };
  for (const Instruction* i = &instruction; i && !at; i = i->getNextNode()) take(i);
  for (const Instruction* i = &instruction; i && !at; i = i->getPrevNode()) take(i);
  if (!at) return {};
  // Code inlined from headers of ours is shown at its call.
  auto ours = [](const DILocation* l) {
    return l->getFilename().starts_with("<kernelcast>") || l->getFilename().contains("/kernelcast-headers/");
  };
  while (ours(at) && at->getInlinedAt()) at = at->getInlinedAt();
  const std::string file = at->getFilename().str();
  auto& files = profile_.files;
  auto it = std::find(files.begin(), files.end(), file);
  if (it == files.end()) it = files.insert(files.end(), file);
  return {static_cast<int>(it - files.begin()), static_cast<int>(at->getLine())};
}

SourceLine KernelModel::line_of(const llvm::Loop& loop) const {
  if (DebugLoc where = loop.getStartLoc(); where && where.getLine()) {
    auto& files = profile_.files;
    const std::string file = where->getFilename().str();
    auto it = std::find(files.begin(), files.end(), file);
    if (it == files.end()) it = files.insert(files.end(), file);
    return {static_cast<int>(it - files.begin()), static_cast<int>(where.getLine())};
  }
  return line_of(*loop.getHeader());
}

SourceLine KernelModel::line_of(const BasicBlock& block) const {
  for (const Instruction& i : block)
    if (SourceLine where = line_of(i); where.file >= 0) return where;
  return {};
}

std::string KernelModel::text_of(SourceLine line) const {
  if (line.file < 0) return "an unknown line";
  return profile_.files[static_cast<std::size_t>(line.file)] + ":" + std::to_string(line.line);
}

}  // namespace kernelcast::frontend
