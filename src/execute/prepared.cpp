#include "execute/prepared.h"

#include <map>

#include "execute/address_scan.h"
#include "kernelcast/error.h"

namespace kernelcast::interpreter {

namespace base {
Handler find(const SimtInstruction& i);
AddressScan scan(const std::uint64_t*, std::uint64_t, int, std::uint64_t, std::uint64_t, std::uint64_t*);
}  // namespace base
#ifdef KERNELCAST_HAVE_AVX2
namespace avx2 {
Handler find(const SimtInstruction& i);
AddressScan scan(const std::uint64_t*, std::uint64_t, int, std::uint64_t, std::uint64_t, std::uint64_t*);
}  // namespace avx2
#endif

namespace {

bool has_avx2() {
#ifdef KERNELCAST_HAVE_AVX2
  static const bool vectors = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return vectors;
#else
  return false;
#endif
}

}  // namespace

Handler handler_for(const SimtInstruction& i) {
#ifdef KERNELCAST_HAVE_AVX2
  // Calls of the library are in the base version alone.
  if (const Handler found = has_avx2() ? avx2::find(i) : nullptr) return found;
#endif
  return base::find(i);
}

ScanAddresses address_scan() {
#ifdef KERNELCAST_HAVE_AVX2
  if (has_avx2()) return avx2::scan;
#endif
  return base::scan;
}

namespace {

bool is_arithmetic(Opcode op) { return op < Opcode::load; }

/// Whether b may be a divisor of zero, or an amount beyond the width; constants are known to be neither.
OperandCheck check_of(const SimtInstruction& i, const std::map<std::uint32_t, std::uint64_t>& constants) {
  const bool divides = i.op == Opcode::udiv || i.op == Opcode::sdiv || i.op == Opcode::urem || i.op == Opcode::srem;
  const bool shifts = i.checked && (i.op == Opcode::shl || i.op == Opcode::lshr || i.op == Opcode::ashr);
  if ((!divides && !shifts) || i.type == ValueType::i1 || i.type == ValueType::i128) return OperandCheck::none;
  const auto known = constants.find(i.b);
  if (known != constants.end() &&
      (divides ? known->second != 0 : known->second < 8 * static_cast<std::uint64_t>(size_of(i.type))))
    return OperandCheck::none;
  return divides ? OperandCheck::divisor : OperandCheck::shift;
}

/// Whether the instruction computes with floating-point numbers; comparisons, choices and conversions do not.
bool computes(const SimtInstruction& i) {
  switch (i.op) {
    case Opcode::fadd:
    case Opcode::fsub:
    case Opcode::fmul:
    case Opcode::fdiv:
    case Opcode::frem:
    case Opcode::fneg:
    case Opcode::fma:
    case Opcode::math:
      return is_float(i.type);
    default:
      return false;
  }
}

bool stores_to_shared(const Program& p, const SimtInstruction& i) {
  if (i.site < 0 || (i.op != Opcode::store && i.op != Opcode::mbarrier)) return false;
  const AccessSite& site = p.sites[static_cast<std::size_t>(i.site)];
  return site.kind == AccessKind::store && site.space == MemorySpace::shared;
}

}  // namespace

PreparedProgram::PreparedProgram(const Program& p, int warp) : program(p), warp_size(warp) {
  const int rows = (warp + lanes_at_once - 1) / lanes_at_once;
  for (ValueType t : p.registers) {
    place.push_back(file_bytes);
    file_bytes += static_cast<std::uint32_t>(size_of(t) * rows * lanes_at_once);
    file_bytes = (file_bytes + 31) / 32 * 32;
  }
  std::map<std::uint32_t, std::uint64_t> constants;
  for (const ProgramInput& in : p.inputs)
    if (in.kind == ProgramInput::Kind::constant) constants[in.reg] = in.low;
  const auto at = [&](std::uint32_t reg) { return reg == no_register ? 0 : place[reg]; };
  for (std::size_t n = 0; n < p.code.size(); ++n) {
    const SimtInstruction& i = p.code[n];
    PreparedOp op;
    op.groups = static_cast<std::uint16_t>(rows);
    op.dst = at(i.dst);
    op.dst2 = at(i.dst2);
    op.a = at(i.a);
    // Unary operations read no b; so that a handler of two operands may be used, it reads a twice.
    op.b = i.b == no_register ? op.a : at(i.b);
    op.c = i.c == no_register ? op.a : at(i.c);
    op.imm = i.imm;
    op.keep_inactive = i.keep_inactive;
    op.source = static_cast<std::uint32_t>(n);
    op.check = check_of(i, constants);
    op.dst_size = i.dst == no_register ? 0 : static_cast<std::uint8_t>(size_of(p.registers[i.dst]));
    if (is_arithmetic(i.op)) {
      op.handler = handler_for(i);
      if (op.handler == nullptr)
        throw LimitError("an operation on values of " + std::to_string(size_of(i.type) * 8) +
                         " bits cannot be executed");
    }
    code.push_back(op);
  }
  find_last();
  copies.resize(p.blocks.size());
  for (std::size_t b = 0; b < p.blocks.size(); ++b)
    for (const Edge& e : p.blocks[b].edges) {
      std::vector<PreparedCopy>& list = copies[b].emplace_back();
      for (const Copy& c : e.copies) list.push_back({at(c.dst), at(c.src), static_cast<std::uint8_t>(size_of(c.type))});
    }
}

void PreparedProgram::find_last() {
  last.assign(program.code.size(), Last::none);
  for (const ProgramBlock& b : program.blocks) {
    Last seen = Last::none;
    for (std::uint32_t k = b.past; k-- > b.first;) {
      const SimtInstruction& i = program.code[k];
      if (i.op == Opcode::barrier) seen = Last::none;
      if (seen == Last::none) seen = stores_to_shared(program, i) ? Last::store : computes(i) ? Last::compute : seen;
      last[k] = seen;
    }
  }
}

}  // namespace kernelcast::interpreter
