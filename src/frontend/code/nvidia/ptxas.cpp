// See ptxas.h. The text goes through a temporary file: ptxas does not read standard input. It is a
// program of others: it gets some time and is killed when that is over.
#include "frontend/code/nvidia/ptxas.h"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

#include "io/process.h"
#include "io/text_file.h"
#include "kernelcast/error.h"

namespace kernelcast::frontend {
namespace {

// The number in front of `words`, as in "Used 20 registers" or "4 bytes stack frame".
int number_before(std::string_view text, std::string_view words) {
  const auto at = text.find(words);
  if (at == std::string_view::npos || at == 0) return 0;
  std::size_t begin = at;
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') --begin;
  int value = 0;
  std::from_chars(text.data() + begin, text.data() + at, value);
  return value;
}

constexpr double most_seconds = 120;
constexpr std::uint64_t most_cubin_bytes = std::uint64_t{64} << 20U, most_message_bytes = std::uint64_t{4} << 20U;

std::string first_line_of(const std::string& text) {
  if (text.empty()) return "it ended without a message";
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::optional<PtxasReport> run_ptxas(const std::string& path, const std::string& ptx, const std::string& arch) {
  PtxasCode code = assemble_ptx({path}, ptx, arch);
  return code.cubin.empty() ? std::nullopt : std::optional(code.report);
}

PtxasCode assemble_ptx(const Assembler& assembler, const std::string& ptx, const std::string& arch) {
  PtxasCode out;
  try {
    TemporaryFolder folder("kernelcast");
    const std::string source = folder.file("kernel.ptx"), cubin = folder.file("kernel.cubin"),
                      messages = folder.file("messages");
    write_text_file(source, ptx);
    std::vector<std::string> command{assembler.path, "-v", "-lineinfo", "-arch=" + arch, "-o", cubin, source};
    if (assembler.relocatable) command.insert(command.begin() + 1, "-c");
    const Ended ended = run_process(command, most_seconds, assembler.path, messages);
    out.message = ended.failure;
    if (!ended.failure.empty()) return out;
    const std::string text = read_text_file(messages, most_message_bytes);
    out.message = first_line_of(text);
    if (ended.status != 0) return out;
    out.report = {number_before(text, " registers"), number_before(text, " bytes spill stores"),
                  number_before(text, " bytes spill loads"), number_before(text, " bytes stack frame")};
    out.cubin = read_text_file(cubin, most_cubin_bytes);
  } catch (const Error& e) {
    out.cubin.clear();
    out.message = e.what();
  }
  return out;
}

}  // namespace kernelcast::frontend
