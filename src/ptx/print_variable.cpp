#include "ptx/print.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace kernelcast::ptx {
namespace {

void print_exact_hex(std::string& out, std::uint64_t value, int digits) {
  for (int i = digits - 1; i >= 0; --i) out += "0123456789ABCDEF"[value >> (4 * i) & 15];
}

class InitializerPrinter {
 public:
  InitializerPrinter(std::string& out, const Variable& variable) : out_(out), variable_(variable) {
    std::vector<std::uint64_t> extents = variable.dimensions;
    if (variable.vector > 1) extents.push_back(variable.vector);
    // Elements in one brace of each level; the values fit the array, so that rows in use are few.
    strides_.assign(extents.size(), 1);
    for (std::size_t i = extents.size(); i-- > 1;) strides_[i - 1] = strides_[i] * extents[i];
  }

  void print() {
    if (strides_.empty()) return element(0);
    rows(0, 0, variable_.values.size());
  }

 private:
  void rows(std::size_t level, std::uint64_t begin, std::uint64_t end) {
    out_ += '{';
    if (begin >= end) out_ += '0';
    for (std::uint64_t at = begin; at < end; at += strides_[level]) {
      if (at > begin) out_ += ", ";
      if (level + 1 == strides_.size())
        element(at);
      else
        rows(level + 1, at, std::min(at + strides_[level], end));
    }
    out_ += '}';
  }

  void element(std::uint64_t at) {
    if (next_ < variable_.addresses.size() && variable_.addresses[next_].element == at)
      return address(variable_.addresses[next_++]);
    const std::uint64_t value = at < variable_.values.size() ? variable_.values[at] : 0;
    const int bits = bits_of(variable_.type);
    if (is_float(variable_.type) && (bits == 32 || bits == 64)) return print_real(out_, value, bits);
    if (is_signed(variable_.type) && bits < 64 && (value >> (bits - 1) & 1) != 0)
      return print_integer(out_, value | ~std::uint64_t{0} << bits, false);
    print_integer(out_, value, is_unsigned(variable_.type) && bits == 64 && value >> 63 != 0);
  }

  void address(const AddressValue& value) {
    if (value.mask != 0) {
      out_ += "0x";
      const int digits = std::max(1, static_cast<int>((64 - __builtin_clzll(value.mask) + 3) / 4));
      print_exact_hex(out_, value.mask, digits);
      out_ += '(';
    }
    if (value.generic) out_ += "generic(";
    out_ += value.symbol.name;
    if (value.generic) out_ += ')';
    print_offset(out_, value.offset);
    if (value.mask != 0) out_ += ')';
  }

  std::string& out_;
  const Variable& variable_;
  std::vector<std::uint64_t> strides_;
  std::size_t next_ = 0;  // address
};

}  // namespace

void print_real(std::string& out, std::uint64_t bits, int width) {
  out += width == 32 ? "0f" : "0d";
  print_exact_hex(out, bits, width / 4);
}

void print_integer(std::string& out, std::uint64_t bits, bool is_unsigned) {
  std::array<char, 24> digits{};
  const auto end =
      is_unsigned ? std::to_chars(digits.data(), digits.data() + digits.size(), bits).ptr
                  : std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<std::int64_t>(bits)).ptr;
  out.append(digits.data(), end);
  if (is_unsigned) out += 'U';
}

void print_offset(std::string& out, std::int64_t offset) {
  if (offset == 0) return;
  out += '+';
  print_integer(out, static_cast<std::uint64_t>(offset), false);
}

void print_declaration(std::string& out, const Variable& variable) {
  if (!variable.attributes.empty()) {
    out += ".attribute(";
    for (std::size_t i = 0; i < variable.attributes.size(); ++i) (out += i > 0 ? ", ." : ".") += variable.attributes[i];
    out += ") ";
  }
  if (variable.alignment != 0) out += ".align " + std::to_string(variable.alignment) + " ";
  if (variable.vector > 1) out += ".v" + std::to_string(variable.vector) + " ";
  (out += '.') += name_of(variable.type);
  if (variable.is_pointer) {
    out += " .ptr";
    if (variable.pointer_space != Space::generic) (out += " .") += name_of(variable.pointer_space);
    if (variable.pointer_alignment != 0) out += " .align " + std::to_string(variable.pointer_alignment);
  }
  (out += ' ') += variable.name;
  for (std::size_t i = 0; i < variable.dimensions.size(); ++i)
    out += i == 0 && variable.unsized ? "[]" : "[" + std::to_string(variable.dimensions[i]) + "]";
}

void print_initializer(std::string& out, const Variable& variable) {
  if (!variable.has_initializer) return;
  out += " = ";
  InitializerPrinter(out, variable).print();
}

}  // namespace kernelcast::ptx
