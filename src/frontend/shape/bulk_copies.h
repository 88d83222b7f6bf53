// Copies in bulk through tensor maps: how many bytes each moves, and where.
#pragma once

#include <map>
#include <optional>

#include "frontend/shape/kernel_model.h"
#include "kernelcast/source.h"

namespace kernelcast::frontend {

struct PtxAccess;

/// A coordinate of all copies through one map: it is `base` plus multiples of `step`; 0: it is always `base`.
struct BoxAxis {
  std::int64_t base = 0, step = 0;
};

struct TensorBoxes {
  /// Bytes of one copy, whose box the code does not say: what mbarriers are told to expect, divided evenly among the
  /// copies that stand in the same loop. Copies without such bytes are left out.
  std::map<const llvm::CallInst*, int> bytes;
  /// Bytes that lie side by side in a box, of those that are given.
  std::map<const llvm::CallInst*, int> row_bytes;
  std::map<const llvm::Argument*, std::vector<BoxAxis>> axes;  // null: of maps that are no parameter
};
/// `given`: boxes by the parameter that holds the map; they need no mbarrier.
TensorBoxes tensor_boxes(KernelModel& model, const std::map<const llvm::Argument*, TensorBox>& given);

/// The parameter that holds the tensor map; null: it comes from elsewhere.
const llvm::Argument* tensor_map_of(const llvm::Value& pointer);

/// An offset that is different for each box: boxes of one map are taken not to overlap, and lie one after another along
/// the first coordinate. Nothing where a coordinate depends on data.
std::optional<Expr> offset_of_box(KernelModel& model, const TensorBoxes& boxes, const PtxAccess& access, int bytes);

}  // namespace kernelcast::frontend
