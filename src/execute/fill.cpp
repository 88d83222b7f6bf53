// A fill is read once into a function of the scalar's number; a page is that function over a range. Vectors count as
// their components: the scalars of a buffer are numbered through. Integers of which the sign is not known may take any
// value that either reading has, and fills that choose a range themselves stay where both readings agree.
#include "execute/fill.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

#include "execute/fill_file.h"
#include "execute/fill_value.h"
#include "io/nearest.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast::interpreter {
namespace {

constexpr std::array<std::string_view, 11> names = {"zero",   "iota",      "uniform",     "normal",
                                                    "sorted", "offsets",   "permutation", "constant",
                                                    "none",   "file:PATH", "bytes:HEX"};

constexpr std::string_view bytes_prefix = "bytes:";

struct Call {
  std::string_view name;
  std::vector<std::string_view> arguments;
};

[[noreturn]] void bad_fill(const FillTarget& t, std::string_view text, const std::string& what) {
  throw UserError(KC_SETTING(buffer) " " + t.buffer + "=" + (t.elements > 0 ? std::to_string(t.elements) : "COUNT") +
                  ":" + std::string(text) + ": " + what);
}

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

Call read_call(std::string_view text, const FillTarget& t) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) return {trimmed(text), {}};
  if (text.back() != ')') bad_fill(t, text, "the parenthesis is not closed");
  Call call{trimmed(text.substr(0, open)), {}};
  std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  for (;;) {
    const std::size_t comma = inside.find(',');
    call.arguments.push_back(trimmed(inside.substr(0, comma)));
    if (comma == std::string_view::npos) return call;
    inside.remove_prefix(comma + 1);
  }
}

/// A number as written: exact when it is a whole one.
struct Number {
  double real = 0;
  std::optional<std::int64_t> whole;
};

std::optional<Number> read_number(std::string_view text) {
  const char* end = text.data() + text.size();
  Number n;
  std::int64_t whole = 0;
  if (auto [at, error] = std::from_chars(text.data(), end, whole); error == std::errc{} && at == end) {
    return Number{static_cast<double>(whole), whole};
  }
  std::uint64_t large = 0;  // above 2^63: the same bits
  if (auto [at, error] = std::from_chars(text.data(), end, large); error == std::errc{} && at == end) {
    return Number{static_cast<double>(large), static_cast<std::int64_t>(large)};
  }
  if (auto [at, error] = std::from_chars(text.data(), end, n.real); error != std::errc{} || at != end)
    return std::nullopt;
  if (!std::isfinite(n.real)) return std::nullopt;
  if (n.real == std::floor(n.real) && std::fabs(n.real) < 0x1p63) n.whole = static_cast<std::int64_t>(n.real);
  return n;
}

/// Lowest and highest value of an integer element; both readings of the bits when the sign is not known.
std::array<double, 2> limits(const ElementType& type) {
  if (type.scalar == ValueType::i1) return {0, 1};
  const int bits = 8 * std::min(size_of(type.scalar), 8);
  return {type.sign == ElementType::Sign::unsigned_ ? 0 : -std::ldexp(1, bits - 1),
          std::ldexp(1, type.sign == ElementType::Sign::signed_ ? bits - 1 : bits) - 1};
}

/// How many values, from 0 on, integers get that nobody gave a range: indices that fit the launch's buffers, as far as
/// the type holds them as positive numbers.
std::uint64_t default_range(const FillTarget& t) {
  const double positive = t.type.sign == ElementType::Sign::unknown
                              ? std::ldexp(1, 8 * std::min(size_of(t.type.scalar), 8) - 1)
                              : limits(t.type)[1] + 1;
  const auto most = static_cast<std::uint64_t>(t.type.scalar == ValueType::i1 ? 2 : std::min(positive, 0x1p62));
  return std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(t.index_range, 1)), most);
}

/// Writes value(k) for the scalars of a range. `Value` gives a double for floating-point types, else a 64-bit integer.
template <class Value>
class PatternFill final : public Fill {
 public:
  PatternFill(ValueType type, Value value) : type_(type), value_(std::move(value)) {}
  void write(std::int64_t first, std::span<unsigned char> out) const override {
    const std::size_t size = size_of(type_);
    auto k = static_cast<std::uint64_t>(first) / size;
    for (std::size_t at = 0; at + size <= out.size(); at += size, ++k) store_scalar(type_, value_(k), out.data() + at);
  }

 private:
  ValueType type_;
  Value value_;
};

/// Nothing to write: the memory is zero.
class ZeroFill final : public Fill {
 public:
  explicit ZeroFill(bool uninitialised) : uninitialised_(uninitialised) {}
  void write(std::int64_t, std::span<unsigned char>) const override {}
  [[nodiscard]] bool uninitialised() const override { return uninitialised_; }

 private:
  bool uninitialised_;
};

/// Bytes as given; what lies behind them is zero, or these again and again.
class HexFill final : public Fill {
 public:
  HexFill(std::vector<unsigned char> bytes, bool repeated) : bytes_(std::move(bytes)), repeated_(repeated) {}
  void write(std::int64_t first, std::span<unsigned char> out) const override {
    const auto size = static_cast<std::int64_t>(bytes_.size());
    if (repeated_) {
      for (std::size_t k = 0; k < out.size(); ++k)
        out[k] = bytes_[static_cast<std::size_t>((first + static_cast<std::int64_t>(k)) % size)];
      return;
    }
    if (first >= size) return;
    const auto there = std::min<std::size_t>(out.size(), static_cast<std::size_t>(size - first));
    std::copy_n(bytes_.begin() + first, there, out.begin());
  }

 private:
  std::vector<unsigned char> bytes_;
  bool repeated_;
};

struct HexText {
  std::string_view digits;
  std::int64_t repeats =
      0;  // how many elements they are where they are repeated; -1: no such number is behind the star
};

HexText hex_text(std::string_view text) {
  const std::size_t star = text.find('*');
  if (star == std::string_view::npos) return {text, 0};
  const std::string_view behind = text.substr(star + 1);
  std::int64_t count = 1;
  const auto [end, error] = std::from_chars(behind.data(), behind.data() + behind.size(), count);
  if (!behind.empty() && (error != std::errc{} || end != behind.data() + behind.size() || count < 1)) count = -1;
  return {text.substr(0, star), count};
}

std::unique_ptr<const Fill> hex_fill(std::string_view text, const FillTarget& t) {
  constexpr std::size_t shown = 32;
  const auto [digits, repeats] = hex_text(text);
  const auto bad = [&, digits = digits](const std::string& what) {
    const bool cut = digits.size() > shown;
    bad_fill(t, std::string(bytes_prefix) + std::string(digits.substr(0, shown)) + (cut ? "..." : ""), what);
  };
  if (repeats < 0) bad("the number of elements behind \"*\" is a whole number of at least 1");
  if (digits.empty()) bad("there are no digits after \"bytes:\"");
  if (digits.size() % 2 != 0) bad("a byte is two hexadecimal digits, and their number is odd");
  std::vector<unsigned char> bytes(digits.size() / 2);
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    const char* at = digits.data() + 2 * k;
    const auto [end, error] = std::from_chars(at, at + 2, bytes[k], 16);
    if (error != std::errc{} || end != at + 2)
      bad("\"" + std::string(digits.substr(2 * k, 2)) + "\" is no byte in hexadecimal digits");
  }
  const std::int64_t room = t.elements * t.element_bytes;
  if (t.elements > 0 && static_cast<std::int64_t>(bytes.size()) > room)
    bad("they are " + std::to_string(bytes.size()) + " bytes, the buffer has " + std::to_string(room) + " (" +
        std::to_string(t.elements) + " elements of " + std::to_string(t.element_bytes) + " bytes)");
  return std::make_unique<HexFill>(std::move(bytes), repeats > 0);
}

/// A permutation of 0 .. n - 1 by place: four rounds of a Feistel network over the bits of n, repeated while the result
/// lies outside (cycle walking; Black, Rogaway, "Ciphers with arbitrary finite domains", 2002). The domain is below 2
/// n, so two steps are enough on average.
class Permutation {
 public:
  Permutation(std::uint64_t n, std::uint64_t key) : n_(n), key_(key) {
    const int bits = n <= 4 ? 2 : 64 - std::countl_zero(n - 1);
    low_bits_ = bits / 2;
    high_bits_ = bits - low_bits_;
  }
  std::uint64_t operator()(std::uint64_t k) const {
    do k = step(k);
    while (k >= n_);
    return k;
  }

 private:
  [[nodiscard]] std::uint64_t step(std::uint64_t k) const {
    std::uint64_t low = k & ((std::uint64_t{1} << low_bits_) - 1), high = k >> low_bits_;
    for (std::uint64_t round = 0; round < 4; round += 2) {
      high ^= random_bits(key_ + round, low) >> (64 - high_bits_);
      low ^= random_bits(key_ + round + 1, high) >> (64 - low_bits_);
    }
    return (high << low_bits_) | low;
  }
  std::uint64_t n_, key_;
  int low_bits_ = 1, high_bits_ = 1;
};

/// Reads one FILL for one buffer.
class Reader {
 public:
  Reader(std::string_view text, const FillTarget& target)
      : text_(text),
        t_(target),
        call_(read_call(text, target)),
        type_(target.type.scalar),
        key_(stream_key(target.seed, target.buffer)) {}

  std::unique_ptr<const Fill> fill() const {
    if (call_.name == "zero") return no_arguments(), std::make_unique<ZeroFill>(false);
    if (call_.name == "none") return no_arguments(), std::make_unique<ZeroFill>(true);
    if (call_.name == "iota") return iota();
    if (call_.name == "uniform") return uniform();
    if (call_.name == "normal") return normal();
    if (call_.name == "sorted") return sorted();
    if (call_.name == "offsets") return offsets();
    if (call_.name == "permutation") return permutation();
    if (call_.name == "constant") return constant();
    if (call_.arguments.empty()) {
      if (const auto n = read_number(call_.name)) return constant(*n);
    }
    unknown();
  }

 private:
  struct Range {
    double low = 0, high = 1;
    std::int64_t first = 0;
    std::uint64_t count = 1;  // integers: first .. first + count - 1
  };

  [[noreturn]] void bad(const std::string& what) const { bad_fill(t_, text_, what); }

  [[noreturn]] void unknown() const {
    std::vector<std::string> known(names.begin(), names.end());
    for (auto& k : known) k = k.substr(0, k.find(':'));
    const auto near = nearest_names(call_.name.substr(0, call_.name.find(':')), known, 1);
    std::string all;
    for (const auto& n : names) all += (all.empty() ? "" : ", ") + std::string(n);
    bad("there is no such fill" + (near.empty() ? std::string() : "; did you mean \"" + near[0] + "\"?") +
        (near.empty() ? "; " : " ") + "known are " + all + " and a plain number");
  }

  void no_arguments() const {
    if (!call_.arguments.empty()) bad(std::string(call_.name) + " takes no arguments");
  }

  [[nodiscard]] std::uint64_t scalars() const {
    if (t_.elements <= 0) bad(std::string(call_.name) + " needs the number of elements (COUNT)");
    return static_cast<std::uint64_t>(t_.elements) * static_cast<std::uint64_t>(t_.element_bytes) / size_of(type_);
  }

  void must_hold(double low, double high) const {
    const auto [least, most] = limits(t_.type);
    if (low < least || high > most) {
      bad("values from " + plain(low) + " to " + plain(high) + " do not fit elements of " +
          std::to_string(size_of(type_)) + (size_of(type_) == 1 ? " byte" : " bytes") + " (" + plain(least) + " to " +
          plain(most) + ")");
    }
  }

  static std::string plain(double v) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, v).ptr;
    return {digits, end};
  }

  [[nodiscard]] Number number(std::size_t i) const {
    const auto n = read_number(call_.arguments[i]);
    if (!n) bad("\"" + std::string(call_.arguments[i]) + "\" is not a number");
    return *n;
  }

  /// The half-open range of uniform and sorted.
  [[nodiscard]] Range range() const {
    Range r;
    if (call_.arguments.empty()) {
      r.count = default_range(t_);
      return r;
    }
    if (call_.arguments.size() != 2)
      bad(std::string(call_.name) + " takes a lowest value and what all lie below: (LO,HI)");
    const Number low = number(0), high = number(1);
    if (!(low.real < high.real)) bad("the second number must be larger than the first");
    r.low = low.real;
    r.high = high.real;
    if (is_float(type_)) return r;
    if (!low.whole || !high.whole) bad("the elements are integers: the range needs whole numbers");
    must_hold(low.real, high.real - 1);
    r.first = *low.whole;
    r.count = static_cast<std::uint64_t>(*high.whole) - static_cast<std::uint64_t>(*low.whole);
    return r;
  }

  template <class Real, class Whole>
  std::unique_ptr<const Fill> pattern(Real real, Whole whole) const {
    if (is_float(type_)) return std::make_unique<PatternFill<Real>>(type_, std::move(real));
    return std::make_unique<PatternFill<Whole>>(type_, std::move(whole));
  }

  [[nodiscard]] std::unique_ptr<const Fill> iota() const {
    if (call_.arguments.empty())
      return pattern([](std::uint64_t k) { return static_cast<double>(k); },
                     [](std::uint64_t k) { return static_cast<std::int64_t>(k); });
    if (call_.arguments.size() != 2) bad("iota takes a first element and a step: (FIRST,STEP)");
    const Number first = number(0), step = number(1);
    if (first.whole && step.whole) {
      const auto whole = [first = static_cast<std::uint64_t>(*first.whole),
                          step = static_cast<std::uint64_t>(*step.whole)](std::uint64_t k) {
        return static_cast<std::int64_t>(first + k * step);
      };
      return pattern([whole](std::uint64_t k) { return static_cast<double>(whole(k)); }, whole);
    }
    const auto real = [first = first.real, step = step.real](std::uint64_t k) {
      return first + static_cast<double>(k) * step;
    };
    // A step of 1/3 is none of binary digits: its multiples are meant to reach whole numbers.
    return pattern(real, [real](std::uint64_t k) { return static_cast<std::int64_t>(std::floor(real(k) + 1e-6)); });
  }

  [[nodiscard]] std::unique_ptr<const Fill> uniform() const {
    const Range r = range();
    return pattern(
        [r, key = key_, type = type_](std::uint64_t k) {
          return rounded_below(type, r.low + (r.high - r.low) * unit_interval(random_bits(key, k)), r.high);
        },
        [r, key = key_](std::uint64_t k) { return r.first + below(random_bits(key, k), r.count); });
  }

  /// Scalar k is drawn from the k-th of n equal parts of the range: ascending, and uniform over the whole buffer.
  [[nodiscard]] std::unique_ptr<const Fill> sorted() const {
    const Range r = range();
    const auto n = static_cast<double>(scalars());
    const auto part = [n, key = key_](std::uint64_t k) {
      return (static_cast<double>(k) + unit_interval(random_bits(key, k))) / n;
    };
    return pattern([r, part, type = type_](
                       std::uint64_t k) { return rounded_below(type, r.low + (r.high - r.low) * part(k), r.high); },
                   [r, part](std::uint64_t k) {
                     const double at = std::floor(static_cast<double>(r.count) * part(k));
                     return r.first + static_cast<std::int64_t>(std::min(at, static_cast<double>(r.count - 1)));
                   });
  }

  /// Scalar k is drawn from the k-th part, of length `mean`, of the numbers from 0 on: neighbours are 0 to 2 * mean
  /// apart, `mean` on average. Needs no COUNT.
  [[nodiscard]] std::unique_ptr<const Fill> offsets() const {
    if (call_.arguments.size() != 1 && call_.arguments.size() != 2)
      bad("offsets takes the mean distance between neighbours and, if wanted, how many places to go ahead: "
          "offsets(MEAN[,AHEAD])");
    const double mean = number(0).real, ahead = call_.arguments.size() > 1 ? number(1).real : 0;
    if (mean < 0 || ahead < 0) bad("the numbers must not be negative");
    const double most = is_float(type_) ? std::numeric_limits<double>::max() : std::min(limits(t_.type)[1], 0x1p62);
    const auto at = [mean, ahead, most, key = key_](std::uint64_t k) {
      return std::min(std::floor(mean * (static_cast<double>(k) + ahead + unit_interval(random_bits(key, k)))), most);
    };
    return pattern(at, [at](std::uint64_t k) { return static_cast<std::int64_t>(at(k)); });
  }

  /// Box and Muller, "A note on the generation of random normal deviates", 1958: one of the pair for even, the other
  /// for odd places.
  [[nodiscard]] std::unique_ptr<const Fill> normal() const {
    if (!call_.arguments.empty() && call_.arguments.size() != 2) bad("normal takes (MEAN,SD) or nothing");
    const double mean = call_.arguments.empty() ? 0 : number(0).real, sd = call_.arguments.empty() ? 1 : number(1).real;
    if (sd < 0) bad("the standard deviation is negative");
    const auto draw = [mean, sd, key = key_](std::uint64_t k) {
      const std::uint64_t pair = k & ~std::uint64_t{1};
      const double radius = std::sqrt(-2 * std::log(1 - unit_interval(random_bits(key, pair))));
      const double angle = 2 * std::numbers::pi * unit_interval(random_bits(key, pair + 1));
      return mean + sd * radius * (pair == k ? std::cos(angle) : std::sin(angle));
    };
    const auto [least, most] = limits(t_.type);
    return pattern(draw, [draw, low = least, high = most](std::uint64_t k) {
      const double v = std::clamp(std::nearbyint(draw(k)), low, high);
      return v >= 0x1p63 ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(v);
    });
  }

  [[nodiscard]] std::unique_ptr<const Fill> permutation() const {
    no_arguments();
    const std::uint64_t n = scalars();
    const double exact = type_ == ValueType::f16 ? 0x1p11 : type_ == ValueType::f32 ? 0x1p24 : 0x1p53;
    if (is_float(type_) && static_cast<double>(n) > exact + 1)
      bad("the numbers up to " + std::to_string(n - 1) + " are not exact in floating point of " +
          std::to_string(size_of(type_)) + " bytes");
    if (!is_float(type_)) must_hold(0, static_cast<double>(n - 1));
    const auto image = [p = Permutation(n, key_), n](std::uint64_t k) { return k < n ? p(k) : 0; };
    return pattern([image](std::uint64_t k) { return static_cast<double>(image(k)); },
                   [image](std::uint64_t k) { return static_cast<std::int64_t>(image(k)); });
  }

  [[nodiscard]] std::unique_ptr<const Fill> constant() const {
    if (call_.arguments.size() != 1) bad("constant takes one number: constant(V)");
    return constant(number(0));
  }

  [[nodiscard]] std::unique_ptr<const Fill> constant(const Number& n) const {
    if (!is_float(type_)) {
      if (!n.whole) bad("the elements are integers: the value must be a whole number");
      must_hold(n.real, n.real);
    }
    return pattern([v = n.real](std::uint64_t) { return v; }, [v = n.whole.value_or(0)](std::uint64_t) { return v; });
  }

  std::string_view text_;
  const FillTarget& t_;
  Call call_;
  ValueType type_;
  std::uint64_t key_;
};

/// Every value of the type; of 64 bits as far as a range can be written.
std::string whole_range(const ElementType& type) {
  const int bits = 8 * std::min(size_of(type.scalar), 8);
  if (bits == 64) return "uniform(-9223372036854775808,9223372036854775807)";
  const bool is_signed = type.sign != ElementType::Sign::unsigned_;
  const std::int64_t values = std::int64_t{1} << bits;
  return is_signed ? "uniform(" + std::to_string(-values / 2) + "," + std::to_string(values / 2) + ")"
                   : "uniform(0," + std::to_string(values) + ")";
}

/// Rows of bound_trips elements on average, of fewer where they would not fit the indices' range.
std::string default_bounds(const FillTarget& t) {
  if (t.role == BoundRole::length) {
    const auto past = std::min(static_cast<std::uint64_t>(2 * t.bound_trips) + 1, default_range(t));
    return "uniform(0," + std::to_string(past) + ")";
  }
  const double rows = static_cast<double>(std::max<std::int64_t>(t.bound_count, 1));
  const double fitting = t.bound_range > 0 ? static_cast<double>(t.bound_range) / rows : t.bound_trips;
  char digits[32];
  const double mean = std::min(t.bound_trips, fitting);
  const auto end = std::to_chars(digits, digits + sizeof digits, mean, std::chars_format::general, 6).ptr;
  return "offsets(" + std::string(digits, end) + (t.role == BoundRole::next_offsets ? ",1)" : ")");
}

}  // namespace

std::span<const std::string_view> fill_names() { return names; }

std::optional<std::int64_t> bytes_given(std::string_view fill, std::int64_t elements) {
  if (!fill.starts_with(bytes_prefix)) return std::nullopt;
  const HexText read = hex_text(fill.substr(bytes_prefix.size()));
  const auto bytes = static_cast<std::int64_t>(read.digits.size()) / 2;
  return read.repeats > 0 ? elements * (bytes / read.repeats) : bytes;
}

std::unique_ptr<const Fill> make_fill(std::string_view text, const FillTarget& target) {
  if (text.empty()) return make_fill(default_fill(target), target);
  if (text.starts_with("file:")) return file_fill(text.substr(5), target);
  if (bytes_given(text)) return hex_fill(text.substr(bytes_prefix.size()), target);
  return Reader(text, target).fill();
}

std::string default_fill(const FillTarget& target) {
  if (!is_float(target.type.scalar) && target.role != BoundRole::none) return default_bounds(target);
  const std::string order = target.searched && target.elements > 0 ? "sorted" : "uniform";
  if (is_float(target.type.scalar)) return order + "(0,1)";
  if (target.packed && target.type.scalar != ValueType::i1) return whole_range(target.type);
  return order + "(0," + std::to_string(default_range(target)) + ")";
}

}  // namespace kernelcast::interpreter
