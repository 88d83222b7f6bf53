// AMDGCN reader. One statement a line, comments begin with ';', labels end in ':'. The IR block of a machine block
// stands in the comment of its label (`.LBB0_4:  ; %if.then6`) or of `; %bb.1:  ; %name`; inline assembly stands
// between
// `;;#ASMSTART` and `;;#ASMEND`. Registers and sizes come from the "Kernel info" comments behind the code, spills from
// the code object's metadata (.vgpr_spill_count). VOPD lines of GFX11 hold two instructions, joined by "::".
#include "frontend/code/amd/amdgcn.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "kernelcast/error.h"

namespace kernelcast::frontend {
namespace {

int number_after(std::string_view text, std::string_view key) {
  const auto at = text.find(key);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = trim(text.substr(at + key.size(), 24));
  int value = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return value;
}

std::string_view ir_name_in_amdgcn(std::string_view comment) {
  const auto at = comment.rfind("; %");
  if (at == std::string_view::npos) return {};
  std::string_view name = trim(comment.substr(at + 3));
  if (name.starts_with("bb.") && name.back() == ':') return {};
  if (name.size() > 2 && name.front() == '"') name = name.substr(1, name.size() - 2);
  return name;
}

class AmdgcnReader {
 public:
  AsmFunction code;
  std::string scratch_descriptor = "s[0:3]";

  void line(std::string_view s) {
    const auto semicolon = s.find(';');
    const std::string_view comment = semicolon == std::string_view::npos ? std::string_view{} : s.substr(semicolon);
    const std::string_view text = trim(s.substr(0, semicolon));
    if (comment.starts_with(";;#ASMSTART")) inline_asm_ = true;
    if (comment.starts_with(";;#ASMEND")) inline_asm_ = false;
    if (comment.starts_with("; %bb.")) return begin_block({}, comment);
    if (text.empty()) return;
    if (text.back() == ':') {
      if (text.starts_with(".LBB")) begin_block(text.substr(0, text.size() - 1), comment);
      return;
    }
    if (text.starts_with(".loc\t") || text.starts_with(".loc ")) return location(text, comment);
    if (text.front() == '.') return;
    for (std::string_view rest = text; !rest.empty();) {
      const auto both = std::min(rest.find("::"), rest.size());
      instruction(trim(rest.substr(0, both)), rest.size() < text.size());
      rest.remove_prefix(std::min(both + 2, rest.size()));
    }
  }

 private:
  void begin_block(std::string_view label, std::string_view comment) {
    if (code.blocks.size() == 1 && code.instructions.empty() && code.blocks[0].ir_name.empty())
      code.blocks[0] = {label, ir_name_in_amdgcn(comment)};
    else
      code.blocks.push_back({label, ir_name_in_amdgcn(comment)});
  }

  void location(std::string_view text, std::string_view comment) {  // .loc 1 5 54   ; path:5:54
    int fields[2] = {0, 0};
    std::string_view rest = trim(text.substr(4));
    for (int& field : fields) {
      const auto end = std::min(rest.find(' '), rest.size());
      std::from_chars(rest.data(), rest.data() + end, field);
      rest = trim(rest.substr(end));
    }
    line_ = fields[1];
    if (fields[0] < 0 || fields[0] > max_file_index) fields[0] = 0;
    const auto index = static_cast<std::size_t>(fields[0]);
    if (code.files.size() <= index) code.files.resize(index + 1);
    if (code.files[index].empty()) code.files[index] = path_in_comment(comment);
    file_ = static_cast<int>(index);
  }

  void instruction(std::string_view text, bool second) {
    if (text.empty()) return;
    AsmInstruction i;
    i.second = second;
    const auto end = std::min(text.find_first_of(" \t"), text.size());
    i.opcode = text.substr(0, end);
    i.operands = split_operands(text.substr(end));
    if (code.blocks.empty()) code.blocks.push_back({});
    i.block = static_cast<int>(code.blocks.size()) - 1;
    i.file = file_;
    i.line = line_;
    i.inlined = inline_asm_;
    follow_scratch(i);
    code.instructions.push_back(std::move(i));
  }

  // The descriptor of private memory comes in s[0:3]. A kernel that wants these registers moves it first, by halves:
  // s_mov_b64 s[100:101], s[0:1] and s_mov_b64 s[102:103], s[2:3], in any order.
  void follow_scratch(const AsmInstruction& i) {
    if (i.block != 0 || i.opcode != "s_mov_b64" || i.operands.size() != 2 || !i.operands[0].starts_with("s[")) return;
    if (i.operands[1] != "s[0:1]" && i.operands[1] != "s[2:3]") return;
    const int half = i.operands[1] == "s[0:1]" ? 0 : 1;
    moved_[half] = number_after(i.operands[0], "s[");
    if (moved_[0] >= 0 && moved_[1] == moved_[0] + 2)
      scratch_descriptor = "s[" + std::to_string(moved_[0]) + ":" + std::to_string(moved_[0] + 3) + "]";
  }

  int moved_[2] = {-1, -1};
  int file_ = -1, line_ = 0;
  bool inline_asm_ = false;
};

// Offset of the line "symbol:".
std::size_t find_label(std::string_view text, std::string_view symbol) {
  const std::string label = std::string(symbol) + ":";
  for (auto at = text.find(label); at != std::string_view::npos; at = text.find(label, at + 1))
    if (at == 0 || text[at - 1] == '\n') return at;
  return std::string_view::npos;
}

}  // namespace

AmdgcnKernel parse_amdgcn(std::string_view text, std::string_view symbol) {
  const auto begin = find_label(text, symbol);
  const auto end = begin == std::string_view::npos ? begin : text.find("\n.Lfunc_end", begin);
  if (end == std::string_view::npos) throw InternalError("the assembly text has no kernel " + std::string(symbol));
  AmdgcnReader reader;
  reader.code.blocks.push_back({});
  std::string_view body = text.substr(begin, end - begin);
  body.remove_prefix(std::min(body.find('\n') + 1, body.size()));
  while (!body.empty()) {
    const auto stop = std::min(body.find('\n'), body.size());
    reader.line(body.substr(0, stop));
    body.remove_prefix(std::min(stop + 1, body.size()));
  }
  AmdgcnKernel kernel;
  kernel.code = std::move(reader.code);
  fill_unknown_lines(kernel.code);
  const std::string_view info = text.substr(end);
  kernel.vector_registers = std::max(number_after(info, "; TotalNumVgprs:"), number_after(info, "; NumVgprs:"));
  kernel.scalar_registers =
      number_after(info, info.find("; TotalNumSgprs:") != std::string_view::npos ? "; TotalNumSgprs:" : "; NumSgprs:");
  kernel.scratch_bytes = number_after(info, "; ScratchSize:");
  if (kernel.scratch_bytes > 0) kernel.scratch_descriptor = std::move(reader.scratch_descriptor);
  kernel.lds_bytes = number_after(info, "; LDSByteSize:");
  kernel.vector_spills = number_after(info, ".vgpr_spill_count:");
  kernel.scalar_spills = number_after(info, ".sgpr_spill_count:");
  return kernel;
}

}  // namespace kernelcast::frontend
