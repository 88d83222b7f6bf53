// The join of structure and code. Structure, addresses, trip counts and guards come from the optimised IR
// (kernel_model.h); what each basic block executes comes from the target's code generator (target_code.h). Blocks carry
// the same names on both sides. A header that only tests for the end of its loop runs once more than the body: it is
// listed twice, in the loop and, for the last test, in the parent, so that bodies need no guard.
#include "frontend/lower/amd_memory.h"
#include "frontend/pipeline/pipeline.h"

#include <algorithm>
#include <map>

#include "frontend/ir/annotations.h"
#include "frontend/ir/builtins.h"
#include "frontend/ir/images.h"
#include "frontend/ir/math_costs.h"
#include "frontend/ir/ptx_calls.h"
#include "frontend/ir/warp_uniform.h"
#include "frontend/lower/nvidia_rules.h"
#include "frontend/lower/reducible.h"
#include "frontend/program/decode_function.h"
#include "frontend/shape/access_shapes.h"
#include "frontend/shape/kernel_model.h"
#include "frontend/shape/synchronization.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "kernelcast/tensor.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

class ProfileBuilder {
 public:
  ProfileBuilder(Function& kernel, const TargetCode& code, const std::vector<TensorBox>& maps)
      : kernel_(kernel), code_(code), given_maps_(maps), model_(kernel, profile_) {}

  void build() {
    profile_.symbol = kernel_.getName().str();
    read_limits();
    add_loops();
    boxes_ = tensor_boxes(model_, maps_by_parameter());
    ReversePostOrderTraversal<Function*> order(&kernel_);
    for (BasicBlock* block : order) add_block(*block);
    mark_flat_barriers();
    add_branches();
    take_code();
    name_rolled_loops();
    name_unknown_calls();
    name_unmodeled();
    name_box_shares();
    note_changed_flow();
    mark_used_parameters();
    drop_unused_unknowns();
  }

  /// After build(): the same kernel in executable form.
  Program program() { return decode(kernel_, model_, profile_, places_); }
  KernelProfile take() { return std::move(profile_); }

 private:
  void add_loops() {
    for (llvm::Loop* loop : model_.loops().getLoopsInPreorder()) {
      const TripCount& count = model_.trips(loop);
      kernelcast::Loop l;
      l.parent = loop->getParentLoop() ? loop_index_.at(loop->getParentLoop()) : -1;
      l.counter = model_.counter(loop);
      l.line = model_.line_of(*loop);
      l.guard = model_.entry_guard(loop);
      if (count.trips) {
        l.trips = count.header_test ? *count.trips - 1 : *count.trips;
        if (count.other_exits)
          profile_.assumptions.push_back(
              {"the loop at " + model_.text_of(l.line) + " does not end early (" + count.reason + ")",
               l.trips.str() + " trips", "", Assumption::Kind::contents});
      } else if (const Waiting w = waiting_of(*loop, model_); w.wait != kernelcast::Loop::Wait::none) {
        l.trips = Expr(1);  // what the wait costs is not in the loop's code
        l.wait = w.for_all ? kernelcast::Loop::Wait::none : w.wait;
        profile_.assumptions.push_back(waiting_text(w, model_.text_of(l.line)));
      } else {
        l.unknown = static_cast<int>(profile_.unknowns.size());
        l.trips = Expr(static_cast<std::int64_t>(default_trips));
        profile_.unknowns.push_back({Unknown::Kind::trip_count, "trips:" + std::to_string(l.line.line), l.line,
                                     default_trips, false,
                                     count.reason.empty() ? "the loop has no end that can be computed" : count.reason});
      }
      loop_index_[loop] = static_cast<int>(profile_.loops.size());
      profile_.loops.push_back(std::move(l));
    }
  }

  static Assumption waiting_text(const Waiting& w, const std::string& where) {
    if (w.for_all) return {"the loop at " + where + " waits for all blocks of the grid", "it passes at once", ""};
    if (w.wait == kernelcast::Loop::Wait::lock)
      return {"the loop at " + where + " takes a lock",
              "one thread after another, each with a write and a read of the L2", ""};
    return {"the loop at " + where + " waits until another block has written",
            "one block after another, each with a write and a read of the L2", ""};
  }

  void add_block(BasicBlock& source) {
    Block b;
    b.name = source.getName().str();
    b.line = model_.line_of(source);
    b.guard = model_.guard(&source);
    llvm::Loop* loop = model_.loops().getLoopFor(&source);
    b.loop = loop ? loop_index_.at(loop) : -1;
    const auto partial = collect_accesses(source, model_, profile_, b, places_.accesses, steps_[&source], boxes_);
    places_.block[&source] = static_cast<int>(profile_.blocks.size());
    first_of_name_[b.name] = places_.block[&source];
    const bool last_test = loop && loop->getHeader() == &source && model_.trips(loop).header_test;
    profile_.blocks.push_back(b);
    for (const PartialAccess& a : partial) add_partial(a, b);
    if (!last_test) return;
    const TripCount& count = model_.trips(loop);
    b.name += ".last";
    b.guard = model_.entry_guard(loop);
    b.loop = profile_.loops[static_cast<std::size_t>(loop_index_.at(loop))].parent;
    const Expr end = count.trips ? *count.trips - 1 : Expr(0);
    for (Access& a : b.accesses) {
      try {
        a.offset = a.offset.substitute({{model_.counter(loop), end}});
      } catch (const Error&) {  // leaves 64 bits: where the last test reads is of no weight
        a.offset = 0;
      }
    }
    places_.last_test[places_.block[&source]] = static_cast<int>(profile_.blocks.size());
    profile_.blocks.push_back(std::move(b));
  }

  void mark_flat_barriers() {
    for (const auto& [source, flat] : flat_barriers(kernel_, steps_)) {
      const int block = places_.block.at(source);
      profile_.blocks[static_cast<std::size_t>(block)].flat_barriers = flat;
      if (auto twin = places_.last_test.find(block); twin != places_.last_test.end())
        profile_.blocks[static_cast<std::size_t>(twin->second)].flat_barriers = flat;
    }
  }

  /// Where an instruction touches memory in some lanes only: a block without operations, with these lanes' guard.
  void add_partial(const PartialAccess& a, const Block& of) {
    Block b;
    b.name = of.name + ".lanes";
    b.line = of.line;
    b.loop = of.loop;
    b.guard = of.guard;
    Expr takes_part = 1;
    if (a.what.lanes < 32) {
      const Expr thread =
          Expr(local_id(0)) + Expr(local_size(0)) * (Expr(local_id(1)) + Expr(local_size(1)) * Expr(local_id(2)));
      takes_part = less(mod(thread, 32), a.what.lanes);
    }
    if (a.what.bytes_are && !isa<Constant>(a.what.bytes_are)) {
      const Expr bytes = model_.integer(const_cast<Value*>(a.what.bytes_are));
      if (model_.data_in(bytes).empty()) takes_part = takes_part * less(0, bytes);
    }
    for (Path& p : b.guard.paths) p.condition = p.condition * takes_part;
    const int index = static_cast<int>(profile_.blocks.size());
    collect_partial(a, model_, profile_, b, index, places_.accesses);
    profile_.blocks.push_back(std::move(b));
  }

  void add_branches() {
    for (BasicBlock& block : kernel_) {
      auto* end = block.getTerminator();
      auto* branch = dyn_cast<BranchInst>(end);
      const bool choice = (branch && branch->isConditional()) || (isa<SwitchInst>(end) && end->getNumSuccessors() > 1);
      auto where = places_.block.find(&block);
      if (!choice || where == places_.block.end()) continue;
      kernelcast::Branch out;
      out.block = where->second;
      out.line = model_.line_of(*end);
      llvm::Loop* loop = model_.loops().getLoopFor(&block);
      out.loop_exit = loop && loop->isLoopExiting(&block);
      Value* test = end->getOperand(0);
      const Expr c = branch ? model_.condition(branch->getCondition()) : model_.integer(test);
      const auto sources = model_.data_in(c);
      const bool divergent = !alike_in_warp(test, [this](const Value* v) { return model_.divergent(v); });
      using Verdict = kernelcast::Branch::Verdict;
      out.verdict = divergent ? Verdict::unknown : Verdict::uniform;
      if (sources.empty()) {
        out.condition = c;
        std::string on;  // a known condition is divergent exactly when it depends on a local id
        for (Symbol s : c.symbols())
          if (s == local_id(0) || s == local_id(1) || s == local_id(2)) on += (on.empty() ? "" : ", ") + s.name();
        out.verdict = on.empty() ? Verdict::uniform : Verdict::divergent;
        out.reason = on.empty() ? "the same for all threads of a block" : "depends on " + on;
      } else {
        out.reason = sources[0]->reason;
        if (!out.loop_exit) out.unknown = model_.branch_unknown(&block);
      }
      places_.branch[&block] = static_cast<int>(profile_.branches.size());
      profile_.branches.push_back(std::move(out));
    }
  }

  void take_code() {
    int target = 0;
    for (const CodeBlock& c : code_.blocks) {
      mark_predicated(c);
      if (auto it = first_of_name_.find(c.name); it != first_of_name_.end())
        target = it->second;  // else: added by the code generator
      give_ops(profile_.blocks[static_cast<std::size_t>(target)], c);
      if (auto twin = places_.last_test.find(target); twin != places_.last_test.end())
        give_ops(profile_.blocks[static_cast<std::size_t>(twin->second)], c);
    }
    profile_.registers = code_.registers;
    profile_.stack_bytes = code_.stack_bytes;
    profile_.static_shared_bytes = code_.static_shared_bytes;
    for (const Buffer& b : profile_.buffers)
      profile_.uses_dynamic_shared |= b.space == MemorySpace::shared && b.bytes < 0;
    profile_.assumptions.insert(profile_.assumptions.end(), code_.assumptions.begin(), code_.assumptions.end());
  }

  void mark_predicated(const CodeBlock& code) {
    const auto block = first_of_name_.find(code.name);
    if (!code.predicated || block == first_of_name_.end()) return;
    for (kernelcast::Branch& b : profile_.branches) b.predicated |= b.block == block->second;
  }

  void give_ops(Block& block, const CodeBlock& code) {
    add_events(block.events, code.events, block.ops.total());
    block.ops += code.ops;
    block.issued_elsewhere += code.issued_elsewhere;
    block.stalls += code.stalls;
    add_phases(block.phases, code.phases, 1);
    for (const LineCount& l : code.lines) {
      const SourceLine where = line_named(l.file, l.line, block.line);
      auto it = std::find_if(block.lines.begin(), block.lines.end(), [&](const LineOps& o) { return o.line == where; });
      if (it == block.lines.end()) it = block.lines.insert(block.lines.end(), LineOps{where, {}});
      it->ops += l.ops;
    }
  }

  SourceLine line_named(const std::string& file, int line, SourceLine otherwise) {
    if (line <= 0 || file.empty()) return otherwise;
    auto ends_alike = [&](const std::string& known) {
      return known == file || file.ends_with("/" + known) || known.ends_with("/" + file);
    };
    auto it = std::find(profile_.files.begin(), profile_.files.end(), file);
    if (it == profile_.files.end()) it = std::find_if(profile_.files.begin(), profile_.files.end(), ends_alike);
    if (it == profile_.files.end()) it = profile_.files.insert(profile_.files.end(), file);
    return {static_cast<int>(it - profile_.files.begin()), line};
  }

  /// Loops of known trips that one would expect to be unrolled: a pragma asks for it, or an array of the thread's own
  /// that could live in registers is indexed by the counter.
  void name_rolled_loops() {
    for (llvm::Loop* loop : model_.loops().getLoopsInPreorder()) {
      const kernelcast::Loop& l = profile_.loops[static_cast<std::size_t>(loop_index_.at(loop))];
      const auto trips = l.trips.constant();
      if (l.unknown >= 0 || !trips || *trips < 2) continue;
      const bool asked = is_to_be_unrolled(*loop);
      const bool of_array = profile_.stack_bytes > 0 && indexes_local_memory(l.counter);
      if (!asked && !of_array) continue;
      profile_.assumptions.push_back(
          {"this configuration probably does not unroll the loop at " + model_.text_of(l.line) +
               (asked ? " in spite of its pragma" : ", whose counter indexes a private array"),
           std::to_string(*trips) + " trips are left", ""});
    }
  }

  bool indexes_local_memory(Symbol counter) const {
    for (const Block& b : profile_.blocks)
      for (const Access& a : b.accesses)
        if (a.space == MemorySpace::local && a.unknown < 0 && a.offset.depends_on(counter)) return true;
    return false;
  }

  void note_image(const Instruction& i) {
    Assumption a{"the texture, surface or image accessed at " + model_.text_of(model_.line_of(i)) +
                     ": its memory traffic and its filtering",
                 Triple(kernel_.getParent()->getTargetTriple()).isNVPTX() ? "not modelled: the instruction alone counts"
                                                                          : "not modelled: it counts as nothing",
                 ""};
    auto& known = profile_.assumptions;
    if (std::find(known.begin(), known.end(), a) == known.end()) known.push_back(std::move(a));
  }

  /// Functions without a body that no table of costs knows.
  void name_unknown_calls() {
    for (Instruction& i : instructions(kernel_)) {
      auto* call = dyn_cast<CallBase>(&i);
      if (call && accesses_image(*call)) note_image(i);
      const Function* f = call ? call->getCalledFunction() : nullptr;
      if (!f || !f->isDeclaration() || f->isIntrinsic() || ptx_instruction(i) ||
          is_costed_function(f->getName().str()) || id_value(i) || f->getName().starts_with(tensor_call_prefix))
        continue;
      if (f->getName() == "kc_launch_child") {
        profile_.assumptions.push_back(
            {"the kernel launched at " + model_.text_of(model_.line_of(i)) + ", a child: its time",
             "not modelled: the launch counts as a call", ""});
        continue;
      }
      Assumption a{"the function '" + demangle(f->getName().str()) + "', called at " +
                       model_.text_of(model_.line_of(i)) + ", has no body here",
                   "nothing but the call", ""};
      auto& known = profile_.assumptions;
      if (std::find(known.begin(), known.end(), a) == known.end()) known.push_back(std::move(a));
    }
  }

  /// What costs nothing in this profile: instructions of PTX that nothing is known of, statements of assembly that stay
  /// text. Those without an effect (fences for the compiler, waits) are left out.
  void name_unmodeled() {
    for (Instruction& i : instructions(kernel_)) {
      std::string what;
      if (const auto ptx = ptx_instruction(i)) {
        if (!is_modelled(*ptx) && shape_in_descriptor(cast<CallInst>(i)).empty()) what = ptx_opcode(i);
        if (moves_unknown_bytes(cast<CallInst>(i), *ptx)) {
          what = ptx_opcode(i);
          name_missing_bytes(i, *ptx);
        }
        if (ptx->op == ptx::Op::setmaxnreg) add_set_registers(cast<CallInst>(i));
        if (ptx->op == ptx::Op::mapa) note_other_blocks();
      } else if (auto* call = dyn_cast<CallInst>(&i); call && call->isInlineAsm()) {
        what = statement(cast<InlineAsm>(call->getCalledOperand())->getAsmString());
      } else {
        what = unknown_amd_access(i);
      }
      if (what.empty()) continue;
      auto& known = profile_.unmodeled;
      const auto same = [&](const Unmodeled& u) { return u.what == what; };
      if (const auto it = std::find_if(known.begin(), known.end(), same); it != known.end())
        ++it->count;
      else
        known.push_back({what, 1, model_.line_of(i)});
    }
  }

  void note_other_blocks() {
    const Assumption a{"shared memory of other blocks of the cluster (mapa, map_shared_rank)",
                       "every such access goes to another block, none to the block's own", ""};
    auto& known = profile_.assumptions;
    if (std::find(known.begin(), known.end(), a) == known.end()) known.push_back(a);
  }

  /// Whether it copies and how much is not known here.
  bool moves_unknown_bytes(const CallInst& call, const ptx::Instruction& what) const {
    switch (what.op) {
      case ptx::Op::cp_async:
      case ptx::Op::cp_async_bulk:
      case ptx::Op::cp_reduce_async_bulk:
        return ptx_accesses(call).empty();
      case ptx::Op::cp_async_bulk_tensor:
      case ptx::Op::cp_reduce_async_bulk_tensor:
        return !boxes_.bytes.contains(&call);
      default:
        return false;
    }
  }

  std::map<const Argument*, TensorBox> maps_by_parameter() const {
    std::map<const Argument*, TensorBox> maps;
    for (const TensorBox& box : given_maps_) {
      const std::string& name = box.parameter;
      const auto named = [&name](const Argument& a) { return a.getName() == name; };
      const auto at = std::find_if(kernel_.arg_begin(), kernel_.arg_end(), named);
      if (at == kernel_.arg_end())
        throw UsageError(KC_SETTING(tensor_map) " " + name + ": kernel " + demangle(kernel_.getName().str()) +
                         " has no parameter of that name");
      maps[&*at] = box;
    }
    return maps;
  }

  /// What gives the box of the copy's tensor map; empty: its map is no parameter.
  static std::string setting_of_map(const Instruction& i) {
    for (const PtxAccess& a : ptx_accesses(cast<CallInst>(i)))
      if (!a.coordinates.empty())
        if (const Argument* map = tensor_map_of(*a.pointer))
          return KC_SETTING(tensor_map) " " + map->getName().str() + "=DIM[xDIM...]:BYTES";
    return "";
  }

  void name_missing_bytes(const Instruction& i, const ptx::Instruction& what) {
    if (what.op == ptx::Op::cp_async) return;
    const bool tensor = what.op != ptx::Op::cp_async_bulk && what.op != ptx::Op::cp_reduce_async_bulk;
    Assumption a{"the bytes of the copy in bulk at " + model_.text_of(model_.line_of(i)) +
                     (tensor ? ", which its tensor map says and no constant of an expect_tx in its loop"
                             : ", which are no constant"),
                 "not modelled: it moves none", tensor ? setting_of_map(i) : ""};
    auto& known = profile_.assumptions;
    if (std::find(known.begin(), known.end(), a) == known.end()) known.push_back(std::move(a));
  }

  /// Boxes that come from what mbarriers expect.
  void name_box_shares() {
    std::set<const Argument*> maps;
    for (const auto& [call, bytes] : boxes_.bytes)
      if (const Argument* map = map_of(*call)) maps.insert(map);
    for (const Argument& map : kernel_.args()) {
      const auto given = [&map](const auto& m) { return map.getName() == m.parameter; };
      if (!maps.contains(&map) || std::any_of(given_maps_.begin(), given_maps_.end(), given)) continue;
      const auto of_map = [&](const auto& box) { return map_of(*box.first) == &map; };
      const auto box = std::find_if(boxes_.bytes.begin(), boxes_.bytes.end(), of_map);
      profile_.assumptions.push_back(
          {"the box of the tensor map " + map.getName().str() + "; boxes at different coordinates are different data",
           std::to_string(box->second) + " bytes, an even share of what its mbarrier expects",
           setting_of_map(*box->first)});
    }
  }

  static const Argument* map_of(const CallInst& call) {
    for (const PtxAccess& a : ptx_accesses(call))
      if (!a.coordinates.empty()) return tensor_map_of(*a.pointer);
    return nullptr;
  }

  void add_set_registers(const CallInst& call) {
    const auto* registers = call.arg_empty() ? nullptr : dyn_cast<ConstantInt>(call.getArgOperand(0));
    const auto block = places_.block.find(call.getParent());
    if (!registers || block == places_.block.end()) return;
    const auto n = static_cast<int>(registers->getZExtValue());
    const SourceLine line = model_.line_of(call);
    if (n < 24 || n > 256 || n % 8 != 0)  // PTX ISA 9.0, "setmaxnreg"
      throw UserError(model_.text_of(line) + ": setmaxnreg asks for " + std::to_string(n) +
                      " registers; it takes a multiple of 8 from 24 to 256");
    auto& known = profile_.set_registers;
    const auto same = [&](const SetRegisters& s) { return s.block == block->second; };
    if (const auto at = std::find_if(known.begin(), known.end(), same); at != known.end())
      *at = {block->second, n, line};
    else
      known.push_back({block->second, n, line});
  }

  /// "asm: v_add_u32"; empty for a statement that is a wait or nothing.
  static std::string statement(StringRef text) {
    text = text.trim(" \t\n{};");
    const StringRef word = text.take_until([](char c) { return c == ' ' || c == '\t' || c == '\n' || c == ';'; });
    if (word.empty() || word.starts_with("s_waitcnt") || word.starts_with("s_nop") || word.starts_with("s_barrier") ||
        word.starts_with("s_setprio") || word.starts_with("s_sleep"))
      return "";
    return "asm: " + word.str();
  }

  void note_changed_flow() {
    if (!was_made_reducible(kernel_)) return;
    profile_.assumptions.push_back({"kernel " + demangle(kernel_.getName().str()) +
                                        " jumps into a loop: its loops are analysed with one entry each",
                                    "the tests at that entry are counted as work", ""});
  }

  void read_limits() {
    if (MDNode* n = kernel_.getMetadata("reqd_work_group_size"); n && n->getNumOperands() == 3) {
      auto size = [&](unsigned k) { return mdconst::extract<ConstantInt>(n->getOperand(k))->getSExtValue(); };
      profile_.required_block = {size(0), size(1), size(2)};
    }
    each_annotation(kernel_, [&](StringRef key, std::int64_t value) {
      if (key == "maxntidx") profile_.max_threads_per_block = value;
      if (key == "cluster_dim_x") profile_.cluster.x = value;
      if (key == "cluster_dim_y") profile_.cluster.y = value;
      if (key == "cluster_dim_z") profile_.cluster.z = value;
    });
    if (kernel_.hasFnAttribute("amdgpu-flat-work-group-size")) {
      StringRef text = kernel_.getFnAttribute("amdgpu-flat-work-group-size").getValueAsString();
      unsigned most = 0;
      if (!text.split(',').second.getAsInteger(10, most) && most != 1024) profile_.max_threads_per_block = most;
    }
  }

  /// A branch may look data-decided until the recurrence that it tests is solved.
  void drop_unused_unknowns() {
    std::vector<int*> uses;
    auto add_guard = [&](Guard& g) {
      for (Path& p : g.paths)
        for (Path::Factor& f : p.factors) uses.push_back(&f.unknown);
    };
    for (auto& l : profile_.loops) {
      uses.push_back(&l.unknown);
      add_guard(l.guard);
    }
    for (auto& b : profile_.blocks) {
      add_guard(b.guard);
      for (Access& a : b.accesses) uses.push_back(&a.unknown);
    }
    for (auto& b : profile_.branches) uses.push_back(&b.unknown);
    std::vector<int> now(profile_.unknowns.size(), -1);
    for (const int* use : uses)
      if (*use >= 0) now[static_cast<std::size_t>(*use)] = 0;
    std::vector<Unknown> kept;
    for (std::size_t n = 0; n < now.size(); ++n) {
      if (now[n] < 0) continue;
      now[n] = static_cast<int>(kept.size());
      kept.push_back(std::move(profile_.unknowns[n]));
    }
    profile_.unknowns = std::move(kept);
    for (int* use : uses)
      if (*use >= 0) *use = now[static_cast<std::size_t>(*use)];
  }

  void mark_used_parameters() {
    std::set<Symbol> seen;
    auto add_guard = [&](const Guard& g) {
      for (const Path& p : g.paths) p.condition.collect_symbols(seen);
    };
    for (const auto& l : profile_.loops) {
      l.trips.collect_symbols(seen);
      add_guard(l.guard);
    }
    for (const auto& b : profile_.blocks) {
      add_guard(b.guard);
      for (const Access& a : b.accesses) a.offset.collect_symbols(seen);
    }
    for (const auto& b : profile_.branches) b.condition.collect_symbols(seen);
    for (Parameter& p : profile_.parameters)
      p.used = seen.contains(argument(p.name)) || seen.contains(real_argument(p.name));
  }

  Function& kernel_;
  const TargetCode& code_;
  const std::vector<TensorBox>& given_maps_;
  KernelProfile profile_;
  KernelModel model_;
  std::map<const llvm::Loop*, int> loop_index_;
  std::map<std::string, int> first_of_name_;
  ProfilePlaces places_;
  BarrierSteps steps_;
  TensorBoxes boxes_;
};

}  // namespace

namespace {

/// Fields of by-value structures that only an execution needs can be given by --arg, too.
void add_fields(const Program& program, KernelProfile& profile) {
  const auto add = [&](const std::string& name, ValueType type, bool pointer) {
    const auto known = std::any_of(profile.parameters.begin(), profile.parameters.end(),
                                   [&](const Parameter& p) { return p.name == name; });
    if (known || pointer || name.find('+') == std::string::npos) return;
    Parameter p;
    p.name = name;
    p.integer = !is_float(type);
    p.bytes = size_of(type);
    p.type = (is_float(type) ? "f" : "i") + std::to_string(8 * p.bytes);
    profile.parameters.push_back(p);
  };
  for (const ParameterField& f : program.fields) add(f.name, f.type, f.pointer);
  for (const ProgramInput& in : program.inputs)
    if (in.kind == ProgramInput::Kind::scalar) add(in.name, in.type, false);
}

}  // namespace

void build_profile(Function& kernel, const TargetCode& code, const std::vector<TensorBox>& tensor_maps, bool program,
                   Analysis& out) {
  ProfileBuilder builder(kernel, code, tensor_maps);
  builder.build();
  if (program) try {
      out.program = std::make_shared<const Program>(builder.program());
    } catch (const LimitError& e) {
      out.no_program = message_of(e);
    }
  out.profile = builder.take();
  if (out.program) add_fields(*out.program, out.profile);
}

}  // namespace kernelcast::frontend
