// Code generation in process. The target's code generator writes verbose assembly from a clone of the module; the
// LLVM-free readers (ptx_*, amdgcn_*) count it. To keep one machine block per IR block, the passes that merge, copy
// or move whole blocks are off (they would change the layout, hardly the counts).
//
// Functions of the mathematical library arrive as calls of undefined functions. Those that are instructions become
// LLVM intrinsics; the others become one line of inline assembly, `kc.math exp.f32, results, arguments`, which the code
// generator carries through register allocation like any instruction; the reader charges it from math_costs.h.
//
// LLVM reports what it cannot do through fatal errors, which end the process, or diagnostics. Both are caught
// here: a fatal error leaves the code generator by longjmp (CrashRecoveryContext), which leaks its memory.
#include "frontend/ir/annotations.h"
#include "frontend/ir/builtins.h"
#include "frontend/pipeline/pipeline.h"

#include <algorithm>
#include <array>
#include <memory>

#include "frontend/code/amd/amdgcn.h"
#include "frontend/code/nvidia/ptx_analysis.h"
#include "frontend/ir/math_costs.h"
#include "frontend/ir/ptx_calls.h"
#include "frontend/ir/vendor_options.h"
#include "frontend/lower/optimize.h"
#include "frontend/source/compile_guard.h"
#include "kernelcast/error.h"
#include "kernelcast/tensor.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "machine/nvidia_targets.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

// ---- math functions ----

struct Lowering {
  bool nvidia, fast_math;
  int sm;  // 0: not NVIDIA's
};

StringRef type_name(const Type& scalar) { return scalar.isDoubleTy() ? "f64" : "f32"; }

// Scalar values that a register constraint takes; halves and narrow integers are widened.
void append_scalars(IRBuilder<>& b, Value* v, SmallVectorImpl<Value*>& out) {
  if (auto* vector = dyn_cast<FixedVectorType>(v->getType())) {
    for (unsigned i = 0; i < vector->getNumElements(); ++i) append_scalars(b, b.CreateExtractElement(v, i), out);
    return;
  }
  if (v->getType()->isHalfTy() || v->getType()->isBFloatTy()) v = b.CreateFPExt(v, b.getFloatTy());
  if (v->getType()->isIntegerTy() && v->getType()->getIntegerBitWidth() < 32) v = b.CreateSExt(v, b.getInt32Ty());
  out.push_back(v);
}

const char* constraint(const Type& type, bool nvidia) {
  if (!nvidia) return "v";
  if (type.isDoubleTy()) return "d";
  if (type.isFloatTy()) return "f";
  if (type.isIntegerTy(16)) return "h";
  return type.isPointerTy() || type.getPrimitiveSizeInBits() == 64 ? "l" : "r";
}

// One pseudo instruction that reads `inputs` and defines a value of type `result` (scalar or vector of numbers).
Value* pseudo(IRBuilder<>& b, const std::string& key, Type* result, ArrayRef<Value*> inputs, bool nvidia) {
  Type* element = result->getScalarType();
  Type* held = element->isHalfTy() || element->isBFloatTy() ? b.getFloatTy() : element;
  const unsigned lanes = isa<FixedVectorType>(result) ? cast<FixedVectorType>(result)->getNumElements() : 1;
  SmallVector<Type*, 8> results(lanes, held), parameters;
  std::string constraints, text = nvidia ? "kc.math " : "kc_math ";
  text += key + (lanes > 1 ? "x" + std::to_string(lanes) : "");
  unsigned operand = 0;
  for (unsigned i = 0; i < lanes; ++i) {
    constraints += std::string(i ? "," : "") + "=" + constraint(*held, nvidia);
    text += ", $" + std::to_string(operand++);
  }
  for (Value* v : inputs) {
    parameters.push_back(v->getType());
    constraints += std::string(",") + constraint(*v->getType(), nvidia);
    text += ", $" + std::to_string(operand++);
  }
  if (nvidia) text += ";";
  Type* returned = lanes == 1 ? results[0] : StructType::get(b.getContext(), results);
  Value* out =
      b.CreateCall(InlineAsm::get(FunctionType::get(returned, parameters, false), text, constraints, false), inputs);
  auto narrowed = [&](Value* v) { return held == element ? v : b.CreateFPTrunc(v, element); };
  if (lanes == 1) return narrowed(out);
  Value* vector = PoisonValue::get(result);
  for (unsigned i = 0; i < lanes; ++i)
    vector = b.CreateInsertElement(vector, narrowed(b.CreateExtractValue(out, i)), i);
  return vector;
}

Intrinsic::ID intrinsic_of(StringRef name) {
  static const std::pair<StringRef, Intrinsic::ID> table[] = {
      {"sqrt", Intrinsic::sqrt},   {"fabs", Intrinsic::fabs},           {"fma", Intrinsic::fma},
      {"mad", Intrinsic::fmuladd}, {"fmin", Intrinsic::minnum},         {"fmax", Intrinsic::maxnum},
      {"floor", Intrinsic::floor}, {"ceil", Intrinsic::ceil},           {"trunc", Intrinsic::trunc},
      {"rint", Intrinsic::rint},   {"nearbyint", Intrinsic::nearbyint}, {"copysign", Intrinsic::copysign}};
  for (const auto& [key, id] : table)
    if (key == name) return id;
  return Intrinsic::not_intrinsic;
}

/// A function of 16-bit numbers that has a measured cost of its own, conversions included; fast mathematics leaves
/// these as they are. Null: none.
Value* narrow_function(IRBuilder<>& b, const std::string& name, Type* type, ArrayRef<Value*> arguments,
                       const Lowering& how) {
  Type* element = type->getScalarType();
  if (!how.nvidia || (!element->isHalfTy() && !element->isBFloatTy())) return nullptr;
  const std::string key = name + (element->isHalfTy() ? ".f16" : ".bf16");
  if (!nvidia_cost(key, how.sm)) return nullptr;
  Type* held = b.getInt16Ty();
  const auto one = [&](auto&& value_of) -> Value* {
    SmallVector<Value*, 4> bits;
    for (Value* v : arguments) {
      if (v->getType() != type) return nullptr;
      bits.push_back(b.CreateBitCast(value_of(v), held));
    }
    return b.CreateBitCast(pseudo(b, key, held, bits, true), element);
  };
  auto* vector = dyn_cast<FixedVectorType>(type);
  if (!vector) return one([](Value* v) { return v; });
  Value* result = PoisonValue::get(type);
  for (unsigned i = 0; i < vector->getNumElements(); ++i) {
    Value* element_result = one([&](Value* v) { return b.CreateExtractElement(v, i); });
    if (!element_result) return nullptr;
    result = b.CreateInsertElement(result, element_result, i);
  }
  return result;
}

Value* one_over(IRBuilder<>& b, Value* x) { return b.CreateFDiv(ConstantFP::get(x->getType(), 1.0), x); }

// Functions that are one or two instructions; null for the others. The form that flushes denormals, which fast
// mathematics asks for, is the bare instruction; the other scales its operand and result.
Value* direct(IRBuilder<>& b, StringRef name, ArrayRef<Value*> arguments, const Lowering& how) {
  Type* type = arguments[0]->getType();
  if (const Intrinsic::ID id = intrinsic_of(name)) {
    for (Value* v : arguments)
      if (v->getType() != type) return nullptr;
    return b.CreateIntrinsic(id, {type}, arguments);
  }
  const bool f32 = type->isFloatTy();
  if (name == "rsqrt" || name == "native_rsqrt") {
    if (f32 && how.nvidia)
      return b.CreateIntrinsic(how.fast_math ? Intrinsic::nvvm_rsqrt_approx_ftz_f : Intrinsic::nvvm_rsqrt_approx_f, {},
                               arguments);
    if (type->isDoubleTy() && how.nvidia) return b.CreateIntrinsic(Intrinsic::nvvm_rsqrt_approx_d, {}, arguments);
    if (f32) return b.CreateIntrinsic(Intrinsic::amdgcn_rsq, {type}, arguments);
    return one_over(b, b.CreateIntrinsic(Intrinsic::sqrt, {type}, arguments));
  }
  FastMathFlags approximate;
  approximate.setApproxFunc();
  approximate.setAllowReciprocal();
  b.setFastMathFlags(approximate);
  if (name == "native_sqrt")
    return f32 && how.nvidia
               ? b.CreateIntrinsic(how.fast_math ? Intrinsic::nvvm_sqrt_approx_ftz_f : Intrinsic::nvvm_sqrt_approx_f,
                                   {}, arguments)
               : b.CreateIntrinsic(Intrinsic::sqrt, {type}, arguments);
  if (name == "native_recip") {
    if (f32 && how.nvidia) return b.CreateIntrinsic(Intrinsic::nvvm_rcp_approx_ftz_f, {}, arguments);
    return f32 ? b.CreateIntrinsic(Intrinsic::amdgcn_rcp, {type}, arguments) : one_over(b, arguments[0]);
  }
  if (name == "native_divide" && arguments.size() == 2) {
    if (f32 && how.nvidia)
      return b.CreateIntrinsic(how.fast_math ? Intrinsic::nvvm_div_approx_ftz_f : Intrinsic::nvvm_div_approx_f, {},
                               arguments);
    return b.CreateFDiv(arguments[0], arguments[1]);
  }
  return nullptr;
}

/// Divisions of 16-bit numbers, which NVIDIA's header writes out.
void lower_narrow_division(Instruction& i, const Lowering& how) {
  if (i.getOpcode() != Instruction::FDiv) return;
  IRBuilder<> b(&i);
  if (Value* quotient = narrow_function(b, "div", i.getType(), {i.getOperand(0), i.getOperand(1)}, how))
    i.replaceAllUsesWith(quotient);
}

// OpenCL's single-precision division may be off by 2.5 ulp: NVIDIA's compilers then use div.full.
void lower_division(Instruction& i, bool fast_math) {
  auto* division = dyn_cast<BinaryOperator>(&i);
  if (fast_math || !division || division->getOpcode() != Instruction::FDiv || !division->getType()->isFloatTy()) return;
  const auto* accuracy = dyn_cast<FPMathOperator>(division);
  if (!accuracy || accuracy->getFPAccuracy() < 2.0f) return;
  IRBuilder<> b(division);
  auto* type = FunctionType::get(b.getFloatTy(), {b.getFloatTy(), b.getFloatTy()}, false);
  division->replaceAllUsesWith(b.CreateCall(InlineAsm::get(type, "div.full.f32 $0, $1, $2;", "=f,f,f", false),
                                            {division->getOperand(0), division->getOperand(1)}));
}

/// Sums and products of bfloat16 are fused multiply-adds with 1, -1 or -0 from sm_80 on, as in NVIDIA's header; sm_90
/// has instructions of its own. LLVM would compute in single precision.
void lower_bfloat(Instruction& i, int sm) {
  constexpr int fused = 80, own = 90;
  auto* operation = dyn_cast<BinaryOperator>(&i);
  Type* type = i.getType();
  if (sm < fused || sm >= own || !operation || !type->getScalarType()->isBFloatTy()) return;
  auto* pair = dyn_cast<FixedVectorType>(type);
  if (pair && pair->getNumElements() != 2) return;
  Value *x = operation->getOperand(0), *y = operation->getOperand(1), *z = y;
  if (operation->getOpcode() == Instruction::FAdd) {
    y = ConstantFP::get(type, 1.0);
  } else if (operation->getOpcode() == Instruction::FSub) {
    z = std::exchange(x, y);
    y = ConstantFP::get(type, -1.0);
  } else if (operation->getOpcode() == Instruction::FMul) {
    z = ConstantFP::get(type, -0.0);
  } else {
    return;
  }
  IRBuilder<> b(operation);
  operation->replaceAllUsesWith(
      b.CreateIntrinsic(pair ? Intrinsic::nvvm_fma_rn_bf16x2 : Intrinsic::nvvm_fma_rn_bf16, {}, {x, y, z}));
}

std::optional<std::string> function_name(const CallInst& call, bool nvidia) {
  const Function* callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration() || call.arg_empty()) return std::nullopt;
  if (!callee->isIntrinsic()) return math_function(callee->getName().str());
  const Type* scalar = call.getType()->getScalarType();
  switch (callee->getIntrinsicID()) {
    case Intrinsic::exp:
    case Intrinsic::exp2:
    case Intrinsic::exp10:
    case Intrinsic::log:
    case Intrinsic::log2:
    case Intrinsic::log10:
    case Intrinsic::sin:
    case Intrinsic::cos:
    case Intrinsic::pow:
      if (!nvidia && !scalar->isDoubleTy() && callee->getIntrinsicID() != Intrinsic::pow) return std::nullopt;
      return Intrinsic::getBaseName(callee->getIntrinsicID()).drop_front(5).str();
    case Intrinsic::tan:
    case Intrinsic::asin:
    case Intrinsic::acos:
    case Intrinsic::atan:
    case Intrinsic::sinh:
    case Intrinsic::cosh:
    case Intrinsic::tanh:
      return Intrinsic::getBaseName(callee->getIntrinsicID()).drop_front(5).str();
    case Intrinsic::powi:
      return "pown";
    case Intrinsic::round:
      return nvidia ? std::optional<std::string>("round") : std::nullopt;
    case Intrinsic::ldexp:
      return nvidia ? std::optional<std::string>("ldexp") : std::nullopt;
    default:
      return std::nullopt;
  }
}

// lrint, llrint, lround, llround: rounding, then a conversion.
bool lower_rounding_to_integer(CallInst& call, const std::string& name, const Lowering& how) {
  if (name != "lrint" && name != "llrint" && name != "lround" && name != "llround") return false;
  if (call.arg_size() != 1 || !call.getType()->isIntegerTy()) return false;
  IRBuilder<> b(&call);
  Value* x = call.getArgOperand(0);
  Value* rounded = name.ends_with("rint") ? b.CreateUnaryIntrinsic(Intrinsic::rint, x)
                                          : pseudo(b, "round." + type_name(*x->getType()->getScalarType()).str(),
                                                   x->getType(), {x}, how.nvidia);
  call.replaceAllUsesWith(b.CreateFPToSI(rounded, call.getType()));
  call.eraseFromParent();
  return true;
}

void lower_call(CallInst& call, const std::string& name, const Lowering& how) {
  if (lower_rounding_to_integer(call, name, how)) return;
  IRBuilder<> b(&call);
  SmallVector<Value*, 4> numbers, pointers;
  for (Value* v : call.args()) (v->getType()->isPointerTy() ? pointers : numbers).push_back(v);
  if (numbers.empty()) return;
  Value* result = nullptr;
  Type* type = numbers[0]->getType();
  if (pointers.empty() && call.getType() == type) result = narrow_function(b, name, type, numbers, how);
  if (!result && pointers.empty() && !call.getType()->isVoidTy()) result = direct(b, name, numbers, how);
  if (result && how.fast_math && isa<Instruction>(result) && isa<FPMathOperator>(result))
    cast<Instruction>(result)->setHasApproxFunc(true);
  if (!result) {
    SmallVector<Value*, 16> scalars;
    for (Value* v : numbers) append_scalars(b, v, scalars);
    const std::string key = name + "." + type_name(*type->getScalarType()).str() + (how.fast_math ? ".fast" : "");
    result = pseudo(b, key, call.getType()->isVoidTy() ? type : call.getType(), scalars, how.nvidia);
    // Results through pointers: the second value comes with the first, at no further cost.
    for (Value* p : pointers) {
      const bool integer = name == "frexp" || name == "remquo" || name == "lgamma_r";
      Type* stored =
          !integer ? type
          : isa<FixedVectorType>(type)
              ? static_cast<Type*>(FixedVectorType::get(b.getInt32Ty(), cast<FixedVectorType>(type)->getNumElements()))
              : b.getInt32Ty();
      b.CreateStore(pseudo(b, "second_result", stored, scalars, how.nvidia), p);
    }
  }
  if (!call.getType()->isVoidTy() && result->getType() == call.getType())
    call.replaceAllUsesWith(result);
  else if (!call.use_empty())
    call.replaceAllUsesWith(PoisonValue::get(call.getType()));
  call.eraseFromParent();
}

// __ldg as CUDA's header has it: one piece of inline assembly, which takes the address in a register.
void lower_read_only_load(CallInst& call) {
  Type* type = call.getType();
  Type* element = type->getScalarType();
  const unsigned bits = element->isPointerTy() ? 64 : element->getScalarSizeInBits();
  const unsigned lanes = isa<FixedVectorType>(type) ? cast<FixedVectorType>(type)->getNumElements() : 1;
  IRBuilder<> b(&call);
  const bool real = element->isFloatTy() || element->isDoubleTy();
  Type* held = real ? element : b.getIntNTy(std::max(bits, 16U));
  const char* held_in = real ? (bits == 64 ? "d" : "f") : bits == 64 ? "l" : bits == 32 ? "r" : "h";
  std::string constraints, registers;
  for (unsigned i = 0; i < lanes; ++i) {
    constraints += std::string("=") + held_in + ",";
    registers += (i ? ", $" : "$") + std::to_string(i);
  }
  if (lanes > 1) registers = "{" + registers + "}";
  const std::string text = "ld.global.nc." + (lanes > 1 ? "v" + std::to_string(lanes) + "." : "") + (real ? "f" : "u") +
                           std::to_string(bits) + " " + registers + ", [$" + std::to_string(lanes) + "];";
  const SmallVector<Type*, 4> results(lanes, held);
  Type* returned = lanes == 1 ? held : StructType::get(b.getContext(), results);
  Value* pointer = call.getArgOperand(0);
  auto* assembly = InlineAsm::get(FunctionType::get(returned, {pointer->getType()}, false), text, constraints + "l",
                                  /*hasSideEffects=*/false);
  Value* loaded = b.CreateCall(assembly, {pointer});
  const auto as_element = [&](Value* v) {
    if (element->isPointerTy()) return b.CreateIntToPtr(v, element);
    v = v->getType()->isIntegerTy() && bits < 16 ? b.CreateTrunc(v, b.getIntNTy(bits)) : v;
    return v->getType() == element ? v : b.CreateBitCast(v, element);
  };
  Value* result = lanes == 1 ? as_element(loaded) : PoisonValue::get(type);
  for (unsigned i = 0; lanes > 1 && i < lanes; ++i)
    result = b.CreateInsertElement(result, as_element(b.CreateExtractValue(loaded, i)), i);
  call.replaceAllUsesWith(result);
  call.eraseFromParent();
}

// A call of a declaration "kc.tensor.OPCODE" (tensor.h): that instruction, results and arguments in braces as PTX has
// them, each vector of up to 32 bits in one register. Null pointers only tell overloads apart and are left out.
void lower_tensor_call(CallInst& call, bool nvidia) {
  IRBuilder<> b(&call);
  std::string text = call.getCalledFunction()->getName().drop_front(tensor_call_prefix.size()).str(), constraints;
  unsigned operand = 0;
  const auto held = [&](Type* type) -> Type* {
    const bool narrow = type->getPrimitiveSizeInBits() <= 32;
    if (!narrow || (!type->isVectorTy() && !type->isHalfTy() && !type->isBFloatTy())) return type;
    return b.getIntNTy(static_cast<unsigned>(type->getPrimitiveSizeInBits()));
  };
  SmallVector<Type*, 16> results, parameters;
  SmallVector<Value*, 16> values;
  if (auto* several = dyn_cast<StructType>(call.getType()))
    results.append(several->element_begin(), several->element_end());
  else if (!call.getType()->isVoidTy())
    results.push_back(call.getType());
  SmallVector<Type*, 16> registers;
  text += results.empty() || !nvidia ? " " : " {";
  for (Type* type : results) {
    registers.push_back(held(type));
    constraints += (operand ? ",=" : "=") + std::string(constraint(*registers.back(), nvidia));
    text += (operand ? ", $" : "$") + std::to_string(operand);
    ++operand;
  }
  if (!results.empty() && nvidia) text += "}";
  for (Value* v : call.args()) {
    if (isa<ConstantPointerNull>(v)) continue;
    if (held(v->getType()) != v->getType()) v = b.CreateBitCast(v, held(v->getType()));
    values.push_back(v);
    parameters.push_back(v->getType());
    constraints += (operand ? "," : "") + std::string(constraint(*v->getType(), nvidia));
    text += (operand ? ", $" : "$") + std::to_string(operand);
    ++operand;
  }
  if (nvidia) text += ";";
  Type* returned = registers.empty()       ? b.getVoidTy()
                   : registers.size() == 1 ? registers[0]
                                           : static_cast<Type*>(StructType::get(b.getContext(), registers));
  Value* out =
      b.CreateCall(InlineAsm::get(FunctionType::get(returned, parameters, false), text, constraints, true), values);
  const auto as = [&](Value* v, Type* type) { return v->getType() == type ? v : b.CreateBitCast(v, type); };
  if (isa<StructType>(call.getType())) {
    Value* whole = PoisonValue::get(call.getType());
    for (unsigned i = 0; i < results.size(); ++i)
      whole = b.CreateInsertValue(whole, as(results.size() == 1 ? out : b.CreateExtractValue(out, i), results[i]), i);
    call.replaceAllUsesWith(whole);
  } else if (!call.getType()->isVoidTy()) {
    call.replaceAllUsesWith(as(out, call.getType()));
  }
  call.eraseFromParent();
}

bool is_tensor_call(const CallInst& call) {
  const Function* f = call.getCalledFunction();
  return f && f->isDeclaration() && f->getName().starts_with(tensor_call_prefix);
}

// merge_loads (addresses.h) has merged what NVIDIA's compilers merge; LLVM's code generator would merge the rest. Its
// scans end after 100 instructions, but for one that knows no distance: an empty assembly that may change memory ends
// it.
void end_merging_of_loads(Function& kernel) {
  constexpr int reach = 100;
  auto* nothing = InlineAsm::get(FunctionType::get(Type::getVoidTy(kernel.getContext()), false), "", "~{memory}",
                                 /*hasSideEffects=*/true);
  for (BasicBlock& block : kernel) {
    int since = 0;
    for (Instruction& i : block) {
      if (isa<PHINode>(i) || i.isTerminator() || i.isDebugOrPseudoInst() || ++since < reach) continue;
      since = 0;
      IRBuilder<>(&i).CreateCall(nothing);
    }
  }
}

/// Whether the address of a parameter goes to instructions of PTX and nothing else is done to it but reading.
bool is_read_by_address(const Value& parameter) {
  bool by_address = false;
  SmallVector<const Value*, 8> work{&parameter};
  while (!work.empty())
    for (const User* user : work.pop_back_val()->users()) {
      if (isa<GetElementPtrInst>(user) || isa<CastInst>(user)) {
        work.push_back(user);
      } else if (ptx_instruction(*user)) {
        by_address = true;
      } else if (!isa<LoadInst>(user)) {
        return false;
      }
    }
  return by_address;
}

/// nvcc leaves such parameters (tensor maps, __grid_constant__) in the constant bank; LLVM would copy them to local
/// memory.
void keep_parameters_in_place(Function& kernel) {
  LLVMContext& context = kernel.getContext();
  SmallVector<Metadata*, 4> numbers;
  for (const Argument& a : kernel.args())
    if (a.hasByValAttr() && is_read_by_address(a))
      numbers.push_back(ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(context), a.getArgNo() + 1)));
  if (numbers.empty()) return;
  kernel.getParent()
      ->getOrInsertNamedMetadata("nvvm.annotations")
      ->addOperand(MDNode::get(context, {ConstantAsMetadata::get(&kernel), MDString::get(context, "grid_constant"),
                                         MDNode::get(context, numbers)}));
}

void lower_calls(Function& kernel, const Lowering& how) {
  if (how.nvidia) keep_parameters_in_place(kernel);
  for (Instruction& i : make_early_inc_range(instructions(kernel))) {
    if (how.nvidia) lower_division(i, how.fast_math);
    lower_bfloat(i, how.sm);
    lower_narrow_division(i, how);
    auto* call = dyn_cast<CallInst>(&i);
    if (!call) continue;
    if (ptx_instruction(*call))
      lower_ptx_call(*call);
    else if (is_read_only_load(*call))
      lower_read_only_load(*call);
    else if (is_tensor_call(*call))
      lower_tensor_call(*call, how.nvidia);
    else if (const auto name = function_name(*call, how.nvidia))
      lower_call(*call, *name, how);
  }
}

// ---- the module ----

// Only line directives: no debug sections in the text.
void keep_only_lines(Module& module) {
  DebugInfoFinder finder;
  finder.processModule(module);
  if (finder.compile_unit_count() == 0) return;
  DICompileUnit* old = *finder.compile_units().begin();
  if (old->getEmissionKind() == DICompileUnit::DebugDirectivesOnly) return;
  DICompileUnit* unit = DICompileUnit::getDistinct(
      module.getContext(), old->getSourceLanguage(), old->getFile(), old->getProducer(), old->isOptimized(), "", 0, "",
      DICompileUnit::DebugDirectivesOnly, nullptr, nullptr, nullptr, nullptr, nullptr, 0, false, false,
      DICompileUnit::DebugNameTableKind::None, false, "", "");
  for (DISubprogram* subprogram : finder.subprograms())
    if (subprogram->isDistinct()) subprogram->replaceUnit(unit);
  NamedMDNode* units = module.getOrInsertNamedMetadata("llvm.dbg.cu");
  units->clearOperands();
  units->addOperand(unit);
}

std::unique_ptr<Module> clone_kernel(const Module& module, const std::string& symbol) {
  ValueToValueMapTy map;
  auto clone = CloneModule(module, map, [&](const GlobalValue* g) {
    return !isa<Function>(g) || g->getName() == symbol || g->hasLocalLinkage();
  });
  Function* kernel = clone->getFunction(symbol);
  if (!kernel || kernel->isDeclaration())
    throw InternalError("generate_target_code: no kernel '" + symbol + "' in the module");
  return clone;
}

// ---- running the code generator ----

struct Messages : DiagnosticHandler {
  explicit Messages(std::string* errors) : errors_(errors) {}
  bool handleDiagnostics(const DiagnosticInfo& info) override {
    if (info.getSeverity() == DS_Error) {
      raw_string_ostream out(*errors_);
      DiagnosticPrinterRawOStream printer(out);
      if (!errors_->empty()) out << "; ";
      info.print(printer);
    }
    return true;
  }
  std::string* errors_;
};

// The assembly, or LLVM's message in `error`.
std::string emit(Module& module, const std::string& target, bool fast_math, std::string& error) {
  const VendorOptions options(target.starts_with("sm_"));
  catch_fatal_errors();
  LLVMContext& context = module.getContext();
  auto previous = context.getDiagnosticHandler();
  context.setDiagnosticHandler(std::make_unique<Messages>(&error));
  SmallString<0> text;
  const std::unique_ptr<TargetMachine> machine = make_target_machine(target, fast_math);
  CrashRecoveryContext guard;
  const bool finished = guard.RunSafely([&] {
    raw_svector_ostream out(text);
    legacy::PassManager passes;
    if (machine->addPassesToEmitFile(passes, out, nullptr, CodeGenFileType::AssemblyFile, /*DisableVerify=*/true))
      report_fatal_error("the back end writes no assembly");
    passes.run(module);
  });
  context.setDiagnosticHandler(std::move(previous));
  if (finished) return text.str().str();
  if (const std::string fatal = take_fatal_message(); !fatal.empty()) error = fatal;
  if (error.empty()) error = "the code generator crashed";
  return text.str().str();
}

// Where an intrinsic does not select, newer targets may do.
std::string next_target(const std::string& target) {
  for (const machine::NvidiaTarget& t : machine::nvidia_targets())
    if (t.begins_generation && t.sm > std::atoi(target.c_str() + 3)) return "sm_" + std::to_string(t.sm);
  return {};
}

std::int64_t declared_threads(const Function& kernel) {
  std::int64_t product = 1;
  bool found = false;
  each_annotation(kernel, [&](StringRef key, std::int64_t value) {
    if (!key.starts_with("maxntid") && !key.starts_with("reqntid")) return;
    product *= value;
    found = true;
  });
  if (const MDNode* size = kernel.getMetadata("reqd_work_group_size"); size && !found) {
    for (const MDOperand& o : size->operands()) product *= mdconst::extract<ConstantInt>(o)->getSExtValue();
    found = true;
  }
  return found ? product : 0;
}

}  // namespace

TargetCode generate_target_code(const llvm::Module& module, const std::string& kernel_symbol, const std::string& target,
                                bool fast_math, const std::string& ptxas, const std::optional<NvrtcCode>& nvrtc) {
  const bool nvidia = target.starts_with("sm_");
  const Assembler assembler{ptxas, is_relocatable(module)};
  std::vector<std::string> names;
  std::string current = target, text, first_error;
  std::int64_t threads = 0;
  bool short_divisions = false;
  while (true) {
    const std::unique_ptr<Module> clone = clone_kernel(module, kernel_symbol);
    if (!nvidia) lower_size_markers(*clone);
    Function& kernel = *clone->getFunction(kernel_symbol);
    names.clear();
    for (const BasicBlock& block : kernel) names.push_back(block.getName().str());
    threads = declared_threads(kernel);
    if (nvidia) kernel.setCallingConv(CallingConv::PTX_Kernel);
    if (nvidia && fast_math) kernel.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
    short_divisions = choose_ways_of_divisions(kernel, nvidia);
    lower_calls(kernel, {nvidia, fast_math, nvidia ? std::atoi(current.c_str() + 3) : 0});
    if (nvidia) end_merging_of_loads(kernel);
    keep_only_lines(*clone);
    std::string error;
    text = emit(*clone, current, fast_math, error);
    if (error.empty()) break;
    if (first_error.empty()) first_error = error;
    current = nvidia ? next_target(current) : "";
    if (current.empty())
      throw LimitError("kernel '" + kernel_symbol + "': LLVM cannot generate code for " + target + ": " + first_error);
  }
  TargetCode code =
      nvidia ? analyze_ptx(text, kernel_symbol, std::atoi(current.c_str() + 3), threads, names, assembler, nvrtc)
             : analyze_amdgcn(text, kernel_symbol, names);
  if (current != target)
    code.assumptions.push_back({"code generation for " + target + ": " + first_error, "code of " + current, ""});
  if (short_divisions)
    code.assumptions.push_back(
        {"operands of 64-bit divisions", "below 2^32: the short way that the compiler adds", ""});
  code.target = current;
  code.assembly = std::move(text);
  return code;
}

}  // namespace kernelcast::frontend
