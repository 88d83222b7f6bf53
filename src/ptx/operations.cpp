#include "ptx/operations.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <unordered_map>
#include <vector>

namespace kernelcast::ptx {
namespace {

constexpr std::string_view first_of(std::initializer_list<std::string_view> spellings) { return *spellings.begin(); }

constexpr std::array op_names{
#define PTX_OP(name, kind, operands, sm, family, ...) first_of({__VA_ARGS__}),
#include "ptx/instructions.def"
    std::string_view("unknown"),
};

struct Spelling {
  std::string_view text;
  Op op = Op::unknown;
};

/// All spellings of one first word, the longest first.
using ByWord = std::unordered_map<std::string_view, std::vector<Spelling>>;

ByWord spellings_by_word() {
  ByWord all;
  const auto add = [&](Op op, std::initializer_list<std::string_view> spellings) {
    for (const std::string_view text : spellings) all[text.substr(0, text.find('.'))].push_back({text, op});
  };
#define PTX_OP(name, kind, operands, sm, family, ...) add(Op::name, {__VA_ARGS__});
#include "ptx/instructions.def"
  for (auto& [word, spellings] : all)
    std::ranges::sort(spellings, [](const Spelling& a, const Spelling& b) { return a.text.size() > b.text.size(); });
  return all;
}

}  // namespace

OpcodeMatch match_opcode(std::string_view text) {
  static const ByWord by_word = spellings_by_word();
  const std::string_view word = text.substr(0, text.find('.'));
  if (const auto found = by_word.find(word); found != by_word.end())
    for (const Spelling& spelling : found->second)
      if (text.starts_with(spelling.text) && (text.size() == spelling.text.size() || text[spelling.text.size()] == '.'))
        return {spelling.op, spelling.text.size()};
  return {Op::unknown, word.size()};
}

std::vector<std::string_view> all_spellings() {
  return {
#define PTX_OP(name, kind, operands, sm, family, ...) __VA_ARGS__,
#include "ptx/instructions.def"
  };
}

std::string_view name_of(Op op) { return op_names[static_cast<std::size_t>(op)]; }

}  // namespace kernelcast::ptx
