// PTX text to a module; the text of an asm statement to a function.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ptx/module.h"

namespace kernelcast::ptx {

/// `name` is the file's in messages ("kernel.ptx:12:5: ..."). Throws UserError for what is no PTX, LimitError for sizes
/// beyond limits.h.
Module parse(std::string text, std::string name);

/// How operands are written in the text of an asm statement.
enum class FragmentSyntax : std::uint8_t {
  c,      // %0 %[name] %= %%: asm with operands in CUDA C++
  plain,  // no operands: asm without colons
  llvm,   // $0 ${0:x} ${:uid} $$: inline asm of LLVM IR
};

/// An operand of the statement. Operand i becomes register i of the fragment.
struct FragmentOperand {
  Type type = Type::b32;            // "h" b16, "r" b32, "l" b64, "q" b128, "f" f32, "d" f64, "b" pred
  std::string name;                 // %[name]; empty: none
  std::optional<std::string> text;  // "n" and "C": what stands in the text instead; no register is used
  int same_as = -1;                 // tied to an earlier operand, whose register it takes
};

struct Fragment {
  std::shared_ptr<const std::string> text;  // after operands have been put in
  std::vector<Location> locations;
  /// registers[i] is operand i (type none where it has a text or is tied); others are local to the statement.
  Function code;
};

/// `name` is the source file's in messages, `line` and `column` where the text begins in it (0: unknown).
Fragment parse_fragment(std::string_view text, std::span<const FragmentOperand> operands, FragmentSyntax syntax,
                        std::string name, std::uint32_t line = 0, std::uint32_t column = 0);

/// Splits `text` ("ld.global.nc.v4.f32") into opcode and modifiers and sets the fields that follow from them.
/// The instruction views `text`.
Instruction decode(std::string_view text);

}  // namespace kernelcast::ptx
