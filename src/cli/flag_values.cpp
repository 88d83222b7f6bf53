// std::from_chars throughout: no locale, no leading blanks, overflow told apart from nonsense.
#include "cli/flag_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

constexpr std::int64_t most_threads = std::int64_t{1} << 62;

[[noreturn]] void bad(std::string_view flag, std::string_view text, std::string_view expected) {
  throw UsageError(fmt::format("{} {}: expected {}", flag, text.empty() ? "(empty)" : text, expected));
}

struct ReadInteger {
  std::int64_t value = 0;
  bool complete = false, overflow = false;
};

ReadInteger read_integer(std::string_view text) {
  ReadInteger r;
  const bool negative = text.starts_with('-');
  std::string_view digits = negative ? text.substr(1) : text;
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  }
  std::uint64_t magnitude = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  const bool all = end == digits.data() + digits.size() && !digits.empty();
  const std::uint64_t limit = negative ? std::uint64_t{1} << 63 : (std::uint64_t{1} << 63) - 1;
  r.overflow = all && (error == std::errc::result_out_of_range || (error == std::errc{} && magnitude > limit));
  r.complete = all && error == std::errc{} && !r.overflow;
  if (r.complete) r.value = negative ? static_cast<std::int64_t>(0 - magnitude) : static_cast<std::int64_t>(magnitude);
  return r;
}

}  // namespace

std::int64_t whole_number(std::string_view flag, std::string_view text, std::int64_t minimum) {
  const ReadInteger r = read_integer(text);
  if (r.overflow) bad(flag, text, "a number that fits 64 bits");
  if (!r.complete || r.value < minimum) bad(flag, text, fmt::format("a whole number of at least {}", minimum));
  return r.value;
}

Dim3 sizes(std::string_view flag, std::string_view text) {
  Dim3 d;
  std::int64_t* const axes[] = {&d.x, &d.y, &d.z};
  std::size_t axis = 0;
  std::int64_t product = 1;
  for (std::size_t start = 0; start <= text.size(); ++axis) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const ReadInteger r = read_integer(text.substr(start, end - start));
    if (axis > 2 || !(r.complete || r.overflow)) bad(flag, text, "X[,Y[,Z]] with whole numbers, such as 64,16");
    if (r.complete && r.value < 1) bad(flag, text, "sizes of at least 1");
    if (r.overflow || __builtin_mul_overflow(product, r.value, &product) || product > most_threads) {
      bad(flag, text, "sizes whose product is at most 2^62");
    }
    *axes[axis] = r.value;
    start = end + 1;
  }
  return d;
}

std::pair<std::string, std::string> name_and_value(std::string_view flag, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) bad(flag, text, "NAME=VALUE");
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::int64_t byte_count(std::string_view flag, std::string_view text) {
  constexpr std::string_view suffixes = "KMGT";
  std::string_view digits = text;
  std::int64_t unit = 1;
  if (const std::size_t s = text.empty() ? std::string_view::npos : suffixes.find(text.back());
      s != std::string_view::npos) {
    unit = std::int64_t{1} << (10 * (s + 1));
    digits.remove_suffix(1);
  }
  const ReadInteger r = read_integer(digits);
  std::int64_t bytes = 0;
  if (!r.complete || r.value < 1 || __builtin_mul_overflow(r.value, unit, &bytes)) {
    bad(flag, text, "bytes, such as 1073741824, 1024M or 1G");
  }
  return bytes;
}

double positive_number(std::string_view flag, std::string_view text) {
  const double value = real_number(flag, text);
  if (value <= 0) bad(flag, text, "a number above 0");
  return value;
}

double real_number(std::string_view flag, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    bad(flag, text, "a finite number");
  }
  return value;
}

ArgValue argument_value(std::string_view flag, std::string_view text) {
  const auto [name, value] = name_and_value(flag, text);
  if (value == "true") return std::int64_t{1};
  if (value == "false") return std::int64_t{0};
  const ReadInteger r = read_integer(value);
  if (r.overflow) bad(flag, text, "a number that fits 64 bits");
  if (r.complete) return r.value;
  double real = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), real);
  if (error != std::errc{} || end != value.data() + value.size() || !std::isfinite(real)) {
    bad(flag, text, "NAME=NUMBER, NAME=true or NAME=false");
  }
  return real;
}

BufferSpec buffer_spec(std::string_view flag, std::string_view text) {
  const auto [name, value] = name_and_value(flag, text);
  const std::size_t colon = value.find(':');
  const ReadInteger count = read_integer(std::string_view(value).substr(0, colon));
  if (!count.complete || count.value < 1) bad(flag, text, "NAME=COUNT[:FILL] with at least one element");
  if (colon != std::string::npos && colon + 1 == value.size()) bad(flag, text, "something after the colon");
  return {count.value, colon == std::string::npos ? "" : value.substr(colon + 1)};
}

std::vector<std::string> comma_list(std::string_view flag, std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    if (end == start) bad(flag, text, "names with commas between them");
    parts.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

}  // namespace kernelcast::cli
