// System calls, not streams: every failure is seen and nothing is left in a buffer when the program leaves at once.
#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "cli/run.h"
#include "io/interrupt.h"
#include "io/printable.h"
#include "io/text_file.h"
#include "kernelcast/error.h"
#include "report/settings.h"

namespace kernelcast::cli {
namespace {

bool progress_shown = false;

std::atomic<bool> deferred = false;
std::atomic<bool> asked = false;
static_assert(std::atomic<bool>::is_always_lock_free);

// Once asked to end: work is left within a second, whatever is stuck here. Processor time, so that a busy machine does
// not cost the result; a bound on the clock, because what is stuck may not use any.
constexpr unsigned most_seconds_to_end = 3;
constexpr double most_seconds_on_the_clock = 10 * most_seconds_to_end;
std::atomic<int> threads_at_work = 1;
std::atomic<double> asked_at = 0, spent_before = 0;
static_assert(std::atomic<double>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

extern "C" void on_interrupt(int) {
  if (!deferred || asked) {
    note_interrupt();
    drop_temporaries();
    _exit(interrupted);
  }
  const int before = errno;
  asked_at = seconds_of(CLOCK_MONOTONIC);
  spent_before = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  asked = true;
  note_interrupt();
  alarm(most_seconds_to_end);
  errno = before;
}

extern "C" void on_alarm(int) {
  const int before = errno;
  const double spent = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - spent_before;
  if (spent >= most_seconds_to_end * threads_at_work ||
      seconds_of(CLOCK_MONOTONIC) - asked_at >= most_seconds_on_the_clock) {
    drop_temporaries();
    _exit(interrupted);
  }
  alarm(1);
  errno = before;
}

/// Errno of the failure, 0 for none.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(descriptor, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

/// While this lives, an interrupt waits: no half-written file is left beside the result.
class NoInterrupt {
 public:
  NoInterrupt() {
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigaddset(&interrupt, SIGTERM);
    sigaddset(&interrupt, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &interrupt, &before_);
  }
  ~NoInterrupt() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoInterrupt(const NoInterrupt&) = delete;
  NoInterrupt& operator=(const NoInterrupt&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

void install_signal_handlers() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

const std::atomic<bool>& defer_interrupts(int threads) {
  threads_at_work = threads;
  deferred = true;
  return asked;
}

namespace {

void write_raw(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error != 0 && error != EPIPE) {
    throw UserError(fmt::format("cannot write to standard output: {}", std::strerror(error)));
  }
}

bool to_terminal() { return isatty(STDOUT_FILENO) != 0; }

}  // namespace

void write_stdout(std::string_view text) { write_raw(printable(report::with_flags(text), to_terminal())); }

void write_source(const std::string& path, std::string_view text) {
  if (!path.empty() || to_terminal()) return write_result(path, text);
  progress_line("");
  write_raw(text);
}

void write_result(const std::string& path, std::string_view text) {
  progress_line("");
  if (path.empty()) return write_stdout(text);
  const NoInterrupt guard;
  write_text_file(path, report::with_flags(text));
}

void write_page(const std::string& path, const std::string& page) {
  progress_line("");
  if (path.empty()) return write_source("", page);
  write_bytes(path, page);
}

void write_bytes(const std::string& path, std::string_view bytes) {
  const NoInterrupt guard;
  write_text_file(path, bytes);
}

void message(std::string_view text) {
  progress_line("");
  std::string line = printable(report::with_flags(text));
  if (line.empty() || line.back() != '\n') line += '\n';
  (void)write_all(STDERR_FILENO, line);  // nobody is left to tell
}

void progress_line(std::string_view text) {
  if (text.empty() && !progress_shown) return;
  (void)write_all(STDERR_FILENO, "\r\x1b[K" + printable(report::with_flags(text)));
  progress_shown = !text.empty();
}

}  // namespace kernelcast::cli
