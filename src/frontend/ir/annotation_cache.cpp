// NVPTXAsmPrinter::doFinalization() alone calls clearAnnotationCache() (LLVM 19, NVPTXUtilities.cpp), which the library
// does not export: code is generated for what is left of the module, which is nothing.
#include "frontend/ir/annotation_cache.h"

#include <memory>
#include <string>

#include "frontend/ir/vendor_options.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

namespace kernelcast::frontend {

void end_module(llvm::Module& module) {
  using namespace llvm;
  const std::string triple = module.getTargetTriple();
  if (!Triple(triple).isNVPTX()) return;
  std::string problem;
  const Target* target = TargetRegistry::lookupTarget(triple, problem);
  if (target == nullptr || !target->hasTargetMachine()) return;  // nobody has used it
  module.dropAllReferences();
  while (!module.empty()) module.begin()->eraseFromParent();
  while (!module.global_empty()) module.global_begin()->eraseFromParent();
  while (!module.alias_empty()) module.alias_begin()->eraseFromParent();
  while (!module.ifunc_empty()) module.ifunc_begin()->eraseFromParent();
  while (!module.named_metadata_empty()) module.named_metadata_begin()->eraseFromParent();
  module.setModuleInlineAsm("");
  const VendorOptions options(true);
  const std::unique_ptr<TargetMachine> machine(target->createTargetMachine(triple, "sm_70", "", {}, std::nullopt));
  SmallString<0> text;
  raw_svector_ostream out(text);
  legacy::PassManager passes;
  if (!machine->addPassesToEmitFile(passes, out, nullptr, CodeGenFileType::AssemblyFile, /*DisableVerify=*/true))
    passes.run(module);
}

}  // namespace kernelcast::frontend
