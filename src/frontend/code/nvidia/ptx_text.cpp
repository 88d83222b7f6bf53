// PTX reader. PTX statements end in ';' and may span lines; `.loc` and `.file` are lines; labels end in ':'.
//
// LLVM's verbose assembly says in comments which IR block a machine block comes from:
//
//     $L__BB0_5:                              // %if.then6
//     // %bb.1:                               // %for.body.preheader
//
// and brackets inline assembly with `// begin inline asm` and `// end inline asm`. Everything else in comments is
// dropped. Braces that open a statement are scopes (LLVM puts calls into them); elsewhere they are vector operands.
// Limit: names declared in an inner scope of inline PTX are not told apart from the same names of the outer one.
#include "frontend/code/nvidia/ptx_text.h"

#include <algorithm>
#include <charconv>

#include "kernelcast/error.h"

namespace kernelcast::frontend {
namespace {

int to_int(std::string_view s) {
  int value = 0;
  std::from_chars(s.data(), s.data() + s.size(), value);
  return value;
}

constexpr std::int64_t most_bytes = std::int64_t{1} << 62;

/// Sizes beyond all hardware stay beyond it, however large they are written.
std::int64_t to_size(std::string_view s) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  return error == std::errc::result_out_of_range || value > most_bytes ? most_bytes : value;
}

std::int64_t sum_of_sizes(std::int64_t a, std::int64_t b) { return std::min(most_bytes, a + b); }

std::int64_t product_of_sizes(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) || product > most_bytes ? most_bytes : product;
}

std::string_view next_word(std::string_view& s) {
  s = trim(s);
  const auto end = std::min(s.find_first_of(" \t"), s.size());
  const std::string_view word = s.substr(0, end);
  s.remove_prefix(end);
  return word;
}

std::string_view unquoted(std::string_view s) {
  if (s.size() >= 2 && s.front() == '"' && s.back() == '"') return s.substr(1, s.size() - 2);
  return s;
}

// The IR name in "   // %if.then6": after the last "// %", unless it is the "%bb.N:" itself.
std::string_view ir_name_in_ptx(std::string_view comment) {
  const auto at = comment.rfind("// %");
  if (at == std::string_view::npos) return {};
  std::string_view name = trim(comment.substr(at + 4));
  if (name.substr(0, 3) == "bb." && name.back() == ':') return {};
  return unquoted(name);
}

// Bytes of ".shared .align 4 .b8 name[1024]" or ".local .align 8 .b8 depot[64]", including alignment of the running
// total; 0 for ".extern" (sized by the launch).
std::int64_t padded_size(std::string_view declaration, std::int64_t total) {
  std::int64_t align = 1, element = 1, count = 1;
  std::string_view rest = declaration;
  while (!trim(rest).empty()) {
    const std::string_view word = next_word(rest);
    if (word == ".extern") return total;
    if (word == ".align")
      align = std::clamp<std::int64_t>(to_size(next_word(rest)), 1, 1 << 20);
    else if (word.size() > 2 && word[0] == '.' && word[1] != 'a' && word.find_first_of("0123456789") == 2)
      element = std::max(1, to_int(word.substr(2)) / 8);
    for (auto open = word.find('['); word[0] != '.' && open != std::string_view::npos; open = word.find('[', open + 1))
      count = product_of_sizes(count, std::max<std::int64_t>(0, to_size(word.substr(open + 1))));
  }
  return sum_of_sizes((total + align - 1) / align * align, product_of_sizes(element, count));
}

class PtxReader {
 public:
  PtxReader(std::string_view text, std::string_view symbol) : text_(text), symbol_(symbol) {}

  PtxKernel read() {
    while (!text_.empty() && !finished_) {
      const auto end = std::min(text_.find('\n'), text_.size());
      line(text_.substr(0, end));
      text_.remove_prefix(std::min(end + 1, text_.size()));
    }
    if (!finished_) throw InternalError("the PTX text has no complete entry " + std::string(symbol_));
    files_at_the_end();
    fill_unknown_lines(kernel_.code);
    return std::move(kernel_);
  }

 private:
  void line(std::string_view s) {
    const auto comment_at = s.find("//");
    const std::string_view comment = comment_at == std::string_view::npos ? std::string_view{} : s.substr(comment_at);
    std::string_view code = trim(s.substr(0, comment_at));
    if (!inside_) {
      outside(code);
      return;
    }
    if (!comment.empty()) read_comment(comment, code);
    if (statement_begin_ == nullptr) {
      if (code.starts_with(".loc\t") || code.starts_with(".loc ")) return location(code, comment);
      if (code.starts_with(".file") || code.starts_with(".section")) return;
    }
    statements(code);
  }

  void outside(std::string_view code) {
    if (code.find(".entry") != std::string_view::npos) {
      std::string_view rest = code.substr(code.find(".entry") + 6);
      rest = trim(rest);
      in_header_ = rest.substr(0, std::min(rest.find_first_of("( \t"), rest.size())) == symbol_;
    } else if (in_header_ && code.starts_with("{")) {
      inside_ = true;
      depth_ = 1;
      kernel_.code.blocks.push_back({});
    } else if (code.find(".shared") != std::string_view::npos && code.find("(") == std::string_view::npos) {
      kernel_.shared_bytes = padded_size(code.substr(0, code.find(';')), kernel_.shared_bytes);
    } else if (code.starts_with(".file")) {
      file(code);
    }
  }

  void read_comment(std::string_view comment, std::string_view code) {
    if (comment.starts_with("// begin inline asm")) inline_asm_ = true;
    if (comment.starts_with("// end inline asm")) inline_asm_ = false;
    const bool fallthrough = comment.starts_with("// %bb.");
    if (fallthrough) begin_block({});
    if (fallthrough) kernel_.code.blocks.back().ir_name = ir_name_in_ptx(comment);
    if (code.size() > 1 && code.back() == ':') pending_name_ = ir_name_in_ptx(comment);
  }

  void begin_block(std::string_view label) {
    auto& blocks = kernel_.code.blocks;
    const bool unused =
        blocks.size() == 1 && kernel_.code.instructions.empty() && blocks[0].label.empty() && blocks[0].ir_name.empty();
    if (unused)
      blocks[0].label = label;
    else
      blocks.push_back({label, {}});
  }

  // Cuts `code` into statements; `statement_begin_` is set while one continues on the next line.
  void statements(std::string_view code) {
    while (!finished_) {
      if (statement_begin_ == nullptr) {
        code = trim(code);
        if (code.empty()) return;
        if (code.front() == '{' || code.front() == '}') {
          depth_ += code.front() == '{' ? 1 : -1;
          finished_ = depth_ == 0;
          code.remove_prefix(1);
          continue;
        }
        if (const auto colon = label_end(code); colon != 0) {
          label(code.substr(0, colon));
          code.remove_prefix(colon + 1);
          continue;
        }
        statement_begin_ = code.data();
      }
      const auto end = code.find(';');
      if (end == std::string_view::npos) return;
      statement({statement_begin_, static_cast<std::size_t>(code.data() + end - statement_begin_)});
      statement_begin_ = nullptr;
      code.remove_prefix(end + 1);
    }
  }

  static std::size_t label_end(std::string_view code) {
    const auto end = code.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%");
    return end != std::string_view::npos && end > 0 && code[end] == ':' && code.substr(end, 2) != "::" ? end : 0;
  }

  void label(std::string_view name) {
    if (name.starts_with("$L__tmp") || name.starts_with("$L__func")) return;  // of debug information
    begin_block(name);
    kernel_.code.blocks.back().ir_name = pending_name_;
    pending_name_ = {};
  }

  void statement(std::string_view s) {
    s = trim(s);
    if (s.empty()) return;
    if (s.front() == '.') {
      if (s.starts_with(".shared")) kernel_.shared_bytes = padded_size(s, kernel_.shared_bytes);
      if (s.starts_with(".local")) kernel_.stack_bytes = padded_size(s, kernel_.stack_bytes);
      if (s.starts_with(".pragma") && s.find("\"nounroll\"") != std::string_view::npos)
        kernel_.code.blocks.back().unrolled = true;
      return;
    }
    AsmInstruction instruction;
    if (s.front() == '@') {
      std::string_view rest = s.substr(1);
      instruction.guard = next_word(rest);
      s = trim(rest);
    }
    const auto end = std::min(s.find_first_of(" \t\n"), s.size());
    instruction.opcode = s.substr(0, end);
    instruction.operands = split_operands(s.substr(end));
    instruction.block = static_cast<int>(kernel_.code.blocks.size()) - 1;
    instruction.file = file_;
    instruction.line = line_;
    instruction.inlined = inline_asm_;
    kernel_.code.instructions.push_back(std::move(instruction));
  }

  // .loc 1 5 54   // path:5:54: the path is as the source was named; .file may have made it absolute.
  void location(std::string_view code, std::string_view comment) {
    std::string_view rest = code.substr(4);
    file_ = to_int(next_word(rest));
    line_ = to_int(next_word(rest));
    if (file_ < 0 || file_ > max_file_index) file_ = 0;
    const auto index = static_cast<std::size_t>(file_);
    auto& files = kernel_.code.files;
    if (files.size() <= index) files.resize(index + 1);
    if (files[index].empty()) files[index] = path_in_comment(comment);
  }

  void file(std::string_view code) {  // .file 1 "directory" "name", or with one string
    std::string_view rest = code.substr(5);
    const int number = to_int(next_word(rest));
    if (number < 0 || number > max_file_index) return;
    const auto index = static_cast<std::size_t>(number);
    std::string path;
    for (auto open = rest.find('"'); open != std::string_view::npos; open = rest.find('"', open)) {
      const auto close = rest.find('"', open + 1);
      if (close == std::string_view::npos) break;
      const std::string_view part = rest.substr(open + 1, close - open - 1);
      if (!path.empty() && !part.starts_with('/'))
        path += '/';
      else
        path.clear();
      path += part;
      open = close + 1;
    }
    auto& files = kernel_.code.files;
    if (files.size() <= index) files.resize(index + 1);
    if (files[index].empty()) files[index] = path;
  }

  void files_at_the_end() {
    for (auto at = text_.find("\t.file\t"); at != std::string_view::npos; at = text_.find("\t.file\t", at + 1))
      file(trim(text_.substr(at, text_.find('\n', at) - at)));
    for (auto& instruction : kernel_.code.instructions)
      if (instruction.file >= static_cast<int>(kernel_.code.files.size())) instruction.file = -1;
  }

  std::string_view text_, symbol_;
  PtxKernel kernel_;
  bool in_header_ = false, inside_ = false, finished_ = false, inline_asm_ = false;
  int depth_ = 0, file_ = -1, line_ = 0;
  const char* statement_begin_ = nullptr;
  std::string_view pending_name_;
};

}  // namespace

PtxKernel parse_ptx(std::string_view text, std::string_view symbol) { return PtxReader(text, symbol).read(); }

}  // namespace kernelcast::frontend
