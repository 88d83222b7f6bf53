// Matrix instructions whose form or type is slower than another that the device has.
#include <fmt/format.h>

#include <algorithm>

#include "advise/rules.h"
#include "io/text.h"

namespace kernelcast::advice {
namespace {

constexpr std::size_t index_of(TensorType t) { return static_cast<std::size_t>(t); }

double rate(const Subject& s, TensorType t) { return s.device().get(tensor_rate_field(t)).value_or(0); }

/// The line with most multiply-adds of a type.
SourceLine line_of_products(const Subject& s, TensorType t) {
  SourceLine best;
  double most = 0;
  for (std::size_t b = 0; b < s.profile().blocks.size(); ++b)
    for (const LineOps& l : s.profile().blocks[b].lines) {
      const double n = l.ops.tensor.of(t) * s.workload().block_counts.at(b).warps;
      if (l.line.file < 0 || n <= most) continue;
      most = n;
      best = l.line;
    }
  return best;
}

/// Products of one type as those of another.
Change as_type(TensorType from, TensorType to) {
  return [from, to](Variant& v) {
    for (Block& b : v.profile.blocks)
      for (auto* ops : {&b.ops.tensor.warp, &b.ops.tensor.async})
        (*ops)[index_of(to)] += std::exchange((*ops)[index_of(from)], 0.0);
  };
}

/// Types that read the same bytes, or round them: what takes the place of what.
struct Replacement {
  TensorType from, to;
  const char *change, *assumed;
};

constexpr Replacement replacements[] = {
    {TensorType::f16_f32, TensorType::f16_f16, "accumulate in half: mma with .f16 accumulators, or fragments of half",
     "sums in half precision are exact enough: they overflow beyond 65504"},
    {TensorType::f8_f32, TensorType::f8_f16, "accumulate in half: mma with .f16 accumulators",
     "sums in half precision are exact enough: they overflow beyond 65504"},
    {TensorType::f32_f32, TensorType::tf32_f32, "round the inputs to TF32 (XF32)",
     "10 bits of mantissa are enough for the inputs"},
    {TensorType::tf32_f32, TensorType::bf16_f32,
     "round the inputs to bfloat16 (7 bits of mantissa, the same range); the product of three of them is nearly exact",
     "7 bits of mantissa are enough for the inputs; loads stay as wide as they are"},
};

std::vector<Draft> slower_types(const Subject& s) {
  std::vector<Draft> drafts;
  for (const Replacement& r : replacements) {
    const double slow = rate(s, r.from), fast = rate(s, r.to);
    if (s.workload().warp_ops.tensor.of(r.from) <= 0 || slow <= 0 || fast <= slow) continue;
    Draft d{line_of_products(s, r.from), "", "", r.change, as_type(r.from, r.to), {}, {r.assumed}};
    d.message =
        fmt::format("products of {} run at {:.3g} of the rate of {}", words_of(r.from), slow / fast, words_of(r.to));
    drafts.push_back(std::move(d));
  }
  return drafts;
}

/// Instructions of one warp where those of a warp group have the whole rate.
std::vector<Draft> slower_instructions(const Subject& s) {
  const auto share = s.device().get(Field::compute_tensor_warp_share);
  if (!share || *share >= 1) return {};
  TensorType most = TensorType::count_;
  for (std::size_t i = 0; i < tensor_type_count; ++i) {
    const auto t = static_cast<TensorType>(i);
    const double n = s.workload().warp_ops.tensor.warp[i];
    if (n > 0 && has_async_form(t) &&
        (most == TensorType::count_ || n > s.workload().warp_ops.tensor.warp[index_of(most)]))
      most = t;
  }
  if (most == TensorType::count_) return {};
  const auto what_if = [](Variant& v) {
    for (Block& b : v.profile.blocks)
      for (std::size_t i = 0; i < tensor_type_count; ++i)
        if (has_async_form(static_cast<TensorType>(i)))
          b.ops.tensor.async[i] += std::exchange(b.ops.tensor.warp[i], 0.0);
  };
  return {
      {line_of_products(s, most),
       "",
       fmt::format("mma.sync reaches {} of the tensor cores' rate on {}", format_percent(*share), s.device().name),
       "multiply by wgmma.mma_async from tiles in shared memory (four warps at once), as CUTLASS's Hopper kernels do",
       what_if,
       {},
       {"tiles are in shared memory in a layout that wgmma reads; their loads stay"}}};
}

}  // namespace

std::span<const Rule> tensor_rules() {
  static const Rule list[] = {
      {{"tensor-type", "matrix products of a type that the device runs slower than another"}, slower_types},
      {{"tensor-instruction", "matrix instructions of one warp where those of four have the whole rate"},
       slower_instructions},
  };
  return list;
}

}  // namespace kernelcast::advice
