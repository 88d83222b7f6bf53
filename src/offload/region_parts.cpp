// Roles: a buffer that a kernel loads before any kernel of the region has stored to it comes in, unless the kernel
// itself is sure to have written the place; one that is stored to goes out. Both follow from the source, whatever the
// CPU's compiler makes of it (ArrayUse). Sizes: from the lowest to the highest byte that is touched.
#include "offload/region_parts.h"

#include <algorithm>

#include "count/count.h"
#include "device/describe.h"
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
    cpu_binders_.back()->set_streams(true);
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

namespace {

/// Of a buffer: of its parameter's type, else of the narrowest access of the GPU's code (the CPU's may read several
/// elements at a time). 0: not known.
int element_bytes(const KernelProfile& gpu, const std::string& name) {
  for (const Parameter& p : gpu.parameters)
    if (p.name == name && p.bytes > 0) return p.bytes;
  int narrowest = 0;
  for (const Block& block : gpu.blocks)
    for (const Access& a : block.accesses)
      if (a.buffer >= 0 && gpu.buffers[static_cast<std::size_t>(a.buffer)].name == name)
        narrowest = narrowest == 0 ? a.bytes : std::min(narrowest, a.bytes);
  return narrowest;
}

}  // namespace

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
  if (const int bytes = element_bytes(*region.kernels[kernel].gpu, b.name); bytes > 0) k.element_bytes = bytes;
  k.touches.push_back(std::move(t));
}

Launch Evaluator::Impl::cpu_launch(std::size_t kernel, const OffloadRequest& q) const {
  Launch l = for_profile(region.kernels[kernel].cpu.profile, q.launch);
  l.grid = l.block = {1, 1, 1};
  l.dynamic_shared_bytes = 0;
  return l;
}

Workload Evaluator::Impl::on_cpu(std::size_t kernel, const OffloadRequest& q,
                                 const std::map<std::string, double>& trips) {
  Launch l = cpu_launch(kernel, q);
  std::vector<Assumption> found;
  for (const Unknown& u : region.kernels[kernel].cpu.profile.unknowns) {
    const auto executed = trips.find(u.key);
    if (u.kind != Unknown::Kind::trip_count || executed == trips.end()) continue;
    if (l.assume.emplace(u.key, executed->second).second)
      found.push_back({"mean trip count on the CPU, " + u.key, describe::number(executed->second) + " (executed)",
                       KC_SETTING(assume) " " + u.key + "=VALUE", Assumption::Kind::unknown, u.key});
  }
  Workload w = bind_asked(*cpu_binders_[kernel], l);
  w.assumptions.insert(w.assumptions.end(), found.begin(), found.end());
  return w;
}

double Evaluator::Impl::uneven_on_cpu(std::size_t kernel, const OffloadRequest& q) const {
  return uneven_share(region.kernels[kernel].cpu, cpu_launch(kernel, q), cpu, q.threads);
}

Workload Evaluator::Impl::on_gpu(std::size_t kernel, const OffloadRequest& q, std::map<std::string, double>& trips) {
  const RegionKernel& k = region.kernels[kernel];
  const KernelProfile& p = *k.gpu;
  Launch l = for_profile(p, q.launch);
  if (q.grid) {
    l.grid = *q.grid;
  } else {
    const Extents extents = mapped_extents(p, l);
    // One loop: the block is as long as it is in all; more loops: as it is.
    if (p.mapped_extent.size() == 1) l.block = {l.block.count(), 1, 1};
    if (const std::int64_t warp = gpu.geometry().warp_size; q.fit_block)
      l.block.x = std::min(l.block.x, (extents[0] + warp - 1) / warp * warp);
    l.grid = grid_over(extents, l.block);
  }
  const Workload closed = bind_asked(*gpu_binders_[kernel], l);
  ExecuteOptions options;
  options.check_shared = false;
  options.sample_work = q.sample_work;
  options.most_sample_work = ExecuteOptions::unasked_work;
  options.max_seconds = 0;  // work is bounded, and counts must not depend on the load of the machine
  const Counted c = count(p, l, closed, gpu, Counting::automatic, [&](const Sharing& sharing) {
    // Questions that differ in transfers and repetitions share the execution.
    auto& kept = executions_[{kernel, l.grid.array(), l.block.array(), l.args, q.sample_work}];
    if (!kept) kept = execute_on({k.gpu, k.program, k.no_program}, l, gpu.geometry(), sharing, options);
    return kept;
  });
  if (c.execution) trips = executed_trips(p, closed, c.execution->workload);
  return c.workload;
}

std::vector<BufferUse> Evaluator::Impl::buffers(const OffloadRequest& q) {
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
                      : std::max(use.bytes, bind_asked(*t.binder, cpu_launch(t.kernel, q)).footprint_bytes);
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
