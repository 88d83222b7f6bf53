// Runs compiled expressions. Three tiers, each exact where it answers:
//   1. all instructions in wrapping 64-bit arithmetic with one sticky flag for overflow and undefined operations; if it
//      stays clear, every value is exact. Both operands of `select` are computed.
//   2. otherwise once more with a flag a slot: `select` passes on only the flag of the side that it takes.
//   3. outputs still flagged go through Expr::evaluate, which has 128-bit intermediates and throws what there is to
//   throw.
// So results and errors are those of Expr::evaluate, for any choice of instructions.
#include <algorithm>

#include "core/compiled_code.h"
#include "core/compiled_step.h"
#include "kernelcast/error.h"
#include "kernelcast/expr.h"

namespace kernelcast {
namespace {

using namespace compiled;  // the arithmetic of single steps
using Instruction = CompiledExprs::Instruction;
using std::int64_t;

// One instruction on operand values; `s` gives the constants of magic divisions. Inlined for a known code, where next
// to nothing is left of it.
[[gnu::always_inline]] inline Checked step(const Instruction& i, const int64_t* s) {
  const int64_t a = s[i.a];
  switch (static_cast<Code>(i.code)) {
    case Code::add:
      return add(a, s[i.b]);
    case Code::sub:
      return sub(a, s[i.b]);
    case Code::mul:
      return mul(a, s[i.b]);
    case Code::mul_add:
      return mul_add(a, s[i.b], s[i.c]);
    case Code::shift_floor:
      return {a >> i.b, false};
    case Code::mask:
      return {a & ((int64_t{1} << i.b) - 1), false};
    case Code::floor_magic:
      return {floor_by_magic(a, s[i.b + 1], s[i.b + 2]), false};
    case Code::mod_magic:
      return {remainder_of(a, floor_by_magic(a, s[i.b + 1], s[i.b + 2]), s[i.b]), false};
    case Code::floor_div:
      return floor_div(a, s[i.b]);
    case Code::ceil_div:
      return ceil_div(a, s[i.b]);
    case Code::mod:
      return mod(a, s[i.b]);
    case Code::min:
      return {std::min(a, s[i.b]), false};
    case Code::max:
      return {std::max(a, s[i.b]), false};
    case Code::less:
      return {a < s[i.b], false};
    case Code::less_equal:
      return {a <= s[i.b], false};
    case Code::equal:
      return {a == s[i.b], false};
    case Code::select:
      return {a != 0 ? s[i.b] : s[i.c], false};
    case Code::bit_and:
      return {a & s[i.b], false};
    case Code::bit_or:
      return {a | s[i.b], false};
    case Code::bit_xor:
      return {a ^ s[i.b], false};
    case Code::shift_left:
      return shift_left(a, s[i.b]);
    case Code::shift_right:
      return shift_right(a, s[i.b]);
    case Code::bit_width:
      return {bit_width(a), false};
  }
  return {0, true};
}

// A run of one code: the switch in `step` is on a constant here, so it disappears.
template <Code code>
inline unsigned run_of(const Instruction* i, std::uint32_t count, const int64_t* s, int64_t* out) {
  unsigned bad = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    const Checked r = step({static_cast<std::uint8_t>(code), i[k].a, i[k].b, i[k].c}, s);
    out[k] = r.value;
    bad |= static_cast<unsigned>(r.bad);
  }
  return bad;
}

unsigned run(Code code, const Instruction* i, std::uint32_t count, const int64_t* s, int64_t* out) {
#define KERNELCAST_RUN(name) \
  case Code::name:           \
    return run_of<Code::name>(i, count, s, out);
  switch (code) {
    KERNELCAST_RUN(add)
    KERNELCAST_RUN(sub)
    KERNELCAST_RUN(mul)
    KERNELCAST_RUN(mul_add)
    KERNELCAST_RUN(shift_floor)
    KERNELCAST_RUN(mask)
    KERNELCAST_RUN(floor_magic)
    KERNELCAST_RUN(mod_magic)
    KERNELCAST_RUN(floor_div)
    KERNELCAST_RUN(ceil_div)
    KERNELCAST_RUN(mod)
    KERNELCAST_RUN(min)
    KERNELCAST_RUN(max)
    KERNELCAST_RUN(less)
    KERNELCAST_RUN(less_equal)
    KERNELCAST_RUN(equal)
    KERNELCAST_RUN(select)
    KERNELCAST_RUN(bit_and)
    KERNELCAST_RUN(bit_or)
    KERNELCAST_RUN(bit_xor)
    KERNELCAST_RUN(shift_left)
    KERNELCAST_RUN(shift_right)
    KERNELCAST_RUN(bit_width)
  }
#undef KERNELCAST_RUN
  return 1;
}

}  // namespace

void CompiledExprs::evaluate(std::span<const int64_t> in, std::span<int64_t> out, std::vector<int64_t>& scratch) const {
  if (in.size() < n_inputs_ || out.size() < results_.size())
    throw InternalError("CompiledExprs::evaluate: span too short");
  const std::size_t first = constants_.size() + n_inputs_;
  if (scratch.size() < first + code_.size()) scratch.resize(first + code_.size());
  int64_t* s = scratch.data();
  std::copy(constants_.begin(), constants_.end(), s);
  std::copy_n(in.begin(), n_inputs_, s + constants_.size());
  unsigned bad = 0;
  const Instruction* i = code_.data();
  int64_t* result = s + first;
  for (const Run& r : runs_) {
    bad |= run(static_cast<Code>(r.code), i, r.count, s, result);
    i += r.count;
    result += r.count;
  }
  if (bad != 0) {
    evaluate_carefully(in, out, scratch);
    return;
  }
  for (std::size_t k = 0; k < results_.size(); ++k) out[k] = s[results_[k]];
}

void CompiledExprs::evaluate_carefully(std::span<const int64_t> in, std::span<int64_t> out,
                                       std::vector<int64_t>& scratch) const {
  const std::size_t first = constants_.size() + n_inputs_, slots = first + code_.size();
  if (scratch.size() < 2 * slots) scratch.resize(2 * slots);
  int64_t* s = scratch.data();
  int64_t* flag = s + slots;
  std::fill_n(flag, slots, 0);
  for (std::size_t k = 0; k < code_.size(); ++k) {
    const Instruction& i = code_[k];
    const Checked r = step(i, s);
    s[first + k] = r.value;
    int64_t inherited = flag[i.a];
    const auto code = static_cast<Code>(i.code);
    if (code == Code::select) {
      inherited |= s[i.a] != 0 ? flag[i.b] : flag[i.c];
    } else if (code == Code::mul_add) {
      inherited |= flag[i.b] | flag[i.c];
    } else if (code != Code::shift_floor && code != Code::mask && code != Code::bit_width) {
      inherited |= flag[i.b];
    }
    flag[first + k] = inherited | static_cast<int64_t>(r.bad);
  }
  SymbolValues values;
  for (std::size_t k = 0; k < results_.size(); ++k) {
    if (flag[results_[k]] == 0) {
      out[k] = s[results_[k]];
      continue;
    }
    if (values.empty()) {
      for (std::size_t j = 0; j < n_inputs_; ++j) values.emplace(symbols_[j], in[j]);
    }
    out[k] = exprs_[k].evaluate(values);
  }
}

}  // namespace kernelcast
