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

/// A loop of scalar multiply-adds in the manner of a matrix product.
struct ScalarProduct {
  int loop = -1;
  TensorType type = TensorType::f16_f32;
  double products = 0;  // multiply-adds of a warp in one iteration, divided by its lanes
  double loads = 0;     // of shared and global memory
  SourceLine line;
};

/// Whether two loads of the loop are the rows and columns of a product: one is shared by threads that the other tells
/// apart, or each value is used by several multiply-adds.
bool is_outer_product(const Subject& s, int loop, double products, double loads) {
  const auto in_loop = [&](const Site& o) {
    return s.profile().blocks[o.block].loop == loop && o.access->kind == AccessKind::load && o.count.requests > 0 &&
           (o.access->space == MemorySpace::shared || o.access->space == MemorySpace::global);
  };
  if (loads <= 0) return false;
  bool rows = false, columns = false;
  for (const Site& o : s.sites()) {
    if (!in_loop(o) || o.access->unknown >= 0) continue;
    const bool x = s.stride(*o.access, local_id(0)) == 0, y = s.stride(*o.access, local_id(1)) == 0;
    rows = rows || (x && !y);
    columns = columns || (y && !x);
  }
  return (s.workload().block.y > 1 && rows && columns) || products >= 2 * loads;
}

std::optional<ScalarProduct> scalar_product(const Subject& s) {
  ScalarProduct best;
  double most = 0;
  const KernelProfile& p = s.profile();
  for (std::size_t l = 0; l < p.loops.size(); ++l) {
    ScalarProduct of;
    of.loop = static_cast<int>(l);
    double half = 0, single = 0, executed = 0, heaviest = 0, others = 0;
    for (std::size_t b = 0; b < p.blocks.size(); ++b) {
      if (p.blocks[b].loop != of.loop) continue;
      const OpCounts& ops = p.blocks[b].ops;
      half += ops[OpClass::fp16_fma];
      single += ops[OpClass::fp32_fma];
      others += ops[OpClass::fp32_special] + ops[OpClass::fp32_div] + ops[OpClass::fp32_mul] + ops[OpClass::fp32_add] +
                ops[OpClass::fp64_fma] + ops[OpClass::shuffle] + ops[OpClass::convert] + ops[OpClass::convert_alu];
      of.loads += ops[OpClass::shared_load] + ops[OpClass::global_load];
      executed = std::max(executed, s.workload().block_counts.at(b).warps);
      for (const LineOps& line : p.blocks[b].lines)
        if (const double n = line.ops[OpClass::fp16_fma] + line.ops[OpClass::fp32_fma];
            line.line.file >= 0 && n > heaviest) {
          heaviest = n;
          of.line = line.line;
        }
    }
    of.products = std::max(half, single);
    of.type = half > single ? TensorType::f16_f32 : TensorType::tf32_f32;
    if (of.products < 1 || others > 0.1 * of.products || of.products * executed <= most) continue;
    if (!is_outer_product(s, of.loop, of.products, of.loads)) continue;
    const auto trips = s.trips(of.loop);
    if (!trips || *trips * of.products < 16) continue;  // the depth of one instruction
    most = of.products * executed;
    best = of;
  }
  // What most of the arithmetic does.
  const OpCounts& all = s.workload().warp_ops;
  if (best.loop < 0 || most < 0.5 * (all[OpClass::fp16_fma] + all[OpClass::fp32_fma])) return std::nullopt;
  return best;
}

/// Scalar multiply-adds of a matrix product where the device has tensor cores for the type.
std::vector<Draft> scalar_products(const Subject& s) {
  if (s.workload().warp_ops.tensor.any()) return {};
  const auto product = scalar_product(s);
  if (!product || rate(s, product->type) <= 0) return {};
  const bool half = product->type == TensorType::f16_f32;
  // Multiply-adds of an instruction: m16n8k16 of half, m16n8k8 of TF32. A fragment of 16 or 8 rows is used by two
  // instructions at least, which is a warp's tile of 32 x 16.
  const double size = half ? 16 * 8 * 16 : 16 * 8 * 8;
  const double words = half ? (16 * 16 + 16 * 8) / 2.0 : 16 * 8 + 8 * 8;
  const double lanes = s.device().geometry().warp_size;
  const auto what_if = [p = *product, size, words, lanes](Variant& v) {
    std::size_t k = 0;
    for (Block& b : v.profile.blocks) {
      const bool inside = b.loop == p.loop;
      const double products = b.ops[OpClass::fp16_fma] + b.ops[OpClass::fp32_fma];
      const double shared = b.ops[OpClass::shared_load];
      double least = shared;
      if (inside && products > 0) {
        b.ops[OpClass::fp16_fma] = b.ops[OpClass::fp32_fma] = 0;
        b.ops[OpClass::tensor] += products * lanes / size;
        b.ops.tensor.warp[index_of(p.type)] += products * lanes;
        least = std::min(shared, products * words / size / 2);
        b.ops[OpClass::shared_load] = least;
      }
      for (const Access& a : b.accesses) {
        AccessCount& c = v.workload.access_counts[k++];
        if (!inside || products <= 0 || shared <= 0 || a.space != MemorySpace::shared || a.kind != AccessKind::load)
          continue;
        for (double* n : {&c.requests, &c.lanes, &c.bank_passes, &c.bytes, &c.words}) *n *= least / shared;
      }
    }
  };
  return {{product->line,
           "",
           fmt::format("a matrix product in scalar multiply-adds, where {} has tensor cores for {}", s.device().name,
                       half ? "half" : "TF32"),
           half ? "multiply by wmma or mma.sync from tiles in shared memory, sums in single precision:\n"
                  "nvcuda::wmma::mma_sync(sum, a, b, sum);  // fragments of 16 x 16 x 16"
                : "multiply by wmma or mma.sync in TF32 from tiles in shared memory:\n"
                  "nvcuda::wmma::mma_sync(sum, a, b, sum);  // fragments of 16 x 16 x 8, precision::tf32",
           what_if,
           {},
           {half ? std::string("the product is of matrices of at least 16 rows and columns")
                 : std::string("10 bits of mantissa are enough for the inputs, and the product is of matrices of at "
                               "least 16 rows and columns")}}};
}

}  // namespace

std::span<const Rule> tensor_rules() {
  static const Rule list[] = {
      {{"tensor-cores", "a matrix product in scalar multiply-adds"}, scalar_products},
      {{"tensor-type", "matrix products of a type that the device runs slower than another"}, slower_types},
      {{"tensor-instruction", "matrix instructions of one warp where those of four have the whole rate"},
       slower_instructions},
  };
  return list;
}

}  // namespace kernelcast::advice
