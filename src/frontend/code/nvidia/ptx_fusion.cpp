// SASS has instructions that do two or three of PTX's: IADD3 (a + b + c), LOP3 (any function of three words), ISCADD
// and LEA ((a << n) + b), IMAD and IMAD.WIDE (a * b + c, with 64-bit result), LEA.HI and SHF (funnel shifts:
// rotations). The rules, each for a value that is defined once and used in its own block:
//   1. mul.wide or shl.b64 by a constant whose uses are all add.s64: addresses. What one, two and three uses of such a
//      product take is measured for each generation (measured_costs*.inc: wide.address.N by a power of two,
//      strided.address.N by another constant, shifted.address.N): one IMAD.WIDE a use as from Volta;
//   2. mul, shl, shr, or selp of constants, used once, by an addition: merged with it (IMAD, LEA, LEA.HI, predicated
//      add);
//   3. an addition used once by another addition: IADD3, if that one is not merged yet (as from Maxwell);
//   4. logic used once by logic: LOP3, as long as the inputs are at most three (as from Maxwell);
//   5. shl and shr of the same value, joined by or, xor or add: a rotation, one SHF or LEA.HI (as from sm_32);
//   6. a constant in a register that is never changed is encoded in its users, but for stores; one that a loop changes
//      costs a move where it is set;
//   7. the address of a variable in shared memory, added to what serves only as a shared address: in the offset of the
//      accesses;
//   8. a mathematical function of constants is a constant;
//   9. a constant added to an address (offset_bases): in the offset of the accesses;
//  10. neg and abs of a floating-point number: in its users, if all of them are floating-point instructions; else an
//      addition to zero (ptxas 13.0 for stores, shuffles, selections and moves).
// Compared with SASS over test/data/kernels by tools/measure/register_table.py: docs/lab/registers.md.
#include "frontend/code/nvidia/ptx_fusion.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "frontend/code/nvidia/ptx_flow.h"
#include "frontend/code/nvidia/ptx_text.h"
#include "frontend/ir/math_costs.h"
#include "machine/nvidia_targets.h"

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
bool is_half(std::string_view op) {
  return starts(op, {"add.", "sub.", "mul.", "fma."}) && (op.ends_with(".f16") || op.ends_with(".bf16"));
}
bool is_constant(std::string_view operand) { return !operand.empty() && operand.find('%') == std::string_view::npos; }

OpCounts only(OpClass c, double n = 1) {
  OpCounts ops;
  ops[c] = n;
  return ops;
}

class Fusion {
 public:
  Fusion(const AsmFunction& kernel, const std::vector<PtxAccesses>& accesses, int sm, std::vector<OpCounts>& costs)
      : code_(kernel.instructions),
        sm_(sm),
        target_(machine::nvidia_target(sm)),
        costs_(costs),
        merged_(code_.size(), false),
        inputs_(code_.size()),
        short_(short_addresses(kernel)) {
    for (std::size_t i = 0; i < code_.size(); ++i) {
      for (std::string_view w : accesses[i].writes) {
        FusedValue& v = values_[w];
        ++v.definitions;
        v.definition = static_cast<int>(i);
      }
      for (std::string_view r : accesses[i].reads) values_[r].uses.push_back(static_cast<int>(i));
    }
    const std::vector<std::string_view> bases = offset_bases(kernel, accesses);
    for (std::size_t i = 0; i < code_.size(); ++i)
      if (!bases[i].empty()) drop(static_cast<int>(i));
  }

  void run(const std::vector<PtxAccesses>& accesses) {
    for (std::size_t i = 0; i < code_.size(); ++i) {
      const std::string_view op = code_[i].opcode;
      if (op.starts_with("mov."))
        constant(i);
      else if (op == "kc.math")
        function_of_constants(i);
      else if (op.starts_with("mul.wide") || op.starts_with("shl.b64"))
        address(i);
      else if (is_logic32(op) && !target_.three_inputs)
        rotation(i);
      else if (is_logic32(op))
        logic(i);
      else if (is_add32(op))
        addition(i);
      else if (is_half(op))
        pair_halves(i, accesses[i]);
      else if (starts(op, {"neg.", "abs."}))
        sign(i);
    }
    if (!costs_.empty()) costs_[0] += only(OpClass::move, prologue());
  }

 private:
  const AsmInstruction& at(int i) const { return code_[static_cast<std::size_t>(i)]; }
  void drop(int i) { costs_[static_cast<std::size_t>(i)] = {}; }

  /// What a kernel sets once: the pointer to the stack, the factor of addresses, the descriptor of global memory,
  /// values of the constant bank, and from the target on that loads these the window of shared memory (S2UR, UMOV,
  /// ULEA).
  double prologue() const {
    double instructions = 1 + (scaled_addresses_ ? 1 : 0);
    bool global = false, shared = false;
    std::set<std::string_view> constants;
    for (const AsmInstruction& i : code_) {
      const std::string_view op = i.opcode;
      const bool memory = starts(op, {"ld.", "st.", "atom.", "red."});
      if (reads_constant_bank(i))
        constants.insert(i.operands[1]);
      else if (memory && op.find(".shared") != std::string_view::npos)
        shared = true;
      else if (memory && op.find(".local") == std::string_view::npos && op.find(".param") == std::string_view::npos)
        global = true;
    }
    if (target_.global_descriptor && global) ++instructions;
    if (target_.loads_constants) instructions += static_cast<double>(constants.size()) + (shared ? 3 : 0);
    return instructions;
  }
  static bool reads_constant_bank(const AsmInstruction& i) {
    if (i.operands.size() < 2) return false;
    return i.opcode.starts_with("ld.param") ||
           (i.opcode.starts_with("mov.") && starts(i.operands[1], {"%ntid", "%nctaid"}));
  }

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
    const bool stored = !changes && is_constant(o[1]) && !is_zero(o[1]) && is_stored(o[0], v->second.uses);
    if (is_constant(o[1])) costs_[i] = changes || stored ? only(OpClass::move) : OpCounts{};
    if (!changes) return;
    const auto source = values_.find(o[1]);  // a copy of a constant into a loop's register
    if (source == values_.end() || source->second.definitions != 1) return;
    const AsmInstruction& from = at(source->second.definition);
    if (from.opcode.starts_with("mov.") && from.operands.size() > 1 && is_constant(from.operands[1]))
      costs_[i] = only(OpClass::move);
  }

  /// Stores take registers only; zero has one.
  bool is_stored(std::string_view value, const std::vector<int>& uses) const {
    return std::any_of(uses.begin(), uses.end(), [&](int u) {
      const AsmInstruction& store = at(u);
      return starts(store.opcode, {"st.global", "st.shared"}) && store.operands.size() > 1 &&
             store.operands[1] == value;
    });
  }
  static bool is_zero(std::string_view number) {
    return number.find_first_not_of("0xfFdD") == std::string_view::npos && number.find('0') != std::string_view::npos &&
           number.find_first_of("fF", 2) == std::string_view::npos;
  }

  bool has_constant(std::string_view operand) const {
    const auto v = values_.find(operand);
    if (v == values_.end()) return is_constant(operand);
    if (v->second.definitions != 1) return false;
    const AsmInstruction& from = at(v->second.definition);
    return from.opcode.starts_with("mov.") && from.operands.size() > 1 && is_constant(from.operands[1]);
  }

  void sign(std::size_t i) {
    const std::string_view op = code_[i].opcode;
    const OpClass addition = op.ends_with(".f64")                             ? OpClass::fp64_add
                             : op.ends_with(".f32")                           ? OpClass::fp32_add
                             : op.ends_with(".f16") || op.ends_with(".f16x2") ? OpClass::fp16_add
                                                                              : OpClass::count_;
    if (addition == OpClass::count_ || code_[i].operands.empty()) return;
    const auto value = values_.find(code_[i].operands[0]);
    if (value == values_.end()) return;
    const auto has_sign = [&](int u) {
      return starts(at(u).opcode,
                    {"add.", "sub.", "mul.", "fma.", "mad.",  "min.", "max.", "div.", "rcp.",  "sqrt.", "rsqrt.",
                     "ex2.", "lg2.", "sin.", "cos.", "tanh.", "neg.", "abs.", "cvt.", "setp.", "set.",  "kc.math"});
    };
    if (!std::ranges::all_of(value->second.uses, has_sign)) costs_[i] = only(addition);
  }

  void function_of_constants(std::size_t i) {  // key, result, arguments
    const auto& o = code_[i].operands;
    if (o.size() < 3 || o[1].starts_with('{')) return;
    if (std::all_of(o.begin() + 2, o.end(), [&](std::string_view a) { return has_constant(a); }))
      drop(static_cast<int>(i));
  }

  void address(std::size_t i) {
    const auto& o = code_[i].operands;
    if (o.size() < 3 || !is_constant(o[2])) return;
    const auto v = values_.find(o[0]);
    if (v == values_.end() || v->second.definitions != 1 || v->second.uses.empty()) return;
    const bool wide = code_[i].opcode.starts_with("mul.wide");
    if (wide && !target_.wide_multiply_add && is_power_of_two(o[2])) costs_[i] = only(OpClass::shift, 2);
    for (int u : v->second.uses)
      if (!is_add64(at(u).opcode) || merged_[static_cast<std::size_t>(u)]) return;
    const double uses = static_cast<double>(v->second.uses.size());
    const auto all = addresses(!wide ? "shifted" : is_power_of_two(o[2]) ? "wide" : "strided", uses);
    if (!all) return;
    for (int u : v->second.uses) {
      costs_[static_cast<std::size_t>(u)] = all->scaled(1 / uses);
      merged_[static_cast<std::size_t>(u)] = true;
    }
    drop(static_cast<int>(i));
    scaled_addresses_ |= wide && target_.factor_in_register;  // the factor in a register
  }

  // What `uses` sums of one scaled index take: measured for up to three, further ones as the third.
  std::optional<OpCounts> addresses(const std::string& kind, double uses) const {
    const auto one = nvidia_cost(kind + ".address.1", sm_), two = nvidia_cost(kind + ".address.2", sm_),
               three = nvidia_cost(kind + ".address.3", sm_);
    if (!one || !two || !three) return std::nullopt;
    if (uses < 2) return one;
    OpCounts sum = *two;
    for (std::size_t c = 0; c < op_class_count; ++c) sum.n[c] += (uses - 2) * std::max(0.0, three->n[c] - two->n[c]);
    return sum;
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
    if (o.size() < 3 || !target_.funnel_shift) return false;
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

  // The address of a variable, as ptxas knows it.
  bool is_symbol(std::string_view operand) const {
    const auto v = values_.find(operand);
    if (v == values_.end() || !has_constant(operand)) return false;
    const char first = at(v->second.definition).operands[1][0];
    return std::isdigit(static_cast<unsigned char>(first)) == 0 && first != '-';
  }

  bool in_the_offset(std::size_t i) const {
    const auto& o = code_[i].operands;
    return o.size() == 3 && code_[i].guard.empty() && std::binary_search(short_.begin(), short_.end(), o[0]) &&
           (is_symbol(o[1]) || is_symbol(o[2]));
  }

  void addition(std::size_t i) {
    if (rotation(i)) return;
    const auto& o = code_[i].operands;
    if (in_the_offset(i)) {
      drop(static_cast<int>(i));
      merged_[i] = true;
      return;
    }
    for (std::size_t k = 1; k < o.size(); ++k) {
      const int d = sole_source(i, o[k]);
      if (d < 0 || merged_[i]) continue;
      const std::string_view op = at(d).opcode;
      const bool rotated = std::find(rotated_.begin(), rotated_.end(), d) != rotated_.end();
      if (op.starts_with("mul.lo.s32") || op.starts_with("mul.lo.u32")) {
        costs_[i] = nvidia_cost("mad", sm_).value_or(only(OpClass::int_mad));
      } else if (!(is_shift32(op) && at(d).operands.size() > 2 && is_constant(at(d).operands[2])) && !rotated &&
                 !(op.starts_with("selp") && is_constant(at(d).operands[1]) && is_constant(at(d).operands[2])) &&
                 !(target_.three_inputs && is_add32(op) && !merged_[static_cast<std::size_t>(d)])) {
        continue;
      }
      drop(d);
      merged_[i] = true;
    }
  }

  /// ptxas computes two halves by one packed instruction (HADD2, HMUL2, HFMA2) where neither needs the other's result.
  void pair_halves(std::size_t i, const PtxAccesses& access) {
    if (!code_[i].guard.empty()) return;
    const auto [at_op, first] = alone_.try_emplace({code_[i].block, code_[i].opcode}, i);
    if (first) return;
    const auto& other = code_[at_op->second].operands;
    if (!other.empty() && std::find(access.reads.begin(), access.reads.end(), other[0]) != access.reads.end()) {
      at_op->second = i;
      return;
    }
    drop(static_cast<int>(i));
    alone_.erase(at_op);
  }

  const std::vector<AsmInstruction>& code_;
  int sm_;
  const machine::NvidiaTarget& target_;
  std::vector<OpCounts>& costs_;
  std::unordered_map<std::string_view, FusedValue> values_;
  std::vector<bool> merged_;                           // already does two operations
  std::vector<std::vector<std::string_view>> inputs_;  // of logic: the words it depends on
  std::vector<std::string_view> short_;                // registers that only address shared and local memory
  std::vector<int> rotated_;
  std::map<std::pair<int, std::string_view>, std::size_t> alone_;  // by block and opcode: half without a partner
  bool scaled_addresses_ = false;
};

}  // namespace

void fuse_ptx(const AsmFunction& kernel, int sm, std::vector<OpCounts>& costs) {
  const std::vector<PtxAccesses> accesses = all_accesses(kernel);
  Fusion(kernel, accesses, sm, costs).run(accesses);
}

std::vector<OpCounts> ptx_costs(const AsmFunction& kernel, int sm, std::vector<const AsmInstruction*>* unknown) {
  const AsmFunction narrowed = narrow_ptx(kernel);
  std::vector<OpCounts> costs;
  costs.reserve(narrowed.instructions.size());
  for (std::size_t i = 0; i < narrowed.instructions.size(); ++i) {
    const Cost cost = ptx_cost(narrowed.instructions[i], sm);
    costs.push_back(cost.ops);
    if (!cost.known && unknown != nullptr) unknown->push_back(&kernel.instructions[i]);
  }
  fuse_ptx(narrowed, sm, costs);
  copy_tuples(narrowed, costs);
  return costs;
}

}  // namespace kernelcast::frontend
