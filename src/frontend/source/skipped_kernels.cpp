#include "frontend/source/skipped_kernels.h"

#include <utility>

#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Token.h"
#include "frontend/source/compile_headers.h"
#include "kernelcast/setting.h"

namespace kernelcast::frontend {

namespace {

constexpr std::size_t kMostShown = 100;  // characters of a directive in a message

/// The words of a directive with one blank where there are any; `#define` and its like are words, too.
struct Directive {
  unsigned line = 0;
  std::vector<std::string> words;  // "ifdef", "USE_HIP"
  std::string text = "#";

  [[nodiscard]] bool is(std::string_view name) const { return !words.empty() && words[0] == name; }
  [[nodiscard]] bool opens() const { return is("if") || is("ifdef") || is("ifndef"); }
  [[nodiscard]] bool goes_on() const { return is("else") || is("elif") || is("elifdef") || is("elifndef"); }
  [[nodiscard]] std::string shown() const {
    return text.size() <= kMostShown ? text : text.substr(0, kMostShown) + "...";
  }
  /// "NAME", "defined NAME" and "defined(NAME)" alone: NAME.
  [[nodiscard]] std::string single_macro() const {
    const bool ifdef = is("ifdef") || is("elifdef");
    if (!ifdef && !is("if") && !is("elif")) return {};
    std::vector<std::string> rest(words.begin() + 1, words.end());
    if (!ifdef && !rest.empty() && rest[0] == "defined") rest.erase(rest.begin());
    if (rest.size() == 3 && rest[0] == "(" && rest[2] == ")") rest = {rest[1]};
    const auto is_name = [](const std::string& word) {
      return !word.empty() && (clang::isAsciiIdentifierStart(static_cast<unsigned char>(word[0])));
    };
    return rest.size() == 1 && is_name(rest[0]) ? rest[0] : "";
  }
};

/// Reads a file's text from an offset on, without preprocessing.
class RawText {
 public:
  RawText(const clang::SourceManager& sources, const clang::LangOptions& language, clang::FileID file, unsigned offset)
      : sources_(sources),
        text_(sources.getBufferData(file)),
        lexer_(sources.getLocForStartOfFile(file), language, text_.begin(), text_.begin() + offset, text_.end()) {
    next();
  }

  [[nodiscard]] const clang::Token& token() const { return token_; }
  [[nodiscard]] bool ends(unsigned offset) const { return token_.is(clang::tok::eof) || at() >= offset; }
  [[nodiscard]] unsigned at() const { return sources_.getFileOffset(token_.getLocation()); }
  [[nodiscard]] unsigned line() const { return sources_.getPresumedLoc(token_.getLocation()).getLine(); }
  [[nodiscard]] std::string word() const { return text_.substr(at(), token_.getLength()).str(); }
  [[nodiscard]] bool at_directive() const { return token_.is(clang::tok::hash) && token_.isAtStartOfLine(); }
  void next() { lexer_.LexFromRawLexer(token_); }

  /// From '#' to the end of its line.
  Directive directive() {
    Directive read;
    read.line = line();
    for (next(); !token_.isAtStartOfLine() && token_.isNot(clang::tok::eof); next()) {
      if (!read.words.empty() && token_.hasLeadingSpace()) read.text += ' ';
      read.words.push_back(word());
      read.text += read.words.back();
    }
    return read;
  }

  /// Behind `__global__`: whether a body comes before the declaration ends.
  bool body_follows() {
    while (token_.isNot(clang::tok::eof) && token_.isNot(clang::tok::semi) && token_.isNot(clang::tok::l_brace)) {
      if (at_directive())
        directive();
      else
        next();
    }
    return token_.is(clang::tok::l_brace);
  }

 private:
  const clang::SourceManager& sources_;
  llvm::StringRef text_;
  clang::Lexer lexer_;
  clang::Token token_;
};

class SkippedKernels : public clang::PPCallbacks {
 public:
  SkippedKernels(const clang::SourceManager& sources, const clang::LangOptions& language, Language source_language,
                 std::vector<SkippedKernel>& found)
      : sources_(sources), language_(language), opencl_(source_language == Language::opencl), found_(found) {}

  void Else(clang::SourceLocation /*at*/, clang::SourceLocation opening) override { opening_ = opening; }
  void Elif(clang::SourceLocation /*at*/, clang::SourceRange /*condition*/, ConditionValueKind /*value*/,
            clang::SourceLocation opening) override {
    opening_ = opening;
  }

  void SourceRangeSkipped(clang::SourceRange range, clang::SourceLocation /*endif*/) override {
    const auto [file, begin] = sources_.getDecomposedLoc(range.getBegin());
    const unsigned end = sources_.getFileOffset(range.getEnd());
    const std::string name = sources_.getFilename(range.getBegin()).str();
    if (name.empty() || name.starts_with(kVirtualHeaderFolder) || sources_.isInSystemHeader(range.getBegin())) return;
    const llvm::StringRef text = sources_.getBufferData(file).slice(begin, end);
    if (!text.contains(opencl_ ? "kernel" : "__global__")) return;
    RawText raw(sources_, language_, file, begin);
    if (!raw.at_directive()) return;
    Directive condition = raw.directive(), opening;
    if (condition.goes_on() && opening_.isValid()) opening = opening_at(opening_);
    if (condition.opens()) opening = condition;
    for (int depth = 0; !raw.ends(end);) {
      if (raw.at_directive()) {
        Directive inner = raw.directive();
        if (depth == 0 && inner.goes_on())
          condition = std::move(inner);
        else if (inner.opens())
          ++depth;
        else if (inner.is("endif"))
          --depth;
      } else if (is_kernel(raw)) {
        SkippedKernel kernel{name, raw.line(), condition.shown(), condition.line, "", 0, condition.single_macro()};
        if (condition.goes_on()) {
          kernel.opening = opening.shown();
          kernel.opening_line = opening.line;
        }
        raw.next();
        if (raw.body_follows()) found_.push_back(std::move(kernel));
      } else {
        raw.next();
      }
    }
  }

 private:
  [[nodiscard]] bool is_kernel(const RawText& raw) const {
    if (raw.token().isNot(clang::tok::raw_identifier)) return false;
    const llvm::StringRef word = raw.token().getRawIdentifier();
    return opencl_ ? word == "__kernel" || word == "kernel" : word == "__global__";
  }

  /// The callbacks name the place of the word behind '#'.
  [[nodiscard]] Directive opening_at(clang::SourceLocation word) const {
    const auto [file, offset] = sources_.getDecomposedLoc(word);
    const std::size_t hash = sources_.getBufferData(file).rfind('#', offset);
    if (hash == llvm::StringRef::npos) return {};
    RawText raw(sources_, language_, file, static_cast<unsigned>(hash));
    return raw.directive();
  }

  const clang::SourceManager& sources_;
  const clang::LangOptions& language_;
  bool opencl_;
  std::vector<SkippedKernel>& found_;
  clang::SourceLocation opening_;  // of the chain whose #else or #elif came last
};

std::string place_of_directive(const std::string& text, unsigned line) {
  return "'" + text + "' (line " + std::to_string(line) + ")";
}

}  // namespace

std::unique_ptr<clang::PPCallbacks> watch_skipped_kernels(const clang::SourceManager& sources,
                                                          const clang::LangOptions& language, Language source_language,
                                                          std::vector<SkippedKernel>& found) {
  return std::make_unique<SkippedKernels>(sources, language, source_language, found);
}

std::string about_skipped(const std::vector<SkippedKernel>& skipped) {
  const SkippedKernel& first = skipped.front();
  std::string text = first.file + ":" + std::to_string(first.line) + ": no kernel found: this one is under " +
                     place_of_directive(first.condition, first.condition_line);
  if (!first.opening.empty()) text += " of " + place_of_directive(first.opening, first.opening_line);
  text += ", which does not hold";
  if (skipped.size() > 1) {
    const std::size_t more = skipped.size() - 1;
    text += ", as " + std::to_string(more) + (more == 1 ? " more kernel is" : " more kernels are");
  }
  if (!first.macro.empty()) return text + "; " KC_SETTING(D) " " + first.macro + " defines the macro";
  return text + "; give the macros of the program's build by " KC_SETTING(D);
}

}  // namespace kernelcast::frontend
