// Questions about a kernel's resources: occupancy and attributes. The interpreter does not generate code: it names the
// kernels (HostProgram::kernels_asked), and evaluation is repeated with HostOptions::kernels.
#include <algorithm>

#include "frontend/host/interpreter.h"
#include "frontend/source/instance_name.h"

namespace kernelcast::frontend::host {
namespace {

constexpr std::int64_t kDefaultSharedBytes = 48 << 10;  // of a block, without an attribute of the kernel

}  // namespace

/// The resources of the kernel that a value is; nothing: not known yet, and noted down.
const HostKernel* Interpreter::resources_of(const Value& kernel) {
  const clang::FunctionDecl* f = kernel.function;
  if (f == nullptr || !f->hasAttr<clang::CUDAGlobalAttr>()) return nullptr;
  const std::string symbol = symbol_of(f);
  if (const auto known = options_.kernels.find(symbol); known != options_.kernels.end()) return &known->second;
  HostKernelAsked asked;
  asked.kernel = instance_name(*f);
  asked.symbol = symbol;
  asked.kernel_file = file_of(f);
  auto& all = program_.kernels_asked;
  if (std::none_of(all.begin(), all.end(), [&](const HostKernelAsked& other) { return other.symbol == symbol; }))
    all.push_back(std::move(asked));
  return nullptr;
}

Value Interpreter::resident_blocks(const Value& kernel, const Value& threads, const Value& shared, int line) {
  const HostKernel* k = resources_of(kernel);
  for (const Value* v : {&threads, &shared})
    if (!v->known()) return *v;
  if (k == nullptr || !options_.resident_blocks || !threads.is_integer() || !shared.is_integer() || threads.integer < 1)
    return Value::not_known("the occupancy of a kernel", line);
  return Value::of(options_.resident_blocks(*k, threads.integer, shared.integer));
}

/// The search of cudaOccupancyMaxPotentialBlockSize() in cuda_runtime.h: of the blocks of whole warps, from the largest
/// down, the first with the most resident threads.
void Interpreter::best_block(const Value& grid_into, const Value& block_into, const Value& kernel, const Value& shared,
                             const Value& most, int line) {
  Value grid = Value::not_known("the occupancy of a kernel", line), block = grid;
  const HostKernel* k = resources_of(kernel);
  const auto property = [&](const char* name) {
    const auto found = options_.device.find(name);
    return found == options_.device.end() ? std::int64_t{0} : found->second;
  };
  const std::int64_t warp = property("warpSize"), units = property("multiProcessorCount");
  if (!shared.known()) grid = block = shared;
  if (!most.known()) grid = block = most;
  if (k != nullptr && options_.resident_blocks && shared.is_integer() && most.is_integer() && warp > 0) {
    std::int64_t limit = std::min(property("maxThreadsPerBlock"), k->max_threads_per_block);
    if (most.integer > 0) limit = std::min(limit, most.integer);
    std::int64_t best = 0, best_threads = 0, blocks_of_best = 0;
    for (std::int64_t aligned = (limit + warp - 1) / warp * warp; aligned > 0; aligned -= warp) {
      const std::int64_t threads = std::min(aligned, limit);
      const std::int64_t blocks = options_.resident_blocks(*k, threads, shared.integer);
      if (blocks * threads <= best_threads) continue;
      best = threads;
      best_threads = blocks * threads;
      blocks_of_best = blocks;
    }
    block = Value::of(best);
    if (units > 0) grid = Value::of(blocks_of_best * units);
  }
  if (grid_into.kind == Value::Kind::pointer) store(grid_into.place, grid);
  if (block_into.kind == Value::Kind::pointer) store(block_into.place, block);
}

/// Clusters of a configuration that the device holds at once, wherever its blocks are: how many compute units a group
/// of them has that clusters stay in is in no device file.
Value Interpreter::active_clusters(const Value& kernel, const clang::CallExpr* call) {
  const int line = line_of(call);
  const Value given = evaluate(call->getArg(2));
  const clang::QualType type = call->getArg(2)->IgnoreParenImpCasts()->getType();
  const clang::QualType record = type->isPointerType() ? type->getPointeeType() : type;
  const Value configuration = given.kind == Value::Kind::pointer ? load(given.place, call) : given;
  const Value block = field(configuration, record, "blockDim", line);
  std::int64_t threads = 1, blocks_of_cluster = 1;
  const std::array<HostNumber, 3> cluster = cluster_of(configuration, record, call);
  for (int axis = 0; axis < 3; ++axis) {
    const HostNumber extent = dimension(block, axis);
    const auto* along = std::get_if<std::int64_t>(&extent);
    const auto* blocks = std::get_if<std::int64_t>(&cluster[static_cast<std::size_t>(axis)]);
    if (along == nullptr || blocks == nullptr) return Value::not_known("the occupancy of a kernel", line);
    threads *= *along;
    blocks_of_cluster *= std::max<std::int64_t>(*blocks, 1);
  }
  const Value blocks =
      resident_blocks(kernel, Value::of(threads), field(configuration, record, "dynamicSmemBytes", line), line);
  const auto units = options_.device.find("multiProcessorCount");
  if (!blocks.is_integer() || units == options_.device.end()) return blocks;
  assume("cudaOccupancyMaxActiveClusters at line " + std::to_string(line) +
         " counts clusters over all multiprocessors, whichever of them share a GPC");
  return Value::of(blocks.integer * units->second / blocks_of_cluster);
}

std::optional<Value> Interpreter::occupancy_call(const std::string& name, const clang::CallExpr* call) {
  const int line = line_of(call);
  const unsigned count = call->getNumArgs();
  const OneOf is{name};
  const auto number = [&](unsigned k) {
    return k < count && !llvm::isa<clang::CXXDefaultArgExpr>(call->getArg(k))
               ? converted(evaluate(call->getArg(k)), context_.LongTy)
               : Value::of(0);
  };
  if (is({"cudaOccupancyMaxActiveBlocksPerMultiprocessor", "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
          "cuOccupancyMaxActiveBlocksPerMultiprocessor"}) &&
      count >= 4) {
    const Value into = evaluate(call->getArg(0));
    const Value blocks = resident_blocks(evaluate(call->getArg(1)), number(2), number(3), line);
    if (into.kind == Value::Kind::pointer) store(into.place, blocks);
    return Value::of(0);
  }
  if (is({"cudaOccupancyMaxActiveClusters", "cuOccupancyMaxActiveClusters"}) && count == 3) {
    const Value into = evaluate(call->getArg(0));
    const Value clusters = active_clusters(evaluate(call->getArg(1)), call);
    if (into.kind == Value::Kind::pointer) store(into.place, clusters);
    return Value::of(0);
  }
  if (is({"cudaOccupancyMaxPotentialBlockSize", "cudaOccupancyMaxPotentialBlockSizeWithFlags"}) && count >= 3) {
    const Value grid = evaluate(call->getArg(0)), block = evaluate(call->getArg(1));
    best_block(grid, block, evaluate(call->getArg(2)), number(3), number(4), line);
    return Value::of(0);
  }
  if (name == "cudaFuncGetAttributes" && count == 2) {
    const Value into = evaluate(call->getArg(0)), kernel = evaluate(call->getArg(1));
    const clang::Expr* to = call->getArg(0)->IgnoreParenImpCasts();
    const auto* record =
        to->getType()->isPointerType() ? to->getType()->getPointeeType()->getAsCXXRecordDecl() : nullptr;
    auto memory = std::make_shared<Memory>();
    memory->rest = Value::not_known("an attribute of a kernel", line);
    if (const HostKernel* k = resources_of(kernel)) {
      const std::pair<const char*, std::int64_t> fields[] = {
          {"numRegs", k->registers},
          {"sharedSizeBytes", k->static_shared_bytes},
          {"localSizeBytes", k->local_bytes},
          {"maxThreadsPerBlock", k->max_threads_per_block},
          {"maxDynamicSharedSizeBytes", kDefaultSharedBytes - k->static_shared_bytes}};
      for (const auto& [field, value] : fields)
        if (const clang::FieldDecl* f = field_named(record, field)) memory->slots[key_of(f)] = Value::of(value);
    }
    if (into.kind == Value::Kind::pointer) store(into.place, Value::object_of(memory));
    return Value::of(0);
  }
  return std::nullopt;
}

}  // namespace kernelcast::frontend::host
