// Assembly text -> machine instructions -> what LLVM's scheduling model says of each, as llvm-mca reads it: classes of
// instructions with latency, micro-operations and the ports that they use. A port's use is also listed for every set of
// ports that contains it; it is taken off there, so that what is left of a set is work that any of its ports can do.
//
// Width: LLVM's model of Haswell dispatches four micro-operations a cycle, which is what that core renames; its model
// of Skylake six, which is what that core decodes, where it too renames four. So the device file's number goes first.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "frontend/cpu/cpu_target.h"
#include "kernelcast/error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

namespace kernelcast::frontend {
namespace {

using namespace llvm;

constexpr int memory_operands = 5;  // base, scale, index, displacement, segment

/// Keeps instructions and drops the rest.
struct InstructionCollector : MCStreamer {
  explicit InstructionCollector(MCContext& context) : MCStreamer(context) {}
  void emitInstruction(const MCInst& inst, const MCSubtargetInfo&) override { found.push_back(inst); }
  bool emitSymbolAttribute(MCSymbol*, MCSymbolAttr) override { return true; }
  void emitCommonSymbol(MCSymbol*, uint64_t, Align) override {}
  void emitZerofill(MCSection*, MCSymbol*, uint64_t, Align, SMLoc) override {}
  std::vector<MCInst> found;
};

/// The lines of some functions that are instructions, in place; others blank. `block_of_line` says which IR block.
struct Lines {
  std::string text;
  std::vector<int> block_of_line;
  std::vector<std::string> blocks;
};

StringRef ir_name_in(StringRef line) {
  const std::size_t at = line.find("# %");
  if (at == StringRef::npos) return {};
  StringRef name = line.substr(at + 3).take_until([](char c) { return c == ' ' || c == '\t'; });
  if (name.starts_with("bb.")) {  // "# %bb.3:    # %kc5"
    const std::size_t second = line.find("# %", at + 3);
    return second == StringRef::npos ? StringRef()
                                     : line.substr(second + 3).take_until([](char c) { return c == ' ' || c == '\t'; });
  }
  return name;
}

Lines lines_of(StringRef assembly, const std::vector<std::string>& symbols) {
  Lines out;
  bool inside = false;
  int block = -1;
  SmallVector<StringRef, 0> all;
  assembly.split(all, '\n');
  for (StringRef line : all) {
    out.block_of_line.push_back(block);
    const bool instruction = line.starts_with("\t") && !line.ltrim().starts_with(".") && !line.ltrim().starts_with("#");
    if (!line.starts_with("\t") &&
        std::find(symbols.begin(), symbols.end(), line.take_until([](char c) { return c == ':'; })) != symbols.end())
      inside = true;
    if (inside && (line.starts_with(".Lfunc_end") || line.ltrim().starts_with(".size"))) inside = false;
    if (inside && !instruction) {
      if (const StringRef name = ir_name_in(line); !name.empty()) {
        out.blocks.push_back(name.str());
        block = static_cast<int>(out.blocks.size()) - 1;
      }
    }
    out.block_of_line.back() = block;
    if (inside && instruction && block >= 0) out.text += line.take_until([](char c) { return c == '#'; }).str();
    out.text += '\n';
  }
  return out;
}

class CpuReader {
 public:
  CpuReader(TargetMachine& machine, const CpuCodeOptions& options, CpuInstructions& out)
      : sti_(*machine.getMCSubtargetInfo()),
        mii_(*machine.getMCInstrInfo()),
        mri_(*machine.getMCRegisterInfo()),
        model_(sti_.getSchedModel()),
        out_(out) {
    number_ports();
    number_queues();
    find_fma(options);
    find_fma_rate(options);
    gather_ = options.gather_element_cycles;
    scatter_ = options.scatter_element_cycles;
    out.core.width = options.issue_width > 0 ? std::max(1, static_cast<int>(std::lround(options.issue_width)))
                                             : static_cast<int>(model_.IssueWidth);
    out.core.window = static_cast<int>(model_.MicroOpBufferSize);
    out.core.registers = static_cast<int>(mri_.getNumRegs());
    out.mispredict_cycles = model_.MispredictPenalty;
  }

  CoreInstruction read(const MCInst& inst) {
    const MCInstrDesc& desc = mii_.get(inst.getOpcode());
    CoreInstruction i;
    i.text = hash_value(StringRef(mii_.getName(inst.getOpcode())));
    i.loads = desc.mayLoad();
    i.stores = desc.mayStore();
    i.unmodelled_call = desc.isCall();
    const MCSchedClassDesc* sched = class_of(inst, desc);
    operands(inst, desc, sched, i);
    if (!sched) return i;
    i.uops = sched->NumMicroOps;
    i.latency = std::max(0, MCSchedModel::computeInstrLatency(sti_, *sched) + correction(inst));
    uses(*sched, i);
    wait_in_queues(*sched, i);
    if (vector_queue_ >= 0 && stores_vector(inst, desc) &&
        std::ranges::count(i.queued, vector_queue_, &CoreInstruction::Entry::queue) == 0)
      i.queued.push_back({vector_queue_, 1});
    fma_rate(inst, i);
    in_parts(inst, i);
    return i;
  }

 private:
  void number_ports() {
    masks_.assign(model_.getNumProcResourceKinds(), 0);
    int next = 0;
    for (unsigned k = 1; k < model_.getNumProcResourceKinds(); ++k) {
      const MCProcResourceDesc& r = *model_.getProcResource(k);
      if (r.SubUnitsIdxBegin) continue;
      for (unsigned u = 0; u < r.NumUnits && next < 64; ++u) masks_[k] |= std::uint64_t{1} << next++;
    }
    for (unsigned k = 1; k < model_.getNumProcResourceKinds(); ++k) {
      const MCProcResourceDesc& r = *model_.getProcResource(k);
      if (!r.SubUnitsIdxBegin) continue;
      for (unsigned u = 0; u < r.NumUnits; ++u) masks_[k] |= masks_[r.SubUnitsIdxBegin[u]];
    }
    microcode_ = std::uint64_t{1} << std::min(next, 63);
    out_.core.ports = std::min(64, next + 1);
  }

  /// A resource with a buffer is a scheduler's queue for whatever uses it. What a vector register stores waits in the
  /// queue of vector instructions too: LLVM's models of Zen leave that out, and there a chain of multiply-adds runs 61
  /// operations ahead, 29 where each is stored (a queue of 64, a misprediction of 13 cycles; measured on Zen 4).
  void number_queues() {
    queue_of_.assign(model_.getNumProcResourceKinds(), -1);
    for (unsigned k = 1; k < model_.getNumProcResourceKinds(); ++k) {
      const int size = model_.getProcResource(k)->BufferSize;
      if (size <= 1) continue;
      queue_of_[k] = static_cast<int>(out_.core.queues.size());
      out_.core.queues.push_back(size);
    }
    CoreInstruction scalar;
    if (const MCSchedClassDesc* sched = class_named("ADDSDrr")) wait_in_queues(*sched, scalar);
    if (!scalar.queued.empty()) vector_queue_ = scalar.queued.front().queue;
  }

  /// Of an instruction that the model knows and has one class for; null otherwise.
  const MCSchedClassDesc* class_named(StringRef opcode) const {
    for (unsigned o = 0; o < mii_.getNumOpcodes(); ++o) {
      if (mii_.getName(o) != opcode) continue;
      const MCSchedClassDesc* sched = model_.getSchedClassDesc(mii_.get(o).getSchedClass());
      return sched->isValid() && !sched->isVariant() ? sched : nullptr;
    }
    return nullptr;
  }

  void wait_in_queues(const MCSchedClassDesc& sched, CoreInstruction& i) const {
    for (const MCWriteProcResEntry* w = sti_.getWriteProcResBegin(&sched); w != sti_.getWriteProcResEnd(&sched); ++w)
      if (const int queue = queue_of_[w->ProcResourceIdx]; queue >= 0)
        i.queued.push_back({queue, std::min<int>(i.uops, w->ReleaseAtCycle - w->AcquireAtCycle)});
  }

  bool stores_vector(const MCInst& inst, const MCInstrDesc& desc) const {
    if (!desc.mayStore() || desc.mayLoad() || inst.getNumOperands() == 0) return false;
    const MCOperand& data = inst.getOperand(inst.getNumOperands() - 1);
    return data.isReg() && data.getReg() && StringRef(mri_.getName(root(data.getReg()))).starts_with("ZMM");
  }

  /// Cycles by which measured multiply-adds are slower than those of the model.
  void find_fma(const CpuCodeOptions& options) {
    const auto off = [&](const char* opcode, double measured) {
      const MCSchedClassDesc* sched = measured > 0 ? class_named(opcode) : nullptr;
      return sched ? static_cast<int>(std::lround(measured)) - MCSchedModel::computeInstrLatency(sti_, *sched) : 0;
    };
    fma32_ = off("VFMADD231SSr", options.fp32_fma_cycles);
    fma64_ = off("VFMADD231SDr", options.fp64_fma_cycles);
  }

  static bool is_fma(StringRef name) { return name.starts_with("VFM") || name.starts_with("VFNM"); }

  /// Of the cycles that scalar multiply-adds take on their set of ports, what the measured rate leaves of them: LLVM's
  /// model of Zen 4 lets one begin each cycle, where the core begins two.
  void find_fma_rate(const CpuCodeOptions& options) {
    const MCSchedClassDesc* sched = options.scalar_fma_per_cycle > 0 ? class_named("VFMADD231SDr") : nullptr;
    if (!sched) return;
    CoreInstruction scalar;
    uses(*sched, scalar);
    if (scalar.uses.empty()) return;
    fma_ports_ = scalar.uses.front().ports;
    fma_uses_ = std::ranges::count(scalar.uses, fma_ports_, &CoreInstruction::Use::ports);
    fma_measured_ = std::max(std::lround(std::popcount(fma_ports_) / options.scalar_fma_per_cycle), 1L);
  }

  /// Multiply-adds that cost what scalar ones cost in the model; those on 512-bit registers have a rate of their own.
  void fma_rate(const MCInst& inst, CoreInstruction& i) const {
    const StringRef name = mii_.getName(inst.getOpcode());
    const bool widest = name.contains("PSZ") || name.contains("PDZ");
    if (fma_measured_ >= fma_uses_ || !is_fma(name) || (widest && !name.contains("Z128") && !name.contains("Z256")))
      return;
    if (std::ranges::count(i.uses, fma_ports_, &CoreInstruction::Use::ports) != fma_uses_) return;
    long seen = 0;
    std::erase_if(i.uses, [&](const auto& u) { return u.ports == fma_ports_ && seen++ >= fma_measured_; });
  }

  /// Gathers and scatters whose time is measured go one after the other, each for so long: microcode has hardly any of
  /// the model's overlap (Zen 4: two gathers of 5.9 cycles and a scatter of 6.9 took 18.4 together).
  void in_parts(const MCInst& inst, CoreInstruction& i) const {
    StringRef name = mii_.getName(inst.getOpcode());  // "VPGATHERQPDYrm", "VGATHERDDZ256rm", "VSCATTERQPDZ256mr"
    if (!name.consume_front("V")) return;
    const bool integer = name.consume_front("P");
    const bool gathers = name.consume_front("GATHER");
    const double each = gathers ? gather_ : scatter_;
    if (each <= 0 || (!gathers && !name.consume_front("SCATTER")) || !(gathers ? i.loads : i.stores)) return;
    const bool wide = name[0] == 'Q' || name[integer ? 1 : 2] == (integer ? 'Q' : 'D');
    const int bits = name.contains("Z128")                         ? 128
                     : name.contains("Z256") || name.contains('Y') ? 256
                     : name.contains('Z')                          ? 512
                                                                   : 128;
    const int cycles = std::max(1, static_cast<int>(std::lround(each * bits / (wide ? 64 : 32))));
    for (CoreInstruction::Use& use : i.uses) use.cycles = std::min(use.cycles, cycles);
    i.uses.push_back({microcode_, cycles});
    i.latency = std::max(i.latency, cycles);
  }

  int correction(const MCInst& inst) const {
    const StringRef name = mii_.getName(inst.getOpcode());
    if (!is_fma(name)) return 0;
    return name.contains("SD") || name.contains("PD") ? fma64_ : fma32_;
  }

  const MCSchedClassDesc* class_of(const MCInst& inst, const MCInstrDesc& desc) const {
    unsigned id = desc.getSchedClass();
    while (id && model_.getSchedClassDesc(id)->isVariant())
      id = sti_.resolveVariantSchedClass(id, &inst, &mii_, model_.getProcessorID());
    const MCSchedClassDesc* sched = model_.getSchedClassDesc(id);
    return id && sched->isValid() ? sched : nullptr;
  }

  int root(MCRegister reg) const {
    MCRegister top = reg;
    for (const MCPhysReg super : mri_.superregs(reg)) top = super;
    return static_cast<int>(top.id());
  }

  static std::uint64_t text_of(const MCOperand& operand) {
    if (operand.isImm()) return hash_value(operand.getImm());
    if (operand.isExpr()) {
      std::string text;
      raw_string_ostream(text) << *operand.getExpr();
      return hash_value(StringRef(text));
    }
    return 0;
  }

  int advance(const MCSchedClassDesc* sched, unsigned use) const {
    return sched ? std::max(0, sti_.getReadAdvanceCycles(sched, use, 0)) : 0;
  }

  /// xor of a register with itself needs nobody.
  bool is_zero(const MCInst& inst, const MCInstrDesc& desc) const {
    const StringRef name = mii_.getName(inst.getOpcode());
    if (!name.contains("XOR") || desc.getNumOperands() < 2) return false;
    const MCOperand& a = inst.getOperand(inst.getNumOperands() - 1);
    const MCOperand& b = inst.getOperand(inst.getNumOperands() - 2);
    return a.isReg() && b.isReg() && a.getReg() == b.getReg();
  }

  void operands(const MCInst& inst, const MCInstrDesc& desc, const MCSchedClassDesc* sched, CoreInstruction& i) {
    const bool zero = is_zero(inst, desc);
    int memory = -1;
    for (unsigned n = 0; n + memory_operands <= desc.getNumOperands() && memory < 0; ++n)
      if (desc.operands()[n].OperandType == MCOI::OPERAND_MEMORY) memory = static_cast<int>(n);
    for (unsigned n = 0; n < inst.getNumOperands(); ++n) {
      const MCOperand& o = inst.getOperand(n);
      const int in_memory = memory >= 0 ? static_cast<int>(n) - memory : -1;
      const bool address = in_memory >= 0 && in_memory < memory_operands;
      if (!o.isReg()) {
        if (address)
          i.address_text ^= text_of(o) * (static_cast<unsigned>(in_memory) + 3);
        else
          i.text ^= text_of(o) * (n + 3);
        continue;
      }
      if (!o.getReg()) continue;
      if (n < desc.getNumDefs()) {
        i.writes.push_back(root(o.getReg()));
        continue;
      }
      if (zero) continue;
      if (address && in_memory == 0) i.base = root(o.getReg());
      if (address && in_memory == 2) i.index = root(o.getReg());
      i.reads.push_back({root(o.getReg()), address ? 0 : advance(sched, n - desc.getNumDefs())});
    }
    const unsigned explicit_uses = desc.getNumOperands() - desc.getNumDefs();
    unsigned k = 0;
    for (const MCPhysReg reg : desc.implicit_uses())
      i.reads.push_back({root(reg), advance(sched, explicit_uses + k++)});
    for (const MCPhysReg reg : desc.implicit_defs()) i.writes.push_back(root(reg));
  }

  void uses(const MCSchedClassDesc& sched, CoreInstruction& i) const {
    std::vector<CoreInstruction::Use> list;
    for (const MCWriteProcResEntry* w = sti_.getWriteProcResBegin(&sched); w != sti_.getWriteProcResEnd(&sched); ++w)
      if (masks_[w->ProcResourceIdx] != 0)
        list.push_back({masks_[w->ProcResourceIdx], w->ReleaseAtCycle - w->AcquireAtCycle});
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return std::popcount(a.ports) < std::popcount(b.ports); });
    for (std::size_t a = 0; a < list.size(); ++a)
      for (std::size_t b = a + 1; b < list.size() && list[a].cycles > 0; ++b) {
        if ((list[a].ports & ~list[b].ports) != 0) continue;
        if (list[a].ports != list[b].ports) {
          list[b].cycles -= list[a].cycles;
        } else {  // two names of one set repeat the same work
          list[a].cycles = std::max(list[a].cycles, list[b].cycles);
          list[b].cycles = 0;
        }
      }
    std::erase_if(list, [](const auto& u) { return u.cycles <= 0; });
    for (CoreInstruction::Use u : list) {
      // Cycles on a set of ports are so many micro-operations of one cycle each; on one port they may be one long one.
      if (std::popcount(u.ports) == 1)
        i.uses.push_back(u);
      else
        for (int n = 0; n < u.cycles; ++n) i.uses.push_back({u.ports, 1});
    }
  }

  const MCSubtargetInfo& sti_;
  const MCInstrInfo& mii_;
  const MCRegisterInfo& mri_;
  const MCSchedModel& model_;
  CpuInstructions& out_;
  std::vector<std::uint64_t> masks_;
  std::vector<int> queue_of_;  // of a resource, -1: none
  int vector_queue_ = -1;
  int fma32_ = 0, fma64_ = 0;
  std::uint64_t fma_ports_ = 0;
  long fma_uses_ = 0, fma_measured_ = 0;
  double gather_ = 0, scatter_ = 0;
  std::uint64_t microcode_ = 0;  // a port of what is made of microcode
};

std::vector<MCInst> parse(const std::string& text, TargetMachine& machine, SourceMgr& sources, MCContext& context) {
  InstructionCollector streamer(context);
  std::string errors;
  const std::unique_ptr<MCAsmParser> parser(createMCAsmParser(sources, context, streamer, *machine.getMCAsmInfo()));
  const std::unique_ptr<MCTargetAsmParser> of_target(machine.getTarget().createMCAsmParser(
      *machine.getMCSubtargetInfo(), *parser, *machine.getMCInstrInfo(), machine.Options.MCOptions));
  parser->setTargetParser(*of_target);
  if (parser->Run(/*NoInitialTextSection=*/false))
    throw InternalError("the assembly that LLVM wrote for " + machine.getTargetCPU().str() + " cannot be read back");
  (void)text;
  return std::move(streamer.found);
}

}  // namespace

CpuInstructions cpu_instructions(const std::string& assembly, const std::vector<std::string>& symbols,
                                 TargetMachine& machine, const CpuCodeOptions& options) {
  CpuInstructions out;
  const Lines lines = lines_of(assembly, symbols);
  out.blocks = lines.blocks;
  SourceMgr sources;
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(lines.text), SMLoc());
  sources.setDiagHandler([](const SMDiagnostic&, void*) {});
  MCContext context(machine.getTargetTriple(), machine.getMCAsmInfo(), machine.getMCRegisterInfo(),
                    machine.getMCSubtargetInfo(), &sources);
  const std::unique_ptr<MCObjectFileInfo> object(
      machine.getTarget().createMCObjectFileInfo(context, /*PIC=*/true, /*LargeCodeModel=*/false));
  context.setObjectFileInfo(object.get());
  CpuReader reader(machine, options, out);
  for (const MCInst& inst : parse(lines.text, machine, sources, context)) {
    const unsigned line = sources.getLineAndColumn(inst.getLoc()).first;
    CoreInstruction i = reader.read(inst);
    i.block = lines.block_of_line.at(line - 1);
    if (i.block < 0) continue;
    out.instructions.push_back(std::move(i));
  }
  return out;
}

}  // namespace kernelcast::frontend
