// Threads get runs of iterations, one each and equally long (OpenMP's static schedule, which compilers take unless told
// otherwise; the OpenCL runtime PoCL deals its first groups out in the same way). Where later iterations have less
// work, as in triangular nests, the first thread works while the others wait.
//
// Work of the first m iterations is what a nest does whose shared loops end after m; a run is the difference of two
// such counts.
#include <algorithm>

#include "kernelcast/bind.h"
#include "kernelcast/cpu_model.h"

namespace kernelcast::offload {
namespace {

/// Iterations of each shared loop, in the order of `parallel_loops`; empty when one of them is not known.
std::vector<std::int64_t> iterations_of(const CpuCode& code, const Launch& launch) {
  std::map<Symbol, Expr> values;
  add_arguments(launch, values);
  std::vector<std::int64_t> out;
  for (const int l : code.parallel_loops) {
    const auto n = code.profile.loops[static_cast<std::size_t>(l)].trips.substitute(values).constant();
    if (!n) return {};
    out.push_back(std::max<std::int64_t>(0, *n));
  }
  return out;
}

/// Where the run of a thread begins: the first `n % threads` runs have one iteration more.
std::int64_t begin_of(std::int64_t n, int threads, int thread) {
  return n / threads * thread + std::min<std::int64_t>(thread, n % threads);
}

class Runs {
 public:
  Runs(const CpuCode& code, const Launch& launch, const Device& cpu, std::vector<std::int64_t> iterations, int threads)
      : code_(code), launch_(launch), cpu_(cpu), iterations_(std::move(iterations)), threads_(threads) {}

  /// Cycles of the runs before this thread's.
  [[nodiscard]] double before(int thread) const {
    if (thread == 0) return 0;
    KernelProfile some = code_.profile;
    for (std::size_t i = 0; i < iterations_.size(); ++i)
      some.loops[static_cast<std::size_t>(code_.parallel_loops[i])].trips =
          Expr(begin_of(iterations_[i], threads_, thread));
    Binder binder(some, cpu_geometry(cpu_));
    binder.set_reuse(false);
    binder.set_divergence(false);
    return shared_cycles(code_, binder.bind(launch_));
  }

 private:
  const CpuCode& code_;
  const Launch& launch_;
  const Device& cpu_;
  std::vector<std::int64_t> iterations_;
  int threads_;
};

}  // namespace

double uneven_share(const CpuCode& code, const Launch& launch, const Device& cpu, int threads) {
  threads = cpu_threads(code, cpu, threads);
  if (threads < 2) return 1;
  const std::vector<std::int64_t> iterations = iterations_of(code, launch);
  if (iterations.empty()) return 1;
  const Runs runs(code, launch, cpu, iterations, threads);
  const double all = runs.before(threads), first = runs.before(1), last = all - runs.before(threads - 1);
  return all > 0 ? std::max(1.0, std::max(first, last) * threads / all) : 1;
}

}  // namespace kernelcast::offload
