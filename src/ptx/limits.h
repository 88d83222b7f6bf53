// Sizes that the reader takes; beyond them it throws LimitError and names the limit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelcast::ptx {

inline constexpr std::size_t max_text_bytes = std::size_t{1} << 30;
inline constexpr std::uint32_t max_registers = std::uint32_t{1} << 22;  // of a function
inline constexpr std::uint32_t max_labels = std::uint32_t{1} << 18;     // of a function
inline constexpr std::uint32_t max_scopes = 64;                         // within one another
inline constexpr std::uint32_t max_expression_depth = 64;               // of parentheses and operators
inline constexpr std::uint32_t max_operand_depth = 4;                   // of braces and parentheses
inline constexpr std::size_t max_dimensions = 16;                       // of an array
inline constexpr std::uint64_t max_initializer_elements = std::uint64_t{1} << 26;

}  // namespace kernelcast::ptx
