#include "ptx/instructions.h"

#include <algorithm>
#include <array>
#include <string>

#include "ptx/requirements.h"

namespace kernelcast::ptx {
namespace {

struct OpRow {
  InstructionKind kind = InstructionKind::unknown;
  std::string_view operands;
  int sm = 0, family = 0;
};

constexpr std::array op_rows{
#define PTX_OP(name, kind, operands, sm, family, ...) OpRow{InstructionKind::kind, operands, sm, family},
#include "ptx/instructions.def"
    OpRow{InstructionKind::unknown, "ss*", 0, 0},
};

const OpRow& row_of(Op op) { return op_rows[static_cast<std::size_t>(op)]; }

Role role_named(char letter) {
  switch (letter) {
    case 'd':
      return Role::written;
    case 'x':
      return Role::read_and_written;
    case 'a':
      return Role::address;
    case 'r':
      return Role::memory_read;
    case 'w':
      return Role::memory_written;
    case 'u':
      return Role::memory_updated;
    case 'b':
      return Role::mbarrier;
    case 'm':
      return Role::tensor_map;
    case 't':
      return Role::label;
    case 'c':
      return Role::callee;
    case 'l':
      return Role::values;
    case 'k':
      return Role::shared_descriptor;
    case 'i':
      return Role::tensor_memory_read;
    case 'o':
      return Role::tensor_memory_written;
    case 'v':
      return Role::tensor_memory_updated;
    default:
      return Role::read;
  }
}

/// (returns), callee, (params), table
Role call_role(const Instruction& instruction, std::size_t index) {
  switch (instruction.operands[index].kind) {
    case OperandKind::list:
      return index == 0 ? Role::written : Role::values;
    case OperandKind::table:
      return Role::label;
    default:
      return Role::callee;
  }
}

Role unknown_role(const Instruction& instruction, std::size_t index) {
  if (instruction.operands[index].kind == OperandKind::address) return Role::memory_updated;
  return index == 0 ? Role::written : Role::read;
}

}  // namespace

InstructionKind kind_of(Op op) { return row_of(op).kind; }

Role role_of(const Instruction& instruction, std::size_t index) {
  const OperandKind kind = instruction.operands[index].kind;
  switch (instruction.op) {
    case Op::unknown:
      return unknown_role(instruction, index);
    case Op::call:
      return call_role(instruction, index);
    case Op::cp_async_bulk_tensor:
      // From shared memory to global: [map, {c}], [source]
      if (instruction.space() == Space::global && index < 2) return index == 0 ? Role::tensor_map : Role::memory_read;
      break;
    default:
      break;
  }
  const std::string_view letters = row_of(instruction.op).operands;
  std::size_t at = 0;
  for (std::size_t i = 0; i < index && at < letters.size(); ++i)
    if (at + 1 >= letters.size() || letters[at + 1] != '*') ++at;
  // Addresses that are no memory: scales of a matrix in tensor memory, barriers.
  const Role of_address =
      kind_of(instruction.op) == InstructionKind::matrix ? Role::tensor_memory_read : Role::mbarrier;
  if (at >= letters.size() || letters[at] == '*') return kind == OperandKind::address ? of_address : Role::read;
  const Role role = role_named(letters[at]);
  // The matrix A stands in registers or in tensor memory instead of shared memory.
  if (role == Role::shared_descriptor && kind == OperandKind::vector) return Role::read;
  if (role == Role::shared_descriptor && kind == OperandKind::address) return Role::tensor_memory_read;
  if (role == Role::address && kind == OperandKind::integer) return Role::read;
  if (role == Role::read && kind == OperandKind::address) return of_address;
  return role;
}

OperandCount operand_count(Op op) {
  constexpr std::size_t any = 1000;
  switch (op) {
    case Op::unknown:
    case Op::call:
    case Op::ret:
      return {0, any};
    default:
      break;
  }
  const std::string_view letters = row_of(op).operands;
  const auto stars = static_cast<std::size_t>(std::ranges::count(letters, '*'));
  const std::size_t named = letters.size() - stars;
  // A letter with an asterisk can be absent; what an instruction takes beyond its letters is optional.
  return {named - stars, any};
}

Requirement requirement_of(Op op) {
  const OpRow& row = row_of(op);
  Requirement r{row.sm};
  if (row.family == 9) r.last = 90;
  if (row.family == 10) r.last = 119;
  return r;
}

}  // namespace kernelcast::ptx
