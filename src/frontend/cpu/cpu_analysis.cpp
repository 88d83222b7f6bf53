// A loop nest for a CPU, one step a line: source -> module -> optimised for the CPU -> machine code -> structure ->
// cycles. The optimised IR says how often each block runs, the machine code what one run costs; blocks carry the same
// names on both sides. Without optimisation variables live in memory, where nothing can be said of them: structure then
// comes from a copy whose variables became values, with the same blocks.
//
// Checks at run time that two buffers do not overlap and that vectors of indices stay in their type, which the
// vectoriser puts before a loop, are taken to hold.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "frontend/cpu/cpu_barriers.h"
#include "frontend/cpu/cpu_openmp.h"
#include "frontend/cpu/cpu_target.h"
#include "frontend/cpu/function_passes.h"
#include "frontend/lower/loop_nest.h"
#include "frontend/lower/optimize.h"
#include "frontend/lower/reducible.h"
#include "frontend/pipeline/pipeline.h"
#include "frontend/source/compile.h"
#include "frontend/source/compile_guard.h"
#include "frontend/source/compile_language.h"
#include "frontend/source/kernels.h"
#include "kernelcast/cpu_code.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;
using C = OpClass;

/// The function and those that it gives to threads.
std::vector<Function*> nest_functions(Module& module, const std::string& symbol) {
  Function* f = module.getFunction(symbol);
  if (!f || f->isDeclaration()) throw InternalError("'" + symbol + "' vanished during optimisation");
  std::vector<Function*> all{f};
  for (Function* body : forked_functions(*f)) all.push_back(body);
  return all;
}

void prepare(Module& module, const std::string& symbol, TargetMachine& machine, bool optimized,
             std::vector<std::string>& notes) {
  const std::vector<Function*> kept = nest_functions(module, symbol);
  module.setTargetTriple(machine.getTargetTriple().str());
  module.setDataLayout(machine.createDataLayout());
  for (Function& f : module) {
    for (const char* of_front_end : {"target-cpu", "target-features", "tune-cpu"}) f.removeFnAttr(of_front_end);
    f.addFnAttr("target-cpu", machine.getTargetCPU());
    if (!machine.getTargetFeatureString().empty()) f.addFnAttr("target-features", machine.getTargetFeatureString());
    if (f.isDeclaration()) continue;
    f.removeFnAttr(Attribute::OptimizeNone);
    if (std::find(kept.begin(), kept.end(), &f) != kept.end()) continue;
    f.removeFnAttr(Attribute::NoInline);
    f.setComdat(nullptr);
    f.setLinkage(GlobalValue::InternalLinkage);
    f.addFnAttr(Attribute::AlwaysInline);
  }
  // The front end keeps every function of the file; one that calls the nest would take it in.
  removeFromUsedLists(module, [&kept](const Constant* c) {
    const auto* f = dyn_cast<Function>(c);
    return f != nullptr && std::find(kept.begin(), kept.end(), f) == kept.end();
  });
  const bool by_themselves = prepare_work_items(module, kept, optimized ? &machine : nullptr);
  run_passes(module, nullptr, "always-inline,globaldce");
  for (Function* f : kept) {
    make_reducible(module, *f);
    if (!runs_work_items(*f)) continue;
    run_passes(module, nullptr, "function(sroa,early-cse,simplifycfg,loop-simplify,lcssa)");
    if (!split_at_barriers(*f, by_themselves))
      notes.push_back("barriers under conditions are left out: '" + symbol + "' runs in one loop over work-items");
    if (verifyFunction(*f))
      throw InternalError("'" + symbol + "' is no valid code after its barriers were taken apart");
  }
}

/// Late simplification lets an outer loop begin at the header of its inner one, and both become one loop of two jumps
/// back. Where the outer's jump brings what entering brings, they get a block in common that is the outer's header.
void part_nested_loops(Function& f) {
  SmallVector<BasicBlock*> joins;  // of jumps back to one header
  const DominatorTree before(f);
  for (BasicBlock& block : f) {
    BasicBlock* header = block.getSingleSuccessor();
    if (header && &*block.getFirstNonPHIIt() == block.getTerminator() && before.dominates(header, &block) &&
        block.hasNPredecessorsOrMore(2))
      joins.push_back(&block);
  }
  for (BasicBlock* block : joins) {
    block->getTerminator()->setMetadata(LLVMContext::MD_loop, nullptr);  // of one of the two only
    TryToSimplifyUncondBranchFromEmptyBlock(block);
  }
  const DominatorTree tree(f);
  std::vector<std::pair<BasicBlock*, SmallVector<BasicBlock*>>> shared;
  for (BasicBlock& header : f) {
    SmallVector<BasicBlock*> begins, others;
    for (BasicBlock* from : predecessors(&header)) (tree.dominates(&header, from) ? others : begins).push_back(from);
    if (begins.empty() || others.size() < 2) continue;
    const auto as_entering = [&](BasicBlock* from) {
      return std::all_of(header.phis().begin(), header.phis().end(), [&](const PHINode& phi) {
        return phi.getIncomingValueForBlock(from) == phi.getIncomingValueForBlock(begins.front());
      });
    };
    SmallVector<BasicBlock*> outer;
    std::copy_if(others.begin(), others.end(), std::back_inserter(outer), as_entering);
    if (outer.empty() || outer.size() == others.size() || !std::all_of(begins.begin(), begins.end(), as_entering))
      continue;
    outer.append(begins);
    shared.emplace_back(&header, std::move(outer));
  }
  for (auto& [header, from] : shared) SplitBlockPredecessors(header, from, ".outer");
}

void name_blocks(const std::vector<Function*>& functions) {
  int n = 0;
  for (Function* f : functions)
    for (BasicBlock& block : *f) block.setName("kc" + std::to_string(n++));
}

/// A buffer's address, or an integer made of one: by sums, and in vectors of them.
bool is_address(const Value* v, int depth = 8) {
  if (v->getType()->isPtrOrPtrVectorTy()) return !isa<ConstantPointerNull>(v);
  if (isa<PtrToIntInst>(v)) return true;
  const auto* made = dyn_cast<Instruction>(v);
  if (!made || depth == 0) return false;
  const unsigned code = made->getOpcode();
  if (code != Instruction::Add && code != Instruction::Sub && code != Instruction::InsertElement &&
      code != Instruction::ShuffleVector)
    return false;
  return std::any_of(made->op_begin(), made->op_end(), [&](const Use& u) { return is_address(u.get(), depth - 1); });
}

bool compares_pointers(const Value* v) {
  const auto* comparison = dyn_cast<ICmpInst>(v);
  return comparison && comparison->isUnsigned() &&
         (is_address(comparison->getOperand(0)) || is_address(comparison->getOperand(1)));
}

/// Beyond a limit that is a few iterations short of the type's: the check that an index does not leave its type.
bool compares_with_limit(const Value* v) {
  const auto* comparison = dyn_cast<ICmpInst>(v);
  if (!comparison || comparison->isEquality()) return false;
  const auto* constant = dyn_cast<Constant>(comparison->getOperand(1));
  if (constant && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* limit = dyn_cast_or_null<ConstantInt>(constant);
  if (!limit || limit->getBitWidth() < 32) return false;
  const unsigned bits = limit->getBitWidth();
  const APInt few(bits, 65536);
  switch (comparison->getPredicate()) {
    case CmpInst::ICMP_SGT:
      return limit->getValue().sgt(APInt::getSignedMaxValue(bits) - few);
    case CmpInst::ICMP_SLT:
      return limit->getValue().slt(APInt::getSignedMinValue(bits) + few);
    case CmpInst::ICMP_UGT:
      return limit->getValue().ugt(APInt::getMaxValue(bits) - few);
    default:
      return false;
  }
}

/// A sum less than one of its terms, in vectors: the check that an index does not leave its type, for several indices
/// at a time.
bool compares_with_own_sum(const Value* v) {
  const auto* comparison = dyn_cast<ICmpInst>(v);
  if (!comparison || !comparison->getType()->isVectorTy() || comparison->isEquality()) return false;
  const auto sum_of = [](const Value* sum, const Value* term) {
    const auto* add = dyn_cast<BinaryOperator>(sum);
    return add && add->getOpcode() == Instruction::Add && (add->getOperand(0) == term || add->getOperand(1) == term);
  };
  return sum_of(comparison->getOperand(0), comparison->getOperand(1)) ||
         sum_of(comparison->getOperand(1), comparison->getOperand(0));
}

/// Comparisons of two buffers' addresses become what they are for buffers that are apart, and those of indices with the
/// limits of their types what they are for indices inside. A range check is "one begins
/// before the other ends" both ways round: false for one of them is false for both.
void take_buffers_apart(Function& f) {
  for (Instruction& i : make_early_inc_range(instructions(f)))
    if (compares_pointers(&i) || compares_with_own_sum(&i) || compares_with_limit(&i))
      i.replaceAllUsesWith(ConstantInt::getFalse(i.getType()));
}

double lanes_of(const Type& type) {
  const auto* vector = dyn_cast<FixedVectorType>(&type);
  return vector ? vector->getNumElements() : 1;
}

/// Floating-point operations and memory instructions; everything else is in the cycles only.
void count(const Instruction& i, OpCounts& ops) {
  const Type& type = *i.getType();
  const double lanes = lanes_of(type);
  const bool f64 = type.getScalarType()->isDoubleTy();
  const auto add = [&](C c32, C c64) { ops[f64 ? c64 : c32] += lanes; };
  switch (i.getOpcode()) {
    case Instruction::FAdd:
    case Instruction::FSub:
      return add(C::fp32_add, C::fp64_add);
    case Instruction::FMul:
      return add(C::fp32_mul, C::fp64_mul);
    case Instruction::FDiv:
      return add(C::fp32_div, C::fp64_div);
    case Instruction::Load:
      if (!isa<AllocaInst>(getUnderlyingObject(cast<LoadInst>(i).getPointerOperand()))) ops[C::global_load] += 1;
      return;
    case Instruction::Store:
      if (!isa<AllocaInst>(getUnderlyingObject(cast<StoreInst>(i).getPointerOperand()))) ops[C::global_store] += 1;
      return;
    default:
      break;
  }
  const auto* call = dyn_cast<IntrinsicInst>(&i);
  if (!call) return;
  switch (call->getIntrinsicID()) {
    case Intrinsic::fmuladd:
    case Intrinsic::fma:
      return add(C::fp32_fma, C::fp64_fma);
    case Intrinsic::sqrt:
      return add(C::fp32_special, C::fp64_special);
    case Intrinsic::vector_reduce_fadd:
      ops[f64 ? C::fp64_add : C::fp32_add] += lanes_of(*call->getArgOperand(1)->getType()) - 1;
      return;
    default:
      return;
  }
}

/// Stack memory left out: it is the core's business, whose model has its loads and stores.
L1Accesses accesses_of(const BasicBlock& block) {
  constexpr double line = 64;
  const DataLayout& layout = block.getModule()->getDataLayout();
  L1Accesses a;
  for (const Instruction& i : block) {
    const auto* load = dyn_cast<LoadInst>(&i);
    const auto* store = dyn_cast<StoreInst>(&i);
    if (!load && !store) continue;
    const Value* address = load ? load->getPointerOperand() : store->getPointerOperand();
    if (isa<AllocaInst>(getUnderlyingObject(address))) continue;
    Type* type = load ? load->getType() : store->getValueOperand()->getType();
    const auto bytes = static_cast<double>(layout.getTypeStoreSize(type).getKnownMinValue());
    const auto aligned = static_cast<double>((load ? load->getAlign() : store->getAlign()).value());
    (bytes <= 16 ? a.to_16 : bytes <= 32 ? a.to_32 : a.to_64) += std::max(1.0, std::ceil(bytes / line));
    a.crossings += std::clamp((bytes - aligned) / line, 0.0, 1.0);
  }
  return a;
}

TargetCode counted(const Function& f) {
  TargetCode code;
  for (const BasicBlock& block : f) {
    CodeBlock b;
    b.name = block.getName().str();
    for (const Instruction& i : block) count(i, b.ops);
    code.blocks.push_back(std::move(b));
  }
  return code;
}

bool has_child(const KernelProfile& p, int loop) {
  return std::any_of(p.loops.begin(), p.loops.end(), [&](const kernelcast::Loop& l) { return l.parent == loop; });
}

/// Cycles of each block: innermost loops as a whole in their steady state, other blocks by themselves.
class Cycles {
 public:
  Cycles(CpuCode& code, const CpuInstructions& machine, const Function& structure) : code_(code), machine_(machine) {
    for (std::size_t b = 0; b < machine.blocks.size(); ++b) owner_[machine.blocks[b]].insert(static_cast<int>(b));
    for (const BasicBlock& b : structure) accesses_[b.getName().str()] = accesses_of(b);
  }

  void find() {
    const std::vector<Block>& blocks = code_.profile.blocks;
    code_.blocks.resize(blocks.size());
    code_.overlap_cycles.assign(code_.profile.loops.size(), 0);
    for (std::size_t l = 0; l < code_.profile.loops.size(); ++l)
      if (!has_child(code_.profile, static_cast<int>(l))) whole_loop(static_cast<int>(l));
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const bool inner = blocks[b].loop >= 0 && !has_child(code_.profile, blocks[b].loop);
      if (inner && !blocks[b].name.ends_with(".last")) continue;
      give(b, schedule_loop(of({b}), machine_.core), 1);
      // The last test of a loop overlaps with what follows.
      if (blocks[b].name.ends_with(".last")) code_.blocks[b].cycles = code_.blocks[b].width_cycles;
    }
    for (std::size_t b = 0; b < blocks.size(); ++b)
      if (const auto at = accesses_.find(plain_name(blocks[b].name)); at != accesses_.end())
        code_.blocks[b].accesses = at->second;
  }

 private:
  /// The last test of a loop is a block of its own in the profile.
  static std::string plain_name(std::string name) {
    if (name.ends_with(".last")) name.resize(name.size() - 5);
    return name;
  }

  std::vector<CoreInstruction> of(const std::vector<std::size_t>& blocks) const {
    std::set<int> wanted;
    for (const std::size_t b : blocks) {
      const auto at = owner_.find(plain_name(code_.profile.blocks[b].name));
      if (at != owner_.end()) wanted.insert(at->second.begin(), at->second.end());
    }
    std::vector<CoreInstruction> body;
    for (const CoreInstruction& i : machine_.instructions)
      if (wanted.contains(i.block)) body.push_back(i);
    return body;
  }

  void whole_loop(int loop) {
    std::vector<std::size_t> members;
    for (std::size_t b = 0; b < code_.profile.blocks.size(); ++b)
      if (code_.profile.blocks[b].loop == loop && !code_.profile.blocks[b].name.ends_with(".last"))
        members.push_back(b);
    const LoopCycles all = schedule_loop(of(members), machine_.core);
    code_.overlap_cycles[static_cast<std::size_t>(loop)] = all.overlap;
    for (const std::size_t b : members) {
      double uops = 0;
      for (const CoreInstruction& i : of({b})) uops += i.uops;
      give(b, all, all.uops > 0 ? uops / all.uops : 0);
    }
  }

  void give(std::size_t block, const LoopCycles& c, double share) {
    code_.blocks[block] = {c.cycles * share, c.uops * share, c.width_cycles * share, {}};
  }

  CpuCode& code_;
  const CpuInstructions& machine_;
  std::map<std::string, std::set<int>> owner_;
  std::map<std::string, L1Accesses> accesses_;
};

/// When the loop has other trips than the time before. Nothing: never.
std::optional<Guard> when_trips_change(const KernelProfile& profile, const kernelcast::Loop& loop) {
  if (loop.unknown >= 0) return loop.guard;
  Expr again = 1;  // since then nothing between has begun anew
  for (int p = loop.parent; p >= 0; p = profile.loops[static_cast<std::size_t>(p)].parent) {
    const kernelcast::Loop& around = profile.loops[static_cast<std::size_t>(p)];
    if (!loop.trips.depends_on(around.counter)) {
      again = min(again, equal(around.counter, 0));
      continue;
    }
    const Expr before = loop.trips.substitute({{around.counter, Expr(around.counter) - 1}});
    const Expr changed = min(min(less(0, around.counter), logical_not(equal(loop.trips, before))), again);
    if (changed.is_zero()) return std::nullopt;
    Guard guard = loop.guard;
    for (Path& path : guard.paths) path.condition = min(path.condition, changed);
    return guard;
  }
  return std::nullopt;
}

/// A block without code for each loop, which runs when the loop is entered. Leaving an innermost loop costs a
/// misprediction, unless its trips were the same the time before and are no more than the core remembers; a second
/// block counts those that change.
void add_entries(CpuCode& code) {
  const std::vector<kernelcast::Loop>& loops = code.profile.loops;
  const auto innermost = [&](std::size_t l) { return !has_child(code.profile, static_cast<int>(l)); };
  const auto add = [&](const char* counts, std::size_t l, Guard guard, double cycles) {
    Block block;
    block.name = counts + std::to_string(l);
    block.loop = loops[l].parent;
    block.guard = std::move(guard);
    block.line = loops[l].line;
    code.profile.blocks.push_back(std::move(block));
    code.blocks.push_back({cycles, 0, 0, {}});
  };
  code.first_entry = code.profile.blocks.size();
  for (std::size_t l = 0; l < loops.size(); ++l)
    add("entry.", l, loops[l].guard, innermost(l) ? code.mispredict_cycles : 0);
  code.first_change = code.profile.blocks.size();
  for (std::size_t l = 0; l < loops.size(); ++l) {
    const std::optional<Guard> guard = innermost(l) ? when_trips_change(code.profile, loops[l]) : std::nullopt;
    add("change.", l, guard.value_or(Guard{{}}), 0);
  }
}

void find_parallel(CpuCode& code, const std::vector<LoopPlace>& marked) {
  for (std::size_t l = 0; l < code.profile.loops.size(); ++l) {
    const int line = code.profile.loops[l].line.line;
    if (std::none_of(marked.begin(), marked.end(), [&](const LoopPlace& p) { return p.line == line; })) continue;
    bool inside = false;
    for (int p = code.profile.loops[l].parent; p >= 0; p = code.profile.loops[static_cast<std::size_t>(p)].parent)
      inside =
          inside || std::find(code.parallel_loops.begin(), code.parallel_loops.end(), p) != code.parallel_loops.end();
    if (!inside) code.parallel_loops.push_back(static_cast<int>(l));
  }
}

/// One function of a source, compiled.
struct Nest {
  CompiledUnit unit;
  KernelEntry entry;
  std::vector<LoopPlace> marked;  // loops that threads share
};

Nest compiled(const Source& source, const CpuCodeOptions& options) {
  Nest nest{compile_unit(source, "host", options.time_limit_s, options.kernel), {}, {}};
  const auto kernels = list_kernels(*nest.unit.module, nest.unit.language);
  if (kernels.empty()) throw UserError(source.path + ": no function with a loop found");
  nest.entry = pick_kernel(kernels, options.kernel);
  return nest;
}

/// The same with the marked loops as OpenMP has them; nothing when Clang does not take them so.
std::optional<Nest> compiled_for_threads(const Source& source, const CpuCodeOptions& options, const Nest& plain) {
  const auto text = share_loops(source.text, plain.marked, plain.unit.pragmas);
  if (!text) return std::nullopt;
  Source shared = source;
  shared.text = *text;
  try {
    Nest nest{compile_unit(shared, openmp_target, options.time_limit_s, options.kernel), plain.entry, plain.marked};
    nest.unit.diagnostics = plain.unit.diagnostics;
    const std::unique_ptr<Module> copy = CloneModule(*nest.unit.module);
    Function* f = copy->getFunction(nest.entry.symbol);
    if (f && !forked_functions(*f).empty() && join_forked_functions(*f)) return nest;
  } catch (const UserError&) {  // a loop that OpenMP does not allow
  }
  return std::nullopt;
}

/// What counting reads: variables are values, overlap checks hold, one thread has all iterations.
void make_structure(Module& copy, const std::string& symbol, int optimization) {
  Function& f = *copy.getFunction(symbol);
  const bool shared = !forked_functions(f).empty();
  if (shared && !join_forked_functions(f)) throw InternalError("a shared loop of '" + symbol + "' cannot be counted");
  if (optimization > 0) take_buffers_apart(f);  // before their comparisons are simplified
  if (optimization > 0) run_passes(copy, nullptr, "function(instsimplify,lcssa)");
  if (optimization == 0 || shared)
    run_passes(copy, nullptr,
               "function(dce,sroa<preserve-cfg>,early-cse,instcombine<no-verify-fixpoint>,loop-simplify,lcssa)");
  see_through_kept(f);
  take_masks_off(f);
}

/// What the source does with each array: of a copy whose variables are values and that is not optimised further, on one
/// thread, so that no flag of the CPU's side changes it.
std::vector<ArrayUse> arrays_of(const Nest& in_place, TargetMachine& machine) {
  const std::unique_ptr<Module> copy = CloneModule(*in_place.unit.module);
  std::vector<std::string> notes;
  prepare(*copy, in_place.entry.symbol, machine, false, notes);
  make_structure(*copy, in_place.entry.symbol, 0);
  return array_uses(*copy->getFunction(in_place.entry.symbol));
}

CpuCode analyze_now(const Source& source, const CpuCodeOptions& options) {
  const Language language = source.language == Language::automatic ? language_of(source.path) : source.language;
  if (!is_loop_nest(language))
    throw UserError(source.path + ": the CPU side is read from a plain C or C++ loop nest (.c, .cc, .cpp)");
  Nest in_place = compiled(source, options);
  in_place.marked =
      outermost_marked_loops(*in_place.unit.module, in_place.entry.symbol, options.parallel, in_place.unit.pragmas);
  // A runtime for OpenCL has threads of its own.
  const bool openmp = options.threads && !in_place.marked.empty() &&
                      !runs_work_items(*in_place.unit.module->getFunction(in_place.entry.symbol));
  std::optional<Nest> shared = openmp ? compiled_for_threads(source, options, in_place) : std::nullopt;
  Nest& nest = shared ? *shared : in_place;
  Module& module = *nest.unit.module;
  const std::string& symbol = nest.entry.symbol;
  const auto core = make_cpu_machine(options.cpu, options.optimization);  // what runs the code
  const auto other = options.baseline           ? make_baseline_machine(options.optimization)
                     : options.made_for.empty() ? nullptr
                                                : make_cpu_machine(options.made_for, options.optimization);
  TargetMachine* machine = other ? other.get() : core.get();  // what the code is made for
  CpuCode code;
  code.arrays = arrays_of(in_place, *core);
  const bool work_items = runs_work_items(*module.getFunction(symbol));
  prepare(module, symbol, *machine, options.optimization > 0, nest.unit.notes);
  code.cpu = core->getTargetCPU().str();
  optimize_for_cpu(module, *machine, {options.optimization, options.simd, !work_items}, code.loops);
  if (options.optimization > 0) {
    for (Function* f : nest_functions(module, symbol)) part_nested_loops(*f);
    run_passes(module, nullptr, "function(loop-simplify,lcssa)");
  }
  const std::vector<Function*> functions = nest_functions(module, symbol);
  name_blocks(functions);
  std::vector<std::string> symbols;
  for (const Function* f : functions) symbols.push_back(f->getName().str());
  const std::unique_ptr<Module> structure = CloneModule(module);
  code.assembly = cpu_assembly(module, *machine);
  const CpuInstructions instructions = cpu_instructions(code.assembly, symbols, *core, options);
  make_structure(*structure, symbol, options.optimization);
  Function& plain = *structure->getFunction(symbol);
  Analysis analysis;
  build_profile(plain, counted(plain), {}, false, analysis);
  code.profile = std::move(analysis.profile);
  code.profile.kernel = nest.entry.plain;
  code.profile.target = code.cpu;
  code.profile.notes = nest.unit.notes;
  code.issue_width = instructions.core.width;
  code.mispredict_cycles = instructions.mispredict_cycles;
  Cycles(code, instructions, plain).find();
  add_entries(code);
  find_parallel(code, nest.marked);
  code.diagnostics = std::move(nest.unit.diagnostics);
  return code;
}

}  // namespace
}  // namespace kernelcast::frontend

namespace kernelcast {

CpuCode analyze_cpu(const Source& source, const CpuCodeOptions& options) {
  if (options.optimization < 0 || options.optimization > 3)
    throw UsageError(KC_SETTING(cpu_opt) ": expected 0, 1, 2 or 3");
  auto result = std::make_shared<CpuCode>();
  frontend::GuardLimits limits;
  limits.time_s = options.time_limit_s;
  frontend::run_guarded([result, source, options] { *result = frontend::analyze_now(source, options); }, limits);
  return std::move(*result);
}

}  // namespace kernelcast
