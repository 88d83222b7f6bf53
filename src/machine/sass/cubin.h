// A cubin: a 64-bit ELF whose sections .text.KERNEL hold the instructions. Reads it, and changes one field of one
// instruction while every other byte stays.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "machine/sass/instruction.h"

namespace kernelcast::sass {

class Cubin {
 public:
  struct Kernel {
    std::string name;
    std::size_t offset = 0, instructions = 0;  // in the file; of 16 bytes each
    int registers = 0;                         // of a thread; 0: the file does not say
    std::uint64_t stack_bytes = 0;             // of a thread: local arrays and spills
    std::uint64_t shared_bytes = 0;            // static, of a block, without what the system keeps for itself
  };

  /// Throws UserError "NAME: ..." for bytes that are no cubin of Volta or later, or that point outside themselves.
  Cubin(std::string bytes, std::string name);

  [[nodiscard]] int architecture() const { return architecture_; }  // 90 for sm_90
  [[nodiscard]] const std::vector<Kernel>& kernels() const { return kernels_; }
  /// Throws UserError when there is none of that name.
  [[nodiscard]] const Kernel& kernel(std::string_view name) const;
  /// Throws UserError for an index that the kernel does not have.
  [[nodiscard]] Instruction at(const Kernel& kernel, std::size_t index) const;
  /// Replaces one field. Throws UserError for an index that the kernel does not have, a value that does not fit, and a
  /// register that the kernel was not given.
  void patch(const Kernel& kernel, std::size_t index, BitField field, std::uint32_t value);
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  [[nodiscard]] std::uint64_t number(std::uint64_t offset, int width) const;
  [[nodiscard]] std::string text(std::uint64_t table, std::uint64_t size, std::uint64_t offset) const;
  void check_range(std::uint64_t offset, std::uint64_t size, const char* what) const;
  void read_sizes(std::uint64_t offset, std::uint64_t size, const std::vector<std::uint64_t>& symbols);
  [[nodiscard]] std::size_t place(const Kernel& kernel, std::size_t index) const;

  std::string bytes_, name_;
  int architecture_ = 0;
  std::vector<Kernel> kernels_;
};

/// Path of ptxas: `given` if it is not empty, otherwise CUDA's usual places; nothing when there is none.
std::optional<std::string> find_ptxas(const std::string& given = {});

}  // namespace kernelcast::sass
