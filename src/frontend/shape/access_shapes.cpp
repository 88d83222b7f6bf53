// Accesses as the hardware sees them: at most 16 bytes a lane and instruction; unrolled copies with the same pattern
// are one access with further offsets. An offset that data decide is irregular: if the data are the same for a whole
// block, only the base moves and the pattern stays; otherwise each lane is taken to go its own way unless --assume says
// else.
#include "frontend/shape/access_shapes.h"

#include <algorithm>
#include <cmath>

#include "frontend/ir/builtins.h"
#include "frontend/ir/cluster_memory.h"
#include "kernelcast/error.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "profile/buffer_reach.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

/// How an instruction of PTX reads global memory.
struct Reading {
  bool async = false;    // cp.async
  bool past_l1 = false;  // .cg, "cache at global level (cache in L2 and below, not L1)": PTX ISA, cache operators
};

Reading reading_of(const CallInst& call) {
  const auto instruction = ptx_instruction(call);
  if (!instruction) return {};
  return {instruction->op == ptx::Op::cp_async, instruction->cache == ptx::CacheOperator::cg};
}

constexpr double scattered_bytes = 128;  // neighbouring lanes in different segments
// Of 32 lanes that each pick one of 32 banks at random 3.5 meet in the fullest: passes of the nearest stride.
constexpr double scattered_shared_bytes = 16;
constexpr int widest = 16;

class Collector {
 public:
  Collector(KernelModel& model, KernelProfile& profile, Block& block, AccessPlaces& places,
            std::vector<BarrierStep>& steps, const TensorBoxes* boxes = nullptr)
      : model_(model), profile_(profile), block_(block), places_(places), steps_(steps), boxes_(boxes) {}

  void visit(Instruction& i) {
    const DataLayout& layout = i.getModule()->getDataLayout();
    auto size = [&](Type* t) { return static_cast<int>(layout.getTypeStoreSize(t).getFixedValue()); };
    if (auto* load = dyn_cast<LoadInst>(&i)) {
      if (!id_value(i)) add(i, load->getPointerOperand(), size(load->getType()), AccessKind::load);
    } else if (auto* store = dyn_cast<StoreInst>(&i)) {
      add(i, store->getPointerOperand(), size(store->getValueOperand()->getType()), AccessKind::store);
    } else if (auto* rmw = dyn_cast<AtomicRMWInst>(&i)) {
      atomic_ = update_of(*rmw, !model_.divergent(rmw->getPointerOperand()));
      add(i, rmw->getPointerOperand(), size(rmw->getType()), AccessKind::atomic);
    } else if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&i)) {
      atomic_ = {AtomicKind::compare, false, false};
      add(i, exchange->getPointerOperand(), size(exchange->getNewValOperand()->getType()), AccessKind::atomic);
    } else if (auto* copy = dyn_cast<MemTransferInst>(&i)) {
      if (auto* n = dyn_cast<ConstantInt>(copy->getLength())) {
        add(i, copy->getSource(), static_cast<int>(n->getZExtValue()), AccessKind::load);
        add(i, copy->getDest(), static_cast<int>(n->getZExtValue()), AccessKind::store);
      }
    } else if (auto* fill = dyn_cast<MemSetInst>(&i)) {
      if (auto* n = dyn_cast<ConstantInt>(fill->getLength()))
        add(i, fill->getDest(), static_cast<int>(n->getZExtValue()), AccessKind::store);
    } else if (auto* call = dyn_cast<IntrinsicInst>(&i)) {
      intrinsic(*call, size);
    } else if (auto* other = dyn_cast<CallInst>(&i)) {
      for (const PtxAccess& a : ptx_accesses(*other)) {
        if (a.bulk) {
          add_bulk(*other, a);
          continue;
        }
        reading_ = reading_of(*other);
        const bool all = a.lanes >= 32 && !decided(a.bytes_are);
        if (all)
          add(i, a.pointer, a.bytes, a.kind);
        else
          partial_.push_back({other, a});
        reading_ = {};
      }
    }
    if (is_barrier(i)) {
      ++block_.barriers;
      steps_.push_back(BarrierStep::barrier);
    } else if (is_computation(i)) {
      steps_.push_back(BarrierStep::compute);
    }
  }

  void add_partial(const PartialAccess& a, int index) {
    block_index_ = index;
    reading_ = reading_of(*a.call);
    add(*a.call, a.what.pointer, a.what.bytes, a.what.kind);
    reading_ = {};
  }
  std::vector<PartialAccess> take_partial() { return std::move(partial_); }

 private:
  /// Whether a value is known that says how much is touched.
  bool decided(const Value* bytes) {
    return bytes && !isa<Constant>(bytes) && model_.data_in(model_.integer(const_cast<Value*>(bytes))).empty();
  }

  template <class Size>
  void intrinsic(IntrinsicInst& call, const Size& size) {
    if (is_read_only_load(call, /*uniform=*/true))
      return add(call, call.getArgOperand(0), size(call.getType()), AccessKind::load);
    switch (call.getIntrinsicID()) {
      case Intrinsic::nvvm_atomic_load_inc_32:
      case Intrinsic::nvvm_atomic_load_dec_32:
        atomic_ = {};
        add(call, call.getArgOperand(0), 4, AccessKind::atomic);
        break;
      default:
        if (call.getCalledFunction()->getName().starts_with("llvm.nvvm.atomic."))
          add(call, call.getArgOperand(0), size(call.getType()), AccessKind::atomic);
    }
  }

  /// Loads of a kernel's own by-value parameters are operands from the constant bank, and size tables of the dispatch
  /// are scalar loads.
  static bool is_parameter(Value* pointer) {
    Value* base = getUnderlyingObject(pointer);
    if (auto* a = dyn_cast<Argument>(base))
      return a->hasByValAttr() || a->hasByRefAttr() || a->getType()->getPointerAddressSpace() == 101;
    if (auto* call = dyn_cast<IntrinsicInst>(base))
      return call->getIntrinsicID() == Intrinsic::amdgcn_dispatch_ptr ||
             call->getIntrinsicID() == Intrinsic::amdgcn_implicitarg_ptr ||
             call->getIntrinsicID() == Intrinsic::amdgcn_kernarg_segment_ptr;
    return false;
  }

  void add(Instruction& i, Value* pointer, int bytes, AccessKind kind) {
    if (bytes <= 0 || is_parameter(pointer)) return;
    try {
      const Address where = model_.address(pointer);
      const bool elsewhere = model_.counts_loop_elsewhere(where.offset, i.getParent());
      add_at(elsewhere ? model_.unknown_address(pointer, "a jump into a loop decides it") : where, i, pointer, bytes,
             kind);
    } catch (const Error&) {
      add_at(model_.unknown_address(pointer, "the address leaves 64 bits"), i, pointer, bytes, kind);
    }
  }

  /// A copy in bulk, or what of it lies in one space.
  void add_bulk(CallInst& call, const PtxAccess& what) {
    Access a;
    a.bulk = true;
    a.kind = what.kind;
    a.line = model_.line_of(call);
    a.bytes = what.bytes;
    if (const auto box = boxes_->bytes.find(&call); a.bytes == 0 && box != boxes_->bytes.end()) a.bytes = box->second;
    if (a.bytes <= 0) return;
    if (const auto row = boxes_->row_bytes.find(&call); row != boxes_->row_bytes.end()) a.row_bytes = row->second;
    int times = 1;
    if (!what.coordinates.empty()) {
      a.by_coordinates = true;
      a.buffer = buffer_of_map(*what.pointer);
      const auto offset = offset_of_box(model_, *boxes_, what, a.bytes);
      if (offset)
        a.offset = *offset;
      else
        for (Value* c : what.coordinates) a.offset = a.offset + model_.integer(c) * Expr(a.bytes);
    } else if (const unsigned space = what.pointer->getType()->getPointerAddressSpace(); space == 3) {
      a.space = MemorySpace::shared;  // whole lines: where they lie is of no weight
      if (a.kind == AccessKind::store) times = std::max(1, receivers(call));
    } else {
      const Address where = model_.address(what.pointer);
      a.buffer = where.buffer;
      a.offset = where.offset;
      a.space = space_of(what.pointer, where.buffer);
    }
    if (a.space == MemorySpace::global) settle_data(a);
    for (int k = 0; k < times; ++k)
      places_[&call].push_back({place(a, a.offset.constant_term()), a.kind, 0, a.bytes, block_index_});
  }

  int buffer_of_map(const Value& pointer) {
    const Argument* map = tensor_map_of(pointer);
    if (!map) return -1;
    const std::string name = map->getName().str() + (map->hasByValAttr() ? "" : "[]");
    auto& known = profile_.buffers;
    const auto at = std::find_if(known.begin(), known.end(), [&](const Buffer& b) { return b.name == name; });
    if (at != known.end()) return static_cast<int>(at - known.begin());
    Buffer b;
    b.name = name;
    known.push_back(b);
    return static_cast<int>(known.size()) - 1;
  }

  void add_at(const Address& where, Instruction& i, Value* pointer, int bytes, AccessKind kind) {
    Access a;
    a.kind = kind;
    a.buffer = where.buffer;
    a.offset = where.offset;
    a.line = model_.line_of(i);
    a.space = space_of(pointer, where.buffer);
    a.in_cluster = a.space == MemorySpace::shared && is_in_cluster(i);
    a.async = reading_.async;
    a.past_l1 = reading_.past_l1;
    if (kind == AccessKind::atomic) {
      a.atomic = atomic_.kind;
      a.joined = atomic_.joined;
      a.retried = atomic_.retried_in_shared && a.space == MemorySpace::shared;
    }
    a.read_only = kind == AccessKind::load && a.space == MemorySpace::global &&
                  (isa<IntrinsicInst>(i) || is_read_only(pointer));  // the intrinsics that load are __ldg and __ldu
    if (a.space == MemorySpace::shared && kind == AccessKind::store) steps_.push_back(BarrierStep::store);
    settle_data(a);
    int piece = 1;
    while (piece < widest && piece * 2 <= bytes) piece *= 2;
    a.bytes = piece;
    const std::int64_t base = a.offset.constant_term();
    for (int at = 0; at < bytes; at += piece) {
      Access part = a;
      part.offset = a.offset + Expr(at);
      places_[&i].push_back({place(part, base + at), kind, at, piece, block_index_});
    }
  }

  /// Where ld.global.nc is emitted (CUDA C++ Programming Guide, "Read-Only Data Cache Load Function"): parameters that
  /// are const __restrict__, or are found to be.
  static bool is_read_only(Value* pointer) {
    SmallVector<const Value*, 4> bases;
    getUnderlyingObjects(pointer, bases);
    return std::all_of(bases.begin(), bases.end(), [](const Value* base) {
      const auto* a = dyn_cast<Argument>(base);
      return a != nullptr && a->hasNoAliasAttr() && a->onlyReadsMemory();
    });
  }

  MemorySpace space_of(Value* pointer, int buffer) const {
    if (buffer >= 0) return profile_.buffers[static_cast<std::size_t>(buffer)].space;
    switch (pointer->getType()->getPointerAddressSpace()) {
      case 3:
        return MemorySpace::shared;
      case 4:
        return MemorySpace::constant;
      case 5:
        return MemorySpace::local;
      default:
        return MemorySpace::global;
    }
  }

  /// Whether small or middling values of its symbols give a number.
  static bool has_a_value(const Expr& e) {
    for (const std::int64_t sample : {64, 1}) {
      SymbolValues values;
      for (const Symbol s : e.symbols()) values[s] = sample;
      try {
        (void)e.evaluate(values);
        return true;
      } catch (const Error&) {
        continue;
      }
    }
    return false;
  }

  void settle_data(Access& a) {
    const auto sources = model_.data_in(a.offset);
    if (sources.empty() && a.buffer >= 0) return;
    bool uniform = true;
    std::map<Symbol, Expr> stand_in;
    for (const DataValue* d : sources) {
      // Inside of a division or a shift 0 would make no sense; where lanes are multiplied the stride is unknown, too.
      const auto weight = a.offset.coefficient(d->symbol);
      stand_in.emplace(d->symbol, Expr(weight ? 0 : 1));
      uniform = uniform && d->uniform;
      for (int axis = 0; axis < 3 && weight; ++axis) uniform = uniform && !weight->depends_on(local_id(axis));
    }
    a.offset = a.offset.substitute(stand_in);
    if (!stand_in.empty() && !has_a_value(a.offset)) {  // a shift by what stands in, for one
      a.offset = 0;
      uniform = false;
    }
    const std::string where = model_.text_of(a.line);
    if (uniform) {
      Assumption say{"the address at " + where + " starts at a multiple of 128 bytes (" +
                         (sources.empty() ? "unknown base" : sources[0]->reason) + ")",
                     "aligned", "", Assumption::Kind::other, data_base_key(a.line)};
      if (std::find(profile_.assumptions.begin(), profile_.assumptions.end(), say) == profile_.assumptions.end())
        profile_.assumptions.push_back(say);
      return;
    }
    const std::string key = "access:" + std::to_string(a.line.line);
    auto same = [&](const Unknown& u) { return u.kind == Unknown::Kind::address && u.key == key && u.line == a.line; };
    auto it = std::find_if(profile_.unknowns.begin(), profile_.unknowns.end(), same);
    if (it == profile_.unknowns.end()) {
      profile_.unknowns.push_back(
          {Unknown::Kind::address, key, a.line, bytes_between_lanes(a), false, sources[0]->reason});
      it = profile_.unknowns.end() - 1;
    }
    a.unknown = static_cast<int>(it - profile_.unknowns.begin());
  }

  /// Data that shift a regular address (row[x + shift[y]]) leave neighbours where they are; else nothing is known.
  static double bytes_between_lanes(const Access& a) {
    const auto stride = a.offset.coefficient(local_id(0));
    const auto bytes = stride ? stride->constant() : std::nullopt;
    if (bytes && *bytes != 0) return std::abs(static_cast<double>(*bytes));
    return a.space == MemorySpace::shared ? scattered_shared_bytes : scattered_bytes;
  }

  /// Index of the access that counts it.
  int place(const Access& a, std::int64_t constant) {
    for (Access& b : block_.accesses) {
      if (b.space != a.space || b.kind != a.kind || b.bytes != a.bytes || b.buffer != a.buffer ||
          b.unknown != a.unknown || b.read_only != a.read_only || b.async != a.async || b.past_l1 != a.past_l1 ||
          b.in_cluster != a.in_cluster || b.bulk != a.bulk || b.by_coordinates != a.by_coordinates ||
          b.row_bytes != a.row_bytes || b.atomic != a.atomic || b.joined != a.joined || b.retried != a.retried ||
          !(b.line == a.line))
        continue;
      std::int64_t shift = 0;
      if (!__builtin_sub_overflow(constant, b.offset.constant_term(), &shift) && b.offset + Expr(shift) == a.offset) {
        b.also.push_back(shift);
        return static_cast<int>(&b - block_.accesses.data());
      }
    }
    block_.accesses.push_back(a);
    return static_cast<int>(block_.accesses.size()) - 1;
  }

  KernelModel& model_;
  KernelProfile& profile_;
  Block& block_;
  AccessPlaces& places_;
  std::vector<BarrierStep>& steps_;
  const TensorBoxes* boxes_;
  std::vector<PartialAccess> partial_;
  AtomicUpdate atomic_;  // of the instruction at hand
  int block_index_ = -1;
  Reading reading_;  // of the instruction whose accesses are added
};

}  // namespace

std::vector<PartialAccess> collect_accesses(BasicBlock& source, KernelModel& model, KernelProfile& profile,
                                            Block& block, AccessPlaces& places, std::vector<BarrierStep>& steps,
                                            const TensorBoxes& boxes) {
  Collector collector(model, profile, block, places, steps, &boxes);
  for (Instruction& i : source) collector.visit(i);
  return collector.take_partial();
}

void collect_partial(const PartialAccess& access, KernelModel& model, KernelProfile& profile, Block& block, int index,
                     AccessPlaces& places) {
  std::vector<BarrierStep> no_steps;  // of a block without barriers
  Collector(model, profile, block, places, no_steps).add_partial(access, index);
}

}  // namespace kernelcast::frontend
