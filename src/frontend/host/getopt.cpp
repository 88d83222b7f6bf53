// getopt and getopt_long of the GNU C library: the words of the program are read once, in order, and options come
// before the other words from then on, as the library sorts them. Each call takes the next option.
#include <deque>

#include "frontend/host/interpreter.h"

namespace kernelcast::frontend::host {
namespace {

/// `:` behind a letter: it takes an argument; `::`: it may have one in the same word.
struct ShortOption {
  bool known = false;
  bool takes = false;
  bool optional = false;
};

ShortOption short_option(const std::string& letters, char letter) {
  const std::size_t at = letter == ':' ? std::string::npos : letters.find(letter);
  if (at == std::string::npos) return {};
  const auto colon = [&](std::size_t k) { return k < letters.size() && letters[k] == ':'; };
  return {true, colon(at + 1), colon(at + 1) && colon(at + 2)};
}

}  // namespace

/// Elements until the one without a name: name, has_arg, flag, val.
std::optional<std::vector<Interpreter::LongOption>> Interpreter::long_options(const clang::Expr* e) {
  const Value list = evaluate(e);
  std::vector<LongOption> options;
  if (list.kind != Value::Kind::pointer || list.place.memory == nullptr) return options;
  const clang::QualType type = e->getType()->isPointerType() ? e->getType()->getPointeeType() : clang::QualType();
  const int line = line_of(e);
  const auto& bytes = list.place.memory->bytes;
  for (std::int64_t k = list.place.key;; ++k) {
    if (bytes && bytes->is_integer() && (k + 1) * size_of(type) > bytes->integer)
      return options;  // the last row is missing
    const Value element = load({list.place.memory, k}, e);
    const Value name = field(element, type, "name", line);
    const auto text = text_at(name);
    if (!text && (name.is_integer() || name.kind == Value::Kind::pointer)) return options;
    const Value takes = field(element, type, "has_arg", line), value = field(element, type, "val", line);
    if (!text || !takes.is_integer() || !value.is_integer()) return std::nullopt;
    options.push_back({*text, static_cast<int>(takes.integer), field(element, type, "flag", line), value.integer});
  }
}

/// Reads all words; false: one of them is not known.
bool Interpreter::read_options(const clang::CallExpr* call, const std::vector<LongOption>& known_words,
                               bool single_dash) {
  const Value number = evaluate(call->getArg(0)), list = evaluate(call->getArg(1));
  const auto letters = text_at(evaluate(call->getArg(2)));
  if (!number.is_integer() || list.kind != Value::Kind::pointer || !list.place.memory || !letters) return false;
  std::vector<Value> words;
  std::vector<std::string> texts;
  for (std::int64_t k = 0; k < number.integer; ++k) {
    words.push_back(load({list.place.memory, list.place.key + k}, call));
    const auto text = text_at(words.back());
    if (!text) return false;
    texts.push_back(*text);
  }
  std::vector<Value> sorted, others;
  if (!words.empty()) sorted.push_back(words[0]);
  options_read_.clear();
  std::size_t at = 1;
  const auto take = [&](std::int64_t value, const Value& argument, std::optional<std::size_t> index = std::nullopt) {
    options_read_.push_back({value, argument, index, 0});
  };
  for (; at < texts.size(); ++at) {
    const std::string& word = texts[at];
    if (word.size() < 2 || word[0] != '-') {
      if (letters->starts_with("+")) break;
      others.push_back(words[at]);
      continue;
    }
    sorted.push_back(words[at]);
    if (word == "--") {
      ++at;
      break;
    }
    const bool is_long = !known_words.empty() && (word.starts_with("--") || (single_dash && word.size() > 2));
    if (is_long) {
      const std::size_t name_at = word.starts_with("--") ? 2 : 1, equals = word.find('=');
      const std::string name = word.substr(name_at, equals == std::string::npos ? equals : equals - name_at);
      std::optional<std::size_t> found;
      for (std::size_t k = 0; k < known_words.size(); ++k)
        if (known_words[k].name == name || (!found && known_words[k].name.starts_with(name))) found = k;
      Value argument = Value::pointer_to({});
      if (found && equals != std::string::npos) {
        argument =
            Value::pointer_to({words[at].place.memory, words[at].place.key + static_cast<std::int64_t>(equals) + 1});
      } else if (found && known_words[*found].takes == 1 && at + 1 < texts.size()) {
        sorted.push_back(words[++at]);
        argument = words[at];
      }
      take(found ? known_words[*found].value : '?', argument, found);
    } else {
      for (std::size_t k = 1; k < word.size(); ++k) {
        const ShortOption option = short_option(*letters, word[k]);
        Value argument = Value::pointer_to({});
        bool last = false;
        if (option.takes && k + 1 < word.size()) {
          argument =
              Value::pointer_to({words[at].place.memory, words[at].place.key + static_cast<std::int64_t>(k) + 1});
          last = true;
        } else if (option.takes && !option.optional && at + 1 < texts.size()) {
          sorted.push_back(words[++at]);
          argument = words[at];
          last = true;
        }
        take(option.known ? word[k] : '?', argument);
        if (last) break;
      }
    }
    if (!options_read_.empty()) options_read_.back().next = static_cast<std::int64_t>(sorted.size());
  }
  options_end_ = static_cast<std::int64_t>(sorted.size());
  for (const Value& other : others) sorted.push_back(other);
  for (; at < words.size(); ++at) sorted.push_back(words[at]);
  for (std::size_t k = 0; k < sorted.size(); ++k)
    store({list.place.memory, list.place.key + static_cast<std::int64_t>(k)}, sorted[k]);
  return true;
}

std::optional<Value> Interpreter::option_call(const std::string& name, const clang::CallExpr* call) {
  if (name != "getopt" && name != "getopt_long" && name != "getopt_long_only") return std::nullopt;
  if (call->getNumArgs() < 3) return std::nullopt;
  const int line = line_of(call);
  const auto known_words = call->getNumArgs() >= 4 ? long_options(call->getArg(3)) : std::vector<LongOption>{};
  if (!options_started_) {
    if (!known_words || !read_options(call, *known_words, name == "getopt_long_only"))
      return Value::not_known("the arguments of the program are not known", line);
    options_started_ = true;
  }
  if (options_read_.empty()) {
    options_started_ = false;
    option_index().memory->slots[0] = Value::of(options_end_);
    return Value::of(-1);
  }
  const OptionRead next = options_read_.front();
  options_read_.pop_front();
  option_argument().memory->slots[0] = next.argument;
  if (next.next > 0) option_index().memory->slots[0] = Value::of(next.next);
  if (next.index && call->getNumArgs() >= 5)
    if (const Value into = evaluate(call->getArg(4)); into.kind == Value::Kind::pointer)
      store(into.place, Value::of(static_cast<std::int64_t>(*next.index)));
  if (next.index && known_words && *next.index < known_words->size()) {
    const Value& flag = (*known_words)[*next.index].flag;
    if (flag.kind == Value::Kind::pointer && flag.place.memory) {
      store(flag.place, Value::of(next.value));
      return Value::of(0);
    }
  }
  return Value::of(next.value);
}

/// The library's variables optarg and optind.
Place& Interpreter::option_argument() {
  if (option_argument_.memory == nullptr) option_argument_ = temporary(Value::pointer_to({}));
  return option_argument_;
}

Place& Interpreter::option_index() {
  if (option_index_.memory == nullptr) option_index_ = temporary(Value::of(1));
  return option_index_;
}

}  // namespace kernelcast::frontend::host
