// Threads that wait to run the same piece of work at the same time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kernelcast::probe::host {

class Team {
 public:
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  [[nodiscard]] int size() const { return static_cast<int>(threads_.size()); }
  /// Runs work(0) ... work(threads - 1) on the first `threads` of the team, which begin together; seconds from the
  /// first beginning to the last end.
  double run(int threads, const std::function<void(int)>& work);
  /// Wakes all threads for nothing and waits for them; seconds as the caller sees them.
  double region();

 private:
  void loop(int index);
  void start(int threads, const std::function<void(int)>* work);
  void wait();
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  long generation_ = 0;
  int active_ = 0, finished_ = 0;
  bool stop_ = false;
  const std::function<void(int)>* work_ = nullptr;
  std::atomic<int> arrived_{0};
  std::vector<double> begin_, end_;
  std::vector<std::thread> threads_;
};

/// Seconds of a parallel region with nothing to do on `threads` threads, the caller among them, when the others look
/// out for it all the time, as those of OpenMP's runtimes do for a while after a region; the fastest of some.
double watched_region(int threads);

}  // namespace kernelcast::probe::host
