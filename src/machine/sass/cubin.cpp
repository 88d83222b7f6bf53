// A reader of our own rather than libelf: headers of sections and their names are all that is needed, the file is ours
// to check (it may be damaged), and the field offsets of ELF64 are fixed (System V ABI, chapter 4). Numbers are
// assembled byte by byte, so neither the machine's byte order nor alignment matters.
#include "machine/sass/cubin.h"

#include <algorithm>

#include "kernelcast/error.h"

namespace kernelcast::sass {
namespace {

constexpr std::uint64_t header_bytes = 64, section_bytes = 64, instruction_bytes = 16;
constexpr std::uint64_t machine_cuda = 190;  // EM_CUDA
constexpr std::uint64_t section_nobits = 8;  // SHT_NOBITS: no bytes in the file
constexpr int first_with_16_bytes = 70;
// From Hopper on a section of shared memory begins with the system's own kilobyte (what ptxas 12.4 and 13.0 write).
constexpr int first_with_system_shared = 90;
constexpr std::uint64_t system_shared_bytes = 1024;

}  // namespace

void Cubin::refuse(const std::string& why) const { throw UserError(name_ + ": " + why); }

void Cubin::check_range(std::uint64_t offset, std::uint64_t size, const char* what) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset)
    refuse(std::string("damaged cubin: ") + what + " at " + std::to_string(offset) + ", " + std::to_string(size) +
           " bytes, is not inside the file's " + std::to_string(bytes_.size()));
}

std::uint64_t Cubin::number(std::uint64_t offset, int width) const {
  check_range(offset, static_cast<std::uint64_t>(width), "a field");
  std::uint64_t out = 0;
  for (int i = width - 1; i >= 0; --i)
    out =
        out << 8U | static_cast<unsigned char>(bytes_[static_cast<std::size_t>(offset) + static_cast<std::size_t>(i)]);
  return out;
}

std::string Cubin::text(std::uint64_t table, std::uint64_t size, std::uint64_t offset) const {
  if (offset >= size) refuse("damaged cubin: a section's name lies outside the table of names");
  const std::string_view rest = std::string_view(bytes_).substr(table + offset, size - offset);
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) refuse("damaged cubin: a section's name has no end");
  return std::string(rest.substr(0, end));
}

Cubin::Cubin(std::string bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {
  if (bytes_.size() < header_bytes || !bytes_.starts_with("\x7f"
                                                          "ELF"))
    refuse("not a cubin: no ELF file");
  if (number(4, 1) != 2 || number(5, 1) != 1) refuse("not a cubin: not a 64-bit little-endian ELF file");
  if (number(18, 2) != machine_cuda) refuse("not a cubin: the ELF file is for another machine");
  // Up to ABI version 7 the architecture's number is the lowest byte of e_flags, from 8 on (CUDA 13) the second.
  const std::uint64_t flags = number(48, 4);
  architecture_ = static_cast<int>((number(8, 1) >= 8 ? flags >> 8U : flags) & 0xff);
  if (architecture_ < first_with_16_bytes)
    refuse("sm_" + std::to_string(architecture_) + " has other instructions; sm_70 and later can be read");
  const std::uint64_t table = number(40, 8), each = number(58, 2), count = number(60, 2), names = number(62, 2);
  if (count == 0 || each != section_bytes) refuse("damaged cubin: no table of sections");
  check_range(table, count * each, "the table of sections");
  if (names >= count) refuse("damaged cubin: no table of names");
  const std::uint64_t names_at = number(table + names * each + 24, 8),
                      names_size = number(table + names * each + 32, 8);
  check_range(names_at, names_size, "the table of names");
  std::vector<std::uint64_t> symbols;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> infos;
  std::vector<std::pair<std::string, std::uint64_t>> shared_sizes;  // of sections named by their kernel
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t section = table + i * each;
    const std::string title = text(names_at, names_size, number(section, 4));
    const std::uint64_t offset = number(section + 24, 8), size = number(section + 32, 8);
    if (title == ".nv.info" && number(section + 4, 4) != section_nobits) {
      check_range(offset, size, ".nv.info");
      infos.emplace_back(offset, size);
    }
    constexpr std::string_view code = ".text.", shared = ".nv.shared.";
    if (title.starts_with(shared)) shared_sizes.emplace_back(title.substr(shared.size()), size);
    if (!title.starts_with(code) || number(section + 4, 4) == section_nobits) continue;
    check_range(offset, size, title.c_str());
    if (size % instruction_bytes != 0) refuse("damaged cubin: " + title + " is no multiple of 16 bytes");
    // sh_info holds the kernel's symbol.
    symbols.push_back(number(section + 44, 4) & 0xffffff);
    kernels_.push_back({title.substr(code.size()), static_cast<std::size_t>(offset),
                        static_cast<std::size_t>(size / instruction_bytes), 0, 0, 0});
  }
  for (const auto& [offset, size] : infos) read_sizes(offset, size, symbols);
  const std::uint64_t system = architecture_ >= first_with_system_shared ? system_shared_bytes : 0;
  for (Kernel& k : kernels_)
    for (const auto& [kernel, bytes] : shared_sizes)
      if (kernel == k.name) k.shared_bytes = bytes - std::min(bytes, system);
}

// Attributes of .nv.info: a format, a number, and 16 bits that are a value or, in format 4, the bytes that follow.
void Cubin::read_sizes(std::uint64_t offset, std::uint64_t size, const std::vector<std::uint64_t>& symbols) {
  constexpr std::uint64_t sized = 4, frame_size = 0x11, register_count = 0x2f;
  const std::uint64_t end = offset + size;
  for (std::uint64_t at = offset; at + 4 <= end;) {
    const std::uint64_t attribute = number(at + 1, 1);
    const bool of_a_kernel = number(at, 1) == sized && number(at + 2, 2) == 8 && at + 12 <= end;
    for (std::size_t i = 0; of_a_kernel && i < kernels_.size(); ++i) {
      if (symbols[i] != number(at + 4, 4)) continue;
      const std::uint64_t value = number(at + 8, 4) & 0x7fffffff;
      if (attribute == register_count) kernels_[i].registers = static_cast<int>(value);
      if (attribute == frame_size) kernels_[i].stack_bytes = value;
    }
    at += 4 + (number(at, 1) == sized ? number(at + 2, 2) : 0);
  }
}

const Cubin::Kernel& Cubin::kernel(std::string_view name) const {
  const auto found = std::ranges::find(kernels_, name, &Kernel::name);
  if (found == kernels_.end()) refuse("there is no kernel " + std::string(name));
  return *found;
}

std::size_t Cubin::place(const Kernel& kernel, std::size_t index) const {
  if (index >= kernel.instructions)
    refuse(kernel.name + " has " + std::to_string(kernel.instructions) + " instructions, no number " +
           std::to_string(index));
  return kernel.offset + index * instruction_bytes;
}

Instruction Cubin::at(const Kernel& kernel, std::size_t index) const {
  const std::size_t from = place(kernel, index);
  return {number(from, 8), number(from + 8, 8)};
}

void Cubin::patch(const Kernel& kernel, std::size_t index, BitField field, std::uint32_t value) {
  const bool names_register =
      std::ranges::find(register_fields, field.first, &BitField::first) != register_fields.end();
  if (names_register && value != zero_register && kernel.registers > 0 &&
      value >= static_cast<std::uint32_t>(kernel.registers))
    refuse(kernel.name + " was given " + std::to_string(kernel.registers) + " registers, no R" + std::to_string(value));
  const std::size_t to = place(kernel, index);
  const Instruction changed = with(at(kernel, index), field, value);
  for (int i = 0; i < 8; ++i) {
    bytes_[to + static_cast<std::size_t>(i)] = static_cast<char>(changed.low >> (8 * i) & 0xff);
    bytes_[to + 8 + static_cast<std::size_t>(i)] = static_cast<char>(changed.high >> (8 * i) & 0xff);
  }
}

}  // namespace kernelcast::sass
