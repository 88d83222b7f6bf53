// How much a matrix instruction computes.
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/accesses.h"

namespace kernelcast::ptx {

struct MatrixWork {
  MatrixShape shape;                                  // m = n = 0: in a register (tcgen05's instruction descriptor)
  Type input = Type::none, accumulator = Type::none;  // input: of A; none where the instruction descriptor says it
  bool sparse = false;                                // A holds half of the k elements
  bool block_scaled = false;
  Granularity granularity = Granularity::warp;  // once: a CTA, or two with .cta_group::2
  /// 2 m n k: multiplications and additions; of a sparse one those of the dense product. 0 where m and n are not known.
  std::uint64_t operations = 0;
};

/// mma, mma.sp, wmma.mma, wgmma.mma_async, tcgen05.mma; nothing for any other instruction.
std::optional<MatrixWork> matrix_work(const Instruction& instruction);

/// The same with the value of tcgen05's instruction descriptor.
MatrixWork with_descriptor(MatrixWork work, std::uint32_t descriptor);

}  // namespace kernelcast::ptx
