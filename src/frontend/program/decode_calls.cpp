// Calls: work-item functions, barriers and the little inline assembly that is known; intrinsics and mathematical
// functions are handed on.
#include "frontend/ir/builtins.h"
#include "frontend/ir/math_costs.h"
#include "frontend/ir/ptx_calls.h"
#include "frontend/program/decode_internal.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace kernelcast::frontend {

using namespace llvm;

bool Decoder::id_call(llvm::Instruction& i) {
  const auto id = id_value(i);
  if (!id) return false;
  using In = ProgramInput::Kind;
  static const std::map<IdValue::Kind, In> kinds = {{IdValue::Kind::local_id, In::local_id},
                                                    {IdValue::Kind::group_id, In::group_id},
                                                    {IdValue::Kind::local_size, In::local_size},
                                                    {IdValue::Kind::num_groups, In::num_groups},
                                                    {IdValue::Kind::global_size, In::global_size}};
  const In kind = kinds.at(id->kind);
  const ValueType t = type_of(i.getType());
  auto [it, added] = ids_.try_emplace({static_cast<int>(kind), id->axis, static_cast<int>(t)}, 0);
  if (added) it->second = input({kind, t, 0, static_cast<std::uint64_t>(id->axis), 0, ""});
  define(i, it->second);
  return true;
}

void Decoder::call(CallInst& i) {
  if (is_barrier(i)) {
    if (i.getType()->isVoidTy()) {
      // Number, and how many threads come to it: without one of them it is the whole block's.
      const bool of_some = i.arg_size() == 2;
      const std::uint32_t number = of_some ? one(i.getArgOperand(0)) : no_register;
      const std::uint32_t threads = of_some ? one(i.getArgOperand(1)) : no_register;
      emit(Opcode::barrier, ValueType::i32, no_register, no_register, number, threads);
      return;
    }
    const std::uint32_t what = one(i.getArgOperand(0));
    const std::uint32_t predicate = binary(Opcode::ne, ValueType::i32, what, constant(ValueType::i32, 0));
    const std::uint32_t dst = fresh(ValueType::i32);
    SimtInstruction& out = emit(Opcode::barrier, ValueType::i1, dst, predicate);
    const auto id = llvm::cast<IntrinsicInst>(i).getIntrinsicID();
    out.imm = static_cast<std::int64_t>(id == Intrinsic::nvvm_barrier0_and  ? BarrierOp::all
                                        : id == Intrinsic::nvvm_barrier0_or ? BarrierOp::any
                                                                            : BarrierOp::count);
    return define(i, dst);
  }
  if (ptx_instruction(i)) return ptx_call(i);
  if (i.isInlineAsm()) {
    if (!inline_assembly(i)) unsupported(i, "this inline assembly");
    return;
  }
  if (auto* intrinsic = dyn_cast<IntrinsicInst>(&i)) {
    if (common_intrinsic(*intrinsic) || nvidia_intrinsic(*intrinsic) || amd_intrinsic(*intrinsic)) return;
    unsupported(i, "the function '" + i.getCalledFunction()->getName().str() + "'");
  }
  const std::string symbol = i.getCalledFunction() ? i.getCalledFunction()->getName().str() : "";
  if (auto name = math_function(symbol); name && math_call(i, *name)) return;
  const bool prints = symbol == "vprintf" || symbol.find("printf") != std::string::npos;
  if (prints) {
    if (!i.getType()->isVoidTy()) elementwise(i, [&](ValueType t, std::size_t) { return constant(t, 0); });
    return;
  }
  if (symbol == "__assertfail" || symbol == "__assert_fail" || symbol == "abort") {
    program_.texts.push_back("the assertion fails");
    emit(Opcode::finding, ValueType::i32, no_register).imm = static_cast<std::int64_t>(program_.texts.size()) - 1;
    return;
  }
  unsupported(i, "the function '" + demangle(symbol) + "', which has no body here");
}

bool Decoder::inline_assembly(CallInst& i) {
  const auto* assembly = llvm::cast<InlineAsm>(i.getCalledOperand());
  const StringRef text = StringRef(assembly->getAsmString()).trim();
  const auto mentions = [&](StringRef what) { return text.contains(what); };
  const bool no_result = i.getType()->isVoidTy();
  if (text.empty() || (no_result && (mentions("membar") || mentions("fence") || mentions("prefetch") ||
                                     mentions("s_waitcnt") || mentions("s_nop")))) {
    if (!no_result && i.arg_size() > 0) define(i, value(i.getArgOperand(0)));
    return text.empty() ? no_result || i.arg_size() > 0 : true;
  }
  if (i.getType()->isStructTy() || no_result) return false;
  if (mentions("activemask")) {
    const std::uint32_t dst = result(i);
    emit(Opcode::active_mask, program_.registers[dst], dst);
    return true;
  }
  if (mentions("%laneid") || mentions("%%laneid")) {
    const std::uint32_t dst = result(i);
    emit(Opcode::lane_id, program_.registers[dst], dst);
    return true;
  }
  for (const char* relation : {"lt", "le", "gt", "ge", "eq"})
    if (mentions(std::string("%lanemask_") + relation)) {
      define(i, lane_mask(relation));
      return true;
    }
  if (mentions("clock") || mentions("globaltimer")) {
    const std::uint32_t dst = result(i);
    emit(Opcode::clock, program_.registers[dst], dst);
    return true;
  }
  const auto three_operands = [&](Opcode op) {
    if (i.arg_size() != 3) return false;
    const std::uint32_t a = one(i.getArgOperand(0)), b = one(i.getArgOperand(1)), c = one(i.getArgOperand(2));
    const std::uint32_t dst = result(i);
    emit(op, program_.registers[dst], dst, a, b, c);
    return true;
  };
  if (text.starts_with("bfe.u32")) return three_operands(Opcode::bit_extract_u);
  if (text.starts_with("bfe.s32")) return three_operands(Opcode::bit_extract_s);
  if (text.starts_with("prmt.b32")) return three_operands(Opcode::permute_bytes);
  if (text.starts_with("dp4a.") && i.arg_size() == 3) {
    const bool is_signed = text.starts_with("dp4a.s32.s32");
    if (!is_signed && !text.starts_with("dp4a.u32.u32")) return false;
    const std::uint32_t a = one(i.getArgOperand(0)), b = one(i.getArgOperand(1));
    std::uint32_t sum = one(i.getArgOperand(2));
    for (unsigned k = 0; k < 4; ++k) {
      const auto byte = [&](std::uint32_t word) {
        const std::uint32_t dst = fresh(ValueType::i32);
        emit(is_signed ? Opcode::bit_extract_s : Opcode::bit_extract_u, ValueType::i32, dst, word,
             constant(ValueType::i32, std::uint64_t{8} * k), constant(ValueType::i32, 8));
        return dst;
      };
      const std::uint32_t x = byte(a);
      sum = binary(Opcode::add, ValueType::i32, sum, binary(Opcode::mul, ValueType::i32, x, byte(b)));
    }
    define(i, sum);
    return true;
  }
  return false;
}

/// The mask of lanes that stand in a relation to this one.
std::uint32_t Decoder::lane_mask(StringRef relation) {
  const ValueType t = ValueType::i32;
  const std::uint32_t lane = fresh(t);
  emit(Opcode::lane_id, t, lane);
  const std::uint32_t here = binary(Opcode::shl, t, constant(t, 1), lane);
  if (relation == "eq") return here;
  const std::uint32_t below = binary(Opcode::sub, t, here, constant(t, 1));
  if (relation == "lt") return below;
  const std::uint32_t up_to = binary(Opcode::or_, t, below, here);
  if (relation == "le") return up_to;
  return binary(Opcode::xor_, t, relation == "gt" ? up_to : below, constant(t, 0xffffffff));
}

}  // namespace kernelcast::frontend
