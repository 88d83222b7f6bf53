#include "ptx/module.h"

#include <algorithm>

namespace kernelcast::ptx {
namespace {

bool takes_handle(Type type) { return type == Type::texref || type == Type::samplerref || type == Type::surfref; }

}  // namespace

std::uint64_t element_bytes(const Variable& variable) {
  // References are 64-bit handles as parameters and opaque as variables.
  const int bits = takes_handle(variable.type) ? 64 : bits_of(variable.type);
  return (static_cast<std::uint64_t>(bits) + 7) / 8 * variable.vector;
}

std::uint64_t bytes_of(const Variable& variable) {
  std::uint64_t bytes = element_bytes(variable);
  for (const std::uint64_t extent : variable.dimensions) bytes *= extent;  // the reader has checked the product
  return bytes;
}

std::uint64_t alignment_of(const Variable& variable) {
  return variable.alignment != 0 ? variable.alignment : std::max<std::uint64_t>(element_bytes(variable), 1);
}

bool Instruction::has(std::string_view modifier) const {
  return std::ranges::find(modifiers, modifier) != modifiers.end();
}

std::string register_name(const Function& function, std::uint32_t index) {
  const RegisterGroup& group = function.groups[function.registers[index].group];
  std::string name(group.name);
  if (group.numbered) name += std::to_string(index - group.first);
  return name;
}

bool same(const Module& left, const Module& right) {
  return left.version_major == right.version_major && left.version_minor == right.version_minor &&
         left.targets == right.targets && left.address_size == right.address_size && left.files == right.files &&
         left.locations == right.locations && left.strings == right.strings && left.globals == right.globals &&
         left.functions == right.functions && left.aliases == right.aliases && left.pragmas == right.pragmas;
}

const Function* find_function(const Module& module, std::string_view name) {
  const auto found = std::ranges::find(module.functions, name, &Function::name);
  return found == module.functions.end() ? nullptr : &*found;
}

}  // namespace kernelcast::ptx
