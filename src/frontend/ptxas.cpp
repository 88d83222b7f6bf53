// See ptxas.h. The text goes through a temporary file: ptxas does not read standard input.
#include "frontend/ptxas.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
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

}  // namespace

std::optional<std::string> find_ptxas() {
  for (const char* path :
       {"/usr/local/cuda/bin/ptxas", "/opt/cuda/bin/ptxas", "/usr/lib/cuda/bin/ptxas", "/usr/bin/ptxas"})
    if (std::filesystem::exists(path)) return path;
  return std::nullopt;
}

std::optional<PtxasReport> run_ptxas(const std::string& path, const std::string& ptx, const std::string& arch) {
  std::string name = (std::filesystem::temp_directory_path() / "kernelcast-XXXXXX.ptx").string();
  const int handle = mkstemps(name.data(), 4);
  if (handle < 0) return std::nullopt;
  close(handle);
  std::ofstream(name) << ptx;
  bool succeeded = false;
  const std::string text =
      output_of("'" + path + "' -v -arch=" + arch + " -o /dev/null '" + name + "' 2>&1", succeeded);
  std::filesystem::remove(name);
  if (!succeeded) return std::nullopt;
  return PtxasReport{number_before(text, " registers"), number_before(text, " bytes spill stores"),
                     number_before(text, " bytes spill loads"), number_before(text, " bytes stack frame")};
}

}  // namespace kernelcast::frontend
