// See ptxas.h. The text goes through a temporary file: ptxas does not read standard input.
#include "frontend/code/nvidia/ptxas.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

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

std::string output_of(const std::string& command, bool& succeeded) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c): a path we found and a file we made
  succeeded = false;
  if (pipe == nullptr) return text;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  succeeded = pclose(pipe) == 0;
  return text;
}

/// A new empty file, gone with this object.
struct TemporaryFile {
  explicit TemporaryFile(const char* ending)
      : name((std::filesystem::temp_directory_path() / ("kernelcast-XXXXXX" + std::string(ending))).string()) {
    const int handle = mkstemps(name.data(), static_cast<int>(std::string_view(ending).size()));
    if (handle >= 0) close(handle);
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(name, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string name;
};

/// One word for the shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string first_line(const std::string& text) {
  if (text.empty()) return "it ended without a message";
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::optional<PtxasReport> run_ptxas(const std::string& path, const std::string& ptx, const std::string& arch) {
  PtxasCode code = assemble_ptx({path}, ptx, arch);
  return code.cubin.empty() ? std::nullopt : std::optional(code.report);
}

PtxasCode assemble_ptx(const Assembler& assembler, const std::string& ptx, const std::string& arch) {
  const TemporaryFile source(".ptx"), cubin(".cubin");
  std::ofstream(source.name) << ptx;
  bool succeeded = false;
  const std::string flags = std::string(assembler.relocatable ? " -c" : "") + " -v -lineinfo -arch=" + arch;
  const std::string text = output_of(
      quoted(assembler.path) + flags + " -o " + quoted(cubin.name) + " " + quoted(source.name) + " 2>&1", succeeded);
  PtxasCode out;
  out.message = first_line(text);
  if (!succeeded) return out;
  out.report = {number_before(text, " registers"), number_before(text, " bytes spill stores"),
                number_before(text, " bytes spill loads"), number_before(text, " bytes stack frame")};
  std::ifstream in(cubin.name, std::ios::binary);
  out.cubin.assign(std::istreambuf_iterator<char>(in), {});
  return out;
}

}  // namespace kernelcast::frontend
