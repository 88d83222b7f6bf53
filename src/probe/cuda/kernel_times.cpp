#include "probe/cuda/kernel_times.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace kernelcast::probe::cuda {
namespace {

// CUPTI's own names and numbers are in the comments.
constexpr int no_error = 0;                           // CUPTI_SUCCESS
constexpr int concurrent_kernels = 10;                // CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
constexpr std::uint32_t also_unfinished_buffers = 1;  // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED
constexpr std::size_t buffer_bytes = std::size_t{1} << 20, alignment = 8;

struct Layout {
  std::int32_t kind;
  std::uint8_t cache, shared;
  std::uint16_t registers;
  std::int32_t requested, executed;
  std::uint64_t start, end, completed;
  std::uint32_t device, context, stream;
  std::int32_t grid[3], block[3];
  std::int32_t static_shared, dynamic_shared;
  std::uint32_t local_per_thread, local_total, correlation;
  std::int64_t grid_id;
  const char* name;
};
static_assert(offsetof(Layout, start) == 16 && offsetof(Layout, grid) == 52 && offsetof(Layout, name) == 104);

using Requested = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using Completed = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);

struct Functions {
  int (*callbacks)(Requested, Completed) = nullptr;
  int (*enable)(int) = nullptr;
  int (*disable)(int) = nullptr;
  int (*flush)(std::uint32_t) = nullptr;
  int (*next)(std::uint8_t*, std::size_t, void**) = nullptr;
};

// CUPTI's callbacks carry nothing of ours.
std::mutex guard;
Functions cupti;
std::function<void(const KernelRecord&)> receiver;

template <class F>
bool find(void* library, const char* name, F& f) {
  f = reinterpret_cast<F>(dlsym(library, name));
  return f != nullptr;
}

void give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(alignment, buffer_bytes));
  *bytes = *buffer != nullptr ? buffer_bytes : 0;
  *most_records = 0;
}

void take_buffer(void* /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer, std::size_t /*bytes*/,
                 std::size_t used) {
  const std::lock_guard lock(guard);
  void* record = nullptr;
  while (receiver && cupti.next(buffer, used, &record) == no_error) {
    Layout k;
    std::memcpy(&k, record, sizeof k);
    if (k.kind != concurrent_kernels) continue;
    KernelRecord out;
    out.name = k.name != nullptr ? k.name : "?";
    out.start_s = static_cast<double>(k.start) * 1e-9;
    out.seconds = k.end > k.start ? static_cast<double>(k.end - k.start) * 1e-9 : 0;
    out.registers = k.registers;
    out.static_shared_bytes = k.static_shared;
    out.dynamic_shared_bytes = k.dynamic_shared;
    std::memcpy(out.grid, k.grid, sizeof k.grid);
    std::memcpy(out.block, k.block, sizeof k.block);
    receiver(out);
  }
  std::free(buffer);
}

class Cupti final : public KernelTimes {
 public:
  Cupti() = default;
  Cupti(const Cupti&) = delete;
  Cupti& operator=(const Cupti&) = delete;
  ~Cupti() override {
    flush();
    cupti.disable(concurrent_kernels);
    const std::lock_guard lock(guard);
    receiver = nullptr;
  }
  void flush() override { cupti.flush(also_unfinished_buffers); }
};

}  // namespace

std::unique_ptr<KernelTimes> KernelTimes::open(const std::string& library,
                                               std::function<void(const KernelRecord&)> each) {
  void* opened = nullptr;
  if (!library.empty()) {
    opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  } else {
    for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"})
      if (opened == nullptr) opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (opened == nullptr) return nullptr;
  if (!find(opened, "cuptiActivityRegisterCallbacks", cupti.callbacks) ||
      !find(opened, "cuptiActivityEnable", cupti.enable) || !find(opened, "cuptiActivityDisable", cupti.disable) ||
      !find(opened, "cuptiActivityFlushAll", cupti.flush) || !find(opened, "cuptiActivityGetNextRecord", cupti.next))
    return nullptr;
  receiver = std::move(each);
  if (cupti.callbacks(give_buffer, take_buffer) != no_error || cupti.enable(concurrent_kernels) != no_error) {
    receiver = nullptr;
    return nullptr;
  }
  return std::make_unique<Cupti>();
}

}  // namespace kernelcast::probe::cuda
