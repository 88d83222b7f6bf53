// The file stays open and pages are read as they are touched, so a large file costs what is used of it.
#include "execute/fill_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast::interpreter {
namespace {

constexpr std::int64_t longest_header = 1'000'000;

class FileFill final : public Fill {
 public:
  FileFill(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~FileFill() override { ::close(descriptor_); }
  FileFill(const FileFill&) = delete;
  FileFill& operator=(const FileFill&) = delete;

  void skip(std::int64_t bytes) { start_ = bytes; }

  /// As many bytes as there are, at most out.size().
  std::size_t read(std::int64_t at, std::span<unsigned char> out) const {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t n =
          ::pread(descriptor_, out.data() + done, out.size() - done, at + static_cast<std::int64_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw UserError(path_ + " (" KC_SETTING(buffer) ") cannot be read: " + std::strerror(errno));
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

  void write(std::int64_t first, std::span<unsigned char> out) const override {
    if (read(start_ + first, out) != out.size())
      throw UserError(path_ + " (" KC_SETTING(buffer) ") became shorter while it was used");
  }

 private:
  int descriptor_;
  std::string path_;
  std::int64_t start_ = 0;
};

[[noreturn]] void bad_file(const FillTarget& t, const std::string& path, const std::string& what) {
  throw UserError(KC_SETTING(buffer) " " + t.buffer + "=" + (t.elements > 0 ? std::to_string(t.elements) : "COUNT") +
                  ":file:" + path + ": " + what);
}

std::string type_words(const ElementType& type) {
  const std::string bits = std::to_string(8 * size_of(type.scalar));
  if (!type.known) return bits + "-bit elements";
  return is_float(type.scalar) ? bits + "-bit floating point" : bits + "-bit integers";
}

/// Of one item of a NumPy type such as "<f4"; 0: not a type of plain numbers.
int item_bytes(const std::string& dtype) {
  if (dtype.size() < 3 || dtype.size() > 4) return 0;
  int bytes = 0;
  for (const char c : dtype.substr(2)) {
    if (c < '0' || c > '9') return 0;
    bytes = 10 * bytes + (c - '0');
  }
  return std::string_view("fiubc").find(dtype[1]) == std::string_view::npos ? 0 : bytes;
}

void check_type(const NpyHeader& h, const FillTarget& t, const std::string& path) {
  const int bytes = item_bytes(h.dtype);
  if (bytes == 0) bad_file(t, path, "its elements (" + h.dtype + ") are not plain numbers");
  const std::string numpy_type = h.dtype.substr(1);
  if (h.dtype[0] == '>' && bytes > 1)
    bad_file(t, path, "it is big-endian (" + h.dtype + "); save array.astype(\"<" + numpy_type + "\")");
  if (h.fortran_order) bad_file(t, path, "it is in Fortran order; save numpy.ascontiguousarray(array)");
  const bool floating = h.dtype[1] == 'f' || h.dtype[1] == 'c';
  const int scalar = h.dtype[1] == 'c' ? bytes / 2 : bytes;
  const bool fits = t.type.known ? scalar == size_of(t.type.scalar) && floating == is_float(t.type.scalar)
                                 : t.element_bytes % scalar == 0;
  if (!fits)
    bad_file(t, path,
             "it holds " + h.dtype + ", the buffer " + type_words(t.type) + "; convert it with array.astype()");
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const auto n : shape) text += (text.empty() ? "" : " x ") + std::to_string(n);
  return text.empty() ? "one value" : text;
}

std::int64_t values_bytes(const NpyHeader& h) {
  std::int64_t bytes = item_bytes(h.dtype);
  for (const auto n : h.shape)
    if (__builtin_mul_overflow(bytes, n, &bytes)) return -1;
  return bytes;
}

}  // namespace

std::unique_ptr<const Fill> file_fill(std::string_view name, const FillTarget& t) {
  const std::string path(name);
  if (path.empty()) bad_file(t, path, "there is no file name after \"file:\"");
  if (t.elements <= 0) bad_file(t, path, "the number of elements (COUNT) is needed");
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) bad_file(t, path, std::strerror(errno));
  auto fill = std::make_unique<FileFill>(descriptor, path);
  struct stat about{};
  if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) bad_file(t, path, "it is not a regular file");
  std::string head(static_cast<std::size_t>(std::min<std::int64_t>(about.st_size, longest_header)), '\0');
  head.resize(fill->read(0, {reinterpret_cast<unsigned char*>(head.data()), head.size()}));
  const std::int64_t want = t.elements * t.element_bytes;
  std::optional<NpyHeader> npy;
  try {
    npy = read_npy_header(head);
  } catch (const UserError& e) {
    bad_file(t, path, message_of(e));
  }
  if (npy) {
    check_type(*npy, t, path);
    if (values_bytes(*npy) != want)
      bad_file(t, path,
               "it holds " + shape_text(npy->shape) + " of " + npy->dtype + ", the buffer has " +
                   std::to_string(t.elements) + " elements of " + std::to_string(t.element_bytes) + " bytes");
    fill->skip(npy->data_at);
  }
  const std::int64_t there = about.st_size - (npy ? npy->data_at : 0);
  if (there < want || (!npy && there != want))
    bad_file(t, path,
             "it has " + std::to_string(there) + " bytes" + (npy ? " behind its header" : "") + ", the buffer " +
                 std::to_string(want) + " (" + std::to_string(t.elements) + " elements of " +
                 std::to_string(t.element_bytes) + " bytes)");
  return fill;
}

}  // namespace kernelcast::interpreter
