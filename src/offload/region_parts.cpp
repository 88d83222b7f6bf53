// Roles: a buffer that a kernel loads before any kernel of the region has stored to it comes in, unless the kernel
// itself is sure to have written the place; one that is stored to goes out. Both follow from the source, whatever the
// CPU's compiler makes of it (ArrayUse). Sizes: from the lowest to the highest byte that is touched.
#include "offload/region_parts.h"

#include <algorithm>

#include "kernelcast/cpu_model.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast::offload {
namespace {

/// Only the arguments and buffers that the profile has: kernels of one region differ in their parameters.
Launch for_profile(const KernelProfile& p, const Launch& all) {
  Launch l = all;
  const auto has = [&](const std::string& name) {
    return std::any_of(p.parameters.begin(), p.parameters.end(), [&](const Parameter& q) { return q.name == name; });
  };
  std::erase_if(l.args, [&](const auto& a) { return !has(a.first); });
  std::erase_if(l.buffers, [&](const auto& b) { return !has(b.first); });
  return l;
}

/// What binding rejects is in the question: arguments, sizes, answers.
Workload bound(Binder& binder, const Launch& launch) {
  try {
    return binder.bind(launch);
  } catch (const UserError& e) {
    throw UsageError(message_of(e));
  }
}

}  // namespace

Messages messages_of(const std::vector<BufferUse>& buffers) {
  Messages m;
  for (const BufferUse& b : buffers) {
    if (b.resident || b.role == Role::temp) continue;
    if (b.role != Role::out) m.in.push_back(b.bytes);
    if (b.role != Role::in) m.out.push_back(b.bytes);
  }
  return m;
}

Evaluator::Impl::Impl(const Region& r, const Device& c, const Device& g) : region(r), cpu(c), gpu(g) {
  check_kinds(cpu, gpu);
  for (std::size_t k = 0; k < region.kernels.size(); ++k) {
    const RegionKernel& kernel = region.kernels[k];
    cpu_binders_.push_back(std::make_unique<Binder>(kernel.cpu.profile, cpu_geometry(cpu)));
    cpu_binders_.back()->set_walks(true);
    gpu_binders_.push_back(std::make_unique<Binder>(*kernel.gpu, gpu.geometry()));
    for (std::size_t b = 0; b < kernel.cpu.profile.buffers.size(); ++b)
      if (kernel.cpu.profile.buffers[b].parameter >= 0) add_touch(k, static_cast<int>(b));
  }
  check_roles();
}

Evaluator::Impl::Known& Evaluator::Impl::known(const std::string& name) {
  for (Known& b : buffers_)
    if (b.name == name) return b;
  buffers_.push_back({name, 1, {}});
  return buffers_.back();
}

void Evaluator::Impl::add_touch(std::size_t kernel, int buffer) {
  const KernelProfile& all = region.kernels[kernel].cpu.profile;
  Touch t;
  t.kernel = kernel;
  t.profile = std::make_unique<KernelProfile>(all);
  bool touched = false;
  for (Block& b : t.profile->blocks) {
    std::erase_if(b.accesses, [&](const Access& a) { return a.buffer != buffer; });
    touched = touched || !b.accesses.empty();
  }
  if (!touched) return;
  t.binder = std::make_unique<Binder>(*t.profile, cpu_geometry(cpu));
  t.binder->set_reuse(false);
  const Buffer& b = all.buffers[static_cast<std::size_t>(buffer)];
  for (const ArrayUse& use : region.kernels[kernel].cpu.arrays) {
    if (use.name != b.name) continue;
    t.read_first = use.read_first;
    t.stored = use.stored;
  }
  Known& k = known(b.name);
  const int bytes = all.parameters[static_cast<std::size_t>(b.parameter)].bytes;
  if (bytes > 0) k.element_bytes = bytes;
  k.touches.push_back(std::move(t));
}

Launch Evaluator::Impl::cpu_launch(std::size_t kernel, const Question& q) const {
  Launch l = for_profile(region.kernels[kernel].cpu.profile, q.launch);
  l.grid = l.block = {1, 1, 1};
  l.dynamic_shared_bytes = 0;
  return l;
}

Workload Evaluator::Impl::on_cpu(std::size_t kernel, const Question& q) {
  return bound(*cpu_binders_[kernel], cpu_launch(kernel, q));
}

double Evaluator::Impl::uneven_on_cpu(std::size_t kernel, const Question& q) const {
  return uneven_share(region.kernels[kernel].cpu, cpu_launch(kernel, q), cpu, q.threads);
}

Workload Evaluator::Impl::on_gpu(std::size_t kernel, const Question& q) {
  const KernelProfile& p = *region.kernels[kernel].gpu;
  Launch l = for_profile(p, q.launch);
  if (q.grid) {
    l.grid = *q.grid;
  } else {
    std::map<Symbol, Expr> values;
    for (const auto& [name, value] : l.args)
      if (const auto* integer = std::get_if<std::int64_t>(&value)) values.emplace(argument(name), Expr(*integer));
    std::array<std::int64_t, 3> block = l.block.array(), grid{1, 1, 1};
    if (p.mapped_axes == 0 || p.mapped_extent.empty())
      throw UsageError("the number of blocks of '" + p.kernel +
                       "' does not follow from its loops: give " KC_SETTING(grid));
    // One loop: the block is as long as it is in all; more loops: as it is.
    if (p.mapped_extent.size() == 1) block = {l.block.count(), 1, 1};
    for (std::size_t i = 0; i < p.mapped_extent.size() && i < 3; ++i) {
      const Expr e = p.mapped_extent[i].substitute(values);
      const auto n = e.constant();
      if (!n)
        throw UsageError("the extent " + e.str() + " of a loop of '" + p.kernel +
                         "' is not known: give " KC_SETTING(arg));
      if (*n < 1)
        throw UsageError("a loop of '" + p.kernel + "' runs " + std::to_string(*n) + " times: change " KC_SETTING(arg));
      const std::int64_t warp = gpu.geometry().warp_size;
      if (q.fit_block && i == 0) block[0] = std::min(block[0], (*n + warp - 1) / warp * warp);
      grid[i] = (*n + block[i] - 1) / block[i];
    }
    l.block = {block[0], block[1], block[2]};
    l.grid = {grid[0], grid[1], grid[2]};
  }
  return bound(*gpu_binders_[kernel], l);
}

std::vector<BufferUse> Evaluator::Impl::buffers(const Question& q) {
  std::vector<BufferUse> out;
  for (Known& k : buffers_) {
    BufferUse use;
    use.name = k.name;
    bool in = false, stored = false;
    for (Touch& t : k.touches) {
      in = in || (t.read_first && !stored);
      stored = stored || t.stored;
      const auto declared = q.launch.buffers.find(k.name);
      use.bytes = declared != q.launch.buffers.end()
                      ? static_cast<double>(declared->second.elements) * k.element_bytes
                      : std::max(use.bytes, bound(*t.binder, cpu_launch(t.kernel, q)).footprint_bytes);
    }
    use.role = in && stored ? Role::inout : stored ? Role::out : Role::in;
    if (const auto said = region.roles.find(k.name); said != region.roles.end()) {
      use.role = said->second;
      use.by_user = true;
    }
    use.resident = region.resident.contains(k.name);
    out.push_back(std::move(use));
  }
  return out;
}

}  // namespace kernelcast::offload
