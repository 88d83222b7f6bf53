// Files of C: a FILE is memory with an open file. Only regular files below the data folders are read, and only as far
// as the program asks; a file that is not there is taken for one whose contents are not known. What is read into
// characters is a text; into other types, elements up to a number.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <filesystem>

#include "clang/AST/RecordLayout.h"
#include "frontend/host/interpreter.h"
#include "io/text_file.h"
#include "io/within.h"
#include "kernelcast/error.h"

namespace kernelcast::frontend::host {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostElements = 4096;  // of one read that have values

std::int64_t little_endian(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint64_t n = 0;
  for (std::size_t k = size; k-- > 0;) n = n << 8U | static_cast<unsigned char>(bytes[at + k]);
  return static_cast<std::int64_t>(n);
}

/// A conversion of scanf: "%*5[^ab]ld".
struct Conversion {
  bool skipped = false;
  std::size_t width = std::string::npos;
  char letter = 0;
  std::string set;  // of %[
};

Conversion conversion_at(const std::string& format, std::size_t& at) {
  Conversion c;
  if (at < format.size() && format[at] == '*') {
    c.skipped = true;
    ++at;
  }
  std::size_t width = 0;
  for (; at < format.size() && std::isdigit(static_cast<unsigned char>(format[at])) != 0; ++at)
    width = std::min<std::size_t>(width * 10 + static_cast<std::size_t>(format[at] - '0'), 1 << 20);
  if (width > 0) c.width = width;
  while (at < format.size() && std::string("hlLqjzt").find(format[at]) != std::string::npos) ++at;
  if (at >= format.size()) return c;
  c.letter = format[at++];
  if (c.letter != '[') return c;
  const std::size_t first = at < format.size() && format[at] == '^' ? at + 1 : at;
  const std::size_t end = format.find(']', first + 1);
  if (end == std::string::npos) return {};
  c.set = format.substr(at, end - at);
  at = end + 1;
  return c;
}

bool in_set(const std::string& set, char c) {
  const bool inverse = !set.empty() && set[0] == '^';
  bool found = false;
  for (std::size_t k = inverse ? 1 : 0; k < set.size(); ++k) {
    if (k + 2 < set.size() && set[k + 1] == '-') {
      found = found || (set[k] <= c && c <= set[k + 2]);
      k += 2;
    } else {
      found = found || set[k] == c;
    }
  }
  return found != inverse;
}

}  // namespace

Value text_pointer(std::string text) {
  auto memory = std::make_shared<Memory>();
  memory->text = std::move(text);
  return Value::pointer_to({std::move(memory), 0});
}

/// The file's path below a data folder; nothing: it is not there or may not be read.
std::optional<std::string> Interpreter::data_file(const std::string& name) const {
  if (name.empty()) return std::nullopt;
  for (const std::string& folder : options_.data_folders) {
    std::error_code error;
    const fs::path path = fs::path(folder) / name;
    if (!fs::is_regular_file(path, error) || (!readable_.empty() && !lies_within(path, readable_))) continue;
    return path.string();
  }
  return std::nullopt;
}

std::shared_ptr<OpenFile> Interpreter::opened(const std::string& name) const {
  const auto path = data_file(name);
  if (!path) return nullptr;
  try {
    return std::make_shared<OpenFile>(OpenFile{read_text_file(*path)});
  } catch (const UserError&) {  // too large, or not ours to read
    return nullptr;
  }
}

/// Stores a text in an array of characters.
void Interpreter::store_text(const Value& into, const std::string& text, int line) {
  if (into.kind != Value::Kind::pointer || !into.place.memory) return;
  Memory& memory = *into.place.memory;
  const auto at = static_cast<std::size_t>(std::max<std::int64_t>(into.place.key, 0));
  if (memory.text && at <= memory.text->size()) {
    memory.text = memory.text->substr(0, at) + text;
    return;
  }
  memory.slots.clear();
  memory.rest = Value::not_known("a text", line);
  if (at == 0) memory.text = text;
}

/// One number at the file's place; nothing: there is none.
std::optional<Value> Interpreter::scanned_number(OpenFile& file, char letter, std::size_t width) {
  file.skip_blanks();
  const std::string word = file.text.substr(file.at, std::min<std::size_t>(width, 64));
  char* end = nullptr;
  Value value;
  if (std::string("diuxXo").find(letter) != std::string::npos) {
    const int base = letter == 'i' ? 0 : letter == 'o' ? 8 : letter == 'x' || letter == 'X' ? 16 : 10;
    value = Value::of(letter == 'u' ? static_cast<std::int64_t>(std::strtoull(word.c_str(), &end, base))
                                    : static_cast<std::int64_t>(std::strtoll(word.c_str(), &end, base)));
  } else {
    value = Value::of_real(std::strtod(word.c_str(), &end));
  }
  const auto taken = static_cast<std::size_t>(end - word.c_str());
  if (file.at + taken >= file.text.size()) file.ended = true;
  if (taken == 0) return std::nullopt;
  file.at += taken;
  return value;
}

/// The scanf family from its format on.
Value Interpreter::scan(OpenFile& file, const std::string& format, const clang::CallExpr* call, unsigned first) {
  const int line = line_of(call);
  std::int64_t stored = 0;
  unsigned next = first;
  for (std::size_t at = 0; at < format.size();) {
    if (is_blank(format[at])) {
      file.skip_blanks();
      if (file.at >= file.text.size()) file.ended = true;
      ++at;
      continue;
    }
    if (format[at] != '%' || (at + 1 < format.size() && format[at + 1] == '%')) {
      if (format[at] == '%') ++at;
      if (file.at >= file.text.size() || file.text[file.at] != format[at]) break;
      ++file.at;
      ++at;
      continue;
    }
    const Conversion c = conversion_at(format, ++at);
    if (c.letter == 0) break;
    std::optional<Value> value;
    std::string word;
    if (c.letter == 's' || c.letter == '[' || c.letter == 'c') {
      if (c.letter == 's') file.skip_blanks();
      const std::size_t most = c.letter == 'c' && c.width == std::string::npos ? 1 : c.width;
      while (file.at < file.text.size() && word.size() < most) {
        const char letter = file.text[file.at];
        if ((c.letter == 's' && is_blank(letter)) || (c.letter == '[' && !in_set(c.set, letter))) break;
        word += letter;
        ++file.at;
      }
      if (!word.empty()) value = Value::of(word[0]);
    } else if (c.letter == 'n') {
      value = Value::of(static_cast<std::int64_t>(file.at));
    } else {
      value = scanned_number(file, c.letter, c.width);
    }
    if (!value) {
      if (file.at >= file.text.size()) file.ended = true;
      if (stored == 0 && file.ended) return Value::of(-1);
      break;
    }
    if (c.skipped) continue;
    if (next >= call->getNumArgs()) break;
    const clang::Expr* target = call->getArg(next++);
    const Value into = evaluate(target);
    if (c.letter != 'n') ++stored;
    if (into.kind != Value::Kind::pointer) continue;
    const clang::QualType type = target->IgnoreParenImpCasts()->getType();
    if (c.letter == 's' || c.letter == '[' || (c.letter == 'c' && c.width != std::string::npos))
      store_text(into, word, line);
    else
      store(into.place, converted(*value, type->isPointerType() ? type->getPointeeType() : type));
  }
  for (; next < call->getNumArgs(); ++next) evaluate(call->getArg(next));
  return Value::of(stored);
}

/// A value of the type from bytes as they lie in memory.
Value Interpreter::from_bytes(const std::string& bytes, std::size_t at, clang::QualType type, int line) {
  const auto size = static_cast<std::size_t>(size_of(type));
  if (size == 0 || at + size > bytes.size()) return Value::not_known("a file is read", line);
  if (type->isIntegralOrEnumerationType() && size <= 8)
    return converted(Value::of(little_endian(bytes, at, size)), type);
  if (is_wide(type))
    return Value::of_wide((Wide{static_cast<std::uint64_t>(little_endian(bytes, at + 8, 8))} << 64) |
                              static_cast<std::uint64_t>(little_endian(bytes, at, 8)),
                          type->isSignedIntegerType());
  if (type->isRealFloatingType() && (size == 4 || size == 8)) {
    const auto bits = static_cast<std::uint64_t>(little_endian(bytes, at, size));
    return Value::of_real(size == 4 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                                    : std::bit_cast<double>(bits));
  }
  Value made = empty_of(type, "a file is read", line);
  if (made.kind != Value::Kind::object || !made.place.memory) return made;
  if (const auto* array = context_.getAsConstantArrayType(type)) {
    const auto element = static_cast<std::size_t>(size_of(array->getElementType()));
    const auto count =
        std::min<std::int64_t>(static_cast<std::int64_t>(array->getSize().getZExtValue()), kMostElements);
    for (std::int64_t k = 0; k < count; ++k)
      made.place.memory->slots[k] =
          from_bytes(bytes, at + static_cast<std::size_t>(k) * element, array->getElementType(), line);
    return made;
  }
  const auto* record = type->getAsCXXRecordDecl();
  if (record == nullptr || !record->hasDefinition() || record->isUnion() || !record->isStandardLayout()) return made;
  const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(record);
  for (const clang::FieldDecl* f : record->fields())
    if (!f->isBitField())
      made.place.memory->slots[key_of(f)] =
          from_bytes(bytes, at + layout.getFieldOffset(f->getFieldIndex()) / 8, f->getType(), line);
  return made;
}

/// Reads up to `bytes` into what the expression points to; returns the bytes that were read.
std::int64_t Interpreter::read_bytes(OpenFile& file, const clang::Expr* target, std::int64_t bytes) {
  const int line = line_of(target);
  const Value into = evaluate(target);
  const auto taken =
      std::min<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0)), file.text.size() - file.at);
  if (taken < static_cast<std::size_t>(bytes)) file.ended = true;
  const std::size_t begin = file.at;
  file.at += taken;
  if (into.kind != Value::Kind::pointer || !into.place.memory) return static_cast<std::int64_t>(taken);
  const clang::QualType given = target->IgnoreParenCasts()->getType();
  const clang::QualType type = given->isPointerType() ? given->getPointeeType()
                               : given->isArrayType() ? context_.getAsArrayType(given)->getElementType()
                                                      : clang::QualType();
  const std::int64_t size = size_of(type);
  if (size == 1) {
    store_text(into, file.text.substr(begin, taken), line);
    return static_cast<std::int64_t>(taken);
  }
  const std::int64_t count = size > 0 ? static_cast<std::int64_t>(taken) / size : 0;
  if (size == 0 || type->isVoidType() || count > kMostElements) {
    into.place.memory->slots.clear();
    into.place.memory->rest = Value::not_known("a file is read", line);
    return static_cast<std::int64_t>(taken);
  }
  for (std::int64_t k = 0; k < count; ++k)
    store({into.place.memory, into.place.key + k},
          from_bytes(file.text, begin + static_cast<std::size_t>(k * size), type, line));
  return static_cast<std::int64_t>(taken);
}

/// Functions on a FILE that is the argument at `of`; nothing: its contents are not known.
std::shared_ptr<OpenFile> Interpreter::file_given(const clang::CallExpr* call, unsigned of) {
  if (of >= call->getNumArgs()) return nullptr;
  const Value file = evaluate(call->getArg(of));
  return file.kind == Value::Kind::pointer && file.place.memory ? file.place.memory->file : nullptr;
}

std::optional<Value> Interpreter::file_call(const std::string& name, const clang::CallExpr* call) {
  const int line = line_of(call);
  const unsigned count = call->getNumArgs();
  const OneOf is{name};
  const clang::FunctionDecl* callee = call->getDirectCallee();
  if (callee != nullptr &&
      (llvm::isa<clang::CXXMethodDecl>(callee) || (name == "getline" && callee->isInStdNamespace())))
    return std::nullopt;                         // of streams
  if (is({"fopen", "fopen64"}) && count == 2) {  // as allocations, it succeeds
    const auto path = text_of(evaluate(call->getArg(0))), mode = text_of(evaluate(call->getArg(1)));
    Value made = allocation(Value::not_known("a file is read", line), line, false, false);
    if (path && mode && mode->starts_with("r")) made.place.memory->file = opened(*path);
    return made;
  }
  if (name == "sdkFindFilePath" && count == 2) {  // of the CUDA samples: beside the program, or in its folder data
    const auto path = text_of(evaluate(call->getArg(0)));
    if (!path) return Value::not_known("a text", line);
    const std::string below = "data/" + *path;
    return text_pointer(!data_file(*path) && data_file(below) ? below : *path);
  }
  if (is({"fscanf", "sscanf"}) && count >= 2) {
    std::shared_ptr<OpenFile> file;
    if (name == "fscanf") {
      file = file_given(call, 0);
    } else if (auto text = text_at(evaluate(call->getArg(0)))) {
      file = std::make_shared<OpenFile>(OpenFile{text->substr(0, text->find('\0'))});
    }
    const auto format = text_at(evaluate(call->getArg(1)));
    if (file && format) return scan(*file, *format, call, 2);
  }
  if (name == "fread" && count == 4) {
    const Value size = evaluate(call->getArg(1)), number = evaluate(call->getArg(2));
    const auto file = file_given(call, 3);
    if (file && size.is_integer() && number.is_integer() && size.integer > 0 &&
        number.integer <= (std::int64_t{1} << 40) / size.integer)
      return Value::of(read_bytes(*file, call->getArg(0), size.integer * number.integer) / size.integer);
  }
  if (name == "fgets" && count == 3) {
    const Value into = evaluate(call->getArg(0)), most = evaluate(call->getArg(1));
    if (const auto file = file_given(call, 2); file && most.is_integer() && most.integer > 0) {
      if (file->at >= file->text.size()) {
        file->ended = true;
        return Value::pointer_to({});
      }
      const std::size_t end = std::min(file->text.find('\n', file->at), file->text.size() - 1) + 1;
      const std::size_t taken = std::min(end - file->at, static_cast<std::size_t>(most.integer - 1));
      store_text(into, file->text.substr(file->at, taken), line);
      file->at += taken;
      return into;
    }
  }
  if (is({"fgetc", "getc", "ungetc", "feof", "ftell", "fseek", "rewind"})) {
    const auto file = file_given(call, name == "ungetc" ? 1 : 0);
    if (!file) return name == "rewind" || name == "fseek" ? std::optional(Value::of(0)) : std::nullopt;
    if (name == "feof") return Value::of(file->ended ? 1 : 0);
    if (name == "ftell") return Value::of(static_cast<std::int64_t>(file->at));
    if (name == "ungetc") {
      if (file->at > 0) --file->at;
      return evaluate(call->getArg(0));
    }
    if (name == "rewind" || name == "fseek") {
      const Value by = name == "fseek" && count == 3 ? evaluate(call->getArg(1)) : Value::of(0);
      const Value from = name == "fseek" && count == 3 ? evaluate(call->getArg(2)) : Value::of(0);
      if (!by.is_integer() || !from.is_integer()) return std::nullopt;
      seek(*file, by.integer, static_cast<int>(from.integer));
      return Value::of(0);
    }
    if (file->at < file->text.size()) return Value::of(static_cast<unsigned char>(file->text[file->at++]));
    file->ended = true;
    return Value::of(-1);
  }
  if (is({"open", "fscanf", "fread", "fgets", "getline", "scanf", "fgetc", "getc", "feof", "stat", "ftell"})) {
    unknown_call(call, name);
    return Value::not_known("a file is read", line);
  }
  return std::nullopt;
}

/// `from` as SEEK_SET, SEEK_CUR and SEEK_END.
void Interpreter::seek(OpenFile& file, std::int64_t by, int from) {
  const auto base = static_cast<std::int64_t>(from == 1 ? file.at : from == 2 ? file.text.size() : 0);
  file.at =
      static_cast<std::size_t>(std::clamp<std::int64_t>(base + by, 0, static_cast<std::int64_t>(file.text.size())));
  file.ended = file.failed = false;
}

}  // namespace kernelcast::frontend::host
