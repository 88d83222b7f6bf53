#include "tune/ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kernelcast/error.h"

namespace kernelcast::tune {
namespace {

constexpr std::size_t most_values = 1000000;

[[noreturn]] void bad(std::string_view flag, std::string_view text, std::string_view expected) {
  throw UsageError(fmt::format("{} {}: expected {}", flag, text.empty() ? "(empty)" : text, expected));
}

double whole(std::string_view flag, std::string_view all, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || std::abs(static_cast<double>(value)) > 1e15) {
    bad(flag, all, "a range of whole numbers, such as 32..1024:*2, 1..32 or 0..64:+16");
  }
  return static_cast<double>(value);
}

bool is_range(std::string_view text) { return text.find("..") != std::string_view::npos; }

void add_range(std::string_view flag, std::string_view text, std::vector<Value>& values) {
  const std::size_t dots = text.find(".."), colon = text.find(':');
  const double first = whole(flag, text, text.substr(0, dots));
  const double last =
      whole(flag, text, text.substr(dots + 2, colon == std::string_view::npos ? colon : colon - dots - 2));
  char step = '+';
  double by = 1;
  if (colon != std::string_view::npos) {
    const std::string_view how = text.substr(colon + 1);
    if (how.size() < 2 || (how[0] != '*' && how[0] != '+')) bad(flag, text, "a step such as :*2 or :+16");
    step = how[0];
    by = whole(flag, text, how.substr(1));
  }
  if (last < first) bad(flag, text, "a range whose end is not below its beginning");
  if (step == '*' ? by < 2 || first < 1 : by < 1) bad(flag, text, "a step that moves the range on");
  for (double x = first; x <= last; x = step == '*' ? x * by : x + by) {
    if (values.size() == most_values) bad(flag, text, "at most a million values");
    values.push_back(Value::whole(x));
  }
}

void drop_repeated(std::vector<Value>& values) {
  if (values.size() > 1000) return;  // ranges of that size have none
  std::vector<Value> once;
  for (Value& v : values) {
    if (std::none_of(once.begin(), once.end(), [&](const Value& o) { return equal(o, v); }))
      once.push_back(std::move(v));
  }
  values = std::move(once);
}

}  // namespace

std::vector<std::string> parts_of(std::string_view flag, std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (depth != 0) bad(flag, text, "brackets that close");
  for (const std::string& part : parts) {
    if (part.find_first_not_of(" \t") == std::string::npos) bad(flag, text, "something between commas");
  }
  return parts;
}

std::vector<Value> values_in(std::string_view flag, std::string_view text) {
  std::vector<Value> values;
  for (const std::string& part : parts_of(flag, text)) {
    if (is_range(part)) {
      add_range(flag, part, values);
    } else {
      values.push_back(value_in(part));
    }
  }
  drop_repeated(values);
  return values;
}

std::vector<AxisText> axes_in(std::string_view flag, std::string_view text) {
  std::vector<AxisText> axes;
  for (const std::string& part : parts_of(flag, text)) {
    AxisText axis;
    axis.expression = part;
    if (part.front() == '{') {
      if (part.back() != '}' || part.size() < 3) bad(flag, text, "a list such as {32,64,128}");
      axis.values = values_in(flag, std::string_view(part).substr(1, part.size() - 2));
    } else if (is_range(part)) {
      axis.values = values_in(flag, part);
    }
    if (axis.values.size() == 1) {
      axis.expression = text_of(axis.values.front());
      axis.values.clear();
    }
    axes.push_back(std::move(axis));
  }
  if (axes.size() > 3) bad(flag, text, "X[,Y[,Z]]");
  return axes;
}

}  // namespace kernelcast::tune
