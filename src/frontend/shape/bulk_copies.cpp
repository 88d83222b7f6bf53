// A tensor map is made by the host: its box and strides are not in the kernel. What the kernel does say is how many
// bytes an mbarrier waits for (mbarrier.arrive.expect_tx), which the copies that complete on it bring together. So the
// sum of a loop's copies is exact where that number is a constant; how it is divided among several maps is not known,
// and even shares are taken. Of the place only the coordinates are known. Boxes at different coordinates are taken to
// be different data, which is what tiled kernels do; so coordinates are numbered in steps of what all of them are a
// multiple of, and each step is a box apart.
#include "frontend/shape/bulk_copies.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/expr_node.h"
#include "frontend/ir/ptx_calls.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

namespace kernelcast::frontend {

using namespace llvm;

namespace {

bool is_tensor_copy_to_shared(const CallInst& call) {
  const auto instruction = ptx_instruction(call);
  return instruction && instruction->op == ptx::Op::cp_async_bulk_tensor && instruction->space() != ptx::Space::global;
}

/// Executions of `inner` for each one of `outer` (null: the kernel), where all trips between are constants.
std::optional<double> repeats(KernelModel& model, llvm::Loop* inner, const llvm::Loop* outer) {
  double n = 1;
  for (llvm::Loop* l = inner; l != outer; l = l->getParentLoop()) {
    const TripCount& count = model.trips(l);
    const auto trips = count.trips ? count.trips->constant() : std::nullopt;
    if (!trips) return std::nullopt;
    n *= static_cast<double>(count.header_test ? *trips - 1 : *trips);
  }
  return n;
}

/// The greatest common divisor of the coefficients of all terms but the constant; 0: there is none.
std::int64_t step_of(const Expr& e) {
  std::int64_t step = 0;
  for (const Term& t : terms_of(e))
    if (!t.factors.empty()) step = std::gcd(step, t.coefficient);
  return step;
}

/// What coordinates of copies by one map are multiples of, from the first on.
void add_to_axes(KernelModel& model, const PtxAccess& access, std::vector<BoxAxis>& axes) {
  const bool first = axes.empty();
  axes.resize(std::max(axes.size(), access.coordinates.size()));
  for (std::size_t d = 0; d < access.coordinates.size(); ++d) {
    const Expr c = model.integer(access.coordinates[d]);
    if (first) axes[d].base = c.constant_term();
    std::int64_t apart = 0;
    if (__builtin_sub_overflow(c.constant_term(), axes[d].base, &apart)) apart = 1;
    axes[d].step = std::gcd(std::gcd(axes[d].step, step_of(c)), apart);
  }
}

constexpr int address_bits = 54;  // of all offsets, so that they stay well inside of 64 bits

}  // namespace

TensorBoxes tensor_boxes(KernelModel& model, const std::map<const Argument*, TensorBox>& given) {
  struct Region {
    double expected = 0, copies = 0;
    bool known = true;
    std::vector<const CallInst*> members;
  };
  TensorBoxes boxes;
  auto& found = boxes.bytes;
  std::map<llvm::Loop*, Region> regions;
  std::vector<CallInst*> copies;
  for (Instruction& i : instructions(model.function())) {
    auto* call = dyn_cast<CallInst>(&i);
    if (!call) continue;
    if (is_tensor_copy_to_shared(*call)) copies.push_back(call);
    for (const PtxAccess& a : ptx_accesses(*call))
      if (!a.coordinates.empty()) {
        const Argument* const map = tensor_map_of(*a.pointer);
        if (const auto box = given.find(map); box != given.end()) {
          found[call] = box->second.bytes;
          boxes.row_bytes[call] = box->second.row_bytes;
        }
        add_to_axes(model, a, boxes.axes[map]);
      }
    Value* bytes = expected_bytes(i);
    if (!bytes) continue;
    Region& region = regions[model.loops().getLoopFor(i.getParent())];
    const auto constant = model.integer(bytes).constant();
    region.known = region.known && constant && *constant >= 0;
    if (region.known) region.expected += static_cast<double>(*constant);
  }
  for (Instruction& i : instructions(model.function())) {
    auto* call = dyn_cast<CallInst>(&i);
    if (!call) continue;
    const bool known = found.contains(call), tensor = is_tensor_copy_to_shared(*call) && !known;
    int bytes = known && is_tensor_copy_to_shared(*call) ? found[call] * std::max(1, receivers(*call)) : 0;
    if (!tensor && bytes == 0)
      for (const PtxAccess& a : ptx_accesses(*call))
        if (a.bulk && a.kind == AccessKind::store && a.pointer == call->getArgOperand(0)) bytes = a.bytes;
    if (!tensor && bytes == 0) continue;
    llvm::Loop* const own = model.loops().getLoopFor(i.getParent());
    llvm::Loop* around = own;
    while (around && !regions.contains(around)) around = around->getParentLoop();
    const auto region = regions.find(around);
    if (region == regions.end()) continue;
    const auto times = repeats(model, own, around);
    if (!times) {
      region->second.known = false;
    } else if (tensor) {
      region->second.copies += *times * std::max(1, receivers(*call));
      region->second.members.push_back(call);
    } else {
      region->second.expected -= *times * bytes;
    }
  }
  std::map<const Argument*, int> by_map;
  for (const auto& [loop, region] : regions) {
    if (!region.known || region.copies <= 0 || region.expected < region.copies) continue;
    const int each = static_cast<int>(region.expected / region.copies);
    for (const CallInst* call : region.members) {
      found[call] = each;
      if (const Argument* map = tensor_map_of(*ptx_accesses(*call)[0].pointer)) by_map.try_emplace(map, each);
    }
  }
  // Copies elsewhere by a map whose box is known by now, as those before a loop.
  for (const CallInst* call : copies)
    if (const Argument* map = tensor_map_of(*ptx_accesses(*call)[0].pointer); map && by_map.contains(map))
      found.try_emplace(call, by_map[map]);
  return boxes;
}

const Argument* tensor_map_of(const Value& pointer) { return dyn_cast<Argument>(getUnderlyingObject(&pointer)); }

std::optional<Expr> offset_of_box(KernelModel& model, const TensorBoxes& boxes, const PtxAccess& access, int bytes) {
  const auto axes = boxes.axes.find(tensor_map_of(*access.pointer));
  if (axes == boxes.axes.end()) return std::nullopt;
  const auto moving = std::count_if(axes->second.begin(), axes->second.end(), [](const BoxAxis& a) { return a.step; });
  const int size_bits = std::bit_width(static_cast<unsigned>(std::max(1, bytes)));
  const int bits = (address_bits - size_bits) / static_cast<int>(std::max<std::ptrdiff_t>(1, moving));
  Expr offset;
  int shift = 0;
  for (std::size_t d = 0; d < access.coordinates.size(); ++d) {
    const BoxAxis& axis = axes->second[d];
    if (axis.step == 0) continue;
    const Expr c = model.integer(access.coordinates[d]);
    if (!model.data_in(c).empty()) return std::nullopt;
    offset = offset + floor_div(c - Expr(axis.base), Expr(axis.step)) * Expr(std::int64_t{bytes} << shift);
    shift += bits;
  }
  return offset;
}

}  // namespace kernelcast::frontend
