// SASS has instructions that do two or three of PTX's: IADD3 (a + b + c), LOP3 (any function of three words), LEA
// ((a << n) + b), IMAD and IMAD.WIDE (a * b + c, with 64-bit result), LEA.HI and SHF (funnel shifts: rotations). The
// rules, each for a value that is defined once and used in its own block:
//   1. mul.wide whose uses are all add.s64: every use is one IMAD.WIDE;
//      shl.b64 likewise: every use is LEA and LEA.HI.X;
//   2. mul, shl, shr, or selp of constants, used once, by an addition: merged with it (IMAD, LEA, LEA.HI, predicated
//   add);
//   3. an addition used once by another addition: IADD3, if that one is not merged yet;
//   4. logic used once by logic: LOP3, as long as the inputs are at most three;
//   5. shl and shr of the same value, joined by or, xor or add: a rotation, one SHF or LEA.HI;
//   6. a constant in a register that is never changed is encoded in its users; one that a loop changes costs a move
//   where
//      it is set.
// Compared with SASS over test/data/kernels by tools/register_table.py: docs/registers.md.
#include "frontend/ptx_fusion.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "frontend/ptx_flow.h"

namespace kernelcast::frontend {
namespace {

struct FusedValue {
  int definitions = 0, definition = -1;
  std::vector<int> uses;
};

bool starts(std::string_view s, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view b) { return s.starts_with(b); });
}

bool is_add64(std::string_view op) { return op == "add.s64" || op == "add.u64"; }
bool is_add32(std::string_view op) { return starts(op, {"add.s32", "add.u32", "sub.s32", "sub.u32"}); }
bool is_logic32(std::string_view op) { return starts(op, {"and.b32", "or.b32", "xor.b32", "not.b32"}); }
bool is_shift32(std::string_view op) { return starts(op, {"shl.b32", "shr.u32", "shr.s32", "shr.b32"}); }
bool is_constant(std::string_view operand) { return !operand.empty() && operand.find('%') == std::string_view::npos; }

OpCounts only(OpClass c, double n = 1) {
  OpCounts ops;
  ops[c] = n;
  return ops;
}

class Fusion {
 public:
  Fusion(const AsmFunction& kernel, std::vector<OpCounts>& costs)
      : code_(kernel.instructions), costs_(costs), merged_(code_.size(), false), inputs_(code_.size()) {
    for (std::size_t i = 0; i < code_.size(); ++i) {
      const PtxAccesses a = ptx_accesses(code_[i]);
      for (std::string_view w : a.writes) {
        FusedValue& v = values_[w];
        ++v.definitions;
        v.definition = static_cast<int>(i);
      }
      for (std::string_view r : a.reads) values_[r].uses.push_back(static_cast<int>(i));
    }
  }

  void run() {
    for (std::size_t i = 0; i < code_.size(); ++i) {
      const std::string_view op = code_[i].opcode;
      if (op.starts_with("mov."))
        constant(i);
      else if (op.starts_with("mul.wide") || op.starts_with("shl.b64"))
        address(i);
      else if (is_logic32(op))
        logic(i);
      else if (is_add32(op))
        addition(i);
    }
    if (!costs_.empty()) costs_[0] += only(OpClass::move, scaled_addresses_ ? 2 : 1);
  }

 private:
  const AsmInstruction& at(int i) const { return code_[static_cast<std::size_t>(i)]; }
  void drop(int i) { costs_[static_cast<std::size_t>(i)] = {}; }

  // The instruction that defines `operand`, if nothing else uses or changes it and it stands in i's block; -1: none.
  int sole_source(std::size_t i, std::string_view operand) const {
    const auto v = values_.find(operand);
    if (v == values_.end() || v->second.definitions != 1 || v->second.uses.size() != 1) return -1;
    const int d = v->second.definition;
    return at(d).block == code_[i].block && at(d).guard.empty() && d < static_cast<int>(i) ? d : -1;
  }

  void constant(std::size_t i) {
    const auto& o = code_[i].operands;
    if (o.size() < 2 || code_[i].inlined) return;
    const auto v = values_.find(o[0]);
    if (v == values_.end()) return;
    const bool changes = v->second.definitions > 1;
    if (is_constant(o[1])) costs_[i] = changes ? only(OpClass::move) : OpCounts{};
    if (!changes) return;
    const auto source = values_.find(o[1]);  // a copy of a constant into a loop's register
    if (source == values_.end() || source->second.definitions != 1) return;
    const AsmInstruction& from = at(source->second.definition);
    if (from.opcode.starts_with("mov.") && from.operands.size() > 1 && is_constant(from.operands[1]))
      costs_[i] = only(OpClass::move);
  }

  void address(std::size_t i) {
    const auto& o = code_[i].operands;
    if (o.size() < 3 || !is_constant(o[2])) return;
    const auto v = values_.find(o[0]);
    if (v == values_.end() || v->second.definitions != 1 || v->second.uses.empty()) return;
    for (int u : v->second.uses)
      if (!is_add64(at(u).opcode) || merged_[static_cast<std::size_t>(u)]) return;
    const bool wide = code_[i].opcode.starts_with("mul.wide");
    for (int u : v->second.uses) {
      costs_[static_cast<std::size_t>(u)] = wide ? only(OpClass::int_mad) : only(OpClass::int64_add, 2);
      merged_[static_cast<std::size_t>(u)] = true;
    }
    drop(static_cast<int>(i));
    scaled_addresses_ |= wide;
  }

  void logic(std::size_t i) {
    std::vector<std::string_view> inputs;
    std::vector<int> parts;
    auto add = [&](std::string_view s) {
      if (std::find(inputs.begin(), inputs.end(), s) == inputs.end()) inputs.push_back(s);
    };
    const auto& o = code_[i].operands;
    if (rotation(i)) return;
    for (std::size_t k = 1; k < o.size(); ++k) {
      const int d = sole_source(i, o[k]);
      const bool whole = d >= 0 && is_logic32(at(d).opcode) && !inputs_[static_cast<std::size_t>(d)].empty();
      auto with = inputs;
      if (whole) {
        for (std::string_view s : inputs_[static_cast<std::size_t>(d)])
          if (std::find(with.begin(), with.end(), s) == with.end()) with.push_back(s);
      }
      if (whole && with.size() + (o.size() - 1 - k) <= 3) {
        inputs = with;
        parts.push_back(d);
      } else {
        add(o[k]);
      }
    }
    if (inputs.size() > 3) return;
    inputs_[i] = inputs;
    for (int d : parts) drop(d);
  }

  bool rotation(std::size_t i) {
    const auto& o = code_[i].operands;
    if (o.size() < 3) return false;
    const int a = sole_source(i, o[1]), b = sole_source(i, o[2]);
    if (a < 0 || b < 0 || !is_shift32(at(a).opcode) || !is_shift32(at(b).opcode) || at(a).opcode == at(b).opcode)
      return false;
    if (at(a).operands.size() < 3 || at(b).operands.size() < 3 || at(a).operands[1] != at(b).operands[1]) return false;
    drop(a);
    drop(b);
    costs_[i] = only(OpClass::shift);
    rotated_.push_back(static_cast<int>(i));
    return true;
  }

  void addition(std::size_t i) {
    if (rotation(i)) return;
    const auto& o = code_[i].operands;
    for (std::size_t k = 1; k < o.size(); ++k) {
      const int d = sole_source(i, o[k]);
      if (d < 0 || merged_[i]) continue;
      const std::string_view op = at(d).opcode;
      const bool rotated = std::find(rotated_.begin(), rotated_.end(), d) != rotated_.end();
      if (op.starts_with("mul.lo.s32") || op.starts_with("mul.lo.u32")) {
        costs_[i] = only(OpClass::int_mad);
      } else if (!(is_shift32(op) && at(d).operands.size() > 2 && is_constant(at(d).operands[2])) && !rotated &&
                 !(op.starts_with("selp") && is_constant(at(d).operands[1]) && is_constant(at(d).operands[2])) &&
                 !(is_add32(op) && !merged_[static_cast<std::size_t>(d)])) {
        continue;
      }
      drop(d);
      merged_[i] = true;
    }
  }

  const std::vector<AsmInstruction>& code_;
  std::vector<OpCounts>& costs_;
  std::unordered_map<std::string_view, FusedValue> values_;
  std::vector<bool> merged_;                           // already does two operations
  std::vector<std::vector<std::string_view>> inputs_;  // of logic: the words it depends on
  std::vector<int> rotated_;
  bool scaled_addresses_ = false;
};

}  // namespace

void fuse_ptx(const AsmFunction& kernel, std::vector<OpCounts>& costs) { Fusion(kernel, costs).run(); }

}  // namespace kernelcast::frontend
