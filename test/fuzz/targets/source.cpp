// folder: frontend
// CUDA, OpenCL and C sources; the first byte chooses the language. Bytes make no programs: tokens are exchanged,
// dropped, doubled and replaced.
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "kernelcast/error.h"
#include "kernelcast/frontend.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

constexpr std::string_view words[] = {"if",
                                      "else",
                                      "for",
                                      "while",
                                      "do",
                                      "switch",
                                      "case",
                                      "goto",
                                      "return",
                                      "break",
                                      "continue",
                                      "int",
                                      "unsigned",
                                      "float",
                                      "double",
                                      "char",
                                      "long",
                                      "struct",
                                      "const",
                                      "__shared__",
                                      "__device__",
                                      "__global__",
                                      "__restrict__",
                                      "__syncthreads()",
                                      "atomicAdd",
                                      "threadIdx.x",
                                      "blockIdx.x",
                                      "blockDim.x",
                                      "get_global_id(0)",
                                      "__local",
                                      "barrier(CLK_LOCAL_MEM_FENCE)",
                                      "template <class T>",
                                      "0",
                                      "1",
                                      "2147483647",
                                      "-1",
                                      "1e308",
                                      "0x7fffffffffffffff",
                                      "(",
                                      ")",
                                      "{",
                                      "}",
                                      "[",
                                      "]",
                                      ";",
                                      ",",
                                      "+",
                                      "-",
                                      "*",
                                      "/",
                                      "%",
                                      "<<",
                                      ">>",
                                      "==",
                                      "<",
                                      "&&",
                                      "?",
                                      ":",
                                      "=",
                                      "&",
                                      "#define",
                                      "#if",
                                      "#endif",
                                      "#line 3",
                                      "asm volatile",
                                      "__launch_bounds__(1024)",
                                      "1 << 31",
                                      "x",
                                      "k",
                                      "a",
                                      "n"};

std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_') {
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
    }
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  std::minstd_rand random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  if (size < 2 || below(10) == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string_view> tokens = tokens_of(std::string_view(text).substr(1));
  for (std::size_t n = 1 + below(4); n > 0 && !tokens.empty(); --n) {
    const std::size_t at = below(tokens.size());
    const auto place = tokens.begin() + static_cast<std::ptrdiff_t>(at);
    switch (below(5)) {
      case 0:
        tokens.erase(place);
        break;
      case 1:
        *place = words[below(std::size(words))];
        break;
      case 2:
        tokens.insert(place, words[below(std::size(words))]);
        break;
      case 3:
        *place = tokens[below(tokens.size())];
        break;
      default:
        std::swap(tokens[at], tokens[below(tokens.size())]);
    }
  }
  std::string result(1, text.front());
  for (const std::string_view token : tokens) result += token;
  result.resize(std::min(result.size(), most));
  std::copy(result.begin(), result.end(), data);
  return result.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelcast;
  if (size == 0) return 0;
  constexpr Language languages[] = {Language::cuda, Language::opencl, Language::c};
  Source source;
  source.language = languages[data[0] % 3];
  source.text.assign(reinterpret_cast<const char*>(data + 1), size - 1);
  if (source.text.find("include") != std::string::npos) return 0;  // files are not part of the input
  source.path = "fuzz";
  FrontendOptions options;
  options.time_limit_s = 5;
  try {
    (void)analyze(source, options);
  } catch (const Error&) {
  }
  return 0;
}
