// Which values counts depend on.
#pragma once

#include <cstdint>
#include <vector>

#include "kernelcast/program.h"

namespace kernelcast::interpreter {

/// Values that decide where control goes or what memory is touched, by themselves or through memory.
class Relevance {
 public:
  explicit Relevance(const Program& program);
  [[nodiscard]] bool of_register(std::uint32_t reg) const { return reg != no_register && relevant_[reg]; }
  [[nodiscard]] bool of_field(const ParameterField& field) const;
  /// Of what the buffer holds.
  [[nodiscard]] bool of_buffer(int buffer) const;

 private:
  void mark(std::uint32_t reg);
  void mark_operands(const SimtInstruction& i);
  void mark_stores_to(int where);
  void note_parameter(const SimtInstruction& load);
  [[nodiscard]] int place_of(const SimtInstruction& i) const;

  const Program& program_;
  std::vector<char> relevant_;
  std::vector<std::uint32_t> waiting_;
  std::vector<char> read_;  // places in memory of which a relevant value was read
  struct Part {
    int parameter;
    std::int64_t first, past;
  };
  std::vector<Part> parts_;  // of parameters that are passed by value
  bool any_part_ = false;    // a relevant value comes from where it cannot be told
};

}  // namespace kernelcast::interpreter
