// The text of an asm statement: operands are put in as registers with names that no text can hold twice (%$0, %$1,
// ...), or as the text that a constant operand stands for; then the text is read as a function's body.
#include <charconv>

#include "kernelcast/error.h"
#include "ptx/limits.h"
#include "ptx/parser.h"

namespace kernelcast::ptx {
namespace {

std::string operand_register(std::size_t index) { return "%$" + std::to_string(index); }

class Expander {
 public:
  Expander(std::string_view text, std::span<const FragmentOperand> operands, FragmentSyntax syntax,
           const Source& source)
      : text_(text), operands_(operands), syntax_(syntax), source_(&source) {}

  std::string expand() {
    if (syntax_ == FragmentSyntax::plain) return std::string(text_);
    const char sign = syntax_ == FragmentSyntax::c ? '%' : '$';
    for (; pos_ < text_.size();) {
      const char c = text_[pos_];
      if (c != sign) {
        out_ += c;
        ++pos_;
      } else if (syntax_ == FragmentSyntax::c) {
        after_percent();
      } else {
        after_dollar();
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void stop(const std::string& what) const { fail(*source_, place(), what); }

  [[nodiscard]] Place place() const {
    Place at{1, 1};
    for (const char c : text_.substr(0, pos_)) {
      at.column = c == '\n' ? 1 : at.column + 1;
      at.line += c == '\n' ? 1 : 0;
    }
    return at;
  }

  [[nodiscard]] char at(std::size_t ahead) const { return pos_ + ahead < text_.size() ? text_[pos_ + ahead] : '\0'; }

  void after_percent() {
    const char next = at(1);
    if (next == '%') {
      out_ += '%';
      pos_ += 2;
    } else if (next == '=') {
      out_ += '0';  // unique in a program; a fragment is alone
      pos_ += 2;
    } else if (next == '[') {
      const std::size_t end = text_.find(']', pos_);
      if (end == std::string_view::npos) stop("%[ does not end; close it by ']'");
      put(named(text_.substr(pos_ + 2, end - pos_ - 2)));
      pos_ = end + 1;
    } else {
      ++pos_;
      number();
    }
  }

  void after_dollar() {
    const char next = at(1);
    if (next == '$') {
      out_ += '$';
      pos_ += 2;
      return;
    }
    if (next != '{') {
      ++pos_;
      number();
      return;
    }
    // ${0}, ${0:modifier}, ${:uid}
    const std::size_t end = text_.find('}', pos_);
    if (end == std::string_view::npos) stop("${ does not end; close it by '}'");
    if (text_.substr(pos_, end - pos_ + 1) == "${:uid}") {
      out_ += '0';
      pos_ = end + 1;
      return;
    }
    pos_ += 2;
    number();
    pos_ = end + 1;
  }

  void number() {
    std::size_t value = 0;
    const char* const begin = text_.data() + pos_;
    const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (status != std::errc())
      stop(syntax_ == FragmentSyntax::c ? "% is followed by no operand; write %% for a percent sign"
                                        : "$ is followed by no operand; write $$ for a dollar sign");
    if (value >= operands_.size())
      stop("operand " + std::to_string(value) + " of " + std::to_string(operands_.size()) + "; operands count from 0");
    put(value);
    pos_ += static_cast<std::size_t>(end - begin);
  }

  std::size_t named(std::string_view name) const {
    for (std::size_t i = 0; i < operands_.size(); ++i)
      if (operands_[i].name == name) return i;
    stop("no operand is named '" + std::string(name) + "'");
  }

  void put(std::size_t index) {
    const FragmentOperand& operand = operands_[index];
    if (operand.text) {
      out_ += *operand.text;
    } else {
      out_ += operand_register(operand.same_as >= 0 ? static_cast<std::size_t>(operand.same_as) : index);
    }
    if (out_.size() > max_text_bytes)
      throw LimitError(source_->name + ": an asm statement has at most " + std::to_string(max_text_bytes) + " bytes");
  }

  std::string_view text_;
  std::span<const FragmentOperand> operands_;
  FragmentSyntax syntax_;
  const Source* source_;
  std::size_t pos_ = 0;
  std::string out_;
};

}  // namespace

Function Parser::fragment(std::span<const FragmentOperand> operands) {
  enter_scope(token().place);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const FragmentOperand& operand = operands[i];
    const bool used = !operand.text && operand.same_as < 0;
    const std::string_view name = storage_.made.emplace_back(operand_register(i));
    const Type type = used ? operand.type : Type::none;
    add_registers(names_.unique(name, false), type, 1, 1, false, token().place);
    function_.groups.push_back({name, type, 1, false, static_cast<std::uint32_t>(i), 1});
  }
  function_.has_body = true;
  statements(false);
  leave_scope();
  return std::move(function_);
}

Fragment parse_fragment(std::string_view text, std::span<const FragmentOperand> operands, FragmentSyntax syntax,
                        std::string name, std::uint32_t line, std::uint32_t column) {
  const Source source{std::move(name), line, column, true};
  for (const FragmentOperand& operand : operands)
    if (operand.same_as >= static_cast<int>(operands.size()) ||
        (operand.same_as >= 0 && operands[operand.same_as].same_as >= 0))
      throw InternalError("an operand of an asm statement is tied to none that has a register");
  const auto storage = std::make_shared<Storage>();
  storage->text = Expander(text, operands, syntax, source).expand();
  Parser parser(*storage, source);
  Fragment fragment;
  fragment.code = parser.fragment(operands);
  fragment.locations = parser.take_locations();
  fragment.text = std::shared_ptr<const std::string>(storage, &storage->text);
  return fragment;
}

}  // namespace kernelcast::ptx
