// Values of tuning parameters and of expressions over them: whole and real numbers, texts, lists.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::tune {

inline constexpr double largest_whole = 9007199254740992.0;  // 2^53

/// Whole numbers are exact to 2^53, beyond which expressions are refused.
struct Value {
  enum class Kind : unsigned char { integer, real, text, list };
  Kind kind = Kind::integer;
  double number = 0;
  struct Box;
  std::shared_ptr<const Box> box = nullptr;  // of texts and lists

  static Value whole(double n) { return {Kind::integer, n}; }
  static Value real(double x) { return {Kind::real, x}; }
  static Value of_text(std::string text);
  static Value of_list(std::vector<Value> items);
  [[nodiscard]] bool is_number() const { return kind <= Kind::real; }
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] const std::vector<Value>& items() const;
  /// Entries of a list and of the lists in it, all counted; bytes of a text. Saturates.
  [[nodiscard]] std::size_t parts() const;
};

struct Value::Box {
  std::string text;
  std::vector<Value> items;
  std::size_t parts = 1;  // parts()
};

/// A whole number in decimal, a real number in its shortest form, a text as it is: what `-D NAME=` is followed by.
std::string text_of(const Value& value);

/// Equal as Python has it: numbers by value, texts and lists by contents.
bool equal(const Value& a, const Value& b);

/// What a word on the command line means: a number if it is one, otherwise a text.
Value value_in(std::string_view word);

}  // namespace kernelcast::tune
