// A statement becomes a function `kc.asm.N` of its operands, which is inlined like any other; statements that say the
// same share it. One that cannot be lifted stays what it was, and build_profile.cpp lists it.
#include "frontend/lift/lift.h"

#include <map>

#include "frontend/lift/lifter.h"
#include "kernelcast/error.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "ptx/parse.h"
#include "ptx/requirements.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

struct AsmOperands {
  std::vector<ptx::FragmentOperand> all;
  std::vector<int> argument;      // of the call, by operand; -1: an output
  std::vector<unsigned> outputs;  // operands
};

std::optional<ptx::Type> type_of_constraint(StringRef code) {
  static const std::map<StringRef, ptx::Type> table = {
      {"h", ptx::Type::b16}, {"r", ptx::Type::b32}, {"l", ptx::Type::b64},  {"q", ptx::Type::b128},
      {"f", ptx::Type::f32}, {"d", ptx::Type::f64}, {"b", ptx::Type::pred}, {"c", ptx::Type::b16}};
  const auto found = table.find(code);
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

std::optional<AsmOperands> operands_of(const CallInst& call, const InlineAsm& assembly) {
  AsmOperands result;
  int argument = 0;
  for (const InlineAsm::ConstraintInfo& c : assembly.ParseConstraints()) {
    if (c.Type == InlineAsm::isClobber) continue;
    if (c.isIndirect || c.Type == InlineAsm::isLabel || c.Codes.empty()) return std::nullopt;
    ptx::FragmentOperand o;
    if (c.Type == InlineAsm::isOutput) {
      result.outputs.push_back(static_cast<unsigned>(result.all.size()));
      result.argument.push_back(-1);
    } else {
      result.argument.push_back(argument++);
    }
    StringRef code = c.Codes[0];
    int tied = -1;
    if (c.Type == InlineAsm::isInput && !code.getAsInteger(10, tied)) {
      o.same_as = tied;
    } else if (const auto type = type_of_constraint(code)) {
      o.type = *type;
    } else if (c.Type == InlineAsm::isInput) {  // "n", "i": a number in the text
      const auto* number = dyn_cast<ConstantInt>(call.getArgOperand(static_cast<unsigned>(result.argument.back())));
      if (!number) return std::nullopt;
      o.text = std::to_string(number->getSExtValue());
    } else {
      return std::nullopt;
    }
    result.all.push_back(std::move(o));
  }
  return result;
}

Value* as_number(IRBuilder<>& b, Value* v, Type* wanted) {
  if (v->getType()->isPointerTy()) v = b.CreatePtrToInt(v, b.getInt64Ty());
  if (v->getType() == wanted) return v;
  const auto bits = static_cast<unsigned>(v->getType()->getPrimitiveSizeInBits());
  if (!v->getType()->isIntegerTy()) v = b.CreateBitCast(v, b.getIntNTy(bits));
  v = b.CreateZExtOrTrunc(v, b.getIntNTy(static_cast<unsigned>(wanted->getPrimitiveSizeInBits())));
  return v->getType() == wanted ? v : b.CreateBitCast(v, wanted);
}

const DILocation* outermost(const DILocation* at) {
  while (at && at->getInlinedAt()) at = at->getInlinedAt();
  return at;
}

/// What the function may call, itself included, each with a line of the source that leads to it (null: none is known).
MapVector<Function*, const DILocation*> reachable_from(Function& f) {
  MapVector<Function*, const DILocation*> found;
  found.insert({&f, nullptr});
  for (unsigned k = 0; k < found.size(); ++k) {
    const auto [function, line] = found.begin()[k];
    for (llvm::Instruction& i : instructions(*function)) {
      const DILocation* at = i.getDebugLoc() ? outermost(i.getDebugLoc()) : line;
      for (Value* operand : i.operands())
        if (auto* called = dyn_cast<Function>(operand)) found.insert({called, at});
    }
  }
  return found;
}

/// In headers of ours, what a compiler makes of a function where the target has not this instruction.
bool stands_for_another(const InlineAsm& assembly) { return StringRef(assembly.getAsmString()).starts_with("/* of "); }

class AsmLifter {
 public:
  explicit AsmLifter(Module& module) : module_(module) {}

  /// Throws UserError for an instruction that the architecture does not have. `caller`: where no line is known.
  static void check(const CallInst& call, const std::string& architecture, const DILocation* caller) {
    const std::string missing = missing_instruction(call, architecture);
    if (missing.empty()) return;
    const DILocation* at = call.getDebugLoc() ? outermost(call.getDebugLoc()) : caller;
    const std::string place = at ? (at->getFilename() + ":" + Twine(at->getLine())).str() : "inline PTX";
    throw UserError(place + ": " + missing);
  }

  bool replace(CallInst& call) {
    const auto& assembly = *cast<InlineAsm>(call.getCalledOperand());
    if (StringRef(assembly.getAsmString()).trim().empty()) return false;
    const auto operands = operands_of(call, assembly);
    if (!operands) return false;
    std::string key = assembly.getAsmString() + "\n" + assembly.getConstraintString();
    raw_string_ostream stream(key);
    stream << *call.getFunctionType() << assembly.hasSideEffects();
    for (const ptx::FragmentOperand& o : operands->all) stream << '\n' << o.text.value_or("");
    auto [known, added] = known_.try_emplace(stream.str(), nullptr);
    if (added) known->second = made(call, assembly, *operands);
    Function* f = known->second;
    if (!f) return false;
    IRBuilder<> b(&call);
    const SmallVector<Value*, 8> arguments(call.args());
    CallInst* replaced = b.CreateCall(f, arguments);
    replaced->setDebugLoc(call.getDebugLoc());
    call.replaceAllUsesWith(replaced);
    call.eraseFromParent();
    return true;
  }

 private:
  /// The refusal of the first; empty: there is none, or what the reader does not know.
  static std::string missing_instruction(const CallInst& call, const std::string& architecture) {
    const auto& assembly = *cast<InlineAsm>(call.getCalledOperand());
    const auto operands = operands_of(call, assembly);
    if (!operands || stands_for_another(assembly)) return "";
    try {
      const ptx::Fragment fragment =
          ptx::parse_fragment(assembly.getAsmString(), operands->all, ptx::FragmentSyntax::llvm, "asm");
      for (const ptx::Instruction& i : fragment.code.body)
        if (!ptx::requirement_of(i).met_by(ptx::sm_number(architecture))) return ptx::refusal(i, architecture);
    } catch (const Error&) {
    }
    return "";
  }

  Function* made(const CallInst& call, const InlineAsm& assembly, const AsmOperands& operands) {
    Function* f = Function::Create(call.getFunctionType(), GlobalValue::InternalLinkage,
                                   "kc.asm." + std::to_string(known_.size()), &module_);
    try {
      fill(*f, assembly, operands);
      return f;
    } catch (const NotLifted&) {
    } catch (const Error&) {  // of the reader
    }
    f->deleteBody();
    f->eraseFromParent();
    return nullptr;
  }

  void fill(Function& f, const InlineAsm& assembly, const AsmOperands& operands) {
    const ptx::Fragment fragment =
        ptx::parse_fragment(assembly.getAsmString(), operands.all, ptx::FragmentSyntax::llvm, "asm");
    LiftNames names;
    names.variable = [this](const ptx::Symbol& s) -> Value* {
      return module_.getGlobalVariable(StringRef(s.name.data(), s.name.size()), true);
    };
    names.function = [this](const ptx::Symbol& s) {
      return module_.getFunction(StringRef(s.name.data(), s.name.size()));
    };
    Lifter lifter(f, fragment.code, names, /*fragment=*/true);
    IRBuilder<>& b = lifter.builder();
    for (std::size_t k = 0; k < operands.all.size(); ++k) {
      const ptx::FragmentOperand& o = operands.all[k];
      if (operands.argument[k] < 0 || o.text) continue;
      AllocaInst* variable =
          lifter.variable_of(static_cast<std::uint32_t>(o.same_as >= 0 ? o.same_as : static_cast<int>(k)));
      Value* given = f.getArg(static_cast<unsigned>(operands.argument[k]));
      b.CreateStore(as_number(b, given, variable->getAllocatedType()), variable);
    }
    lifter.run();
    Type* returned = f.getReturnType();
    if (returned->isVoidTy()) {
      b.CreateRetVoid();
      return;
    }
    auto* structure = dyn_cast<StructType>(returned);
    Value* all = structure ? static_cast<Value*>(PoisonValue::get(structure)) : nullptr;
    for (unsigned n = 0; n < operands.outputs.size(); ++n) {
      AllocaInst* variable = lifter.variable_of(operands.outputs[n]);
      Type* wanted = structure ? structure->getElementType(n) : returned;
      Value* v = b.CreateLoad(variable->getAllocatedType(), variable);
      v = wanted->isPointerTy() ? b.CreateIntToPtr(v, wanted) : as_number(b, v, wanted);
      all = structure ? b.CreateInsertValue(all, v, n) : v;
    }
    b.CreateRet(all);
  }

  Module& module_;
  std::map<std::string, Function*> known_;
};

void refuse_missing_instructions(Function& kernel, const std::string& capability) {
  SmallPtrSet<const Value*, 16> seen;  // LLVM has each text with its constraints once
  for (const auto& [f, line] : reachable_from(kernel))
    for (const llvm::Instruction& i : instructions(*f)) {
      const auto* call = dyn_cast<CallInst>(&i);
      if (call && call->isInlineAsm() && seen.insert(call->getCalledOperand()).second)
        AsmLifter::check(*call, capability, line);
    }
}

}  // namespace

int lift_asm_statements(Module& module, const std::string& kernel, const std::string& capability) {
  if (!capability.empty()) refuse_missing_instructions(*module.getFunction(kernel), capability);
  std::vector<CallInst*> calls;
  for (Function& f : module)
    for (llvm::Instruction& i : instructions(f))
      if (auto* call = dyn_cast<CallInst>(&i); call && call->isInlineAsm()) calls.push_back(call);
  AsmLifter lifter(module);
  int replaced = 0;
  for (CallInst* call : calls) replaced += lifter.replace(*call);
  return replaced;
}

}  // namespace kernelcast::frontend
