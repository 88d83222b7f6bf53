#include "tune/value.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace kernelcast::tune {

Value Value::of_text(std::string text) {
  const std::size_t parts = text.size() + 1;
  return {Kind::text, 0, std::make_shared<const Box>(Box{std::move(text), {}, parts})};
}

Value Value::of_list(std::vector<Value> items) {
  std::size_t parts = 1;
  for (const Value& item : items)
    if (__builtin_add_overflow(parts, item.parts(), &parts)) parts = std::numeric_limits<std::size_t>::max();
  return {Kind::list, 0, std::make_shared<const Box>(Box{{}, std::move(items), parts})};
}

const std::string& Value::text() const {
  static const std::string none;
  return box ? box->text : none;
}

const std::vector<Value>& Value::items() const {
  static const std::vector<Value> none;
  return box ? box->items : none;
}

std::size_t Value::parts() const { return box ? box->parts : 1; }

std::string text_of(const Value& value) {
  switch (value.kind) {
    case Value::Kind::integer:
      if (std::abs(value.number) > largest_whole) return fmt::format("{:.0f}", value.number);
      return fmt::format("{}", static_cast<std::int64_t>(value.number));
    case Value::Kind::real:
      return fmt::format("{}", value.number);
    case Value::Kind::text:
      return value.text();
    case Value::Kind::list:
      break;
  }
  std::string out;
  for (const Value& item : value.items()) out += (out.empty() ? "" : ", ") + text_of(item);
  return "[" + out + "]";
}

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return a.number == b.number;
  if (a.kind != b.kind) return false;
  if (a.kind == Value::Kind::text) return a.text() == b.text();
  if (a.box == b.box) return true;
  if (a.items().size() != b.items().size()) return false;
  for (std::size_t i = 0; i < a.items().size(); ++i) {
    if (!equal(a.items()[i], b.items()[i])) return false;
  }
  return true;
}

Value value_in(std::string_view word) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(number)) {
    return Value::of_text(std::string(word));
  }
  const bool whole = word.find_first_of(".eE") == std::string_view::npos && std::abs(number) < 9007199254740992.0;
  return whole ? Value::whole(number) : Value::real(number);
}

}  // namespace kernelcast::tune
