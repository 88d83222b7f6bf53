// Instructions of Volta and later as 16 bytes: the control field and the register operands, by bit.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "kernelcast/sm.h"

namespace kernelcast::sass {

/// Little-endian: `low` holds bits 0-63, `high` bits 64-127.
struct Instruction {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Instruction&) const = default;
};

/// A field that lies within one half of the instruction.
struct BitField {
  std::string_view name;
  int first = 0, width = 0;  // bits
};
inline constexpr BitField opcode{"opcode", 0, 12}, destination{"Rd", 16, 8}, source_a{"Ra", 24, 8},
    source_b{"Rb", 32, 8}, source_c{"Rc", 64, 8}, stall{"stall", 105, 4}, yield{"yield", 109, 1},
    write_barrier{"write barrier", 110, 3}, read_barrier{"read barrier", 113, 3}, wait_mask{"wait mask", 116, 6},
    reuse{"reuse", 122, 4}, control{"control", 105, 21};
inline constexpr std::array control_fields{stall, yield, write_barrier, read_barrier, wait_mask, reuse};
inline constexpr std::array register_fields{destination, source_a, source_b, source_c};

/// FFMA Rd, Ra, Rb, Rc: the form whose operands are all registers.
inline constexpr std::uint32_t ffma_registers = 0x223;
inline constexpr std::uint32_t zero_register = 255;

std::uint32_t get(const Instruction& instruction, BitField field);
/// The instruction with one field changed. Throws UserError when the value does not fit the field.
Instruction with(Instruction instruction, BitField field, std::uint32_t value);

/// Meaning of bits 105-125; sm::encode_control() is the way back.
sm::Control control_of(const Instruction& instruction);

}  // namespace kernelcast::sass
