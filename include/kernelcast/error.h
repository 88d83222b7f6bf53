// Three kinds of trouble, three types: the user's mistake, a limit of ours, a bug.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernelcast/setting.h"

namespace kernelcast {

/// Base of everything kernelcast throws on purpose. what() names settings plainly ("give a smaller block"); message() marks them
/// (kernelcast/setting.h), so that a front door can say how it spells them.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(plain_text(message)), message_(message) {}
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  std::string message_;
};

/// The message of an exception with its settings marked, where it has any.
inline std::string message_of(const std::exception& e) {
  const auto* error = dynamic_cast<const Error*>(&e);
  return error != nullptr ? error->message() : e.what();
}

/// The input or the command line is wrong. The message names the file, line or flag to change.
/// The command line exits with 1 when a source cannot be analysed.
class UserError : public Error {
  using Error::Error;
};

/// The command line itself is wrong (unknown flag, malformed value): exit status 2.
class UsageError : public UserError {
  using UserError::UserError;
};

/// What the command line gives for the kernel's arguments is not what this kernel needs: --arg, --buffer or --assume is
/// missing, or fits nothing.
class ArgumentError : public UsageError {
 public:
  ArgumentError(const std::string& text, std::string name) : UsageError(text), name_(std::move(name)) {}
  [[nodiscard]] const std::string& name() const { return name_; }  // of the parameter

 private:
  std::string name_;
};

/// The input is fine but goes beyond what kernelcast can do; the message says what would work.
class LimitError : public Error {
  using Error::Error;
};

/// Exact integer arithmetic left the 64-bit range, or a division by zero was met.
class ArithmeticError : public LimitError {
 public:
  explicit ArithmeticError(const std::string& text, std::vector<std::string> symbols = {})
      : LimitError(text), symbols_(std::move(symbols)) {}
  /// Names of the expression's symbols ("arg:n"), whose values led there.
  [[nodiscard]] const std::vector<std::string>& symbols() const { return symbols_; }

 private:
  std::vector<std::string> symbols_;
};

/// A broken invariant of kernelcast itself: please report.
class InternalError : public std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace kernelcast
