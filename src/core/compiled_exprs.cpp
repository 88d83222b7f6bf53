// From expressions to straight-line code: every distinct operation becomes one instruction (value numbering), sums
// become chains of multiply-adds with the constant last, so that expressions that differ by a constant share the chain.
// Then the instructions are reordered, dependences kept, into long runs of the same code: the interpreter dispatches
// once a run.
//
// Division by a constant d uses a multiplication: for 0 <= n < 2^63 and s = ceil(log2 d), floor(n / d) is
// floor(n * m / 2^(63 + s)) with m = floor(2^(63 + s) / d) + 1 (Granlund and Montgomery, "Division by invariant
// integers using multiplication", PLDI 1994, theorem 4.2 with N = 63).
#include <algorithm>
#include <array>
#include <bit>
#include <tuple>
#include <unordered_map>

#include "core/compiled_code.h"
#include "core/expr_node.h"
#include "core/op_semantics.h"
#include "kernelcast/error.h"

namespace kernelcast {

Magic magic_for(std::int64_t d) {
  __extension__ using Wide = unsigned __int128;
  const int s = 64 - std::countl_zero(static_cast<std::uint64_t>(d) - 1);  // ceil(log2 d)
  const Wide m = (static_cast<Wide>(1) << static_cast<unsigned>(63 + s)) / static_cast<Wide>(d) + 1;
  return {static_cast<std::uint64_t>(m), s - 1};
}

namespace {

using Instruction = CompiledExprs::Instruction;

// While code is built, operands are references: constants, inputs and instructions are numbered separately.
enum class Kind : std::uint32_t { constant = 0, input = 1, result = 2 };
constexpr std::uint32_t kind_shift = 30;
std::uint32_t reference(Kind kind, std::size_t index) {
  if (index >= (std::size_t{1} << kind_shift)) throw LimitError("compiled expressions are too large");
  return (static_cast<std::uint32_t>(kind) << kind_shift) | static_cast<std::uint32_t>(index);
}
Kind kind_of(std::uint32_t r) { return static_cast<Kind>(r >> kind_shift); }
std::uint32_t index_of(std::uint32_t r) { return r & ((1U << kind_shift) - 1); }

// How many of a, b, c are slots (the others are immediate).
int slot_operands(Code code) {
  switch (code) {
    case Code::mul_add:
    case Code::select:
      return 3;
    case Code::shift_floor:
    case Code::mask:
    case Code::bit_width:
      return 1;
    default:
      return 2;
  }
}

Code plain_code(Op op) {
  switch (op) {
    case Op::floor_div:
      return Code::floor_div;
    case Op::ceil_div:
      return Code::ceil_div;
    case Op::mod:
      return Code::mod;
    case Op::min:
      return Code::min;
    case Op::max:
      return Code::max;
    case Op::less:
      return Code::less;
    case Op::less_equal:
      return Code::less_equal;
    case Op::equal:
      return Code::equal;
    case Op::select:
      return Code::select;
    case Op::bit_and:
      return Code::bit_and;
    case Op::bit_or:
      return Code::bit_or;
    case Op::bit_xor:
      return Code::bit_xor;
    case Op::shift_left:
      return Code::shift_left;
    case Op::shift_right:
      return Code::shift_right;
    case Op::bit_width:
      return Code::bit_width;
  }
  throw InternalError("CompiledExprs: unknown operation");
}

class Builder {
 public:
  explicit Builder(std::span<const Symbol> inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs_.emplace(inputs[i].id(), reference(Kind::input, i));
  }

  std::uint32_t emit(const Expr& e) {
    // Terms that add, then terms that subtract, then the constant: chains start with a plain value where they can.
    std::uint32_t sum = 0;
    bool started = false;
    for (const bool negative : {false, true}) {
      for (const Term& t : terms_of(e)) {
        if (t.factors.empty() || (t.coefficient < 0) != negative) continue;
        sum = accumulate(t, sum, started);
        started = true;
      }
    }
    const std::int64_t constant = e.constant_term();
    if (!started) return literal(constant);
    return constant == 0 ? sum : instruction(Code::add, sum, literal(constant));
  }

  std::vector<std::int64_t> constants;
  std::vector<Instruction> code;

 private:
  std::uint32_t accumulate(const Term& t, std::uint32_t sum, bool started) {
    std::vector<std::uint32_t> values;
    for (const Factor& f : t.factors) values.insert(values.end(), f.exponent, emit(f.atom));
    if (!started || t.coefficient == -1) {
      std::uint32_t product = values[0];
      for (std::size_t i = 1; i < values.size(); ++i) product = instruction(Code::mul, product, values[i]);
      if (started) return instruction(Code::sub, sum, product);
      return t.coefficient == 1 ? product : instruction(Code::mul, product, literal(t.coefficient));
    }
    if (t.coefficient != 1) values.push_back(literal(t.coefficient));
    if (values.size() == 1) return instruction(Code::add, sum, values[0]);
    std::uint32_t product = values[0];
    for (std::size_t i = 1; i + 1 < values.size(); ++i) product = instruction(Code::mul, product, values[i]);
    return instruction(Code::mul_add, product, values.back(), sum);
  }

  std::uint32_t emit(const Atom& atom) {
    if (const Symbol* s = atom.symbol()) {
      const auto it = inputs_.find(s->id());
      if (it == inputs_.end()) throw InternalError("CompiledExprs: symbol '" + s->name() + "' is not an input");
      return it->second;
    }
    const OpNode* op = &atom.operation();
    if (const auto it = operations_.find(op); it != operations_.end()) return it->second;
    const std::uint32_t r = emit(*op);
    operations_.emplace(op, r);
    return r;
  }

  std::uint32_t emit(const OpNode& op) {
    const std::uint32_t a = emit(op.args[0]);
    if (op.op == Op::floor_div || op.op == Op::mod) {
      const bool division = op.op == Op::floor_div;
      if (const auto d = op.args[1].constant(); d && *d >= 2) {
        if (is_power_of_two(*d)) {
          return instruction(division ? Code::shift_floor : Code::mask, a, static_cast<std::uint32_t>(log2_exact(*d)));
        }
        return instruction(division ? Code::floor_magic : Code::mod_magic, a, magic(*d));
      }
    }
    if (op.args.size() == 1) return instruction(plain_code(op.op), a);
    std::uint32_t r = 0;
    if (op.op == Op::select) {
      const std::uint32_t b = emit(op.args[1]);
      r = instruction(Code::select, a, b, emit(op.args[2]));
    } else {
      r = instruction(plain_code(op.op), a, emit(op.args[1]));
      for (std::size_t i = 2; i < op.args.size(); ++i) r = instruction(plain_code(op.op), r, emit(op.args[i]));
    }
    return r;
  }

  std::uint32_t literal(std::int64_t v) {
    const auto [it, fresh] = literals_.try_emplace(v, 0);
    if (fresh) {
      it->second = reference(Kind::constant, constants.size());
      constants.push_back(v);
    }
    return it->second;
  }

  // Three constants side by side: divisor, multiplier, shift.
  std::uint32_t magic(std::int64_t d) {
    const auto [it, fresh] = magics_.try_emplace(d, 0);
    if (fresh) {
      const Magic m = magic_for(d);
      it->second = reference(Kind::constant, constants.size());
      constants.insert(constants.end(), {d, static_cast<std::int64_t>(m.multiplier), m.shift});
    }
    return it->second;
  }

  std::uint32_t instruction(Code code_number, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0) {
    const bool symmetric = code_number == Code::add || code_number == Code::mul || code_number == Code::mul_add;
    if (symmetric && b < a) std::swap(a, b);
    const auto [it, fresh] = numbering_.try_emplace({static_cast<std::uint8_t>(code_number), a, b, c}, 0);
    if (fresh) {
      it->second = reference(Kind::result, code.size());
      code.push_back({static_cast<std::uint8_t>(code_number), a, b, c});
    }
    return it->second;
  }

  using Key = std::tuple<std::uint8_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::unordered_map<std::uint32_t, std::uint32_t> inputs_;
  std::unordered_map<const OpNode*, std::uint32_t> operations_;
  std::unordered_map<std::int64_t, std::uint32_t> literals_, magics_;
  std::map<Key, std::uint32_t> numbering_;
};

// Operands of an instruction that are results of others.
template <class Visit>
void for_each_dependence(const Instruction& i, Visit visit) {
  const std::array<std::uint32_t, 3> operands = {i.a, i.b, i.c};
  const int n = slot_operands(static_cast<Code>(i.code));
  for (int k = 0; k < n; ++k) {
    if (kind_of(operands[static_cast<std::size_t>(k)]) == Kind::result)
      visit(index_of(operands[static_cast<std::size_t>(k)]));
  }
}

// An order that respects dependences and has long runs: always the code with the most instructions ready.
std::vector<std::uint32_t> schedule(const std::vector<Instruction>& code) {
  constexpr std::size_t codes = static_cast<std::size_t>(Code::bit_width) + 1;
  std::vector<std::vector<std::uint32_t>> users(code.size());
  std::vector<std::uint32_t> waiting(code.size(), 0);
  std::array<std::vector<std::uint32_t>, codes> ready;
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    for_each_dependence(code[i], [&](std::uint32_t d) {
      users[d].push_back(i);
      ++waiting[i];
    });
    if (waiting[i] == 0) ready[code[i].code].push_back(i);
  }
  std::vector<std::uint32_t> order;
  order.reserve(code.size());
  while (order.size() < code.size()) {
    auto& run =
        *std::max_element(ready.begin(), ready.end(), [](const auto& x, const auto& y) { return x.size() < y.size(); });
    for (std::size_t k = 0; k < run.size(); ++k) {  // grows while it is walked
      const std::uint32_t i = run[k];
      order.push_back(i);
      for (const std::uint32_t u : users[i]) {
        if (--waiting[u] == 0) ready[code[u].code].push_back(u);
      }
    }
    run.clear();
  }
  return order;
}

}  // namespace

CompiledExprs::CompiledExprs(std::span<const Expr> outputs, std::span<const Symbol> inputs)
    : n_inputs_(inputs.size()), exprs_(outputs.begin(), outputs.end()), symbols_(inputs.begin(), inputs.end()) {
  Builder builder(inputs);
  for (const Expr& e : outputs) results_.push_back(builder.emit(e));
  constants_ = std::move(builder.constants);

  const std::vector<std::uint32_t> order = schedule(builder.code);
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  const auto slot = [&](std::uint32_t r) {
    const auto constants = static_cast<std::uint32_t>(constants_.size());
    switch (kind_of(r)) {
      case Kind::constant:
        return index_of(r);
      case Kind::input:
        return constants + index_of(r);
      default:
        return constants + static_cast<std::uint32_t>(n_inputs_) + place[index_of(r)];
    }
  };
  for (const std::uint32_t i : order) {
    Instruction instruction = builder.code[i];
    const int n = slot_operands(static_cast<Code>(instruction.code));
    instruction.a = slot(instruction.a);
    if (n > 1) instruction.b = slot(instruction.b);
    if (n > 2) instruction.c = slot(instruction.c);
    if (code_.empty() || code_.back().code != instruction.code) runs_.push_back({instruction.code, 0});
    ++runs_.back().count;
    code_.push_back(instruction);
  }
  for (std::uint32_t& r : results_) r = slot(r);
}

}  // namespace kernelcast
