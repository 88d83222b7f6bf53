// POSIX calls rather than streams: errors come with their reason, a pipe or a device is read up to the limit only, and
// a new file can be made under a name that no other process has.
#include "io/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "io/interrupt.h"
#include "io/text.h"
#include "kernelcast/error.h"

namespace kernelcast {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  /// 0 or the error number: some file systems report a full disk only here.
  int close() {
    const int status = ::close(fd_);
    fd_ = -1;
    return status == 0 ? 0 : errno;
  }

 private:
  int fd_;
};

std::string reason(int error) { return std::strerror(error); }

int open_retrying(const fs::path& path, int flags, mode_t mode = 0) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

/// Waits until a pipe has something to read, or its writers are gone. One that nobody writes to would block for good.
void wait_for_pipe(int fd, const std::string& name) {
  constexpr int most_wait_ms = 10000;
  pollfd asked{fd, POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&asked, 1, most_wait_ms);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0)
    throw UserError(fmt::format("{}: a pipe to which nothing was written for {} s; name a file, or a pipe that is fed",
                                name, most_wait_ms / 1000));
}

std::string read_all(int fd, const std::string& name, std::uint64_t limit) {
  struct stat info{};
  std::string text;
  const bool pipe = fd != STDIN_FILENO && ::fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode);
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    text.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(info.st_size), limit)) +
                 1);
  }
  std::vector<char> buffer(1U << 16U);
  for (;;) {
    if (pipe) wait_for_pipe(fd, name);
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0 && errno == EISDIR) throw UserError(fmt::format("{}: is a directory; name a file in it", name));
    if (n < 0) throw UserError(fmt::format("{}: cannot be read: {}", name, reason(errno)));
    if (n == 0) return text;
    if (text.size() + static_cast<std::size_t>(n) > limit) {
      throw UserError(fmt::format("{}: larger than {}, the most that is read as text; is it the right file?", name,
                                  format_bytes(static_cast<double>(limit))));
    }
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

[[noreturn]] void cannot_write(const fs::path& path, int error) {
  throw UserError(fmt::format("{}: cannot be written: {}", path.string(), reason(error)));
}

void write_in_place(const fs::path& path, std::string_view text) {
  Descriptor file(open_retrying(path, O_WRONLY));
  if (file.get() < 0) cannot_write(path, errno);
  if (const int error = write_all(file.get(), text); error != 0) cannot_write(path, error);
  if (const int error = file.close(); error != 0) cannot_write(path, error);
}

// A new file beside `target` that no other process has; its permissions are those that any new file gets.
int create_beside(const fs::path& target, std::string& name) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    name = fmt::format("{}.{}-{}.tmp", target.string(), ::getpid(), attempt);
    const int fd = open_retrying(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

}  // namespace

std::string read_text_file(const fs::path& path, std::uint64_t limit_bytes) {
  if (path == "-") return read_all(STDIN_FILENO, "standard input", limit_bytes);
  std::error_code ignored;
  // Opening a pipe waits for a writer, unless one says not to wait.
  const Descriptor file(open_retrying(path, O_RDONLY | (fs::is_fifo(path, ignored) ? O_NONBLOCK : 0)));
  if (file.get() < 0) {
    if (errno == ENOENT) throw UserError(fmt::format("{}: no such file", path.string()));
    throw UserError(fmt::format("{}: cannot be opened: {}", path.string(), reason(errno)));
  }
  return read_all(file.get(), path.string(), limit_bytes);
}

void check_writable(const fs::path& path) {
  struct stat info{};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    throw UserError(fmt::format("{}: is a directory; name a file in it", path.string()));
  const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  const fs::path asked = exists ? path : folder;
  if (::faccessat(AT_FDCWD, asked.c_str(), W_OK, AT_EACCESS) != 0) cannot_write(path, errno);
}

void write_text_file(const fs::path& path, std::string_view text) {
  std::error_code ignored;
  fs::path target = path;
  if (fs::is_symlink(path, ignored)) {
    if (const fs::path resolved = fs::canonical(path, ignored); !ignored) target = resolved;
  }
  struct stat info{};
  const bool exists = ::stat(target.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) cannot_write(path, errno);  // its permissions would be lost
  if (exists && S_ISDIR(info.st_mode))
    throw UserError(fmt::format("{}: is a directory; name a file in it", path.string()));
  if (exists && !S_ISREG(info.st_mode)) return write_in_place(target, text);
  if (exists && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) cannot_write(path, errno);

  std::string temporary;
  Descriptor file(create_beside(target, temporary));
  const TemporaryName registered(temporary);
  if (file.get() < 0) cannot_write(path, errno);
  int error = write_all(file.get(), text);
  if (error == 0 && exists && ::fchmod(file.get(), info.st_mode & 07777U) != 0) error = errno;
  if (const int closing = file.close(); error == 0) error = closing;
  if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    cannot_write(path, error);
  }
}

}  // namespace kernelcast
