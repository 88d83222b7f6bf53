// LLVM reports internal failures by ending the process. Two hooks turn that into an exception: the fatal error handler,
// and CrashRecoveryContext for signals (a stack overflow, an assertion). Both leave the broken stack by longjmp, so
// whatever the task owned leaks; that is accepted.
#include "frontend/source/compile_guard.h"

#include <pthread.h>
#include <unistd.h>
#include <csignal>
#include <ctime>

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "io/interrupt.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/thread.h"

namespace kernelcast::frontend {
namespace {

constexpr unsigned kStackBytes = 256u << 20;
constexpr auto kPollInterval = std::chrono::milliseconds(100);

thread_local bool inside_guard = false;
thread_local std::string fatal_message;
thread_local const char* stage = "the front end";

void on_fatal_error(void* /*user*/, const char* reason, bool /*generate_crash_diagnostic*/) {
  fatal_message = reason;
  if (auto* context = llvm::CrashRecoveryContext::GetCurrent()) context->HandleExit(1);
}

// After a stack overflow a handler needs another stack to run on; CrashRecoveryContext does not ask for one.
void use_alternate_stack(int signal_number) {
  struct sigaction action{};
  if (sigaction(signal_number, nullptr, &action) != 0) return;
  action.sa_flags |= SA_ONSTACK;
  sigaction(signal_number, &action, nullptr);
}

/// Gives the thread that owns it a stack for signal handlers.
class AlternateStack {
 public:
  AlternateStack() : memory_(std::make_unique<char[]>(kBytes)) {
    stack_t stack{};
    stack.ss_sp = memory_.get();
    stack.ss_size = kBytes;
    sigaltstack(&stack, &previous_);
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;
  ~AlternateStack() { sigaltstack(&previous_, nullptr); }

 private:
  static constexpr std::size_t kBytes = 256 << 10;
  std::unique_ptr<char[]> memory_;
  stack_t previous_{};
};

void install_hooks() {
  catch_fatal_errors();
  static std::once_flag once;  // after the handlers of signals are in place
  std::call_once(once, [] {
    use_alternate_stack(SIGSEGV);
    use_alternate_stack(SIGBUS);
  });
}

std::size_t resident_bytes() {
  std::size_t pages = 0;
  std::size_t resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%zu %zu", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// A thread's own processor time, so that a busy machine does not make a source look endless.
class ThreadTime {
 public:
  explicit ThreadTime(pthread_t thread) : known_(pthread_getcpuclockid(thread, &clock_) == 0) {}
  [[nodiscard]] double seconds() const {
    timespec t{};
    if (!known_ || clock_gettime(clock_, &t) != 0) return 0;
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }

 private:
  clockid_t clock_{};
  bool known_;
};

struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr error;
};

void run_on_this_thread(const std::function<void()>& task, std::exception_ptr& error) {
  inside_guard = true;
  const AlternateStack alternate_stack;
  llvm::CrashRecoveryContext context;
  const bool finished = context.RunSafely([&] {
    try {
      task();
    } catch (...) {
      error = std::current_exception();
    }
  });
  if (finished) return;
  if (!fatal_message.empty()) {
    error = std::make_exception_ptr(LimitError(std::string(stage) + " gave up: " + fatal_message));
  } else {
    error = std::make_exception_ptr(LimitError(std::string(stage) +
                                               " crashed on this input (very deep nesting can do that); reduce the "
                                               "file to the kernel and what it needs, and please report it"));
  }
}

}  // namespace

void catch_fatal_errors() {
  static std::once_flag once;
  std::call_once(once, [] { llvm::CrashRecoveryContext::Enable(); });
  // The handler is the process's and whoever sets another one removes it for good: set it for every task.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  llvm::remove_fatal_error_handler();
  llvm::install_fatal_error_handler(on_fatal_error);
}

void name_stage(const char* what) { stage = what; }

std::string take_fatal_message() { return std::exchange(fatal_message, {}); }

void run_guarded(std::function<void()> task, const GuardLimits& limits) {
  if (inside_guard) {
    task();
    return;
  }
  const auto refuse_interrupted = [] { throw LimitError("the compiler was interrupted"); };
  if (interrupted()) refuse_interrupted();
  install_hooks();
  auto shared = std::make_shared<Shared>();
  llvm::thread worker(std::optional<unsigned>(kStackBytes), [shared, task = std::move(task)] {
    std::exception_ptr error;
    run_on_this_thread(task, error);
    const std::lock_guard lock(shared->mutex);
    shared->error = error;
    shared->done = true;
    shared->changed.notify_all();
  });

  constexpr double most_wait = 10;  // of the clock on the wall, where a thread waits or gets no processor
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(most_wait * limits.time_s);
  const ThreadTime spent(worker.native_handle());
  const std::size_t memory_at_start = resident_bytes();
  std::unique_lock lock(shared->mutex);
  while (!shared->changed.wait_for(lock, kPollInterval, [&] { return shared->done; })) {
    if (interrupted()) {
      lock.unlock();
      worker.detach();
      refuse_interrupted();
    }
    const char* limit = nullptr;
    if (spent.seconds() > limits.time_s || std::chrono::steady_clock::now() > deadline) limit = "time";
    if (resident_bytes() > memory_at_start + limits.memory_bytes) limit = "memory";
    if (limit == nullptr) continue;
    lock.unlock();
    worker.detach();
    throw LimitError(
        std::string("the compiler reached its limit of ") + limit +
        (limit[0] == 't' ? fmt::format(" ({:g} s of processor time, or ten times that on the clock; " KC_SETTING(
                                           compile_seconds) ")",
                                       limits.time_s)
                         : " (" + std::to_string(limits.memory_bytes >> 20) + " MiB)") +
        "; look for macros or includes that expand without end, or reduce the file to the kernel and what it needs");
  }
  lock.unlock();
  worker.join();
  if (shared->error) std::rethrow_exception(shared->error);
}

}  // namespace kernelcast::frontend
