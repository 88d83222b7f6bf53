#include "frontend/ir/ptx_calls.h"

#include <bit>

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "ptx/parse.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

/// Name of the called function behind the prefix, without the mark that tells two signatures apart; empty: another
/// call.
StringRef opcode_in(const Value& value) {
  const auto* call = dyn_cast<CallInst>(&value);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  if (!callee) return {};
  StringRef name = callee->getName();
  return name.consume_front(ptx_call_prefix) ? name.split('#').first : StringRef();
}

constexpr std::int64_t most_bulk_bytes = 1 << 20;  // beyond any shared memory

std::optional<std::int64_t> constant_argument(const CallInst& call, unsigned n) {
  if (n >= call.arg_size()) return std::nullopt;
  const auto* c = dyn_cast<ConstantInt>(call.getArgOperand(n));
  return c ? std::optional(c->getSExtValue()) : std::nullopt;
}

/// cp.async [shared], [global], size {, source size}: both are known when the size is.
std::vector<PtxAccess> asynchronous_copy(const CallInst& call) {
  const auto size = constant_argument(call, 2);
  if (!size) return {};
  const int bytes = static_cast<int>(*size);
  const Value* given =
      call.arg_size() > 3 && call.getArgOperand(3)->getType()->isIntegerTy(32) ? call.getArgOperand(3) : nullptr;
  return {{call.getArgOperand(1), AccessKind::load, bytes, 32, given},
          {call.getArgOperand(0), AccessKind::store, bytes, 32, nullptr}};
}

/// cp.async.bulk [to], [from], size, [barrier]; cp.reduce.async.bulk likewise.
std::vector<PtxAccess> bulk_copy(const CallInst& call, const ptx::Instruction& what) {
  const auto size = constant_argument(call, 2);
  if (!size || *size <= 0 || *size > most_bulk_bytes) return {};
  PtxAccess from{call.getArgOperand(1), AccessKind::load, static_cast<int>(*size)};
  PtxAccess to{call.getArgOperand(0), AccessKind::store, static_cast<int>(*size)};
  from.bulk = to.bulk = true;
  if (what.op == ptx::Op::cp_reduce_async_bulk) to.kind = AccessKind::atomic;
  return {from, to};
}

/// 2 of cp.async.bulk.tensor.2d
unsigned rank_of(const ptx::Instruction& what) {
  for (unsigned d = 1; d <= 5; ++d)
    if (what.has(std::to_string(d) + "d")) return d;
  return 0;
}

/// cp.async.bulk.tensor [shared], [map, {coordinates}], [barrier], and [map, {coordinates}], [shared] the other way.
std::vector<PtxAccess> tensor_copy(const CallInst& call, const ptx::Instruction& what) {
  const bool to_global = what.space() == ptx::Space::global;
  const unsigned rank = rank_of(what);
  const unsigned map = to_global ? 0 : 1, shared = to_global ? 1 + rank : 0;
  if (rank == 0 || call.arg_size() < 2 + rank) return {};
  PtxAccess tensor{call.getArgOperand(map), to_global ? AccessKind::store : AccessKind::load};
  PtxAccess tile{call.getArgOperand(shared), to_global ? AccessKind::load : AccessKind::store};
  if (what.op == ptx::Op::cp_reduce_async_bulk_tensor) tensor.kind = AccessKind::atomic;
  tensor.bulk = tile.bulk = true;
  for (unsigned d = 0; d < rank; ++d) tensor.coordinates.push_back(call.getArgOperand(map + 1 + d));
  return to_global ? std::vector{tile, tensor} : std::vector{tensor, tile};
}

}  // namespace

std::optional<ptx::Instruction> ptx_instruction(const Value& value) {
  const StringRef name = opcode_in(value);
  if (name.empty()) return std::nullopt;
  return ptx::decode({name.data(), name.size()});
}

std::string ptx_opcode(const Value& value) { return opcode_in(value).str(); }

std::vector<PtxAccess> ptx_accesses(const CallInst& call) {
  const auto instruction = ptx_instruction(call);
  if (!instruction || call.arg_empty()) return {};
  constexpr int row = 16;  // bytes of a row of eight halves
  Value* const first = call.getArgOperand(0);
  switch (instruction->op) {
    case ptx::Op::cp_async:
      return asynchronous_copy(call);
    case ptx::Op::cp_async_bulk:
    case ptx::Op::cp_reduce_async_bulk:
      return bulk_copy(call, *instruction);
    case ptx::Op::cp_async_bulk_tensor:
    case ptx::Op::cp_reduce_async_bulk_tensor:
      return tensor_copy(call, *instruction);
    case ptx::Op::ldmatrix:
    case ptx::Op::stmatrix: {
      // One row address a lane: eight rows a matrix; m16n16 has sixteen rows of sixteen bytes.
      const int rows = (instruction->shape.m == 16 ? 16 : 8) * instruction->repeat;
      return {{first, instruction->op == ptx::Op::ldmatrix ? AccessKind::load : AccessKind::store, row,
               std::min(rows, 32), nullptr}};
    }
    case ptx::Op::mbarrier_init:
    case ptx::Op::mbarrier_inval:
      return {{first, AccessKind::store, 8, 32, nullptr}};
    case ptx::Op::mbarrier_arrive:
    case ptx::Op::mbarrier_arrive_drop:
    case ptx::Op::mbarrier_expect_tx:
    case ptx::Op::mbarrier_complete_tx:
      return {{first, AccessKind::atomic, 8, 32, nullptr}};
    case ptx::Op::atom:  // of several numbers, or of 128 bits
    case ptx::Op::red: {
      const int bytes = ptx::bits_of(instruction->type()) / 8 * static_cast<int>(instruction->vector);
      return {{first, AccessKind::atomic, bytes, 32, nullptr}};
    }
    case ptx::Op::mbarrier_test_wait:
    case ptx::Op::mbarrier_try_wait:
      return {{first, AccessKind::load, 8, 32, nullptr}};
    default:
      return {};
  }
}

bool is_modelled(const ptx::Instruction& i) {
  using ptx::Op;
  if (i.op == Op::prefetch) return i.has("tensormap");  // of a descriptor: an issue slot
  switch (i.op) {
    // counted as matrix operations
    case Op::mma:
    case Op::mma_sp:
    case Op::wmma_mma:
    case Op::wgmma_mma_async:
    case Op::wgmma_mma_async_sp:
    // with their addresses
    case Op::cp_async:
    case Op::cp_async_bulk:
    case Op::cp_async_bulk_tensor:
    case Op::cp_reduce_async_bulk:
    case Op::cp_reduce_async_bulk_tensor:
    case Op::ldmatrix:
    case Op::stmatrix:
    case Op::mbarrier_init:
    case Op::mbarrier_inval:
    case Op::mbarrier_arrive:
    case Op::mbarrier_arrive_drop:
    case Op::mbarrier_expect_tx:
    case Op::mbarrier_complete_tx:
    case Op::mbarrier_test_wait:
    case Op::mbarrier_try_wait:
    case Op::atom:
    case Op::red:
    // an issue slot
    case Op::cp_async_commit_group:
    case Op::cp_async_wait_group:
    case Op::cp_async_wait_all:
    case Op::cp_async_bulk_commit_group:
    case Op::cp_async_bulk_wait_group:
    case Op::wgmma_fence:
    case Op::wgmma_commit_group:
    case Op::wgmma_wait_group:
    case Op::tcgen05_alloc:
    case Op::tcgen05_dealloc:
    case Op::tcgen05_relinquish_alloc_permit:
    case Op::tcgen05_cp:
    case Op::tcgen05_ld:
    case Op::tcgen05_st:
    case Op::tcgen05_wait:
    case Op::tcgen05_fence:
    case Op::tcgen05_commit:
    case Op::barrier_cluster_arrive:
    case Op::barrier_cluster_wait:
    case Op::cp_async_mbarrier_arrive:
    case Op::cp_async_bulk_prefetch:
    case Op::cp_async_bulk_prefetch_tensor:
    case Op::mbarrier_pending_count:
    case Op::movmatrix:
    case Op::fence:
    case Op::fence_proxy:
    case Op::fence_mbarrier_init:
    case Op::membar:
    case Op::membar_proxy:
    case Op::cvt:
    case Op::cvt_pack:
    case Op::tanh:
    case Op::ex2:
    case Op::mov:
    case Op::elect:
    case Op::mapa:
    case Op::getctarank:
    case Op::createpolicy:
    case Op::griddepcontrol:
    case Op::setmaxnreg:
    case Op::pmevent:
    case Op::discard:
    case Op::applypriority:
    case Op::isspacep:
    case Op::szext:
    case Op::bmsk:
    case Op::fns:
    case Op::testp:
    case Op::set:
    case Op::dp2a:
    case Op::dp4a:
    case Op::vabsdiff4:
    case Op::bfe:
    case Op::bfi:
    case Op::lop3:
    case Op::prmt:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::fma:
    case Op::min:
    case Op::max:
    case Op::abs:
    case Op::neg:
    case Op::barrier_arrive:
      return true;
    default:
      return false;
  }
}

Value* expected_bytes(const Value& value) {
  const auto instruction = ptx_instruction(value);
  if (!instruction) return nullptr;
  switch (instruction->op) {
    case ptx::Op::mbarrier_expect_tx:
      break;
    case ptx::Op::mbarrier_arrive:
    case ptx::Op::mbarrier_arrive_drop:
      if (instruction->has("expect_tx")) break;
      return nullptr;
    default:
      return nullptr;
  }
  const auto& call = cast<CallInst>(value);
  return call.arg_size() < 2 ? nullptr : call.getArgOperand(call.arg_size() - 1);
}

int receivers(const CallInst& call) {
  const auto instruction = ptx_instruction(call);
  if (!instruction || !instruction->has("multicast::cluster")) return 1;
  // [to], [from], size, [barrier], mask, and [to], [map, {coordinates}], [barrier], {offsets of im2col}, mask
  unsigned at = 4;
  if (instruction->op == ptx::Op::cp_async_bulk_tensor) {
    const unsigned rank = rank_of(*instruction);
    at = 3 + rank + (instruction->has("im2col") && rank > 2 ? rank - 2 : 0);
  }
  const auto mask = constant_argument(call, at);
  return mask ? std::popcount(static_cast<std::uint64_t>(*mask) & 0xffff) : 0;
}

bool is_barrier_test(const Value& value) {
  const auto instruction = ptx_instruction(value);
  return instruction &&
         (instruction->op == ptx::Op::mbarrier_test_wait || instruction->op == ptx::Op::mbarrier_try_wait);
}

namespace {

/// Arithmetic on constants and one value that takes few values, such as the number of a scale factor.
class FewValues {
 public:
  explicit FewValues(const DataLayout& layout) : layout_(layout) {}

  /// All values of `v`; none: it may have more than a few.
  std::vector<std::uint32_t> of(const Value& v) {
    if (!find(v, 0)) return {};
    std::vector<std::uint32_t> values;
    for (std::uint32_t x = 0; x <= (leaf_ ? most_ : 0); ++x) {
      const auto* value = dyn_cast_or_null<ConstantInt>(at(v, x));
      if (!value) return {};
      values.push_back(static_cast<std::uint32_t>(value->getZExtValue()));
    }
    return values;
  }

 private:
  static constexpr std::uint64_t few = 16;
  static constexpr int deepest = 12;

  bool find(const Value& v, int depth) {
    if (isa<ConstantInt>(v)) return true;
    if (&v == leaf_) return true;
    const std::uint64_t most = computeKnownBits(&v, layout_).getMaxValue().getLimitedValue();
    if (most < few) {
      if (leaf_) return false;
      leaf_ = &v;
      most_ = static_cast<std::uint32_t>(most);
      return true;
    }
    const auto* op = dyn_cast<BinaryOperator>(&v);
    if (!op || depth == deepest) return false;
    return find(*op->getOperand(0), depth + 1) && find(*op->getOperand(1), depth + 1);
  }

  /// Null: it has no value.
  [[nodiscard]] Constant* at(const Value& v, std::uint32_t x) const {
    if (&v == leaf_) return ConstantInt::get(v.getType(), x);
    if (const auto* c = dyn_cast<ConstantInt>(&v)) return const_cast<ConstantInt*>(c);
    const auto& op = cast<BinaryOperator>(v);
    Constant* a = at(*op.getOperand(0), x);
    Constant* b = at(*op.getOperand(1), x);
    return a && b ? ConstantFoldBinaryOpOperands(op.getOpcode(), a, b, layout_) : nullptr;
  }

  const DataLayout& layout_;
  const Value* leaf_ = nullptr;
  std::uint32_t most_ = 0;
};

}  // namespace

std::string shape_in_descriptor(const CallInst& call) {
  const auto instruction = ptx_instruction(call);
  if (!instruction) return "";
  switch (instruction->op) {
    case ptx::Op::tcgen05_mma:
    case ptx::Op::tcgen05_mma_sp:
    case ptx::Op::tcgen05_mma_ws:
    case ptx::Op::tcgen05_mma_ws_sp:
      break;
    default:
      return "";
  }
  // [d], a, b, (metadata of a sparse a,) descriptor, ...
  const bool sparse = instruction->op == ptx::Op::tcgen05_mma_sp || instruction->op == ptx::Op::tcgen05_mma_ws_sp;
  const unsigned at = sparse ? 4 : 3;
  if (call.arg_size() <= at || !call.getArgOperand(at)->getType()->isIntegerTy()) return "";
  const bool scaled = instruction->has("block_scale");
  // PTX ISA 9.0, "Instruction descriptor": N / 8 in bits 17 to 22, M / 16 in bits 24 to 28; of the kinds with scales M
  // / 128 in bits 27 and 28.
  const std::uint32_t of_shape = 63U << 17 | (scaled ? 3U << 27 : 31U << 24);
  const std::vector<std::uint32_t> values = FewValues(call.getModule()->getDataLayout()).of(*call.getArgOperand(at));
  if (values.empty()) return "";
  const std::uint32_t bits = values.front() & of_shape;
  if (any_of(values, [&](std::uint32_t v) { return (v & of_shape) != bits; })) return "";
  const std::uint32_t n = ((bits >> 17) & 63) * 8;
  const std::uint32_t m = scaled ? ((bits >> 27) & 3) * 128 : ((bits >> 24) & 31) * 16;
  // 32 bytes of K, of FP4 64 elements; twice of it where A is sparse.
  const std::string opcode = ptx_opcode(call);
  const auto kind = [&opcode](std::string_view name) { return opcode.find(name) != std::string::npos; };
  std::uint64_t k = kind("kind::tf32") ? 8 : kind("kind::f16") ? 16 : kind("mxf4") ? 64 : 32;
  if (sparse) k *= 2;
  if (m == 0 || n == 0) return "";
  return ".m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
}

void lower_ptx_call(CallInst& call) {
  const Function& callee = *call.getCalledFunction();
  std::string text = callee.getFnAttribute(ptx_text_attribute).getValueAsString().str();
  if (const std::string shape = shape_in_descriptor(call); !shape.empty())
    text.insert(std::min(text.find(' '), text.size()), shape);
  const StringRef constraints = callee.getFnAttribute(ptx_constraints_attribute).getValueAsString();
  IRBuilder<> b(&call);
  auto* assembly = InlineAsm::get(callee.getFunctionType(), text, constraints, !callee.doesNotAccessMemory());
  const SmallVector<Value*, 16> arguments(call.args());
  CallInst* replaced = b.CreateCall(assembly, arguments);
  if (callee.isConvergent()) replaced->setConvergent();
  call.replaceAllUsesWith(replaced);
  call.eraseFromParent();
}

}  // namespace kernelcast::frontend
