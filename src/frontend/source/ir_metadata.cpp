// Forms: NVVM IR specification 2.0, "Global property annotation"; SPIR 2.0, 2.4 and 3.5 (kernel metadata); what Clang
// writes. LLVM's back ends cast these operands unchecked.
#include "frontend/source/compile.h"

#include <array>

#include "llvm/IR/Constants.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {
namespace {

using llvm::ConstantInt;
using llvm::MDNode;
using llvm::Metadata;

bool is_text(const Metadata* m) { return m != nullptr && llvm::isa<llvm::MDString>(m); }

const ConstantInt* integer_in(const Metadata* m) {
  const auto* value = llvm::dyn_cast_or_null<llvm::ConstantAsMetadata>(m);
  const auto* constant = value == nullptr ? nullptr : llvm::dyn_cast<ConstantInt>(value->getValue());
  return constant != nullptr && constant->getBitWidth() <= 64 ? constant : nullptr;
}

bool are_integers(const MDNode& node) {
  return llvm::all_of(node.operands(), [](const llvm::MDOperand& o) { return integer_in(o.get()) != nullptr; });
}

bool are_texts(const MDNode& node) {
  return llvm::all_of(node.operands(), [](const llvm::MDOperand& o) { return is_text(o.get()); });
}

bool is_size(const MDNode& node) {
  constexpr std::uint64_t most = std::uint64_t{1} << 31U;
  return node.getNumOperands() == 3 && are_integers(node) &&
         llvm::all_of(node.operands(), [](const llvm::MDOperand& o) {
           const std::uint64_t n = integer_in(o.get())->getZExtValue();
           return n > 0 && n < most;
         });
}

/// A function or variable, then pairs of a name and an integer or a list of integers.
bool is_annotation(const MDNode& node) {
  if (node.getNumOperands() == 0) return true;
  const Metadata* about = node.getOperand(0).get();
  if (about != nullptr && !llvm::isa<llvm::ValueAsMetadata>(about)) return false;
  if (node.getNumOperands() % 2 == 0) return false;
  for (unsigned i = 1; i + 1 < node.getNumOperands(); i += 2) {
    const auto* list = llvm::dyn_cast_or_null<MDNode>(node.getOperand(i + 1).get());
    const bool value = integer_in(node.getOperand(i + 1).get()) != nullptr || (list != nullptr && are_integers(*list));
    if (!is_text(node.getOperand(i).get()) || !value) return false;
  }
  return true;
}

std::string about_function(const llvm::Function& f) {
  constexpr std::array<const char*, 4> texts{"kernel_arg_type", "kernel_arg_base_type", "kernel_arg_name",
                                             "kernel_arg_access_qual"};
  const auto wrong = [&f](const char* name, const char* expected) {
    return std::string("!") + name + " of function '" + f.getName().str() + "' is malformed: expected " + expected;
  };
  for (const char* name : {"reqd_work_group_size", "work_group_size_hint"})
    if (const MDNode* n = f.getMetadata(name); n != nullptr && !is_size(*n))
      return wrong(name, "three integers from 1 to 2147483647");
  for (const char* name : texts)
    if (const MDNode* n = f.getMetadata(name); n != nullptr && (n->getNumOperands() != f.arg_size() || !are_texts(*n)))
      return wrong(name, "one string for each parameter");
  if (const MDNode* n = f.getMetadata("kernel_arg_type_qual");
      n != nullptr && (n->getNumOperands() != f.arg_size() || !are_texts(*n)))
    return wrong("kernel_arg_type_qual", "one string for each parameter");
  if (const MDNode* n = f.getMetadata("kernel_arg_addr_space");
      n != nullptr && (n->getNumOperands() != f.arg_size() || !are_integers(*n)))
    return wrong("kernel_arg_addr_space", "one integer for each parameter");
  if (const MDNode* n = f.getMetadata("vec_type_hint"); n != nullptr) {
    const bool good = n->getNumOperands() == 2 &&
                      llvm::isa_and_nonnull<llvm::ValueAsMetadata>(n->getOperand(0).get()) &&
                      integer_in(n->getOperand(1).get()) != nullptr;
    if (!good) return wrong("vec_type_hint", "a value of the type and an integer");
  }
  return "";
}

}  // namespace

std::string malformed_metadata(const llvm::Module& module) {
  for (const llvm::Function& f : module)
    if (std::string text = about_function(f); !text.empty()) return text;
  if (const auto* notes = module.getNamedMetadata("nvvm.annotations"))
    for (const MDNode* n : notes->operands())
      if (!is_annotation(*n))
        return "an entry of !nvvm.annotations is malformed: expected a function or variable, then pairs of a string "
               "and "
               "an integer";
  for (const char* name : {"opencl.ocl.version", "opencl.spir.version"})
    if (const auto* notes = module.getNamedMetadata(name))
      for (const MDNode* n : notes->operands())
        if (n->getNumOperands() < 2 || !are_integers(*n))
          return std::string("!") + name + " is malformed: expected two integers";
  return "";
}

}  // namespace kernelcast::frontend
