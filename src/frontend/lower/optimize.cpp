// Device compilers inline everything and unroll eagerly; so do we, with the target's own cost model. The pipeline is
// LLVM's default -O3 for the target, without the loop and SLP vectorisers (a lane is already one element of a vector),
// followed by the load/store vectoriser that the code generator would run later, so that analysis and code see the same
// accesses.
#include "frontend/lower/optimize.h"

#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "frontend/ir/cluster_memory.h"
#include "frontend/ir/math_costs.h"
#include "frontend/ir/vendor_options.h"
#include "frontend/lift/lift.h"
#include "frontend/lower/amd_memory.h"
#include "frontend/lower/cluster_registers.h"
#include "frontend/lower/halves.h"
#include "frontend/lower/loop_exits.h"
#include "frontend/lower/nvidia_rules.h"
#include "frontend/lower/reducible.h"
#include "frontend/shape/addresses.h"
#include "frontend/shape/analysis_managers.h"
#include "frontend/shape/kernel_model.h"
#include "kernelcast/error.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

void initialize_targets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
  });
}

std::string at_line(const Instruction& i) {
  const DebugLoc& where = i.getDebugLoc();
  if (!where) return "";
  return " (" + where->getFilename().str() + ":" + std::to_string(where.getLine()) + ")";
}

/// __cluster_dims__, an annotation of our headers (Clang has no attribute for it), as NVVM writes it.
void take_cluster(Module& module, StringRef kernel) {
  GlobalVariable* notes = module.getGlobalVariable("llvm.global.annotations");
  if (!notes) return;
  const auto* list = notes->hasInitializer() ? dyn_cast<ConstantArray>(notes->getInitializer()) : nullptr;
  for (unsigned n = 0; list && n < list->getNumOperands(); ++n) {
    const auto* entry = dyn_cast<ConstantStruct>(list->getOperand(n));
    if (!entry || entry->getNumOperands() < 5) continue;
    auto* function = dyn_cast<Function>(entry->getOperand(0)->stripPointerCasts());
    const auto* text = dyn_cast<GlobalVariable>(entry->getOperand(1)->stripPointerCasts());
    const auto* sizes = dyn_cast<GlobalVariable>(entry->getOperand(4)->stripPointerCasts());
    const auto* name =
        text && text->hasInitializer() ? dyn_cast<ConstantDataSequential>(text->getInitializer()) : nullptr;
    if (!function || function->getName() != kernel || !name || !name->isCString() ||
        name->getAsCString() != "kc_cluster" || !sizes || !sizes->hasInitializer())
      continue;
    LLVMContext& c = module.getContext();
    SmallVector<Metadata*, 7> note{ValueAsMetadata::get(function)};
    const char* axes[3] = {"cluster_dim_x", "cluster_dim_y", "cluster_dim_z"};
    for (unsigned a = 0; a < 3; ++a) {
      const auto* size = dyn_cast_or_null<ConstantInt>(sizes->getInitializer()->getAggregateElement(a));
      note.push_back(MDString::get(c, axes[a]));
      note.push_back(ConstantAsMetadata::get(
          ConstantInt::get(Type::getInt32Ty(c), size ? static_cast<std::uint64_t>(size->getSExtValue()) : 1)));
    }
    module.getOrInsertNamedMetadata("nvvm.annotations")->addOperand(MDNode::get(c, note));
  }
  notes->eraseFromParent();
}

void keep_only(Module& module, StringRef kernel) {
  take_cluster(module, kernel);
  for (const char* used : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable* g = module.getGlobalVariable(used)) g->eraseFromParent();
  for (Function& f : module) {
    f.removeFnAttr(Attribute::OptimizeNone);
    f.removeFnAttr(Attribute::NoInline);
    if (f.isDeclaration() || f.getName() == kernel) continue;
    f.setComdat(nullptr);
    f.setLinkage(GlobalValue::InternalLinkage);
    f.addFnAttr(Attribute::AlwaysInline);
  }
  // Annotations keep other kernels alive: drop those that do not speak of ours.
  if (NamedMDNode* notes = module.getNamedMetadata("nvvm.annotations")) {
    std::vector<MDNode*> ours;
    for (MDNode* n : notes->operands()) {
      auto* v = n->getNumOperands() ? dyn_cast_or_null<ValueAsMetadata>(n->getOperand(0).get()) : nullptr;
      if (v && (v->getValue()->getName() == kernel || isa<GlobalVariable>(v->getValue()))) ours.push_back(n);
    }
    notes->clearOperands();
    for (MDNode* n : ours) notes->addOperand(n);
  }
}

/// Intermediate code may hold the kernel as a plain function.
void mark_kernel(Module& module, const std::string& symbol, const TargetMachine& machine) {
  Function* kernel = module.getFunction(symbol);
  if (!kernel || kernel->isDeclaration()) throw InternalError("no function '" + symbol + "'");
  if (!kernel->getReturnType()->isVoidTy() || kernel->isVarArg())
    throw UserError("'" + symbol + "' is no kernel: a kernel returns nothing and has a fixed number of parameters");
  kernel->setLinkage(GlobalValue::ExternalLinkage);
  kernel->setComdat(nullptr);
  kernel->setCallingConv(machine.getTargetTriple().isNVPTX() ? CallingConv::PTX_Kernel : CallingConv::AMDGPU_KERNEL);
  NamedMDNode* notes = module.getNamedMetadata("nvvm.annotations");
  if (!notes) return;
  for (unsigned n = 0; n < notes->getNumOperands(); ++n) {  // the note would win over the calling convention
    SmallVector<Metadata*, 8> kept;
    const MDNode* note = notes->getOperand(n);
    for (unsigned k = 0; k < note->getNumOperands(); ++k) {
      auto* key = k % 2 == 1 ? dyn_cast_or_null<MDString>(note->getOperand(k)) : nullptr;
      if (key && key->getString() == "kernel")
        ++k;
      else
        kept.push_back(note->getOperand(k));
    }
    notes->setOperand(n, MDNode::get(module.getContext(), kept));
  }
}

/// Loads and stores of `unit` bytes, a power of two from 4 to 16, in place of a copy of `length`.
void copy_by_units(MemCpyInst& copy, std::uint64_t length, std::uint64_t unit) {
  IRBuilder<> b(&copy);
  Type* type = unit == 4 ? static_cast<Type*>(b.getInt32Ty())
                         : FixedVectorType::get(b.getInt32Ty(), static_cast<unsigned>(unit / 4));
  SmallVector<Value*, 8> values;
  const auto at = [&](Value* base, std::uint64_t byte) {
    return byte ? b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, byte) : base;
  };
  const Align from = std::min(copy.getSourceAlign().valueOrOne(), Align(unit)),
              to = std::min(copy.getDestAlign().valueOrOne(), Align(unit));
  for (std::uint64_t byte = 0; byte < length; byte += unit)
    values.push_back(b.CreateAlignedLoad(type, at(copy.getSource(), byte), from));
  for (std::uint64_t byte = 0; byte < length; byte += unit)
    b.CreateAlignedStore(values[byte / unit], at(copy.getDest(), byte), to);
  copy.eraseFromParent();
}

constexpr std::uint64_t widest_unit = 16, most_copied = 64;

/// Bytes of each access, or 0 where a copy is not for copy_by_units(). A variable's side lies as the other side wants.
std::uint64_t unit_of(const MemCpyInst& copy) {
  const auto* length = copy.isVolatile() ? nullptr : dyn_cast<ConstantInt>(copy.getLength());
  if (length == nullptr || length->isZero() || length->getZExtValue() > most_copied) return 0;
  const auto is_variable = [](const Value* side) { return isa<AllocaInst>(getUnderlyingObject(side)); };
  const bool from = is_variable(copy.getSource()), to = is_variable(copy.getDest());
  const auto alignment = [&](MaybeAlign known, bool free) { return free ? widest_unit : known.valueOrOne().value(); };
  const std::uint64_t unit =
      std::min({widest_unit, length->getZExtValue() & -length->getZExtValue(),
                alignment(copy.getSourceAlign(), from && !to), alignment(copy.getDestAlign(), to && !from)});
  return unit < 4 ? 0 : unit;
}

std::uint64_t length_of(const MemCpyInst& copy) { return cast<ConstantInt>(copy.getLength())->getZExtValue(); }

/// Whether all that happens to a variable is that small parts of it are copied in and out; adds the copies.
bool only_copied(Value& address, SmallVectorImpl<MemCpyInst*>& copies) {
  return all_of(address.users(), [&](User* user) {
    if (cast<Instruction>(user)->isLifetimeStartOrEnd()) return true;
    if (isa<GetElementPtrInst>(user) || isa<AddrSpaceCastInst>(user)) return only_copied(*user, copies);
    auto* copy = dyn_cast<MemCpyInst>(user);
    if (!copy || unit_of(*copy) == 0) return false;
    if (!is_contained(copies, copy)) copies.push_back(copy);
    return true;
  });
}

/// A variable whose parts are only copied whole, as in a swap of two structures or an array of float4 that holds what
/// is on its way from one memory to another, has no type that could be a register's: LLVM leaves it in memory. NVIDIA's
/// compilers copy its members, and HIP's own vector types hold a vector of LLVM's, by which it becomes one.
void type_copied_variables(Function& kernel) {
  SmallVector<MemCpyInst*, 8> copies;
  for (Instruction& i : instructions(kernel)) {
    auto* variable = dyn_cast<AllocaInst>(&i);
    SmallVector<MemCpyInst*, 8> its;
    if (!variable || !only_copied(*variable, its)) continue;
    for (MemCpyInst* copy : its)
      if (!is_contained(copies, copy)) copies.push_back(copy);
  }
  for (MemCpyInst* copy : copies) copy_by_units(*copy, length_of(*copy), unit_of(*copy));
}

/// NVIDIA's compilers copy small structures in accesses as wide as their alignment; LLVM's code generator takes eight
/// bytes at a time, each behind the other's store.
void copy_in_registers(Function& kernel) {
  for (Instruction& i : make_early_inc_range(instructions(kernel))) {
    auto* copy = dyn_cast<MemCpyInst>(&i);
    const std::uint64_t unit = copy ? unit_of(*copy) : 0;
    const auto local = [](Value* v) { return isa<AllocaInst>(getUnderlyingObject(v)); };
    const auto* from = copy ? dyn_cast<Argument>(getUnderlyingObject(copy->getSource())) : nullptr;
    if (unit == 0 || local(copy->getSource()) || local(copy->getDest()) || (from && from->hasByValAttr())) continue;
    copy_by_units(*copy, length_of(*copy), unit);
  }
}

/// Stores the numbers of `c`, which stand from `offset` on in what `base` points to.
void store_numbers(IRBuilder<>& b, Constant* c, Value* base, std::uint64_t offset, Align align,
                   const DataLayout& layout) {
  Type* type = c->getType();
  if (!type->isAggregateType()) {
    Value* at = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset);
    b.CreateAlignedStore(c, at, commonAlignment(align, offset));
    return;
  }
  auto* structure = dyn_cast<StructType>(type);
  const std::uint64_t parts = structure ? structure->getNumElements() : type->getArrayNumElements();
  for (unsigned k = 0; k < parts; ++k) {
    Constant* part = c->getAggregateElement(k);
    const std::uint64_t place = structure ? layout.getStructLayout(structure)->getElementOffset(k).getFixedValue()
                                          : k * layout.getTypeAllocSize(part->getType()).getFixedValue();
    store_numbers(b, part, base, offset + place, align, layout);
  }
}

/// nvcc stores the initial values of a thread's own array one by one, a constant array's as well (3 to 3,000 elements,
/// nvcc 13.0), and indexes it in local memory; LLVM reads the table from which clang copies them.
void store_initial_values(Function& kernel) {
  constexpr std::uint64_t most_bytes = 16384;
  for (Instruction& i : make_early_inc_range(instructions(kernel))) {
    auto* copy = dyn_cast<MemCpyInst>(&i);
    auto* table = copy ? dyn_cast<GlobalVariable>(copy->getRawSource()->stripPointerCasts()) : nullptr;
    if (!table || !table->isConstant() || !table->hasInitializer() || !table->hasPrivateLinkage()) continue;
    const DataLayout& layout = kernel.getDataLayout();
    const std::uint64_t bytes = layout.getTypeAllocSize(table->getValueType()).getFixedValue();
    if (copy->isVolatile() || !isa<ConstantInt>(copy->getLength()) || length_of(*copy) != bytes || bytes > most_bytes)
      continue;
    if (!isa<AllocaInst>(copy->getRawDest()->stripPointerCasts())) continue;
    IRBuilder<> b(copy);
    store_numbers(b, table->getInitializer(), copy->getRawDest(), 0, copy->getDestAlign().valueOrOne(), layout);
    copy->eraseFromParent();
  }
}

/// Lifted PTX casts numbers to pointers.
bool casts_numbers(Function& kernel) {
  return any_of(instructions(kernel), [](const Instruction& i) { return isa<IntToPtrInst>(i); });
}

/// Declares an intrinsic of AMD's that accesses memory.
bool uses_amd_memory(const Module& module) {
  return any_of(module, [](const Function& f) {
    return f.getName().starts_with("llvm.amdgcn.raw.ptr.buffer") ||
           f.getName().starts_with("llvm.amdgcn.global.load.lds");
  });
}

void check_calls(Function& kernel) {
  for (Instruction& i : instructions(kernel)) {
    auto* call = dyn_cast<CallBase>(&i);
    if (!call || call->isInlineAsm()) continue;
    const Function* callee = call->getCalledFunction();
    if (!callee && !isa<Function>(call->getCalledOperand()->stripPointerCasts()))
      throw UserError("kernel '" + demangle(kernel.getName().str()) + "' calls through a pointer" + at_line(i) +
                      ": indirect calls cannot be analysed; call the function by name or make it a template argument");
    if (!callee) callee = cast<Function>(call->getCalledOperand()->stripPointerCasts());
    if (!callee->isDeclaration())
      throw UserError("kernel '" + demangle(kernel.getName().str()) + "' needs the recursive function '" +
                      demangle(callee->getName().str()) + "'" + at_line(i) +
                      ": recursion cannot be analysed; rewrite it as a loop");
  }
}

/// Clang calls every function without a body convergent, which keeps loops around it from being unrolled and values
/// from being moved; the bodies of mathematical functions do not look at other lanes.
void free_mathematical_functions(Module& module) {
  for (Function& f : module) {
    if (!f.isDeclaration() || f.isIntrinsic() || !f.isConvergent() || !is_costed_function(f.getName().str())) continue;
    f.setNotConvergent();
    for (User* user : f.users())
      if (auto* call = dyn_cast<CallBase>(user); call && call->getCalledFunction() == &f) call->setNotConvergent();
  }
}

/// Whether a signed division or remainder is of `value` or of what arithmetic makes of it.
bool is_divided_as_signed(const Value& value) {
  std::set<const Value*> seen{&value};
  std::vector<const Value*> next{&value};
  while (!next.empty()) {
    const Value* at = next.back();
    next.pop_back();
    for (const User* user : at->users()) {
      const auto* i = dyn_cast<Instruction>(user);
      if (i == nullptr || !i->getType()->isIntegerTy()) continue;
      if ((i->getOpcode() == Instruction::SDiv || i->getOpcode() == Instruction::SRem) && i->getOperand(0) == at)
        return true;
      if ((isa<BinaryOperator, CastInst, SelectInst, PHINode>(i)) && seen.insert(i).second) next.push_back(i);
    }
  }
  return false;
}

/// LLVM knows the ranges of the registers of the launch and nvcc does not: an `int` that comes from threadIdx.x is
/// divided as a signed one, by four instructions where a shift would do (nvcc 13.0, sm_90a: ten expressions of
/// threadIdx, blockIdx and blockDim).
class ForgetRanges : public PassInfoMixin<ForgetRanges> {
 public:
  static PreservedAnalyses run(Function& f, FunctionAnalysisManager&) {
    for (Instruction& i : instructions(f)) {
      auto* call = dyn_cast<CallInst>(&i);
      const Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
      if (callee == nullptr || !callee->getName().starts_with("llvm.nvvm.read.ptx.sreg.")) continue;
      if (!is_divided_as_signed(*call)) continue;
      call->removeRetAttr(Attribute::Range);
      call->setMetadata(LLVMContext::MD_range, nullptr);
    }
    return PreservedAnalyses::all();
  }
};

/// `text` null: the default pipeline at -O3.
void run_pipeline(Module& module, TargetMachine* machine, const std::string* text) {
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
  PassInstrumentationCallbacks callbacks;
  std::optional<SignedIndices> signed_indices;
  if (machine != nullptr && machine->getTargetTriple().isNVPTX()) signed_indices.emplace(callbacks);
  tuning.LoopUnrolling = !is_ptx(module);  // what remains is ptxas' to unroll
  PassBuilder builder(machine, tuning, std::nullopt, &callbacks);
  if (signed_indices && tuning.LoopUnrolling) unroll_parts_of_loops(builder);
  const bool opencl = module.getNamedMetadata("opencl.ocl.version") != nullptr;  // what its compilers know is not seen
  if (signed_indices && tuning.LoopUnrolling && !opencl)
    builder.registerPipelineStartEPCallback([](ModulePassManager& start, OptimizationLevel) {
      start.addPass(createModuleToFunctionPassAdaptor(ForgetRanges()));
    });
  Analyses analyses(builder);
  ModulePassManager passes;
  if (text)
    cantFail(builder.parsePassPipeline(passes, *text));
  else
    passes = builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3);
  passes.run(module, analyses.modules);
}

/// ptxas places shared arrays at 16 bytes or more whatever the source says, which lets it widen accesses. It cannot
/// where another step places them.
void align_shared_arrays(Module& module) {
  if (is_relocatable(module)) return;
  for (GlobalVariable& g : module.globals())
    if (g.getAddressSpace() == 3 && g.hasInitializer() && g.getAlign().valueOrOne() < Align(16))
      g.setAlignment(Align(16));
}

/// Nobody else sees private variables: volatile on them only keeps values from being followed. (What it costs on the
/// hardware, a store and a load of local memory for each, is left out.)
void drop_private_volatile(Function& kernel) {
  for (Instruction& i : instructions(kernel)) {
    if (auto* load = dyn_cast<LoadInst>(&i); load && isa<AllocaInst>(getUnderlyingObject(load->getPointerOperand())))
      load->setVolatile(false);
    if (auto* store = dyn_cast<StoreInst>(&i);
        store && isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand())))
      store->setVolatile(false);
  }
}

/// Loops whose trip count data decide are left whole: an unrolled copy and its remainder could not be told apart by one
/// number.
void keep_uncounted_loops(Function& kernel) {
  KernelProfile scratch;
  KernelModel model(kernel, scratch);
  for (llvm::Loop* loop : model.loops().getLoopsInPreorder()) {
    if (model.trips(loop).trips || findOptionMDForLoop(loop, "llvm.loop.unroll.count") ||
        findOptionMDForLoop(loop, "llvm.loop.unroll.full"))
      continue;
    addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
  }
}

/// Instructions of a function with everything that it calls inlined, at most `limit`.
std::size_t inlined_size(const Function& f, std::size_t limit, std::map<const Function*, std::size_t>& known) {
  const auto [at, is_new] = known.emplace(&f, 0);  // a recursion counts nothing
  if (!is_new) return at->second;
  std::size_t size = 0;
  for (const Instruction& i : instructions(f)) {
    if (++size >= limit) break;
    const auto* call = dyn_cast<CallBase>(&i);
    const Function* callee = call ? call->getCalledFunction() : nullptr;
    if (callee && !callee->isDeclaration()) size += inlined_size(*callee, limit, known);
  }
  return known[&f] = std::min(size, limit);
}

/// Functions are inlined as they are written, which keeps what later steps look for. Where that would be very much,
/// each is made small before it is inlined.
void inline_calls(Module& module, const std::string& kernel_symbol, TargetMachine& machine) {
  static const std::string as_written = "always-inline,globaldce",
                           from_below = "cgscc(inline<only-mandatory>,function(sroa,early-cse,simplifycfg)),globaldce";
  constexpr std::size_t much = 50000;  // instructions; LLVM takes about a second for them
  std::map<const Function*, std::size_t> known;
  const Function* kernel = module.getFunction(kernel_symbol);
  const bool large = kernel && inlined_size(*kernel, much, known) == much;
  run_passes(module, &machine, large ? from_below : as_written);
}

}  // namespace

bool is_relocatable(const Module& module) {
  return Triple(module.getTargetTriple()).isNVPTX() && module.getNamedMetadata("opencl.ocl.version") != nullptr;
}

void run_passes(Module& module, TargetMachine* machine, const std::string& pipeline) {
  run_pipeline(module, machine, &pipeline);
}

std::unique_ptr<TargetMachine> make_target_machine(const std::string& target, bool fast_math) {
  initialize_targets();
  const bool nvidia = target.starts_with("sm_");
  const std::string triple = nvidia ? "nvptx64-nvidia-cuda" : "amdgcn-amd-amdhsa";
  std::string problem;
  const Target* entry = TargetRegistry::lookupTarget(triple, problem);
  if (!entry) throw LimitError("this LLVM has no back end for " + triple + ": " + problem);
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Fast;  // nvcc and ROCm contract a*b+c by default
  options.UnsafeFPMath = fast_math;
  options.MCOptions.AsmVerbose = true;
  options.DisableIntegratedAS = true;  // inline assembly passes through as text
  std::unique_ptr<TargetMachine> machine(entry->createTargetMachine(
      triple, target, nvidia ? "+ptx83" : "", options, std::nullopt, std::nullopt, CodeGenOptLevel::Aggressive));
  if (!machine) throw LimitError("LLVM could not make a code generator for " + target);
  return machine;
}

void optimize_for_target(Module& module, const std::string& kernel_symbol, TargetMachine& machine,
                         const Dim3& cluster) {
  const VendorOptions options(machine.getTargetTriple().isNVPTX());
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  keep_only(module, kernel_symbol);
  mark_kernel(module, kernel_symbol, machine);
  inline_calls(module, kernel_symbol, machine);
  Function* entry = module.getFunction(kernel_symbol);
  if (!entry || entry->isDeclaration()) throw InternalError("kernel '" + kernel_symbol + "' vanished while inlining");
  free_mathematical_functions(module);
  if (!(cluster == Dim3{0, 0, 0})) launch_in_clusters(*entry, cluster);
  place_in_cluster(*entry);
  if (uses_amd_memory(module)) {
    static const std::string to_registers = "function(sroa,early-cse)";
    run_passes(module, &machine, to_registers);
    access_through_pointers(*entry);
  }
  make_reducible(module, *entry);
  align_shared_arrays(module);
  drop_private_volatile(*entry);
  const bool nvidia = machine.getTargetTriple().isNVPTX();
  if (nvidia && !is_relocatable(module)) store_initial_values(*entry);
  const bool lifted = casts_numbers(*entry);
  if (lifted) {
    static const std::string to_values = "function(sroa,early-cse)";
    run_passes(module, &machine, to_values);
    entry = with_pointer_parameters(*entry);
    recover_pointers(*entry);
  }
  type_copied_variables(*entry);
  if (nvidia) hide_divisors(*entry);
  if (nvidia && !is_ptx(module)) {
    static const std::string counters = "function(sroa)";
    run_passes(module, &machine, counters);
    note_wrapping_counters(*entry);
  }
  static const std::string simple =
      "function(sroa,infer-address-spaces,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";
  run_passes(module, &machine, simple);
  if (may_leave_loops_early(*entry)) {
    static const std::string closed = "function(lcssa)",
                             again = "function(simplifycfg,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";
    run_passes(module, &machine, closed);
    leave_loops_early(*entry);
    run_passes(module, &machine, again);
  }
  static const std::string before = "function(loop-simplify,lcssa,loop(loop-rotate,indvars))";
  run_passes(module, &machine, before);
  note_unroll_pragmas(*entry);
  keep_uncounted_loops(*entry);
  if (nvidia) {
    if (!is_ptx(module)) keep_sums_of_opaque_reads(*entry);
    show_other_divisors(*entry);
    if (!is_ptx(module)) mark_loops_of_private_arrays(*entry);
  }
  run_pipeline(module, &machine, nullptr);
  if (Function* f = module.getFunction(kernel_symbol)) make_reducible(module, *f);
  entry = module.getFunction(kernel_symbol);
  if (!entry || entry->isDeclaration())
    throw InternalError("kernel '" + kernel_symbol + "' vanished during optimisation");
  if (nvidia) {
    static const std::string of_outer_loops =
        "function(sccp,instsimplify,simplifycfg,loop-simplify,lcssa,loop-mssa(licm))";
    if (unroll_as_assembler(*entry, machine)) run_passes(module, &machine, of_outer_loops);
    copy_in_registers(*entry);
  }
  if (lifted && casts_numbers(*entry)) recover_pointers(*entry);  // through arrays that unrolling took apart
  if (nvidia && keep_small_arrays_in_registers(*entry)) {
    static const std::string of_arrays = "function(sroa,instsimplify)";
    run_passes(module, &machine, of_arrays);
  }
  if (nvidia) store_once(*entry);
  if (nvidia && carry_whole_registers(*entry)) {
    static const std::string of_halves =
        "function(instcombine<no-verify-fixpoint>,adce,loop-simplify,lcssa,loop-mssa(licm))";  // sinks shifts
    run_passes(module, &machine, of_halves);
  }
  if (nvidia) {
    split_address_constants(*entry);
    static const std::string of_addresses =
        "function(infer-address-spaces,separate-const-offset-from-gep,separate-const-offset-from-gep)";
    run_passes(module, &machine, of_addresses);
    share_addresses(*entry);
    share_chosen_addresses(*entry);
    merge_loads(*entry, LoadsToMerge::shared);  // before the copies become parts of wider ones
  }
  // Its scan for equal loads ends after a hundred instructions; merge_loads() finds those that are farther apart. The
  // vectorizer asks for the alignment that an access is marked with.
  const std::string after =
      nvidia ? "function(infer-alignment,load-store-vectorizer,gvn,instsimplify,loop-simplify,lcssa)"
             : "function(infer-address-spaces,load-store-vectorizer,early-cse,instsimplify,loop-simplify,lcssa)";
  run_passes(module, &machine, after);
  if (nvidia) {
    show_divisors(*entry);
    share_addresses(*entry);
    merge_loads(*entry, LoadsToMerge::all);
    sink_addresses(*entry);
    settle_cluster_memory(*entry);
  }
  check_calls(*entry);
  int n = 0;
  for (BasicBlock& block : *entry) block.setName("kc" + std::to_string(n++));
}

}  // namespace kernelcast::frontend
