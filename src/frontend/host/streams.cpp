// std::ifstream and string streams: an object whose memory has an open file. A stream whose contents are not known has
// none: what is read from it is not known, and it counts as open.
#include <algorithm>

#include "frontend/host/interpreter.h"

namespace kernelcast::frontend::host {
namespace {

constexpr std::int64_t kAtEnd = 2;  // std::ios::ate of libstdc++

bool is_stream_class(const clang::CXXRecordDecl* record) {
  return is_std(record, {"basic_istream", "basic_iostream", "basic_ifstream", "basic_fstream", "basic_istringstream",
                         "basic_stringstream", "basic_ostringstream", "basic_ostream"});
}

/// The text up to the delimiter, which is passed over.
std::string line_of_file(OpenFile& file, char delimiter) {
  file.failed = file.at >= file.text.size();
  const std::size_t end = std::min(file.text.find(delimiter, file.at), file.text.size());
  std::string line = file.text.substr(file.at, end - file.at);
  file.ended = end >= file.text.size();
  file.at = std::min(end + 1, file.text.size());
  return line;
}

}  // namespace

bool Interpreter::is_stream(clang::QualType type) const { return is_stream_class(class_of(type)); }

/// The file of a stream at a place; nothing: not known.
std::shared_ptr<OpenFile> Interpreter::file_at(const Place& stream) {
  const MemoryRef memory = object_at(stream);
  return memory ? memory->file : nullptr;
}

void Interpreter::open_stream(const MemoryRef& stream, const clang::Expr* name, const clang::Expr* mode) {
  const auto path = text_of(name->getType()->isArrayType() ? load(place_of(name), name) : evaluate(name));
  stream->file = path ? opened(*path) : nullptr;
  clang::Expr::EvalResult flags;
  if (stream->file && mode != nullptr && !mode->isValueDependent() && mode->EvaluateAsInt(flags, context_) &&
      (flags.Val.getInt().getExtValue() & kAtEnd) != 0)
    stream->file->at = stream->file->text.size();
}

Value Interpreter::construct_stream(const clang::CXXConstructExpr* e) {
  auto memory = std::make_shared<Memory>();
  memory->rest = Value::not_known("a stream is read", line_of(e));
  const clang::CXXRecordDecl* record = e->getConstructor()->getParent();
  const bool of_file = is_std(record, {"basic_ifstream", "basic_fstream"});
  const clang::Expr* first =
      e->getNumArgs() > 0 && !llvm::isa<clang::CXXDefaultArgExpr>(e->getArg(0)) ? e->getArg(0) : nullptr;
  const bool text = first != nullptr && (is_string(first->getType()) || first->getType()->isPointerType() ||
                                         first->getType()->isArrayType());
  if (of_file && text) {
    open_stream(memory, first, e->getNumArgs() > 1 ? e->getArg(1) : nullptr);
  } else if (!of_file && (text || !is_std(record, {"basic_istream"}))) {
    auto contents = text ? text_of(evaluate(first)) : std::optional<std::string>("");
    if (contents) memory->file = std::make_shared<OpenFile>(OpenFile{std::move(*contents)});
  }
  return Value::object_of(std::move(memory));
}

/// `stream >> variable` of a number, a character or a string.
Value Interpreter::read_from_stream(const clang::CXXOperatorCallExpr* o) {
  const Place stream = place_of(o->getArg(0));
  const auto file = file_at(stream);
  if (!o->getArg(1)->isLValue()) return Value::pointer_to(stream);  // a manipulator
  const Place into = place_of(o->getArg(1));
  const clang::QualType type = o->getArg(1)->getType().getNonReferenceType();
  if (!file) {
    forget(into, "a stream is read", line_of(o));
    return Value::pointer_to(stream);
  }
  if (file->failed) return Value::pointer_to(stream);
  file->skip_blanks();
  std::optional<Value> value;
  if (is_string(type) || type->isCharType()) {
    const std::size_t begin = file->at;
    while (file->at < file->text.size() && std::isspace(static_cast<unsigned char>(file->text[file->at])) == 0) {
      ++file->at;
      if (type->isCharType()) break;
    }
    if (file->at > begin)
      value = is_string(type) ? Value::object_of(text_pointer(file->text.substr(begin, file->at - begin)).place.memory)
                              : Value::of(static_cast<signed char>(file->text[begin]));
    file->ended = file->at >= file->text.size();
  } else if (type->isRealFloatingType() || type->isIntegralOrEnumerationType()) {
    value = scanned_number(*file,
                           type->isRealFloatingType()      ? 'f'
                           : type->isUnsignedIntegerType() ? 'u'
                                                           : 'd',
                           std::string::npos);
    if (value) value = converted(*value, type);
  } else {
    forget(into, "a stream is read", line_of(o));
    return Value::pointer_to(stream);
  }
  file->failed = !value;
  if (value) store(into, *value);
  return Value::pointer_to(stream);
}

/// `stream << value` of a string stream. What is not known makes its contents unknown.
std::optional<Value> Interpreter::write_to_stream(const clang::CXXOperatorCallExpr* o) {
  if (!is_stream(o->getArg(0)->getType())) return std::nullopt;
  const Place stream = place_of(o->getArg(0));
  const clang::Expr* what = o->getArg(1);
  const clang::QualType type = what->getType().getNonReferenceType();
  const Value value = type->isArrayType() ? load(place_of(what), what) : evaluate(what);
  const MemoryRef memory = object_at(stream);
  if (!memory) return Value::pointer_to(stream);
  auto& file = memory->file;
  if (!file) return Value::pointer_to(stream);
  auto text = value.is_integer() && !type->isCharType() ? std::optional(std::to_string(value.integer)) : text_of(value);
  if (value.kind == Value::Kind::function) text = "\n";  // std::endl
  if (text)
    file->text += *text;
  else
    file = nullptr;
  return Value::pointer_to(stream);
}

std::optional<Value> Interpreter::stream_operator(const clang::CXXOperatorCallExpr* o) {
  if (o->getNumArgs() != 2) return std::nullopt;
  if (o->getOperator() == clang::OO_LessLess) return write_to_stream(o);
  if (o->getOperator() != clang::OO_GreaterGreater || !is_stream(o->getArg(0)->getType())) return std::nullopt;
  return read_from_stream(o);
}

/// std::getline.
std::optional<Value> Interpreter::line_call(const std::string& name, const clang::CallExpr* call) {
  if (name != "getline" || call->getNumArgs() < 2 || !is_string(call->getArg(1)->getType())) return std::nullopt;
  const Place stream = place_of(call->getArg(0)), into = place_of(call->getArg(1));
  const Value delimiter = call->getNumArgs() > 2 ? evaluate(call->getArg(2)) : Value::of('\n');
  const auto file = file_at(stream);
  if (!file || !delimiter.is_integer()) {
    forget(into, "a stream is read", line_of(call));
    return Value::pointer_to(stream);
  }
  std::string line = line_of_file(*file, static_cast<char>(delimiter.integer));
  store(into, Value::object_of(text_pointer(std::move(line)).place.memory));
  return Value::pointer_to(stream);
}

std::optional<Value> Interpreter::stream_call(const clang::CallExpr* call, const clang::CXXMethodDecl* method) {
  const clang::CXXRecordDecl* parent = method == nullptr ? nullptr : method->getParent();
  const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call);
  if (parent == nullptr) return std::nullopt;
  if (is_std(parent, {"fpos"}) && member != nullptr)  // a position is its number
    return load(place_of(member->getImplicitObjectArgument()), member);
  if (!is_std(parent, {"basic_ios", "ios_base"}) && !is_stream_class(parent)) return std::nullopt;
  const clang::Expr* object = member != nullptr        ? member->getImplicitObjectArgument()
                              : call->getNumArgs() > 0 ? call->getArg(0)
                                                       : nullptr;
  if (object == nullptr) return std::nullopt;
  if (const auto* o = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call); o != nullptr && o->getNumArgs() == 2)
    return stream_operator(o);
  const clang::Expr* plain = object->IgnoreParenImpCasts();
  if (!is_stream(plain->getType()) && !is_stream(plain->getType()->getPointeeType())) return std::nullopt;
  const Place place = object->getType()->isPointerType() ? evaluate(object).place : place_of(object);
  const std::string name = method->getNameAsString();
  const int line = line_of(call);
  const auto held = place.memory ? place.memory->slots.find(place.key) : std::map<std::int64_t, Value>::iterator{};
  const bool found = place.memory && held != place.memory->slots.end() && held->second.kind == Value::Kind::object &&
                     held->second.place.memory;
  const Value self = call->isLValue() ? Value::pointer_to(place) : Value::of(0);
  if (name == "open" && call->getNumArgs() >= 1) {
    if (found)
      open_stream(held->second.place.memory, call->getArg(0), call->getNumArgs() > 1 ? call->getArg(1) : nullptr);
    return self;
  }
  if (name == "close" || name == "exceptions") return self;
  if (name == "is_open") return Value::of(1);
  const auto file = found ? held->second.place.memory->file : nullptr;
  if (!file) {
    unknown_call(call, name);
    return call->isLValue() ? self : Value::not_known("a stream is read", line);
  }
  std::vector<Value> given;
  const auto number = [&](unsigned k, std::int64_t otherwise) {
    if (k >= call->getNumArgs() || llvm::isa<clang::CXXDefaultArgExpr>(call->getArg(k))) return otherwise;
    const Value v = evaluate(call->getArg(k));
    return v.is_integer() ? v.integer : otherwise;
  };
  if (name == "operator bool" || name == "good")
    return Value::of(!file->failed && !(name == "good" && file->ended) ? 1 : 0);
  if (name == "operator!" || name == "fail" || name == "bad") return Value::of(file->failed && name != "bad" ? 1 : 0);
  if (name == "eof") return Value::of(file->ended ? 1 : 0);
  if (name == "clear") {
    file->failed = file->ended = false;
    return Value::of(0);
  }
  if (name == "tellg") return Value::of(static_cast<std::int64_t>(file->at));
  if (name == "gcount") return Value::not_known("std::istream::gcount()", line);
  if (name == "seekg") {
    clang::Expr::EvalResult from;
    const bool relative = call->getNumArgs() == 2 && call->getArg(1)->EvaluateAsInt(from, context_);
    seek(*file, number(0, 0), relative ? static_cast<int>(from.Val.getInt().getExtValue()) : 0);
    return self;
  }
  if (name == "read" && call->getNumArgs() == 2) {
    const std::int64_t bytes = number(1, -1);
    if (bytes >= 0) file->failed = read_bytes(*file, call->getArg(0), bytes) < bytes;
    return self;
  }
  if (name == "str") {
    if (call->getNumArgs() == 0) return Value::object_of(text_pointer(file->text).place.memory);
    const auto text = text_of(evaluate(call->getArg(0)));
    held->second.place.memory->file = text ? std::make_shared<OpenFile>(OpenFile{*text}) : nullptr;
    return Value::of(0);
  }
  if (name == "peek" || (name == "get" && call->getNumArgs() <= 1)) {
    const bool more = file->at < file->text.size();
    file->ended = !more;
    const Value c = Value::of(more ? static_cast<unsigned char>(file->text[file->at]) : -1);
    if (name == "peek") return c;
    file->failed = !more;
    if (more) ++file->at;
    if (call->getNumArgs() == 0) return c;
    if (more) store(place_of(call->getArg(0)), converted(c, context_.CharTy));
    return self;
  }
  if (name == "ignore") {
    const std::int64_t most = number(0, 1), delimiter = number(1, -1);
    for (std::int64_t k = 0; k < most && file->at < file->text.size(); ++k)
      if (static_cast<unsigned char>(file->text[file->at++]) == delimiter) break;
    return self;
  }
  if (name == "getline" && call->getNumArgs() >= 2) {
    store_text(evaluate(call->getArg(0)), line_of_file(*file, static_cast<char>(number(2, '\n'))), line);
    return self;
  }
  return std::nullopt;
}

}  // namespace kernelcast::frontend::host
