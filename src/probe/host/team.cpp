#include "probe/host/team.h"

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>

#include "probe/host/bench.h"

namespace kernelcast::probe::host {
namespace {

/// Each thread on a processor of its own, where there are as many: two on one would run one after the other.
void pin(int index, int threads) {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < threads) return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || index-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
#else
  static_cast<void>(index);
  static_cast<void>(threads);
#endif
}

}  // namespace

Team::Team(int threads) : begin_(static_cast<std::size_t>(threads)), end_(static_cast<std::size_t>(threads)) {
  for (int i = 0; i < threads; ++i)
    threads_.emplace_back([this, i, threads] {
      pin(i, threads);
      loop(i);
    });
}

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void Team::loop(int index) {
  const auto i = static_cast<std::size_t>(index);
  long seen = 0;
  for (;;) {
    const std::function<void(int)>* work = nullptr;
    int active = 0;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || generation_ != seen; });
      if (stop_) return;
      seen = generation_;
      active = active_;
      work = work_;
    }
    if (index < active) {
      if (work != nullptr) {
        // All begin together: the last to wake up sets the others off. Who waits for long may stand in its way.
        arrived_.fetch_add(1);
        for (long spins = 0; arrived_.load() < active; ++spins)
          if (spins > 1000000) std::this_thread::yield();
        begin_[i] = steady_seconds();
        (*work)(index);
        end_[i] = steady_seconds();
      }
      const std::lock_guard lock(mutex_);
      if (++finished_ == active) done_.notify_one();
    }
  }
}

void Team::start(int threads, const std::function<void(int)>* work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = work;
    active_ = threads;
    finished_ = 0;
    arrived_ = 0;
    ++generation_;
  }
  wake_.notify_all();
}

void Team::wait() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return finished_ == active_; });
}

double Team::run(int threads, const std::function<void(int)>& work) {
  start(threads, &work);
  wait();
  return *std::max_element(end_.begin(), end_.begin() + threads) -
         *std::min_element(begin_.begin(), begin_.begin() + threads);
}

double Team::region() {
  const double from = steady_seconds();
  start(size(), nullptr);
  wait();
  return steady_seconds() - from;
}

double watched_region(int threads) {
  constexpr int regions = 300;
  std::atomic<int> begun{0}, arrived{0};
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i)
    others.emplace_back([&begun, &arrived] {
      for (int region = 1; region <= regions; ++region) {
        while (begun.load(std::memory_order_acquire) < region) {
        }
        arrived.fetch_add(1, std::memory_order_release);
      }
    });
  double best = 1e9;
  for (int region = 1; region <= regions; ++region) {
    const double from = steady_seconds();
    begun.store(region, std::memory_order_release);
    while (arrived.load(std::memory_order_acquire) < region * (threads - 1)) {
    }
    best = std::min(best, steady_seconds() - from);
  }
  for (std::thread& t : others) t.join();
  return best;
}

}  // namespace kernelcast::probe::host
