// The code generator names the IR block of each machine block in a comment. It also adds blocks of its own:
//   - "kc3.kc7_crit_edge", split critical edges: they count for the block before the edge, the longest IR name that
//     the name begins with;
//   - "Flow12" (AMD's structuriser) and unnamed ones (parts of a split block): they count for the block that
//     precedes them in the layout.
// IR blocks that end up empty have no machine block; they come out with no operations.
#include "frontend/code/code_join.h"

#include <unordered_map>

namespace kernelcast::frontend {
namespace {

using Index = std::unordered_map<std::string_view, std::size_t>;

std::size_t owner_of(std::string_view name, const Index& index, std::size_t previous) {
  if (const auto at = index.find(name); at != index.end()) return at->second;
  if (name.find("_crit_edge") == std::string_view::npos) return previous;
  for (auto dot = name.rfind('.'); dot != std::string_view::npos && dot > 0; dot = name.rfind('.', dot - 1))
    if (const auto at = index.find(name.substr(0, dot)); at != index.end()) return at->second;
  return previous;
}

void add_line(CodeBlock& block, const std::string& file, int line, const OpCounts& ops) {
  for (auto known = block.lines.rbegin(); known != block.lines.rend(); ++known)
    if (known->line == line && known->file == file) {
      known->ops += ops;
      return;
    }
  block.lines.push_back({line, file, ops});
}

}  // namespace

std::vector<CodeBlock> join_blocks(const AsmFunction& function, const std::vector<OpCounts>& costs, const Walk& path,
                                   const std::vector<std::string>& ir_blocks) {
  std::vector<CodeBlock> blocks(ir_blocks.size());
  Index index;
  for (std::size_t i = 0; i < ir_blocks.size(); ++i) {
    blocks[i].name = ir_blocks[i];
    index.emplace(ir_blocks[i], i);
  }
  std::vector<std::size_t> owner(function.blocks.size());
  std::size_t previous = 0;
  for (std::size_t b = 0; b < owner.size(); ++b)
    previous = owner[b] = owner_of(function.blocks[b].ir_name, index, previous);
  for (std::size_t b = 0; b < path.stalls.size(); ++b) blocks[owner[b]].stalls += path.stalls[b];
  for (std::size_t b = 0; b < path.phases.size(); ++b) add_phases(blocks[owner[b]].phases, path.phases[b], 1);
  std::vector<double> slots(function.blocks.size()), before(blocks.size());
  for (std::size_t i = 0; i < function.instructions.size(); ++i)
    slots[static_cast<std::size_t>(function.instructions[i].block)] += costs[i].total();
  for (std::size_t b = 0; b < owner.size(); ++b) {
    if (b < path.events.size()) add_events(blocks[owner[b]].events, path.events[b], before[owner[b]]);
    before[owner[b]] += slots[b];
  }
  static const std::string unknown_file;
  static const OpCounts nothing;
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    const AsmInstruction& instruction = function.instructions[i];
    CodeBlock& block = blocks[owner[static_cast<std::size_t>(instruction.block)]];
    ++block.instructions;
    if (costs[i] == nothing) continue;
    block.ops += costs[i];
    if (instruction.lanes_of >= 0) {
      const std::size_t lanes_of = owner[static_cast<std::size_t>(instruction.lanes_of)];
      blocks[lanes_of].issued_elsewhere += costs[i];
      block.issued_elsewhere += costs[i].scaled_lanes(-1);
    }
    const std::string& file =
        instruction.file < 0 ? unknown_file : function.files[static_cast<std::size_t>(instruction.file)];
    add_line(block, file, instruction.line, costs[i]);
  }
  return blocks;
}

}  // namespace kernelcast::frontend
