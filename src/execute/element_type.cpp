// Pointers are opaque in the IR, so a kernel's own types are asked first: the parameter's type text if it is one of the
// source, then the mangled symbol of C++ kernels, which spells every parameter out ("_Z4axpyPfS_i": float*, float*,
// int). Otherwise the loads and stores of the buffer vote. If every one of them moves the same number of scalars, the
// element is taken to be a vector of so many: a buffer that is declared in vectors must not be taken for a shorter one.
#include "execute/element_type.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

namespace kernelcast::interpreter {
namespace {

using Sign = ElementType::Sign;

struct NamedType {
  std::string_view name;
  ValueType scalar;
  Sign sign;
};

// "long" has 8 bytes in OpenCL C and on Linux hosts of CUDA; plain char is signed on every target we know.
constexpr std::array<NamedType, 40> named_types = {{
    {"float", ValueType::f32, Sign::signed_},
    {"double", ValueType::f64, Sign::signed_},
    {"half", ValueType::f16, Sign::signed_},
    {"__half", ValueType::f16, Sign::signed_},
    {"_Float16", ValueType::f16, Sign::signed_},
    {"bool", ValueType::i1, Sign::unsigned_},
    {"char", ValueType::i8, Sign::signed_},
    {"signed char", ValueType::i8, Sign::signed_},
    {"unsigned char", ValueType::i8, Sign::unsigned_},
    {"uchar", ValueType::i8, Sign::unsigned_},
    {"int8_t", ValueType::i8, Sign::signed_},
    {"uint8_t", ValueType::i8, Sign::unsigned_},
    {"short", ValueType::i16, Sign::signed_},
    {"unsigned short", ValueType::i16, Sign::unsigned_},
    {"ushort", ValueType::i16, Sign::unsigned_},
    {"int16_t", ValueType::i16, Sign::signed_},
    {"uint16_t", ValueType::i16, Sign::unsigned_},
    {"int", ValueType::i32, Sign::signed_},
    {"signed int", ValueType::i32, Sign::signed_},
    {"unsigned int", ValueType::i32, Sign::unsigned_},
    {"unsigned", ValueType::i32, Sign::unsigned_},
    {"uint", ValueType::i32, Sign::unsigned_},
    {"int32_t", ValueType::i32, Sign::signed_},
    {"uint32_t", ValueType::i32, Sign::unsigned_},
    {"long", ValueType::i64, Sign::signed_},
    {"unsigned long", ValueType::i64, Sign::unsigned_},
    {"ulong", ValueType::i64, Sign::unsigned_},
    {"long int", ValueType::i64, Sign::signed_},
    {"unsigned long int", ValueType::i64, Sign::unsigned_},
    {"long long", ValueType::i64, Sign::signed_},
    {"unsigned long long", ValueType::i64, Sign::unsigned_},
    {"longlong", ValueType::i64, Sign::signed_},
    {"ulonglong", ValueType::i64, Sign::unsigned_},
    {"int64_t", ValueType::i64, Sign::signed_},
    {"uint64_t", ValueType::i64, Sign::unsigned_},
    {"size_t", ValueType::i64, Sign::unsigned_},
    {"ptrdiff_t", ValueType::i64, Sign::signed_},
    {"unsigned short int", ValueType::i16, Sign::unsigned_},
    {"short int", ValueType::i16, Sign::signed_},
    {"long unsigned int", ValueType::i64, Sign::unsigned_},
}};

constexpr std::array<std::string_view, 16> qualifiers = {
    "const",    "volatile", "restrict", "__restrict__", "__restrict", "__global",  "global",  "__constant",
    "constant", "__local",  "local",    "read_only",    "write_only", "__private", "private", "__generic"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The words in front of the first '*', without qualifiers: "const unsigned int" -> "unsigned int".
std::string base_words(std::string_view type) {
  std::string base;
  for (std::size_t i = 0; i < type.size();) {
    if (!is_word(type[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < type.size() && is_word(type[end])) ++end;
    const std::string_view word = type.substr(i, end - i);
    if (std::find(qualifiers.begin(), qualifiers.end(), word) == qualifiers.end())
      base += (base.empty() ? "" : " ") + std::string(word);
    i = end;
  }
  return base;
}

const NamedType* find_type(std::string_view name) {
  const auto* at =
      std::find_if(named_types.begin(), named_types.end(), [&](const NamedType& t) { return t.name == name; });
  return at == named_types.end() ? nullptr : at;
}

struct Votes {
  std::map<ValueType, int> types;
  int lanes = 0;  // of every access so far; -1: they differ
};

}  // namespace

std::optional<Element> pointee_of(std::string_view type) {
  const std::size_t star = type.find('*');
  if (star == std::string_view::npos) return std::nullopt;
  if (type.find('*', star + 1) != std::string_view::npos)  // pointers to pointers
    return Element{{ValueType::i64, Sign::unsigned_, true}, 8};
  std::string name = base_words(type.substr(0, star));
  int lanes = 1;
  const NamedType* found = find_type(name);
  if (found == nullptr) {
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    const std::string tail = name.substr(digits);
    if (tail != "1" && tail != "2" && tail != "3" && tail != "4" && tail != "8" && tail != "16") return std::nullopt;
    lanes = std::atoi(tail.c_str());
    found = find_type(name.substr(0, digits));
    if (found == nullptr) return std::nullopt;
    // OpenCL's three-vectors fill four places; CUDA's do not, and are structures with the same name.
    if (lanes == 3 && type.find("global") != std::string_view::npos) lanes = 4;
  }
  return Element{{found->scalar, found->sign, true}, size_of(found->scalar) * lanes};
}

std::vector<std::string> parameter_types(const std::string& symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  if (text == nullptr) return {};
  const std::string full = text;
  std::free(text);  // NOLINT: __cxa_demangle allocates with malloc
  std::vector<std::string> types;
  if (full.empty() || full.back() != ')') return types;
  // From the last parenthesis back to the one that opens it.
  int depth = 0;
  std::size_t end = full.size() - 1;
  for (std::size_t i = full.size(); i-- > 0;) {
    const char c = full[i];
    if (c == ')' || c == '>' || c == ']') ++depth;
    if (c == '(' || c == '<' || c == '[') --depth;
    const bool opens = c == '(' && depth == 0;
    if (opens || (c == ',' && depth == 1)) {
      const std::size_t first = full[i + 1] == ' ' ? i + 2 : i + 1;
      types.push_back(full.substr(first, end - first));
      end = i;
    }
    if (opens) break;
  }
  std::reverse(types.begin(), types.end());
  return types;
}

std::vector<Element> elements_of(const KernelProfile& profile, const Program& program) {
  std::vector<Votes> votes(profile.buffers.size());
  for (const auto& i : program.code) {
    const bool moves = i.op == Opcode::load || i.op == Opcode::store || i.op == Opcode::atomic;
    if (!moves || i.site < 0) continue;
    const int buffer = program.sites[i.site].buffer;
    if (buffer < 0) continue;
    Votes& v = votes[buffer];
    const int lanes = i.op == Opcode::atomic ? 1 : i.extra;
    ++v.types[i.type];
    v.lanes = v.lanes == 0 || v.lanes == lanes ? lanes : -1;
  }
  std::vector<std::string> spelled = parameter_types(profile.symbol);
  if (spelled.size() != profile.parameters.size()) spelled.assign(profile.parameters.size(), "");
  std::vector<Element> elements;
  for (std::size_t b = 0; b < profile.buffers.size(); ++b) {
    const int p = profile.buffers[b].parameter;
    const Parameter* parameter = p >= 0 ? &profile.parameters[p] : nullptr;
    std::optional<Element> e;
    if (parameter != nullptr) e = pointee_of(parameter->type);
    if (parameter != nullptr && !e) e = pointee_of(spelled[p]);
    const auto& types = votes[b].types;
    if (!e && !types.empty()) {
      const auto most = std::max_element(types.begin(), types.end(),
                                         [](const auto& x, const auto& y) { return x.second < y.second; });
      const bool vector = votes[b].lanes > 1 && types.size() == 1;
      e = Element{{most->first, Sign::unknown, true}, size_of(most->first) * (vector ? votes[b].lanes : 1)};
    }
    if (!e) e = Element{};
    if (parameter != nullptr && parameter->bytes > 0) e->bytes = parameter->bytes;
    if (!e->type.known && (e->bytes == 1 || e->bytes == 2 || e->bytes == 8))
      e->type.scalar = e->bytes == 1 ? ValueType::i8 : e->bytes == 2 ? ValueType::i16 : ValueType::i64;
    elements.push_back(*e);
  }
  return elements;
}

}  // namespace kernelcast::interpreter
