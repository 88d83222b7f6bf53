// Instructions without a counterpart: calls that carry opcode, operands and addresses (ir/ptx_calls.h).
#include "frontend/ir/ptx_calls.h"
#include "frontend/lift/lifter.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

/// Whether the first operand is a result.
bool writes_first(const ptx::Instruction& i) {
  using ptx::Op;
  using ptx::OperandKind;
  if (i.operands.empty() || i.operands[0].kind == OperandKind::address) return false;
  switch (i.op) {
    case Op::red:
    case Op::barrier_sync:
    case Op::barrier_arrive:
    case Op::cp_async_wait_group:
    case Op::cp_async_bulk_wait_group:
    case Op::wgmma_mma_async:  // reads it, too
    case Op::wgmma_mma_async_sp:
    case Op::wgmma_wait_group:
    case Op::setmaxnreg:
    case Op::pmevent:
    case Op::nanosleep:
    case Op::tcgen05_dealloc:
    case Op::bar_warp_sync:
    case Op::call:
      return false;
    default:
      return i.operands[0].kind != OperandKind::integer;
  }
}

/// Only registers in, only registers out.
bool touches_nothing(const ptx::Instruction& i) {
  using ptx::Op;
  switch (i.op) {
    case Op::mma:
    case Op::mma_sp:
    case Op::wmma_mma:
    case Op::movmatrix:
    case Op::cvt:
    case Op::cvt_pack:
    case Op::lop3:
    case Op::bfe:
    case Op::bfi:
    case Op::prmt:
    case Op::dp4a:
    case Op::dp2a:
    case Op::vabsdiff4:
    case Op::tanh:
    case Op::ex2:
    case Op::szext:
    case Op::bmsk:
    case Op::fns:
    case Op::testp:
    case Op::min:
    case Op::max:
    case Op::fma:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::set:
    case Op::getctarank:
    case Op::isspacep:
    case Op::createpolicy:
      return true;
    default:
      return false;
  }
}

std::string constraint_of(const Type& type) {
  if (type.isFloatTy()) return "f";
  if (type.isDoubleTy()) return "d";
  if (type.isIntegerTy(1)) return "b";
  if (type.isPointerTy()) return "l";
  const auto bits = type.getPrimitiveSizeInBits().getFixedValue();
  return bits <= 16 ? "h" : bits <= 32 ? "r" : bits <= 64 ? "l" : "q";
}

}  // namespace

void Lifter::opaque(const Instruction& i) {
  using ptx::OperandKind;
  if (i.op == ptx::Op::unknown || i.op == ptx::Op::call || i.op == ptx::Op::brx_idx)
    refuse("the instruction '" + std::string(i.opcode) + "'");
  // Results first: $0, $1, ...
  SmallVector<const Operand*, 16> results;
  SmallVector<bool, 16> also_read;
  const bool first_is_result = writes_first(i);
  const bool reads_first = i.op == ptx::Op::wgmma_mma_async || i.op == ptx::Op::wgmma_mma_async_sp;
  if (first_is_result || reads_first) {
    const Operand& o = i.operands[0];
    if (o.kind == OperandKind::vector || o.kind == OperandKind::pair)
      for (const Operand& e : o.elements) results.push_back(&e);
    else
      results.push_back(&o);
  }
  SmallVector<Type*, 16> result_types;
  std::string constraints;
  std::string scratch;  // sinks are written as such
  const auto add_constraint = [&](const std::string& c) { constraints += (constraints.empty() ? "" : ",") + c; };
  SmallVector<int, 16> numbers;
  int next = 0;
  for (const Operand* r : results) {
    if (r->kind == OperandKind::sink) {
      numbers.push_back(-1);
      continue;
    }
    if (r->kind != OperandKind::reg) refuse("a result that is no register");
    result_types.push_back(variable_of(static_cast<std::uint32_t>(r->index))->getAllocatedType());
    add_constraint("=" + constraint_of(*result_types.back()));
    numbers.push_back(next++);
  }
  SmallVector<Value*, 16> arguments;
  const auto argument = [&](Value* v, const std::string& constraint) {
    if (v->getType()->isIntegerTy(8)) v = b_.CreateZExt(v, b_.getInt16Ty());
    arguments.push_back(v);
    add_constraint(constraint);
    return "$" + std::to_string(next++);
  };
  const auto text_of = [&](auto&& self, const Operand& o) -> std::string {
    switch (o.kind) {
      case OperandKind::sink:
        return "_";
      case OperandKind::reg: {
        Value* v = read_register(o.index);
        return std::string(o.negated ? "!" : "") + argument(v, constraint_of(*v->getType()));
      }
      case OperandKind::special: {
        Value* v = special(o);
        return argument(v, constraint_of(*v->getType()));
      }
      case OperandKind::integer:
        return argument(b_.getInt64(o.bits), "n");
      case OperandKind::real: {
        Value* v = constant(o, o.real_bits == 64 ? ptx::Type::f64 : ptx::Type::f32);
        return argument(v, constraint_of(*v->getType()));
      }
      case OperandKind::symbol:
        return argument(read(o, ptx::Type::b64), "l");
      case OperandKind::address: {
        // Copies name the destination's space first; other operands that are addresses lie in shared memory (barriers)
        // or where the only space says.
        ptx::Space space = i.space();
        const auto at = static_cast<std::size_t>(&o - i.operands.data());
        if (i.space_count > 1 && at == 1) space = i.spaces[1];
        if (i.space_count > 1 && at > 1) space = ptx::Space::shared;
        if (!o.elements.empty()) space = ptx::Space::generic;  // a tensor map
        if (i.op == ptx::Op::cp_async && i.space_count == 0) refuse("cp.async without spaces");
        if (o.base == OperandKind::special || !o.component.empty()) refuse("an address in a special register");
        std::string text = "[" + argument(pointer(o, space), "l");
        if (!o.elements.empty()) {
          text += ", {";
          for (std::size_t k = 0; k < o.elements.size(); ++k) text += (k ? ", " : "") + self(self, o.elements[k]);
          text += "}";
        }
        return text + "]";
      }
      case OperandKind::vector: {
        std::string text = "{";
        for (std::size_t k = 0; k < o.elements.size(); ++k) text += (k ? ", " : "") + self(self, o.elements[k]);
        return text + "}";
      }
      default:
        refuse("an operand of an unexpected kind");
    }
  };
  std::string opcode(i.opcode);
  for (const std::string_view m : i.modifiers) opcode += "." + std::string(m);
  std::string text = opcode;
  for (std::size_t k = 0; k < i.operands.size(); ++k) {
    text += k ? ", " : " ";
    if (k == 0 && (first_is_result || reads_first)) {
      const bool vector = i.operands[0].kind == OperandKind::vector, pair = i.operands[0].kind == OperandKind::pair;
      std::string list;
      for (std::size_t n = 0; n < numbers.size(); ++n)
        list += (n ? (pair ? "|" : ", ") : "") + (numbers[n] < 0 ? std::string("_") : "$" + std::to_string(numbers[n]));
      text += vector ? "{" + list + "}" : list;
      if (reads_first)
        for (std::size_t n = 0; n < numbers.size(); ++n)
          if (numbers[n] >= 0) {
            arguments.push_back(read_register(results[n]->index));
            add_constraint(std::to_string(numbers[n]));
            ++next;
          }
      continue;
    }
    text += text_of(text_of, i.operands[k]);
  }
  text += ";";
  Type* returned = result_types.empty()       ? b_.getVoidTy()
                   : result_types.size() == 1 ? result_types[0]
                                              : StructType::get(b_.getContext(), result_types);
  SmallVector<Type*, 16> types;
  for (Value* v : arguments) types.push_back(v->getType());
  auto* type = FunctionType::get(returned, types, false);
  Function* function = nullptr;
  for (int variant = 1; !function; ++variant) {
    const std::string name = ptx_call_prefix + opcode + (variant > 1 ? "#" + std::to_string(variant) : std::string());
    Function* known = into_.getParent()->getFunction(name);
    if (known &&
        (known->getFunctionType() != type || known->getFnAttribute(ptx_text_attribute).getValueAsString() != text))
      continue;
    function = known ? known : Function::Create(type, GlobalValue::ExternalLinkage, name, into_.getParent());
    if (known) break;
    function->addFnAttr(ptx_text_attribute, text);
    function->addFnAttr(ptx_constraints_attribute, constraints);
    function->setDoesNotThrow();
    function->setWillReturn();
    if (touches_nothing(i)) function->setDoesNotAccessMemory();
    const bool together = i.op == ptx::Op::mma || i.op == ptx::Op::ldmatrix || i.op == ptx::Op::stmatrix ||
                          i.op == ptx::Op::movmatrix || !touches_nothing(i);
    if (together) function->setConvergent();
    if (i.op == ptx::Op::ldmatrix || i.op == ptx::Op::cp_async) {
      function->setOnlyAccessesArgMemory();
      if (i.op == ptx::Op::ldmatrix) function->setOnlyReadsMemory();
    }
    if (i.op == ptx::Op::mapa) function->setOnlyAccessesInaccessibleMemory();  // stays, for who looks for it
  }
  Value* made = b_.CreateCall(function, arguments);
  unsigned element = 0;
  for (std::size_t n = 0; n < results.size(); ++n) {
    if (numbers[n] < 0) continue;
    write(*results[n], result_types.size() == 1 ? made : b_.CreateExtractValue(made, element++));
  }
}

}  // namespace kernelcast::frontend
