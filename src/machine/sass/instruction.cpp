// The layout is not documented by the vendor. It was read off by public work on Volta (Jia et al. 2018, "Dissecting the
// NVIDIA Volta GPU architecture via microbenchmarking", chapter 2) and is checked here against NVIDIA's disassembler
// where that is found.
#include "machine/sass/instruction.h"

#include <string>

#include "kernelcast/error.h"

namespace kernelcast::sass {
namespace {

constexpr std::uint64_t ones(int width) { return (std::uint64_t{1} << width) - 1; }

int barrier(std::uint32_t number) { return number == 7 ? -1 : static_cast<int>(number); }

}  // namespace

std::uint32_t get(const Instruction& instruction, BitField field) {
  const std::uint64_t half = field.first < 64 ? instruction.low : instruction.high;
  return static_cast<std::uint32_t>(half >> (field.first % 64) & ones(field.width));
}

Instruction with(Instruction instruction, BitField field, std::uint32_t value) {
  if (value > ones(field.width))
    throw UserError(std::string(field.name) + " = " + std::to_string(value) + ": the field has " +
                    std::to_string(field.width) + " bits");
  std::uint64_t& half = field.first < 64 ? instruction.low : instruction.high;
  const int shift = field.first % 64;
  half = (half & ~(ones(field.width) << shift)) | std::uint64_t{value} << shift;
  return instruction;
}

sm::Control control_of(const Instruction& instruction) {
  sm::Control out;
  out.stall = static_cast<int>(get(instruction, stall));
  out.yield = get(instruction, yield) == 0;
  out.write_barrier = barrier(get(instruction, write_barrier));
  out.read_barrier = barrier(get(instruction, read_barrier));
  out.wait_mask = static_cast<std::uint8_t>(get(instruction, wait_mask));
  out.reuse = static_cast<std::uint8_t>(get(instruction, reuse));
  return out;
}

}  // namespace kernelcast::sass
