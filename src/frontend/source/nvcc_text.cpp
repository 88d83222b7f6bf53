// Text before preprocessing, so a spelling that a macro hides stays as it is. In an asm string with operands "%" and a
// letter before a digit is an operand with a modifier for Clang; a name of two letters or more is one for neither.
#include "frontend/source/nvcc_text.h"

#include <cctype>

#include "frontend/source/host_code.h"

namespace kernelcast::frontend {
namespace {

bool word_at(std::string_view text, std::size_t at, std::string_view word) {
  return text.substr(at, word.size()) == word && (at == 0 || !is_word(text[at - 1])) &&
         (at + word.size() >= text.size() || !is_word(text[at + word.size()]));
}

std::size_t behind_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

/// Behind the bracket that closes the one at `open`; npos: none does.
std::size_t behind_brackets(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size();) {
    const std::size_t behind = skip_opaque(text, at);
    if (behind != at) {
      at = behind;
      continue;
    }
    if (text[at] == '(') ++depth;
    if (text[at++] == ')' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

bool letter(std::string_view text, std::size_t at) {
  return at < text.size() && (std::isalpha(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
}

/// Whether the declaration from `at` on has no array without a size: nvcc takes "extern __shared__" of such a one as a
/// definition (warning 20044).
bool has_its_size(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] != ';' && text[at] != '{' && text[at] != '=') {
    const std::size_t behind = skip_opaque(text, at);
    if (behind == at && text[at] == '[' && behind_blanks(text, at + 1) < text.size() &&
        text[behind_blanks(text, at + 1)] == ']')
      return false;
    at = behind == at ? at + 1 : behind;
  }
  return at < text.size() && text[at] == ';';
}

/// Where the third bracket of a launch stands that is written "<< <" or ">> >"; 0: none. operator<< <T> is none.
std::size_t third_bracket(std::string_view text, std::size_t at) {
  const char bracket = text[at];
  if ((bracket != '<' && bracket != '>') || at + 1 >= text.size() || text[at + 1] != bracket) return 0;
  const std::size_t third = behind_blanks(text, at + 2);
  if (third == at + 2 || third >= text.size() || text[third] != bracket) return 0;
  const std::string_view before = text.substr(0, at);
  return before.substr(0, before.find_last_not_of(" \t\r\n") + 1).ends_with("operator") ? 0 : third;
}

/// Where a pragma ends that is the whole of a macro without parameters, "#define UNROLL #pragma unroll"; 0: none starts
/// at `at`. Clang takes "_Pragma" there alone.
std::size_t behind_pragma_of_macro(std::string_view text, std::size_t at) {
  if (text[at] != '#' || !word_at(text, behind_blanks(text, at + 1), "pragma")) return 0;
  std::string_view line = text.substr(0, at);
  line.remove_prefix(line.find_last_of('\n') + 1);
  const std::size_t hash = behind_blanks(line, 0), define = behind_blanks(line, hash + 1);
  if (hash >= line.size() || line[hash] != '#' || !word_at(line, define, "define")) return 0;
  std::size_t name = behind_blanks(line, define + std::string_view("define").size());
  while (name < line.size() && is_word(line[name])) ++name;
  if (behind_blanks(line, name) != line.size()) return 0;
  std::size_t end = at;
  while (end < text.size() && text[end] != '\n' && !text.substr(end).starts_with("//")) ++end;
  return text.substr(0, end).find_last_not_of(" \t\r") + 1;
}

/// "#pragma unroll 4" as "_Pragma("unroll 4")".
std::string as_operator(std::string_view pragma) {
  std::string result = "_Pragma(\"";
  for (const char c : pragma.substr(behind_blanks(pragma, pragma.find("pragma") + std::string_view("pragma").size()))) {
    if (c == '"' || c == '\\') result.push_back('\\');
    result.push_back(c);
  }
  return result + "\")";
}

/// An asm statement's brackets and what they hold.
std::string asm_text(std::string_view text) {
  std::string result;
  bool operands = false;
  char last = 0;  // that is no blank
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t behind = skip_opaque(text, at);
    if (behind == at || text[at] != '"') {
      operands = operands || (behind == at && text[at] == ':');
      if (behind == at && std::isspace(static_cast<unsigned char>(text[at])) == 0) last = text[at];
      const std::size_t end = behind == at ? at + 1 : behind;
      result.append(text.substr(at, end - at));
      at = end;
      continue;
    }
    if (operands && last == ')') result.push_back(',');
    last = '"';
    for (; at < behind; ++at) {
      result.push_back(text[at]);
      if (text[at] != '%' || operands) continue;
      if (at + 1 < behind && text[at + 1] == '%') {
        result.push_back(text[++at]);
      } else if (letter(text, at + 1) && letter(text, at + 2)) {
        result.push_back('%');
      }
    }
  }
  return operands ? result : std::string(text);
}

}  // namespace

std::string as_clang_spells(std::string_view text) {
  constexpr std::string_view shared = "__shared__", align = "alignas", external = "extern";
  std::string result;
  std::size_t done = 0;
  bool in_launch = false;  // behind "<< <"
  const auto replace = [&](std::size_t begin, std::size_t end, const std::string& by) {
    result.append(text.substr(done, begin - done)).append(by);
    done = end;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t behind = skip_opaque(text, at);
    if (behind != at) {
      at = behind;
      continue;
    }
    std::size_t next = at + 1;
    if (word_at(text, at, external)) {
      next = at + external.size();
      if (word_at(text, behind_blanks(text, next), shared) && has_its_size(text, next))
        replace(at, next, std::string(external.size(), ' '));
    } else if (word_at(text, at, shared)) {
      const std::size_t second = behind_blanks(text, at + shared.size());
      const std::size_t open = word_at(text, second, align) ? behind_blanks(text, second + align.size()) : text.size();
      const std::size_t end =
          open < text.size() && text[open] == '(' ? behind_brackets(text, open) : std::string_view::npos;
      if (end != std::string_view::npos) {
        const std::string blanks(text.substr(at + shared.size(), second - at - shared.size()));
        replace(at, end, std::string(text.substr(second, end - second)) + blanks + std::string(shared));
        next = end;
      }
    } else if (const std::size_t third = third_bracket(text, at); third != 0 && in_launch == (text[at] == '>')) {
      replace(at, third + 1, std::string(3, text[at]) + std::string(text.substr(at + 2, third - at - 2)));
      in_launch = !in_launch;
      next = third + 1;
    } else if (const std::size_t end = behind_pragma_of_macro(text, at); end != 0) {
      replace(at, end, as_operator(text.substr(at, end - at)));
      next = end;
    } else if (word_at(text, at, "asm") || word_at(text, at, "__asm__")) {
      const std::size_t open = text.find_first_of("(;{", at);
      const std::size_t end =
          open != std::string_view::npos && text[open] == '(' ? behind_brackets(text, open) : std::string_view::npos;
      if (end != std::string_view::npos) {
        replace(open, end, asm_text(text.substr(open, end - open)));
        next = end;
      }
    }
    at = next;
  }
  return result.append(text.substr(done));
}

}  // namespace kernelcast::frontend
