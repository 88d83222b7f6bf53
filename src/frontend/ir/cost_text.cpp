// Costs as texts (parse_cost), and what matrix instructions multiply.
#include "frontend/ir/assembly.h"

#include <charconv>
#include <string>

#include "kernelcast/error.h"

namespace kernelcast::frontend {

OpCounts parse_cost(std::string_view text) {
  OpCounts ops;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    double count = 1;
    if (const auto colon = word.find(':'); colon != std::string_view::npos) {
      std::from_chars(word.data() + colon + 1, word.data() + word.size(), count);
      word = word.substr(0, colon);
    }
    const auto c = op_class_from_name(word);
    if (!c) throw InternalError("cost table: unknown operation class '" + std::string(word) + "'");
    ops[*c] += count;
  }
  return ops;
}

bool count_products(std::string_view opcode, OpCounts& ops) {
  const auto product = matrix_instruction(opcode);
  if (!product) return false;
  auto& by_type = product->asynchronous ? ops.tensor.async : ops.tensor.warp;
  by_type[static_cast<std::size_t>(product->type)] += product->multiply_adds();
  ops.tensor.idle += product->idle();
  ops.tensor.passes += product->passes;
  return product->multiply_adds() > 0;
}

}  // namespace kernelcast::frontend
