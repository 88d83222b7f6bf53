// The operations of PTX 9.0 by name: instructions.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kernelcast::ptx {

/// C++'s keywords end in an underscore. `unknown`: an opcode that instructions.def does not have.
enum class Op : std::uint8_t {
#define PTX_OP(name, ...) name,
#include "ptx/instructions.def"
  unknown,
};

struct OpcodeMatch {
  Op op = Op::unknown;
  std::size_t length = 0;  // of the spelling; of the first word for `unknown`
};
/// The longest spelling that `text` ("ld.global.nc.f32") begins with, up to a dot or the end.
OpcodeMatch match_opcode(std::string_view text);

/// The first spelling: "bar.sync"; "unknown" for `unknown`.
std::string_view name_of(Op op);

/// Of all operations.
std::vector<std::string_view> all_spellings();

}  // namespace kernelcast::ptx
