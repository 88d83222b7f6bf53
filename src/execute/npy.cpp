// The header of an .npy file: magic, version, length, and a Python dictionary with exactly the keys descr,
// fortran_order and shape. Only what numpy itself writes is read: quoted strings, True and False, a tuple of numbers.
#include <algorithm>
#include <cctype>
#include <charconv>

#include "execute/fill_file.h"
#include "kernelcast/error.h"

namespace kernelcast::interpreter {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

class Dictionary {
 public:
  explicit Dictionary(std::string_view text) : rest_(text) {}

  NpyHeader read() {
    NpyHeader h;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        h.dtype = type();
        descr = true;
      } else if (key == "fortran_order") {
        h.fortran_order = truth();
        order = true;
      } else if (key == "shape") {
        h.shape = numbers();
        shape = true;
      } else {
        broken();
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (!descr || !order || !shape) broken();
    return h;
  }

 private:
  [[noreturn]] static void broken() {
    throw UserError("its .npy header cannot be read; write it again with numpy.save");
  }

  void skip() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) broken();
  }
  bool take(std::string_view word) {
    skip();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::string quoted() {
    skip();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) broken();
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) broken();
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }
  std::string type() {
    skip();
    if (!rest_.empty() && rest_.front() == '[')
      throw UserError("its elements are records of several fields; save one field of plain numbers");
    return quoted();
  }
  bool truth() {
    if (take("True")) return true;
    if (!take("False")) broken();
    return false;
  }
  std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!take(')')) {
      skip();
      std::int64_t n = 0;
      const auto [at, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), n);
      if (error != std::errc{} || n < 0) broken();
      rest_.remove_prefix(static_cast<std::size_t>(at - rest_.data()));
      values.push_back(n);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<NpyHeader> read_npy_header(std::string_view head) {
  if (!head.starts_with(magic)) return std::nullopt;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint64_t>(static_cast<unsigned char>(head[i])); };
  if (head.size() < 12) throw UserError("it ends inside its .npy header");
  const auto version = byte(6);
  if (version < 1 || version > 3)
    throw UserError("it is .npy of version " + std::to_string(version) + "; versions 1 to 3 are known");
  const std::size_t at = version == 1 ? 10 : 12;
  std::uint64_t length = byte(8) | byte(9) << 8U;
  if (version > 1) length |= byte(10) << 16U | byte(11) << 24U;
  if (length > head.size() - at) throw UserError("it ends inside its .npy header, or the header is longer than 1 MB");
  NpyHeader h = Dictionary(head.substr(at, length)).read();
  h.data_at = static_cast<std::int64_t>(at + length);
  return h;
}

}  // namespace kernelcast::interpreter
