// A phase in order: context, modules, buffers, one run of each launch to warm up, then rounds in which all take turns
// in another order each time (as the other back ends do, so that a slow minute meets all of them). An error that loses
// the context ends the phase.
#include "probe/cuda/plan.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "kernelcast/error.h"
#include "probe/cuda/driver.h"
#include "probe/cuda/kernel_times.h"

namespace kernelcast::probe::cuda {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Info info_of(const Driver& driver, DeviceHandle device) {
  Info out;
  char name[256] = "";
  driver.check(driver.device_name(name, sizeof name, device), "cuDeviceGetName");
  out.name = name;
  driver.check(driver.driver_version(&out.driver_version), "cuDriverGetVersion");
  const auto number = [&](Attribute a) {
    int value = 0;
    driver.check(driver.attribute(&value, static_cast<int>(a), device), "cuDeviceGetAttribute");
    return value;
  };
  out.architecture = 10 * number(Attribute::capability_major) + number(Attribute::capability_minor);
  out.units = number(Attribute::units);
  out.warp_size = number(Attribute::warp_size);
  out.clock_hz = 1e3 * number(Attribute::clock_khz);
  out.memory_clock_hz = 1e3 * number(Attribute::memory_clock_khz);
  out.bus_bits = number(Attribute::bus_bits);
  out.l2_bytes = number(Attribute::l2_bytes);
  std::size_t bytes = 0;
  driver.check(driver.total_memory(&bytes, device), "cuDeviceTotalMem");
  out.memory_bytes = static_cast<double>(bytes);
  return out;
}

/// The kernels that have ended since the last question, by the CUPTI library that KERNELCAST_CUPTI_LIBRARY names. It
/// makes launches slower, so figures of the host are better taken without it.
class Ended {
 public:
  Ended() {
    const char* library = std::getenv("KERNELCAST_CUPTI_LIBRARY");
    if (library == nullptr) return;
    times_ = KernelTimes::open(library, [this](const KernelRecord& k) { kernels_.emplace_back(k.start_s, k.seconds); });
  }
  [[nodiscard]] bool known() const { return times_ != nullptr; }
  /// Mean duration of the last `count`; empty where fewer were seen.
  std::optional<double> last(int count) {
    if (!times_) return std::nullopt;
    times_->flush();
    std::ranges::sort(kernels_);
    const auto wanted = static_cast<std::ptrdiff_t>(count);
    std::optional<double> out;
    if (std::ssize(kernels_) >= wanted) {
      double sum = 0;
      for (auto k = kernels_.end() - wanted; k != kernels_.end(); ++k) sum += k->second;
      out = sum / count;
    }
    kernels_.clear();
    return out;
  }

 private:
  std::vector<std::pair<double, double>> kernels_;  // start, seconds
  std::unique_ptr<KernelTimes> times_;
};

/// The addresses of a closed walk, at the multiples of `stride`; the word behind the last byte holds where to begin.
std::string walk_bytes(const Buffer& b, Pointer base) {
  const std::size_t places = std::max<std::size_t>(1, b.bytes / b.stride);
  std::vector<std::uint32_t> next(places);
  std::iota(next.begin(), next.end(), 0U);
  std::string out(b.bytes + 8, '\0');
  // Sattolo's shuffle: one cycle through all places.
  std::mt19937_64 random(1);
  if (!b.sequential)
    for (std::size_t i = places - 1; i > 0; --i) std::swap(next[i], next[random() % i]);
  for (std::size_t i = 0; i < places; ++i) {
    const std::size_t to = b.sequential ? (i + 1) % places : next[i];
    const Pointer address = base + to * b.stride;
    std::memcpy(out.data() + i * b.stride, &address, sizeof address);
  }
  std::memcpy(out.data() + b.bytes, &base, sizeof base);
  return out;
}

class PhaseRun {
 public:
  PhaseRun(const Driver& driver, DeviceHandle device, const Phase& phase, Ended& ended)
      : cu_(driver), phase_(phase), ended_(ended) {
    cu_.check(cu_.create_context(&context_, 0, device), "cuCtxCreate");
  }
  ~PhaseRun() {
    for (void* p : pinned_) cu_.release_pinned(p);
    cu_.destroy_context(context_);  // with modules, buffers and events
  }
  PhaseRun(const PhaseRun&) = delete;
  PhaseRun& operator=(const PhaseRun&) = delete;

  void run(Record& record) {
    launches_.resize(phase_.launches.size());
    transfers_.resize(phase_.transfers.size());
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      launches_[i].name = phase_.launches[i].name;
      launches_[i].items = phase_.launches[i].items;
    }
    for (std::size_t i = 0; i < transfers_.size(); ++i) transfers_[i].name = phase_.transfers[i].name;
    try {
      prepare();
      rounds();
    } catch (const LimitError& e) {
      // What has not run at all says why; rounds that are complete stay.
      for (auto& s : launches_)
        if (s.runs.empty() && s.failure.empty()) s.failure = message_of(e);
      for (auto& s : transfers_)
        if (s.runs.empty() && s.failure.empty()) s.failure = message_of(e);
    }
    for (std::size_t i = 0; i < launches_.size(); ++i)
      if (!phase_.launches[i].only_before) record.launches.push_back(std::move(launches_[i]));
    for (auto& s : transfers_) record.transfers.push_back(std::move(s));
  }

 private:
  void prepare() {
    cu_.check(cu_.create_event(&start_, 0), "cuEventCreate");
    cu_.check(cu_.create_event(&stop_, 0), "cuEventCreate");
    for (const Buffer& b : phase_.buffers) {
      Pointer p = 0;
      const std::size_t bytes = b.bytes + 8;
      cu_.check(cu_.allocate(&p, bytes), "cuMemAlloc");
      buffers_.push_back(p);
      if (b.fill == Buffer::Fill::walk) {
        const std::string data = walk_bytes(b, p);
        cu_.check(cu_.to_device(p, data.data(), data.size()), "cuMemcpyHtoD");
        continue;
      }
      cu_.check(cu_.fill(p, 0, bytes), "cuMemsetD8");
      if (b.fill == Buffer::Fill::repeat && !b.data.empty())
        for (std::size_t at = 0; at < b.bytes; at += b.data.size())
          cu_.check(cu_.to_device(p + at, b.data.data(), std::min(b.data.size(), b.bytes - at)), "cuMemcpyHtoD");
      if (b.fill == Buffer::Fill::data)
        cu_.check(cu_.to_device(p, b.data.data(), std::min(b.data.size(), b.bytes)), "cuMemcpyHtoD");
    }
    std::vector<Module> modules(phase_.images.size());
    std::vector<std::string> refused(phase_.images.size());
    for (std::size_t i = 0; i < modules.size(); ++i) refused[i] = load(phase_.images[i], modules[i]);
    functions_.resize(launches_.size());
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      const auto image = static_cast<std::size_t>(phase_.launches[i].image);
      launches_[i].failure = refused[image];
      if (!refused[image].empty()) continue;
      const Status found = cu_.function(&functions_[i], modules[image], phase_.launches[i].kernel.c_str());
      if (found != success) {
        launches_[i].failure = "cuModuleGetFunction failed: " + cu_.name_of(found);
      } else if (phase_.launches[i].shared_bytes > shared_without_asking) {
        const Status granted =
            cu_.set_function(functions_[i], static_cast<int>(FunctionAttribute::most_dynamic_shared_bytes),
                             static_cast<int>(phase_.launches[i].shared_bytes));
        if (granted != success) launches_[i].failure = "cuFuncSetAttribute failed: " + cu_.name_of(granted);
      }
    }
    std::size_t largest = 8;
    for (const Transfer& t : phase_.transfers) largest = std::max(largest, t.bytes);
    if (!phase_.transfers.empty()) {
      void* p = nullptr;
      cu_.check(cu_.allocate_pinned(&p, largest, 0), "cuMemHostAlloc");
      std::memset(p, 1, largest);
      pinned_.push_back(p);
      pageable_.assign(largest, 1);
      cu_.check(cu_.allocate(&copied_, largest), "cuMemAlloc");
    }
    for (std::size_t i = 0; i < launches_.size(); ++i)
      if (launches_[i].failure.empty()) warm(i);
  }

  /// A launch that the device refuses is left out, unless it took the context with it.
  void warm(std::size_t i) {
    try {
      (void)timed(i);
    } catch (const LimitError& e) {
      launches_[i].failure = message_of(e);
      if (cu_.synchronize() != success) throw;
    }
  }

  /// Why the driver refuses the image; empty: `module` is loaded.
  std::string load(const std::string& image, Module& module) {
    std::string log(4096, '\0');
    int options[] = {static_cast<int>(JitOption::error_log), static_cast<int>(JitOption::error_log_bytes)};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
    const Status status = cu_.load_module(&module, image.c_str(), 2, options, values);
    if (status == success) return "";
    log.resize(std::strlen(log.c_str()));
    return "cuModuleLoadDataEx failed: " + cu_.name_of(status) + (log.empty() ? "" : ": " + log);
  }

  /// Starts launch `i` once, with the one before it. Errors that lose the context throw.
  void start(std::size_t i) {
    const PlannedLaunch& l = phase_.launches[i];
    std::vector<std::uint64_t> pointers(l.arguments.size());
    std::vector<void*> values;
    for (std::size_t k = 0; k < l.arguments.size(); ++k) {
      const Argument& a = l.arguments[k];
      pointers[k] = a.buffer < 0 ? 0 : buffers_.at(static_cast<std::size_t>(a.buffer)) + a.offset;
      values.push_back(a.buffer < 0 ? const_cast<char*>(a.value.data()) : static_cast<void*>(&pointers[k]));
    }
    cu_.check(cu_.launch(functions_[i], l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1], l.block[2],
                         l.shared_bytes, nullptr, values.data(), nullptr),
              "cuLaunchKernel");
  }

  Run timed(std::size_t i) {
    const PlannedLaunch& l = phase_.launches[i];
    if (l.before >= 0) {
      start(static_cast<std::size_t>(l.before));
      cu_.check(cu_.synchronize(), "cuCtxSynchronize");
    }
    Run out;
    const auto begin = Clock::now();
    cu_.check(cu_.record_event(start_, nullptr), "cuEventRecord");
    for (int k = 0; k < l.repeat; ++k) start(i);
    cu_.check(cu_.record_event(stop_, nullptr), "cuEventRecord");
    out.issue_s = seconds_since(begin) / l.repeat;
    cu_.check(cu_.wait_event(stop_), "cuEventSynchronize");
    out.wall_s = seconds_since(begin) / l.repeat;
    float ms = 0;
    cu_.check(cu_.elapsed_ms(&ms, start_, stop_), "cuEventElapsedTime");
    out.device_s = ended_.last(l.repeat).value_or(static_cast<double>(ms) * 1e-3 / l.repeat);
    if (l.clocks >= 0) read_clocks(l, out);
    return out;
  }

  void read_clocks(const PlannedLaunch& l, Run& out) {
    const std::size_t warps = (l.block[0] * l.block[1] * l.block[2] + 31) / 32;
    std::vector<std::uint64_t> words(1 + 2 * warps);
    cu_.check(cu_.from_device(words.data(), buffers_[static_cast<std::size_t>(l.clocks)], 8 * words.size()),
              "cuMemcpyDtoH");
    out.result = words[0];
    std::uint64_t from = ~std::uint64_t{0}, to = 0;
    for (std::size_t w = 0; w < warps; ++w) {
      from = std::min(from, words[1 + 2 * w]);
      to = std::max(to, words[2 + 2 * w]);
    }
    out.cycles = to > from ? static_cast<double>(to - from) : 0;
  }

  TransferRun transfer(const Transfer& t) {
    auto* host = t.pinned ? static_cast<unsigned char*>(pinned_.front()) : pageable_.data();
    const auto begin = Clock::now();
    for (int i = 0; i < t.count; ++i) {
      if (t.to_device) {
        cu_.check(cu_.to_device_async(copied_, host, t.bytes, nullptr), "cuMemcpyHtoDAsync");
      } else {
        cu_.check(cu_.from_device_async(host, copied_, t.bytes, nullptr), "cuMemcpyDtoHAsync");
      }
    }
    TransferRun out;
    out.issue_s = seconds_since(begin);
    cu_.check(cu_.synchronize(), "cuCtxSynchronize");
    out.done_s = seconds_since(begin);
    return out;
  }

  void rounds() {
    const auto begin = Clock::now();
    std::mt19937 random(1);
    std::vector<std::size_t> order(launches_.size() + transfers_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int round = 0; round < phase_.max_rounds; ++round) {
      if (round >= phase_.min_rounds && seconds_since(begin) > phase_.seconds) break;
      std::ranges::shuffle(order, random);
      for (std::size_t i : order) {
        if (i >= launches_.size()) {
          const std::size_t k = i - launches_.size();
          transfers_[k].runs.push_back(transfer(phase_.transfers[k]));
        } else if (launches_[i].failure.empty() && !phase_.launches[i].only_before) {
          launches_[i].runs.push_back(timed(i));
        }
      }
    }
  }

  static constexpr unsigned shared_without_asking = 48 * 1024;  // bytes of dynamic shared memory

  const Driver& cu_;
  const Phase& phase_;
  Ended& ended_;
  Context context_ = nullptr;
  Event start_ = nullptr, stop_ = nullptr;
  std::vector<Pointer> buffers_;
  std::vector<Function> functions_;
  std::vector<void*> pinned_;
  std::vector<unsigned char> pageable_;
  Pointer copied_ = 0;
  std::vector<Series<Run>> launches_;
  std::vector<Series<TransferRun>> transfers_;
};

}  // namespace

Record run_plan(const Plan& plan, const std::string& library, const std::function<void(const Record&)>& keep) {
  Record record;
  record.notes = plan.notes;
  record.no_device = true;
  try {
    Ended ended;  // before the driver starts
    const Driver driver(library);
    DeviceHandle device = 0;
    driver.check(driver.device(&device, 0), "cuDeviceGet");
    record.info = info_of(driver, device);
    record.no_device = false;
    if (ended.known()) record.notes.push_back("device times are those of CUPTI's records of kernels");
    for (const Phase& phase : plan.phases) {
      try {
        PhaseRun(driver, device, phase, ended).run(record);
      } catch (const LimitError& e) {
        record.notes.push_back(phase.name + ": " + message_of(e));
      }
      if (keep) keep(record);
    }
  } catch (const LimitError& e) {
    record.failure = message_of(e);
  }
  return record;
}

}  // namespace kernelcast::probe::cuda
