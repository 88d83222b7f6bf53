// Bytes are taken as they are; the compiler decides what it makes of them.
#include "cli/sources.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

constexpr std::size_t most_bytes = 64'000'000;

[[noreturn]] void cannot_read(const std::string& path, int error) {
  throw UserError(fmt::format("cannot read {}: {}", path, std::strerror(error)));
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : fd_(path == "<stdin>" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) cannot_read(path, errno);
  }
  ~Descriptor() {
    if (fd_ > STDERR_FILENO) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::string read_source(const std::string& path) {
  const Descriptor file(path);
  std::string text;
  std::array<char, 65536> piece;
  for (;;) {
    const ssize_t n = read(file.get(), piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) cannot_read(path, errno);
    if (n == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(n));
    if (text.size() > most_bytes) {
      throw LimitError(
          fmt::format("{} is longer than {} MB: give the kernel's source alone", path, most_bytes / 1'000'000));
    }
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = text.find('\n', start);
    if (end == std::string::npos) end = text.size();
    std::string line = text.substr(start, end - start);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
    start = end + 1;
  }
  return lines;
}

}  // namespace kernelcast::cli
