// A matrix instruction reads each of its operands from neighboring registers in order, the first of which has an
// aligned number; so does a load that fills several. Where an operand takes the registers of one load in another order
// ({a, c, b, d} of an ldmatrix that fills {a, b, c, d}), they cannot lie in place for both, and ptxas copies them
// before the product. A copy serves about two products: ptxas 13.0 for sm_90a makes 1.2 to 4.2 moves a product of
// m16n8k16 with four such registers (versions 5, 7, 10 and 11 of MatmulTutorial), about one of m16n8k8 with two
// (version 4), and none where the orders agree (version 2).
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "frontend/code/nvidia/ptx_flow.h"
#include "frontend/code/nvidia/ptx_fusion.h"

namespace kernelcast::frontend {
namespace {

/// Where a load puts a register among those that it fills.
struct FilledRegister {
  std::size_t load = 0;
  int at = 0, of = 1;
  int definitions = 0;
};
using FilledRegisters = std::unordered_map<std::string_view, FilledRegister>;

std::vector<std::string_view> tuple_of(std::string_view operand) {
  std::vector<std::string_view> names;
  for (std::size_t i = operand.find('%'); i != std::string_view::npos; i = operand.find('%', i + 1))
    names.push_back(operand.substr(i, operand.find_first_of(", }", i) - i));
  return names;
}

FilledRegisters places_of(const AsmFunction& kernel, const std::vector<PtxAccesses>& accesses) {
  FilledRegisters places;
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const AsmInstruction& load = kernel.instructions[i];
    for (const std::string_view name : accesses[i].writes) places[name].definitions += 1;
    if (!(load.opcode.starts_with("ldmatrix.") || load.opcode.starts_with("ld.")) || load.operands.empty()) continue;
    const std::vector<std::string_view> filled = tuple_of(load.operands[0]);
    for (std::size_t k = 0; k < filled.size(); ++k) {
      FilledRegister& p = places[filled[k]];
      p.load = i, p.at = static_cast<int>(k), p.of = static_cast<int>(filled.size());
    }
  }
  return places;
}

/// Whether registers that loads fill together can be the operand where they lie.
bool lie_in_place(const std::vector<std::string_view>& tuple, const FilledRegisters& places) {
  std::map<std::size_t, int> first;  // of each load, the tuple's place of what it fills first
  for (std::size_t k = 0; k < tuple.size(); ++k) {
    const auto found = places.find(tuple[k]);
    if (found == places.end() || found->second.definitions != 1 || found->second.of < 2) continue;
    const FilledRegister& p = found->second;
    const int start = static_cast<int>(k) - p.at, step = std::min(p.of, static_cast<int>(tuple.size()));
    if (start % step != 0 || first.try_emplace(p.load, start).first->second != start) return false;
  }
  return true;
}

}  // namespace

void copy_tuples(const AsmFunction& kernel, std::vector<OpCounts>& costs) {
  constexpr double served = 2;  // products by one copy
  const FilledRegisters places = places_of(kernel, all_accesses(kernel));
  std::map<std::pair<int, std::string_view>, std::vector<std::size_t>> users;  // of a tuple in a block
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const AsmInstruction& product = kernel.instructions[i];
    if (!product.opcode.starts_with("mma.") || product.operands.size() < 3) continue;
    for (const std::size_t operand : {1, 2}) users[{product.block, product.operands[operand]}].push_back(i);
  }
  for (const auto& [where, products] : users) {
    const std::vector<std::string_view> tuple = tuple_of(where.second);
    if (tuple.size() < 2 || lie_in_place(tuple, places)) continue;
    const auto n = static_cast<double>(products.size());
    for (const std::size_t i : products)
      costs[i][OpClass::move] += static_cast<double>(tuple.size()) * std::ceil(n / served) / n;
  }
}

}  // namespace kernelcast::frontend
