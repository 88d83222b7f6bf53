// System calls, not streams: every failure is seen, and the interrupt handler may use what it needs.
#include "cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "cli/run.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

std::array<char, 4096> unfinished{};  // path of the file in the making, for the handler
std::atomic<bool> has_unfinished{false};
bool progress_shown = false;

extern "C" void on_interrupt(int) {
  if (has_unfinished.load()) unlink(unfinished.data());
  _exit(interrupted);
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

[[noreturn]] void cannot_write(const std::string& path, int error) {
  throw UserError(fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

/// Devices and pipes are written to as they are: they cannot be replaced.
bool is_special(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

void write_in_place(const std::string& path, std::string_view text) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) cannot_write(path, errno);
  const int error = write_all(descriptor, text);
  close(descriptor);
  if (error != 0) cannot_write(path, error);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, nullptr);
}

void write_stdout(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error != 0 && error != EPIPE) cannot_write("standard output", error);
}

void write_file(const std::string& path, std::string_view text) {
  if (is_special(path)) return write_in_place(path, text);
  const std::string pattern = path + ".XXXXXX";
  if (pattern.size() >= unfinished.size()) cannot_write(path, ENAMETOOLONG);
  std::copy(pattern.begin(), pattern.end() + 1, unfinished.begin());
  const int descriptor = mkostemp(unfinished.data(), O_CLOEXEC);
  if (descriptor < 0) cannot_write(path, errno);
  has_unfinished = true;
  int error = write_all(descriptor, text);
  const mode_t mask = umask(0);
  umask(mask);
  if (error == 0 && fchmod(descriptor, 0666 & ~mask) != 0) error = errno;
  if (close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && rename(unfinished.data(), path.c_str()) != 0) error = errno;
  if (error != 0) unlink(unfinished.data());
  has_unfinished = false;
  if (error != 0) cannot_write(path, error);
}

void write_result(const std::string& path, std::string_view text) {
  progress_line("");
  if (path.empty()) {
    write_stdout(text);
  } else {
    write_file(path, text);
  }
}

void message(std::string_view text) {
  progress_line("");
  std::string line(text);
  if (line.empty() || line.back() != '\n') line += '\n';
  (void)write_all(STDERR_FILENO, line);  // nobody is left to tell
}

void progress_line(std::string_view text) {
  if (text.empty() && !progress_shown) return;
  (void)write_all(STDERR_FILENO, "\r\x1b[K" + std::string(text));
  progress_shown = !text.empty();
}

}  // namespace kernelcast::cli
