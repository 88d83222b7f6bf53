// The target's side of a CPU analysis: what clang -On -march=CPU would do after its front end.
#include "frontend/cpu/cpu_target.h"

#include <mutex>
#include <set>

#include "frontend/ir/vendor_options.h"
#include "frontend/shape/analysis_managers.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

namespace kernelcast {

std::string host_cpu_name() { return llvm::sys::getHostCPUName().str(); }

}  // namespace kernelcast

namespace kernelcast::frontend {
namespace {

using namespace llvm;

void initialize_x86() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
}

std::string host_features() {
  std::string text;
  for (const auto& feature : sys::getHostCPUFeatures())
    text += (text.empty() ? "" : ",") + std::string(feature.second ? "+" : "-") + feature.first().str();
  return text;
}

constexpr const char* triple = "x86_64-pc-linux-gnu";

/// Whether the loop vectoriser says it. LLVM hands over remarks of every pass once any is enabled; those about loops
/// that a pragma asks to vectorise come without a name.
bool of_vectoriser(const DiagnosticInfoOptimizationBase& remark) {
  return remark.getPassName() == "loop-vectorize" || remark.getPassName().empty();
}

/// Remarks of the loop vectoriser, one entry a loop of the source; other messages are dropped. A reason comes at the
/// line of the access or operation that stands in the way, and then, at that of the loop, that it is not vectorised.
struct VectorRemarks : DiagnosticHandler {
  explicit VectorRemarks(std::vector<CpuLoopCode>& out) : loops(out) {}
  ~VectorRemarks() override { keep_reason(); }
  VectorRemarks(const VectorRemarks&) = delete;
  VectorRemarks& operator=(const VectorRemarks&) = delete;
  [[nodiscard]] bool isAnalysisRemarkEnabled(StringRef pass) const override { return pass == "loop-vectorize"; }
  [[nodiscard]] bool isMissedOptRemarkEnabled(StringRef pass) const override { return pass == "loop-vectorize"; }
  [[nodiscard]] bool isPassedOptRemarkEnabled(StringRef pass) const override { return pass == "loop-vectorize"; }
  [[nodiscard]] bool isAnyRemarkEnabled() const override { return true; }

  bool handleDiagnostics(const DiagnosticInfo& info) override {
    const auto* remark = dyn_cast<DiagnosticInfoOptimizationBase>(&info);
    if (!remark || !of_vectoriser(*remark) || !remark->getLocation().isValid()) return true;
    const int line = static_cast<int>(remark->getLocation().getLine());
    if (remark->getRemarkName() == "MissedDetails") {
      reason_line = line;
      keep_reason();
    } else if (isa<OptimizationRemark>(remark)) {
      keep_reason();
      CpuLoopCode& loop = of_line(line);
      for (const auto& a : remark->getArgs()) {
        int value = 0;
        if (StringRef(a.Val).getAsInteger(10, value)) continue;
        if (a.Key == "VectorizationFactor") loop.width = std::max(loop.width, value);
        if (a.Key == "InterleaveCount") loop.interleave = std::max(loop.interleave, value);
      }
    } else if (reason_line == 0) {
      const std::string message = remark->getMsg();
      StringRef text = message;
      text.consume_front("loop not vectorized: ");
      reason = text.str();
      reason_line = line;
    }
    return true;
  }

  /// The first reason since a verdict, for the loop at `reason_line`.
  void keep_reason() {
    if (reason_line == 0) return;
    CpuLoopCode& loop = of_line(reason_line);
    if (loop.reason.empty()) loop.reason = reason;
    reason.clear();
    reason_line = 0;
  }

  CpuLoopCode& of_line(int line) {
    for (CpuLoopCode& l : loops)
      if (l.line.line == line) return l;
    loops.push_back({});
    loops.back().line = {0, line};
    return loops.back();
  }

  std::vector<CpuLoopCode>& loops;
  std::string reason;
  int reason_line = 0;  // 0: none is kept back
};

OptimizationLevel level_of(int optimization) {
  switch (optimization) {
    case 1:
      return OptimizationLevel::O1;
    case 2:
      return OptimizationLevel::O2;
    default:
      return OptimizationLevel::O3;
  }
}

std::unique_ptr<TargetMachine> make_machine(const std::string& name, const std::string& features, int optimization) {
  initialize_x86();
  std::string problem;
  const Target* entry = TargetRegistry::lookupTarget(triple, problem);
  if (!entry) throw LimitError(std::string("this LLVM has no back end for ") + triple + ": " + problem);
  TargetOptions options;
  options.MCOptions.AsmVerbose = true;
  options.AllowFPOpFusion = FPOpFusion::Standard;  // a*b + c of one expression, as -ffp-contract=on
  static constexpr CodeGenOptLevel levels[] = {CodeGenOptLevel::None, CodeGenOptLevel::Less, CodeGenOptLevel::Default,
                                               CodeGenOptLevel::Aggressive};
  const std::unique_ptr<MCSubtargetInfo> generic(entry->createMCSubtargetInfo(triple, "x86-64", ""));
  if (!generic->isCPUStringValid(name))
    throw LimitError("LLVM knows no x86-64 CPU '" + name +
                     "' (" KC_SETTING(cpu_isa) ", or codegen_target of the CPU's device file)");
  std::unique_ptr<TargetMachine> machine(
      entry->createTargetMachine(triple, name, features, options, Reloc::PIC_, std::nullopt, levels[optimization]));
  if (!machine) throw LimitError("LLVM could not make a code generator for " + name);
  return machine;
}

}  // namespace

std::unique_ptr<TargetMachine> make_baseline_machine(int optimization) {
  return make_machine("x86-64", "", optimization);
}

std::unique_ptr<TargetMachine> make_cpu_machine(const std::string& cpu, int optimization) {
  const bool host = cpu == "host";
#if !defined(__x86_64__)
  if (host) throw LimitError("the machine we run on is no x86-64 CPU: name a CPU's device file instead");
#endif
  std::unique_ptr<TargetMachine> machine =
      make_machine(host ? host_cpu_name() : cpu, host ? host_features() : "", optimization);
  if (!machine->getMCSubtargetInfo()->getSchedModel().hasInstrSchedModel())
    throw LimitError("LLVM has no scheduling model of the CPU '" + machine->getTargetCPU().str() + "'");
  return machine;
}

void optimize_for_cpu(Module& module, TargetMachine& machine, const CpuPipeline& pipeline,
                      std::vector<CpuLoopCode>& loops) {
  if (pipeline.optimization == 0) return;
  const VendorOptions vendor(false);
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.LoopInterleaving = tuning.SLPVectorization =
      pipeline.simd && pipeline.optimization > 1;
  tuning.LoopUnrolling = pipeline.unroll;
  LLVMContext& context = module.getContext();
  auto before = context.getDiagnosticHandler();
  context.setDiagnosticHandler(std::make_unique<VectorRemarks>(loops));
  PassBuilder builder(&machine, tuning);
  Analyses analyses(builder);
  builder.buildPerModuleDefaultPipeline(level_of(pipeline.optimization)).run(module, analyses.modules);
  context.setDiagnosticHandler(std::move(before));
}

void simplify_for_cpu(Function& f, TargetMachine& machine) {
  const VendorOptions vendor(false);
  PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  PassBuilder builder(&machine, tuning);
  Analyses analyses(builder);
  builder.buildFunctionSimplificationPipeline(OptimizationLevel::O3, ThinOrFullLTOPhase::None)
      .run(f, analyses.functions);
}

std::string cpu_assembly(Module& module, TargetMachine& machine) {
  const VendorOptions vendor(false);
  SmallString<0> text;
  raw_svector_ostream out(text);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr, CodeGenFileType::AssemblyFile, /*DisableVerify=*/true))
    throw LimitError("LLVM's back end for x86-64 writes no assembly");
  passes.run(module);
  return text.str().str();
}

}  // namespace kernelcast::frontend
