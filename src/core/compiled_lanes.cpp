// Compiled expressions at many points at once: lanes are taken in chunks whose slots stay in the cache, and each
// instruction is one loop over a chunk, which the compiler turns into SIMD code (for several instruction sets on
// x86-64, of which the processor's best one is taken).
//
// Overflow is gathered in one word an instruction. A sum overflows when its sign differs from both operands'. A product
// is exact when both factors fit 32 bits: that test is a few vector operations; only where it fails, the exact test
// follows factor by factor. A chunk with any overflow or undefined operation is done again lane by lane by `evaluate`,
// which answers exactly or throws.
//
// Inputs with one value for all lanes (blocks, loops, arguments) make most of a long address. What follows from them
// alone is computed once a call and copied to all lanes of its row, which serves every chunk.
#include <algorithm>
#include <array>

#include "core/compiled_code.h"
#include "core/compiled_step.h"
#include "kernelcast/error.h"
#include "kernelcast/expr.h"

#if defined(__x86_64__)
#define KERNELCAST_SIMD_CLONES 1
#endif
#define KERNELCAST_INLINE inline __attribute__((always_inline))

namespace kernelcast {
namespace {

using namespace compiled;  // the arithmetic of single steps
using Instruction = CompiledExprs::Instruction;
using Word = std::uint64_t;

constexpr std::size_t chunk = 64;
using Lanes = const int64_t* __restrict__;

struct Operands {
  Lanes a, b, c;
  int64_t* __restrict__ out;
  std::uint32_t immediate;
};

KERNELCAST_INLINE Word as_word(int64_t v) { return static_cast<Word>(v); }

template <class F>
KERNELCAST_INLINE bool plain(const Operands& o, std::size_t n, F f) {
  for (std::size_t l = 0; l < n; ++l) o.out[l] = f(o.a[l], o.b[l]);
  return false;
}

template <class F>
KERNELCAST_INLINE bool checked(const Operands& o, std::size_t n, F f) {
  unsigned bad = 0;
  for (std::size_t l = 0; l < n; ++l) {
    const Checked r = f(o.a[l], o.b[l]);
    o.out[l] = r.value;
    bad |= static_cast<unsigned>(r.bad);
  }
  return bad != 0;
}

KERNELCAST_INLINE bool add_lanes(const Operands& o, std::size_t n) {
  Word bad = 0;
  for (std::size_t l = 0; l < n; ++l) {
    const Word a = as_word(o.a[l]), b = as_word(o.b[l]), r = a + b;
    bad |= (a ^ r) & (b ^ r);
    o.out[l] = static_cast<int64_t>(r);
  }
  return (bad >> 63U) != 0;
}

KERNELCAST_INLINE bool sub_lanes(const Operands& o, std::size_t n) {
  Word bad = 0;
  for (std::size_t l = 0; l < n; ++l) {
    const Word a = as_word(o.a[l]), b = as_word(o.b[l]), r = a - b;
    bad |= (a ^ b) & (a ^ r);
    o.out[l] = static_cast<int64_t>(r);
  }
  return (bad >> 63U) != 0;
}

// Products, plus c where `with_sum`.
template <bool with_sum>
KERNELCAST_INLINE bool mul_lanes(const Operands& o, std::size_t n) {
  constexpr Word half = Word{1} << 31U;
  Word wide = 0, bad = 0;
  for (std::size_t l = 0; l < n; ++l) {
    const Word a = as_word(o.a[l]), b = as_word(o.b[l]);
    wide |= (a + half) | (b + half);
    const Word product = a * b;
    Word r = product;
    if constexpr (with_sum) {
      const Word c = as_word(o.c[l]);
      r = product + c;
      bad |= (product ^ r) & (c ^ r);
    }
    o.out[l] = static_cast<int64_t>(r);
  }
  if ((wide >> 32U) != 0) {
    for (std::size_t l = 0; l < n; ++l) bad |= Word{mul(o.a[l], o.b[l]).bad} << 63U;
  }
  return (bad >> 63U) != 0;
}

KERNELCAST_INLINE bool magic_lanes(const Operands& o, std::size_t n, bool quotient, int64_t divisor, Magic magic) {
  const auto multiplier = static_cast<int64_t>(magic.multiplier);
  for (std::size_t l = 0; l < n; ++l) {
    const int64_t q = floor_by_magic(o.a[l], multiplier, magic.shift);
    o.out[l] = quotient ? q : remainder_of(o.a[l], q, divisor);
  }
  return false;
}

// One instruction for n lanes; true when something was not exact.
KERNELCAST_INLINE bool instruction_lanes(Code code, const Operands& o, std::size_t n) {
  const std::uint32_t k = o.immediate;
  switch (code) {
    case Code::add:
      return add_lanes(o, n);
    case Code::sub:
      return sub_lanes(o, n);
    case Code::mul:
      return mul_lanes<false>(o, n);
    case Code::mul_add:
      return mul_lanes<true>(o, n);
    case Code::shift_floor:
      return plain(o, n, [k](int64_t a, int64_t) { return a >> k; });
    case Code::mask:
      return plain(o, n, [k](int64_t a, int64_t) { return a & ((int64_t{1} << k) - 1); });
    case Code::floor_magic:
    case Code::mod_magic:  // the three constants are neighbouring slots, a chunk apart
      return magic_lanes(o, n, code == Code::floor_magic, o.b[0], {as_word(o.b[chunk]), o.b[2 * chunk]});
    case Code::floor_div:
      return checked(o, n, [](int64_t a, int64_t b) { return floor_div(a, b); });
    case Code::ceil_div:
      return checked(o, n, [](int64_t a, int64_t b) { return ceil_div(a, b); });
    case Code::mod:
      return checked(o, n, [](int64_t a, int64_t b) { return mod(a, b); });
    case Code::min:
      return plain(o, n, [](int64_t a, int64_t b) { return a < b ? a : b; });
    case Code::max:
      return plain(o, n, [](int64_t a, int64_t b) { return a < b ? b : a; });
    case Code::less:
      return plain(o, n, [](int64_t a, int64_t b) { return int64_t{a < b}; });
    case Code::less_equal:
      return plain(o, n, [](int64_t a, int64_t b) { return int64_t{a <= b}; });
    case Code::equal:
      return plain(o, n, [](int64_t a, int64_t b) { return int64_t{a == b}; });
    case Code::select:
      for (std::size_t l = 0; l < n; ++l) o.out[l] = o.a[l] != 0 ? o.b[l] : o.c[l];
      return false;
    case Code::bit_and:
      return plain(o, n, [](int64_t a, int64_t b) { return a & b; });
    case Code::bit_or:
      return plain(o, n, [](int64_t a, int64_t b) { return a | b; });
    case Code::bit_xor:
      return plain(o, n, [](int64_t a, int64_t b) { return a ^ b; });
    case Code::shift_left:
      return checked(o, n, [](int64_t a, int64_t b) { return shift_left(a, b); });
    case Code::shift_right:
      return checked(o, n, [](int64_t a, int64_t b) { return shift_right(a, b); });
    case Code::bit_width:
      return plain(o, n, [](int64_t a, int64_t) { return bit_width(a); });
  }
  return true;
}

// All instructions for one chunk. `slots` are rows of `chunk` lanes, `varies` tells which of them differ between lanes;
// the others are computed with the first chunk alone. True when something was not exact.
KERNELCAST_INLINE bool code_lanes_inline(const Instruction* code, std::size_t count, int64_t* slots,
                                         unsigned char* varies, std::size_t first, std::size_t n, bool first_chunk) {
  bool bad = false;
  for (std::size_t k = 0; k < count; ++k) {
    const Instruction& i = code[k];
    const auto number = static_cast<Code>(i.code);
    const bool immediate = number == Code::shift_floor || number == Code::mask;
    int64_t* const out = slots + (first + k) * chunk;
    const Operands o{slots + i.a * chunk, slots + (immediate ? 0 : i.b) * chunk, slots + i.c * chunk, out, i.b};
    const bool differs = (varies[i.a] | (immediate ? 0 : varies[i.b]) | varies[i.c]) != 0;
    varies[first + k] = static_cast<unsigned char>(differs);
    if (differs) {
      bad |= instruction_lanes(number, o, n);
    } else if (first_chunk) {
      bad |= instruction_lanes(number, o, 1);
      std::fill_n(out + 1, n - 1, *out);  // no later chunk is wider
    }
  }
  return bad;
}

using CodeLanes = bool(const Instruction*, std::size_t, int64_t*, unsigned char*, std::size_t, std::size_t, bool);

bool code_lanes_plain(const Instruction* code, std::size_t count, int64_t* slots, unsigned char* varies,
                      std::size_t first, std::size_t n, bool first_chunk) {
  return code_lanes_inline(code, count, slots, varies, first, n, first_chunk);
}

#ifdef KERNELCAST_SIMD_CLONES
__attribute__((target("avx2"))) bool code_lanes_avx2(const Instruction* code, std::size_t count, int64_t* slots,
                                                     unsigned char* varies, std::size_t first, std::size_t n,
                                                     bool first_chunk) {
  return code_lanes_inline(code, count, slots, varies, first, n, first_chunk);
}

__attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))) bool code_lanes_avx512(const Instruction* code,
                                                                                     std::size_t count, int64_t* slots,
                                                                                     unsigned char* varies,
                                                                                     std::size_t first, std::size_t n,
                                                                                     bool first_chunk) {
  return code_lanes_inline(code, count, slots, varies, first, n, first_chunk);
}
#endif

/// For the instruction set of this processor; asked once.
CodeLanes* code_lanes() {
#ifdef KERNELCAST_SIMD_CLONES
  static CodeLanes* const chosen = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
      return code_lanes_avx512;
    return __builtin_cpu_supports("avx2") ? code_lanes_avx2 : code_lanes_plain;
  }();
  return chosen;
#else
  return code_lanes_plain;
#endif
}

bool one_value(const int64_t* row, std::size_t n) {
  Word difference = 0;
  for (std::size_t l = 1; l < n; ++l) difference |= as_word(row[l] ^ row[0]);
  return difference == 0;
}

}  // namespace

void CompiledExprs::evaluate_lanes(std::span<const int64_t> in, std::span<int64_t> out, std::size_t lanes,
                                   std::vector<int64_t>& scratch) const {
  if (in.size() < n_inputs_ * lanes || out.size() < results_.size() * lanes) {
    throw InternalError("CompiledExprs::evaluate_lanes: span too short");
  }
  const std::size_t constants = constants_.size(), first = constants + n_inputs_, rows = first + code_.size();
  const std::size_t marks = (rows + sizeof(int64_t) - 1) / sizeof(int64_t);
  if (scratch.size() < rows * chunk + marks) scratch.resize(rows * chunk + marks);
  int64_t* slots = scratch.data();
  auto* const varies = reinterpret_cast<unsigned char*>(slots + rows * chunk);
  std::fill_n(varies, rows, 0);
  const std::size_t widest = std::min(chunk, lanes);
  for (std::size_t k = 0; k < constants; ++k) std::fill_n(slots + k * chunk, widest, constants_[k]);
  constexpr std::size_t few = 8;  // copies cost more than they save
  for (std::size_t k = 0; k < n_inputs_; ++k) {
    const int64_t* const row = in.data() + k * lanes;
    if (lanes > few && one_value(row, lanes))
      std::fill_n(slots + (constants + k) * chunk, widest, *row);
    else
      varies[constants + k] = 1;
  }
  CodeLanes* const run = code_lanes();
  bool bad = false;  // in what serves every chunk
  for (std::size_t done = 0; done < lanes; done += chunk) {
    const std::size_t n = std::min(chunk, lanes - done);
    for (std::size_t k = 0; k < n_inputs_; ++k)
      if (varies[constants + k] != 0) std::copy_n(in.data() + k * lanes + done, n, slots + (constants + k) * chunk);
    const bool inexact = run(code_.data(), code_.size(), slots, varies, first, n, done == 0);
    if (done == 0) bad = inexact;
    if (bad || inexact) {
      evaluate_one_by_one(in, out, lanes, done, done + n);
      continue;
    }
    for (std::size_t k = 0; k < results_.size(); ++k)
      std::copy_n(slots + results_[k] * chunk, n, out.data() + k * lanes + done);
  }
}

void CompiledExprs::evaluate_one_by_one(std::span<const int64_t> in, std::span<int64_t> out, std::size_t lanes,
                                        std::size_t begin, std::size_t end) const {
  std::vector<int64_t> point(n_inputs_), result(results_.size()), scratch;
  for (std::size_t l = begin; l < end; ++l) {
    for (std::size_t k = 0; k < n_inputs_; ++k) point[k] = in[k * lanes + l];
    evaluate(point, result, scratch);
    for (std::size_t k = 0; k < results_.size(); ++k) out[k * lanes + l] = result[k];
  }
}

}  // namespace kernelcast
