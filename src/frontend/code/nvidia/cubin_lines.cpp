// The table is DWARF's (section .debug_line). Its addresses are relative to the kernel's code: what the loader would
// relocate is zero in the file.
#include "frontend/code/nvidia/ptxas.h"

#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugLine.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

namespace kernelcast::frontend {
namespace {

constexpr std::uint64_t instruction_bytes = 16;

const llvm::object::SectionRef* line_section(const llvm::object::ObjectFile& object, llvm::object::SectionRef& found) {
  for (const llvm::object::SectionRef& section : object.sections()) {
    llvm::Expected<llvm::StringRef> name = section.getName();
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    if (*name != ".debug_line") continue;
    found = section;
    return &found;
  }
  return nullptr;
}

}  // namespace

std::vector<int> lines_of_cubin(const std::string& cubin, std::size_t instructions, int file) {
  const llvm::MemoryBufferRef buffer(cubin, "cubin");
  auto object = llvm::object::ObjectFile::createELFObjectFile(buffer);
  if (!object) {
    llvm::consumeError(object.takeError());
    return {};
  }
  llvm::object::SectionRef section;
  if (line_section(**object, section) == nullptr) return {};
  llvm::Expected<llvm::StringRef> bytes = section.getContents();
  if (!bytes) {
    llvm::consumeError(bytes.takeError());
    return {};
  }
  const std::unique_ptr<llvm::DWARFContext> context = llvm::DWARFContext::create(
      **object, llvm::DWARFContext::ProcessDebugRelocations::Ignore);  // LLVM does not know those of relocatable cubins
  llvm::DWARFDataExtractor data(*bytes, /*IsLittleEndian=*/true, /*AddressSize=*/8);
  llvm::DWARFDebugLine::LineTable table;
  std::uint64_t offset = 0;
  bool damaged = false;
  const auto damage = [&damaged](llvm::Error error) {
    llvm::consumeError(std::move(error));
    damaged = true;
  };
  if (llvm::Error error = table.parse(data, &offset, *context, nullptr, damage)) {
    llvm::consumeError(std::move(error));
    return {};
  }
  if (damaged) return {};
  std::vector<int> lines(instructions, 0);
  for (std::size_t r = 0; r < table.Rows.size(); ++r) {
    const llvm::DWARFDebugLine::Row& row = table.Rows[r];
    if (row.EndSequence || row.File != file) continue;
    const std::uint64_t end = r + 1 < table.Rows.size() ? table.Rows[r + 1].Address.Address : row.Address.Address;
    for (std::uint64_t at = row.Address.Address / instruction_bytes; at < end / instruction_bytes && at < instructions;
         ++at)
      lines[at] = static_cast<int>(row.Line);
  }
  return lines;
}

}  // namespace kernelcast::frontend
