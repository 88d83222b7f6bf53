// Closed forms come first in any case: they check the launch, and give sizes and footprints.
#include "count/count.h"

#include <algorithm>
#include <iterator>

#include "execute/block_runner.h"
#include "execute/fill.h"
#include "kernelcast/error.h"
#include "kernelcast/model.h"
#include "kernelcast/setting.h"

namespace kernelcast {
namespace {

constexpr double most_resident_blocks = 1024;  // more than any device has: where limits are unknown, all are infinite

CountOrigin all_executed(const Workload& w) {
  return {std::vector(w.block_counts.size(), Origin::executed), std::vector(w.access_counts.size(), Origin::executed),
          std::vector(w.branch_counts.size(), Origin::executed)};
}

/// Who says what a buffer holds wants it used: then a failure is no matter to pass over. Bytes are what the host code
/// was found to copy, and no such wish.
bool contents_given(const Launch& launch) {
  return std::any_of(launch.buffers.begin(), launch.buffers.end(),
                     [](const auto& b) { return !b.second.fill.empty() && !interpreter::bytes_given(b.second.fill); });
}

/// A block that runs by itself would wait for ever.
bool waits_for_others(const KernelProfile& profile) {
  return std::any_of(profile.loops.begin(), profile.loops.end(),
                     [](const Loop& l) { return l.wait != Loop::Wait::none; });
}

/// Of executing one block of counts that no data decide.
double work_of_block(const KernelProfile& profile, const Workload& closed) {
  interpreter::BlockCounts counts;
  counts.accesses = closed.access_counts;
  for (std::size_t b = 0; b < profile.blocks.size(); ++b)
    counts.warp_instructions += closed.block_counts[b].warps * profile.blocks[b].ops.total();
  double products = 0;
  for (std::size_t t = 0; t < tensor_type_count; ++t) products += closed.warp_ops.tensor.of(static_cast<TensorType>(t));
  return (interpreter::work_of(counts, profile, closed.geometry.warp_size, false) +
          interpreter::work_of_products(products)) /
         closed.blocks;
}

/// What a block did before it was stopped is the least that all do; a default may be more.
Counted at_least(const KernelProfile& profile, const Launch& launch, Workload closed, Counted c, CountOrigin origin) {
  Mixed m = mixed(profile, launch, closed, c.execution->workload, std::move(origin));
  const bool beyond = m.workload.warp_ops.total() > closed.warp_ops.total();
  const auto is_unknown = [](const Assumption& a) { return a.kind == Assumption::Kind::unknown; };
  Assumption what{"what data decide",
                  (beyond ? "as far as a block came, so at least; " : "by default, and a block did not come so far; ") +
                      std::string(interpreter::more_work_than_unasked),
                  KC_SETTING(sample) " 1"};
  if (beyond) {
    std::erase_if(m.workload.assumptions, is_unknown);
    std::ranges::copy_if(closed.assumptions, std::back_inserter(m.workload.assumptions), is_unknown);
    c.workload = std::move(m.workload);
    c.origin = std::move(m.origin);
  } else {
    c.workload = std::move(closed);
    c.execution = nullptr;
  }
  c.workload.assumptions.push_back(std::move(what));
  return c;
}

}  // namespace

Workload bind_asked(Binder& binder, const Launch& launch) {
  try {
    return binder.bind(launch);
  } catch (const UsageError&) {  // it may name an argument
    throw;
  } catch (const UserError& e) {
    throw UsageError(message_of(e));
  }
}

Sharing sharing_of(const Workload& closed, const Device& device) {
  Sharing s;
  s.processors = static_cast<int>(std::max(1.0, device.get_or(Field::compute_units, 1)));
  try {
    s.resident_blocks = std::clamp(occupancy(closed, device).blocks_per_unit, 1.0, most_resident_blocks);
  } catch (const Error&) {  // no block fits: the models will say so
  }
  return s;
}

std::shared_ptr<const Execution> execute_on(const Kernel& kernel, const Launch& launch, const MemoryGeometry& geometry,
                                            const Sharing& sharing, ExecuteOptions options) {
  if (!kernel.program) {
    throw LimitError("kernel " + kernel.profile->kernel + " cannot be executed: " +
                     (kernel.no_program.empty() ? "its program was not compiled" : kernel.no_program));
  }
  // Well beyond the limit: machine instructions and interpreted ones are not the same.
  if (options.sample == 0 && options.most_sample_work > 0 && sharing.block_work > 1.5 * options.most_sample_work)
    throw LimitError("kernel " + kernel.profile->kernel +
                     ": not one block could be executed: " + std::string(interpreter::more_work_than_unasked));
  options.resident_blocks = sharing.resident_blocks;
  options.processors = sharing.processors;
  return std::make_shared<const Execution>(execute(*kernel.profile, *kernel.program, launch, geometry, options));
}

Counted count(const KernelProfile& profile, const Launch& launch, Workload closed, const Device& device,
              Counting counting, const Executor& executor) {
  if (counting == Counting::symbolic) return {std::move(closed), std::nullopt, nullptr};
  const bool all = counting == Counting::executed;
  CountOrigin origin = all ? all_executed(closed) : count_origin(profile, launch, closed);
  if (!all && origin.all_closed()) return {std::move(closed), std::nullopt, nullptr};
  if (!all && waits_for_others(profile)) {
    closed.assumptions.push_back({"what data decide", "by default, not executed: blocks wait for one another", ""});
    return {std::move(closed), std::nullopt, nullptr};
  }
  try {
    Sharing sharing = sharing_of(closed, device);
    if (!all && profile.unknowns.empty()) sharing.block_work = work_of_block(profile, closed);
    Counted c{{}, std::nullopt, executor(sharing)};
    if (all) {
      c.workload = c.execution->workload;
      c.workload.cache = closed.cache;
      c.workload.launch_overhead_s = closed.launch_overhead_s;
      c.origin = std::move(origin);
    } else if (c.execution->unfinished) {
      return at_least(profile, launch, std::move(closed), std::move(c), std::move(origin));
    } else {
      Mixed m = mixed(profile, launch, closed, c.execution->workload, std::move(origin));
      c.workload = std::move(m.workload);
      c.origin = std::move(m.origin);
    }
    return c;
  } catch (const Error& e) {
    if (all || contents_given(launch)) throw;
    closed.assumptions.push_back({"what data decide", "by default, not executed: " + message_of(e), ""});
    return {std::move(closed), std::nullopt, nullptr};
  }
}

// A block that belongs to a loop without a condition of its own runs as often as the loop is entered, times its trip
// count. Both counts share the entries, up to the loops around, whose factors are divided out.
std::map<std::string, double> executed_trips(const KernelProfile& profile, const Workload& closed,
                                             const Workload& executed) {
  std::vector<double> factor(profile.loops.size(), 0);
  for (std::size_t b = 0; b < profile.blocks.size(); ++b) {
    const Block& block = profile.blocks[b];
    const bool unguarded = block.guard.paths.size() == 1 && block.guard.paths[0].factors.empty() &&
                           block.guard.paths[0].condition == Expr(1);
    if (block.loop >= 0 && unguarded && closed.block_counts[b].lanes > 0)
      factor[static_cast<std::size_t>(block.loop)] = executed.block_counts[b].lanes / closed.block_counts[b].lanes;
  }
  std::map<std::string, double> trips;
  for (std::size_t l = 0; l < profile.loops.size(); ++l) {
    const Loop& loop = profile.loops[l];
    if (loop.unknown < 0 || factor[l] <= 0) continue;
    const Unknown& u = profile.unknowns[static_cast<std::size_t>(loop.unknown)];
    const double around = loop.parent >= 0 ? factor[static_cast<std::size_t>(loop.parent)] : 1;
    if (around > 0) trips[u.key] = u.default_value * factor[l] / around;
  }
  return trips;
}

}  // namespace kernelcast
