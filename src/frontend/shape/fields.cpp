// Fields of structures that a kernel takes by value. LLVM keeps no names of fields, so an integer at byte 8 of
// parameter p is the parameter "p+8", which --arg can give; a pointer there is the buffer "p+8".
#include "frontend/shape/kernel_model.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {

using namespace llvm;

/// The by-value parameter and the byte that a pointer stands for.
std::optional<std::pair<const Argument*, std::int64_t>> KernelModel::parameter_place(const Value* pointer) const {
  const DataLayout& layout = function_.getParent()->getDataLayout();
  APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  const Value* base = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
  const auto* parameter = dyn_cast<Argument>(base);
  if (!parameter || !(parameter->hasByValAttr() || parameter->hasByRefAttr())) return std::nullopt;
  return std::make_pair(parameter, offset.getSExtValue());
}

Expr KernelModel::field(const Argument* parameter, std::int64_t byte, Type* type) {
  const std::string& owner = profile_.parameters[parameter->getArgNo()].name;
  Parameter p;
  p.name = owner + "+" + std::to_string(byte);
  p.integer = true;
  p.bytes = static_cast<int>(type->getIntegerBitWidth() + 7) / 8;
  p.type = "i" + std::to_string(type->getIntegerBitWidth());
  auto same = [&](const Parameter& known) { return known.name == p.name; };
  auto& all = profile_.parameters;
  if (std::find_if(all.begin(), all.end(), same) == all.end()) all.push_back(p);
  return argument(p.name);
}

std::optional<Expr> KernelModel::parameter_field(Value* pointer, Type* type, std::int64_t further) {
  if (!type->isIntegerTy() || type->getIntegerBitWidth() > 64) return std::nullopt;
  const auto place = parameter_place(pointer);
  if (!place) return std::nullopt;
  return field(place->first, place->second + further, type);
}

/// A structure that is passed in registers.
std::optional<Expr> KernelModel::parameter_member(ExtractValueInst* member) {
  auto* parameter = dyn_cast<Argument>(member->getAggregateOperand());
  if (!parameter) return std::nullopt;
  const DataLayout& layout = function_.getParent()->getDataLayout();
  SmallVector<Value*, 4> path{ConstantInt::get(Type::getInt32Ty(member->getContext()), 0)};
  for (unsigned n : member->indices()) path.push_back(ConstantInt::get(Type::getInt32Ty(member->getContext()), n));
  return field(parameter, layout.getIndexedOffsetInType(parameter->getType(), path), member->getType());
}

Expr KernelModel::vector_element(ExtractElementInst* element) {
  auto* load = dyn_cast<LoadInst>(element->getVectorOperand());
  if (!load) return data(element, "part of a vector at " + text_of(line_of(*element)));
  if (auto* index = dyn_cast<ConstantInt>(element->getIndexOperand())) {
    const auto bytes = static_cast<std::int64_t>(element->getType()->getScalarSizeInBits() / 8);
    const auto further = index->getSExtValue() * bytes;
    if (auto value = parameter_field(load->getPointerOperand(), element->getType(), further)) return *value;
  }
  return data(element, "loaded from memory at " + text_of(line_of(*load)));
}

std::optional<Address> KernelModel::pointer_field(Value* pointer) {
  const auto place = parameter_place(pointer);
  if (!place) return std::nullopt;
  const auto [parameter, byte] = *place;
  auto [it, added] = field_buffers_.try_emplace({parameter, byte}, static_cast<int>(profile_.buffers.size()));
  if (added) {
    const std::string& owner = profile_.parameters[parameter->getArgNo()].name;
    profile_.buffers.push_back({owner + "+" + std::to_string(byte), MemorySpace::global, -1, 256, -1});
  }
  return Address{it->second, 0};
}

}  // namespace kernelcast::frontend
