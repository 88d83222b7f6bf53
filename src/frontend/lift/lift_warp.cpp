// What the lanes of a warp or a block do together, and fences.
#include "frontend/lift/lifter.h"
#include "llvm/IR/Intrinsics.h"

namespace kernelcast::frontend {

using namespace llvm;

bool Lifter::warp(const Instruction& i) {
  using ptx::Op;
  using ptx::Type;
  const auto number = [&](std::size_t n) { return read(i.operands.at(n), Type::b32); };
  const auto give = [&](Value* v) {
    write(i.operands.at(0), v);
    return true;
  };
  switch (i.op) {
    case Op::barrier_sync: {
      const auto* which = dyn_cast<ConstantInt>(number(0));
      if (i.operands.size() > 1) return nvvm("barrier", {number(0), number(1)}), true;
      if (which && which->isZero()) return nvvm("barrier0", {}), true;
      return nvvm("barrier.n", {number(0)}), true;
    }
    case Op::barrier_red: {
      if (i.operands.size() != 3) return false;  // a part of the block
      const bool sum = i.has("popc");
      const char* name = sum ? "barrier0.popc" : i.has("and") ? "barrier0.and" : "barrier0.or";
      Value* v = nvvm(name, {b_.CreateZExt(read(i.operands[2], Type::pred), b_.getInt32Ty())});
      return give(sum ? v : b_.CreateICmpNE(v, b_.getInt32(0)));
    }
    case Op::bar_warp_sync:
      return nvvm("bar.warp.sync", {number(0)}), true;
    case Op::membar:
      return nvvm(i.scope == ptx::Scope::cta || i.has("cta") ? "membar.cta"
                  : i.has("sys")                             ? "membar.sys"
                                                             : "membar.gl",
                  {}),
             true;
    case Op::nanosleep:
      return nvvm("nanosleep", {number(0)}), true;
    case Op::activemask:
      return give(nvvm("activemask", {}));
    case Op::shfl: {
      const char* mode = i.has("up") ? "up" : i.has("down") ? "down" : i.has("bfly") ? "bfly" : "idx";
      if (!i.has("sync") || i.operands.size() != 5) return false;
      const bool pair = i.operands[0].kind == ptx::OperandKind::pair;
      Value* v = nvvm(std::string("shfl.sync.") + mode + ".i32" + (pair ? "p" : ""),
                      {number(4), number(1), number(2), number(3)});
      if (!pair) return give(v);
      write(i.operands[0].elements.at(0), b_.CreateExtractValue(v, 0));
      write(i.operands[0].elements.at(1), b_.CreateExtractValue(v, 1));
      return true;
    }
    case Op::vote: {
      const char* mode = i.has("all") ? "all" : i.has("any") ? "any" : i.has("uni") ? "uni" : "ballot";
      if (!i.has("sync")) return false;
      return give(nvvm(std::string("vote.") + mode + ".sync", {number(2), read(i.operands.at(1), Type::pred)}));
    }
    case Op::match: {
      const bool wide = i.type() == Type::b64, all = i.has("all");
      const std::string width = wide ? "i64" : "i32";
      Value* v = nvvm(std::string("match.") + (all ? "all.sync." + width + "p" : "any.sync." + width),
                      {number(2), read(i.operands.at(1), i.type())});
      if (!all) return give(v);
      const bool pair = i.operands[0].kind == ptx::OperandKind::pair;
      write(pair ? i.operands[0].elements.at(0) : i.operands[0], b_.CreateExtractValue(v, 0));
      if (pair) write(i.operands[0].elements.at(1), b_.CreateExtractValue(v, 1));
      return true;
    }
    case Op::redux: {
      if (i.type() == Type::f32) return false;
      using ptx::Combine;
      const std::string sign = ptx::is_signed(i.type()) ? "" : "u";
      const std::string op = i.combine == Combine::add    ? "add"
                             : i.combine == Combine::min  ? sign + "min"
                             : i.combine == Combine::max  ? sign + "max"
                             : i.combine == Combine::and_ ? "and"
                             : i.combine == Combine::or_  ? "or"
                                                          : "xor";
      return give(nvvm("redux.sync." + op, {number(1), number(2)}));
    }
    default:
      return false;
  }
}

}  // namespace kernelcast::frontend
