#include "ptx/parse.h"

#include <charconv>
#include <optional>
#include <unordered_map>

namespace kernelcast::ptx {
namespace {

using CO = CacheOperator;
using R = Rounding;
using S = Space;

template <typename Value>
using WordTable = std::unordered_map<std::string_view, Value>;

template <typename Value>
Value word_value(const WordTable<Value>& table, std::string_view word, Value otherwise) {
  const auto found = table.find(word);
  return found == table.end() ? otherwise : found->second;
}

const WordTable<Space>& space_words() {
  static const WordTable<Space> all{{"const", S::constant},
                                    {"global", S::global},
                                    {"local", S::local},
                                    {"param", S::param},
                                    {"param::entry", S::param_entry},
                                    {"param::func", S::param_func},
                                    {"shared", S::shared},
                                    {"shared::cta", S::shared},
                                    {"shared::cluster", S::shared_cluster}};
  return all;
}
const WordTable<CacheOperator>& cache_words() {
  static const WordTable<CacheOperator> all{{"ca", CO::ca}, {"cg", CO::cg}, {"cs", CO::cs}, {"lu", CO::lu},
                                            {"cv", CO::cv}, {"wb", CO::wb}, {"wt", CO::wt}};
  return all;
}
const WordTable<Order>& order_words() {
  static const WordTable<Order> all{{"weak", Order::weak},          {"relaxed", Order::relaxed},
                                    {"acquire", Order::acquire},    {"release", Order::release},
                                    {"acq_rel", Order::acq_rel},    {"sc", Order::sc},
                                    {"volatile", Order::volatile_}, {"mmio", Order::mmio}};
  return all;
}
const WordTable<Scope>& scope_words() {
  // membar.gl is membar.gpu.
  static const WordTable<Scope> all{
      {"cta", Scope::cta}, {"cluster", Scope::cluster}, {"gpu", Scope::gpu}, {"gl", Scope::gpu}, {"sys", Scope::sys}};
  return all;
}
const WordTable<Rounding>& rounding_words() {
  static const WordTable<Rounding> all{{"rn", R::rn},   {"rz", R::rz},  {"rm", R::rm},   {"rp", R::rp},
                                       {"rna", R::rna}, {"rs", R::rs},  {"rni", R::rni}, {"rzi", R::rzi},
                                       {"rmi", R::rmi}, {"rpi", R::rpi}};
  return all;
}
const WordTable<Comparison>& comparison_words() {
  using C = Comparison;
  static const WordTable<Comparison> all{
      {"eq", C::eq},   {"ne", C::ne},   {"lt", C::lt},   {"le", C::le},   {"gt", C::gt},   {"ge", C::ge},
      {"lo", C::lo},   {"ls", C::ls},   {"hi", C::hi},   {"hs", C::hs},   {"equ", C::equ}, {"neu", C::neu},
      {"ltu", C::ltu}, {"leu", C::leu}, {"gtu", C::gtu}, {"geu", C::geu}, {"num", C::num}, {"nan", C::nan}};
  return all;
}
const WordTable<Combine>& combine_words() {
  using C = Combine;
  static const WordTable<Combine> all{{"add", C::add}, {"min", C::min},  {"max", C::max},   {"inc", C::inc},
                                      {"dec", C::dec}, {"cas", C::cas},  {"exch", C::exch}, {"and", C::and_},
                                      {"or", C::or_},  {"xor", C::xor_}, {"popc", C::popc}};
  return all;
}

bool compares(Op op) {
  switch (op) {
    case Op::set:
    case Op::setp:
    case Op::vset:
    case Op::vset2:
    case Op::vset4:
      return true;
    default:
      return false;
  }
}

bool combines(Op op) {
  switch (op) {
    case Op::set:
    case Op::setp:
    case Op::atom:
    case Op::red:
    case Op::red_async:
    case Op::redux:
    case Op::barrier_red:
    case Op::multimem_ld_reduce:
    case Op::multimem_red:
    case Op::multimem_cp_reduce_async_bulk:
    case Op::cp_reduce_async_bulk:
    case Op::cp_reduce_async_bulk_tensor:
    case Op::sured:
    case Op::tcgen05_ld:
      return true;
    default:
      return false;
  }
}

bool multiplies(Op op) {
  switch (op) {
    case Op::mul:
    case Op::mad:
    case Op::madc:
    case Op::mul24:
    case Op::mad24:
    case Op::dp2a:
      return true;
    default:
      return false;
  }
}

/// "m16n8k16", "m8n8"
std::optional<MatrixShape> shape_named(std::string_view word) {
  MatrixShape shape;
  const char* at = word.data();
  const char* const end = at + word.size();
  for (const auto& [letter, extent] : {std::pair{'m', &shape.m}, std::pair{'n', &shape.n}, std::pair{'k', &shape.k}}) {
    if (at == end) return letter == 'k' ? std::optional(shape) : std::nullopt;
    if (*at != letter) return std::nullopt;
    const auto [next, status] = std::from_chars(at + 1, end, *extent);
    if (status != std::errc()) return std::nullopt;
    at = next;
  }
  return at == end ? std::optional(shape) : std::nullopt;
}

/// The number after one letter: v4, x2; 0 for anything else.
int numbered_word(std::string_view word, char letter) {
  int number = 0;
  if (word.size() < 2 || word.size() > 4 || word[0] != letter) return 0;
  const auto [end, status] = std::from_chars(word.data() + 1, word.data() + word.size(), number);
  return status == std::errc() && end == word.data() + word.size() && number > 0 && number <= 128 ? number : 0;
}

void decode_word(Instruction& into, std::string_view word) {
  if (const Type type = type_named(word); type != Type::none) {
    if (into.type_count < into.types.size()) into.types[into.type_count++] = type;
  } else if (const Space space = word_value(space_words(), word, Space::generic); space != Space::generic) {
    if (into.space_count < into.spaces.size()) into.spaces[into.space_count++] = space;
  } else if (const Comparison comparison = word_value(comparison_words(), word, Comparison::none);
             comparison != Comparison::none && compares(into.op)) {
    into.comparison = comparison;
  } else if (const Combine combine = word_value(combine_words(), word, Combine::none);
             combine != Combine::none && combines(into.op)) {
    into.combine = combine;
  } else if (multiplies(into.op) && (word == "lo" || word == "hi" || word == "wide")) {
    into.half = word == "lo" ? Half::lo : word == "hi" ? Half::hi : Half::wide;
  } else if (const int vector = numbered_word(word, 'v')) {
    into.vector = static_cast<std::uint8_t>(vector);
  } else if (const int repeat = numbered_word(word, 'x')) {
    into.repeat = static_cast<std::uint8_t>(repeat);
  } else if (const Rounding rounding = word_value(rounding_words(), word, Rounding::none); rounding != Rounding::none) {
    into.rounding = rounding;
  } else if (const Order order = word_value(order_words(), word, Order::none); order != Order::none) {
    into.order = order;
  } else if (const Scope scope = word_value(scope_words(), word, Scope::none); scope != Scope::none) {
    into.scope = scope;
  } else if (const CacheOperator cache = word_value(cache_words(), word, CacheOperator::none);
             cache != CacheOperator::none) {
    into.cache = cache;
  } else if (const auto shape = shape_named(word)) {
    into.shape = *shape;
  }
}

}  // namespace

Instruction decode(std::string_view text) {
  Instruction instruction;
  const OpcodeMatch match = match_opcode(text);
  instruction.op = match.op;
  instruction.opcode = text.substr(0, match.length);
  for (std::size_t at = match.length; at < text.size();) {
    const std::size_t begin = at + 1;  // behind the dot
    const std::size_t end = std::min(text.find('.', begin), text.size());
    instruction.modifiers.push_back(text.substr(begin, end - begin));
    decode_word(instruction, instruction.modifiers.back());
    at = end;
  }
  return instruction;
}

}  // namespace kernelcast::ptx
