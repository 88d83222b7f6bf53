// Bodies of functions of OpenCL C that libclc does not have for a target: 64-bit atomics, mad_hi, functions over the
// generic address space, and of NVIDIA those of half precision. Part of builtins.cpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "frontend/ir/math_costs.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend::library {

using namespace llvm;

/// "_Z12get_local_idj" -> "get_local_id"; empty when not an Itanium-mangled plain function.
inline StringRef plain_name(StringRef mangled) {
  if (!mangled.consume_front("_Z")) return {};
  unsigned length = 0;
  if (mangled.consumeInteger(10, length) || length > mangled.size()) return {};
  return mangled.take_front(length);
}

/// 64-bit atomics: libclc has none for NVIDIA.
inline void define_long_atomics(Module& module) {
  using Op = AtomicRMWInst;
  static const std::map<StringRef, std::pair<Op::BinOp, Op::BinOp>> operations = {
      // signed, unsigned
      {"atom_add", {Op::Add, Op::Add}},  {"atom_sub", {Op::Sub, Op::Sub}}, {"atom_xchg", {Op::Xchg, Op::Xchg}},
      {"atom_inc", {Op::Add, Op::Add}},  {"atom_dec", {Op::Sub, Op::Sub}}, {"atom_min", {Op::Min, Op::UMin}},
      {"atom_max", {Op::Max, Op::UMax}}, {"atom_and", {Op::And, Op::And}}, {"atom_or", {Op::Or, Op::Or}},
      {"atom_xor", {Op::Xor, Op::Xor}}};
  constexpr auto order = AtomicOrdering::Monotonic;
  for (Function& f : module) {
    if (!f.isDeclaration() || f.use_empty() || !f.getReturnType()->isIntegerTy(64)) continue;
    const StringRef name = plain_name(f.getName());
    const auto known = operations.find(name);
    if (known == operations.end() && name != "atom_cmpxchg") continue;
    IRBuilder<> b(BasicBlock::Create(module.getContext(), "entry", &f));
    Value* old = nullptr;
    if (name == "atom_cmpxchg") {
      old =
          b.CreateExtractValue(b.CreateAtomicCmpXchg(f.getArg(0), f.getArg(1), f.getArg(2), Align(8), order, order), 0);
    } else {
      const auto op = f.getName().back() == 'm' ? known->second.second : known->second.first;
      Value* operand = b.getInt64(1);
      if (f.arg_size() > 1) operand = f.getArg(1);
      old = b.CreateAtomicRMW(op, f.getArg(0), operand, Align(8), order);
    }
    b.CreateRet(old);
    f.setLinkage(GlobalValue::InternalLinkage);
    f.setVisibility(GlobalValue::DefaultVisibility);
  }
}

/// libclc has mad_hi as a macro only: mad_hi(a, b, c) is mul_hi(a, b) + c.
inline void define_mad_hi(Module& module) {
  std::vector<Function*> used;
  for (Function& f : module)
    if (f.isDeclaration() && !f.use_empty() && plain_name(f.getName()) == "mad_hi") used.push_back(&f);
  for (Function* f : used) {
    std::string name = f->getName().str();  // _Z6mad_hiiii, or of vectors _Z6mad_hiDv4_iS_S_
    name.replace(3, 6, "mul_hi");
    name.resize(name.size() - (f->getReturnType()->isVectorTy() ? 2 : 1));
    Type* type = f->getReturnType();
    FunctionCallee product = module.getOrInsertFunction(name, FunctionType::get(type, {type, type}, false));
    IRBuilder<> b(BasicBlock::Create(module.getContext(), "entry", f));
    b.CreateRet(b.CreateAdd(b.CreateCall(product, {f->getArg(0), f->getArg(1)}), f->getArg(2)));
    f->setLinkage(GlobalValue::InternalLinkage);
    f->setVisibility(GlobalValue::DefaultVisibility);
  }
}

/// Clang mangles the generic address space of OpenCL 2.0 on AMD as AS0, which libclc does not have: such a function is
/// the global one behind a cast. Address space inference undoes the cast where the pointer's space is known.
inline void forward_generic_functions(Module& module) {
  std::vector<Function*> generic;
  for (Function& f : module)
    if (f.isDeclaration() && !f.use_empty() && f.getName().contains("PU3AS0")) generic.push_back(&f);
  for (Function* f : generic) {
    std::string name = f->getName().str();
    for (std::size_t at = 0; (at = name.find("PU3AS0", at)) != std::string::npos;) name[at + 5] = '1';
    std::vector<Type*> types;
    for (Argument& a : f->args())
      types.push_back(a.getType()->isPointerTy() && a.getType()->getPointerAddressSpace() == 0
                          ? PointerType::get(module.getContext(), 1)
                          : a.getType());
    FunctionCallee global = module.getOrInsertFunction(name, FunctionType::get(f->getReturnType(), types, false));
    IRBuilder<> b(BasicBlock::Create(module.getContext(), "entry", f));
    std::vector<Value*> arguments;
    for (Argument& a : f->args())
      arguments.push_back(a.getType() == types[a.getArgNo()] ? &a : b.CreateAddrSpaceCast(&a, types[a.getArgNo()]));
    Value* result = b.CreateCall(global, arguments);
    f->getReturnType()->isVoidTy() ? b.CreateRetVoid() : b.CreateRet(result);
    f->setLinkage(GlobalValue::InternalLinkage);
    f->setVisibility(GlobalValue::DefaultVisibility);
  }
}

/// A type with float in place of half.
inline llvm::Type* widened(Type* type) {
  if (!type->isFPOrFPVectorTy() || !type->getScalarType()->isHalfTy()) return type;
  Type* scalar = Type::getFloatTy(type->getContext());
  auto* vector = dyn_cast<FixedVectorType>(type);
  return vector ? FixedVectorType::get(scalar, vector->getNumElements()) : scalar;
}

/// libclc has few functions of half for NVIDIA: the others are those of float between conversions, as on a device
/// without the instruction; what has one (minimum, fused multiply-add) costs the conversions too much here.
inline void define_half_functions(Module& module, const Module& library) {
  std::vector<Function*> used;
  for (Function& f : module) {
    const StringRef name = f.getName();
    if (!f.isDeclaration() || f.use_empty() || plain_name(name).empty() || !name.contains("Dh")) continue;
    if (library.getFunction(name) != nullptr || is_costed_function(name.str())) continue;
    const bool pointers = any_of(f.args(), [](const Argument& a) { return a.getType()->isPointerTy(); });
    const bool narrow_answer = f.getReturnType()->isIntOrIntVectorTy(16);  // relations of vectors
    if (!pointers && !narrow_answer) used.push_back(&f);
  }
  for (Function* f : used) {
    std::string name = f->getName().str();
    for (std::size_t at = 0; (at = name.find("Dh", at)) != std::string::npos;) name.replace(at, 2, "f");
    std::vector<Type*> types;
    for (const Argument& a : f->args()) types.push_back(widened(a.getType()));
    const FunctionCallee wide =
        module.getOrInsertFunction(name, FunctionType::get(widened(f->getReturnType()), types, false));
    IRBuilder<> b(BasicBlock::Create(module.getContext(), "entry", f));
    std::vector<Value*> arguments;
    for (Argument& a : f->args()) {
      Type* type = types[a.getArgNo()];
      arguments.push_back(type == a.getType() ? static_cast<Value*>(&a) : b.CreateFPExt(&a, type));
    }
    Value* result = b.CreateCall(wide, arguments);
    b.CreateRet(result->getType() == f->getReturnType() ? result : b.CreateFPTrunc(result, f->getReturnType()));
    f->setLinkage(GlobalValue::InternalLinkage);
    f->setVisibility(GlobalValue::DefaultVisibility);
  }
}

}  // namespace kernelcast::frontend::library
