// Damaged PTX texts.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "unit/ptx/ptx_text.h"

namespace kernelcast::ptx {

/// One to four changes of characters or stretches.
inline std::string damaged(std::string text, std::mt19937& random) {
  static const std::string characters = "0123456789abrfdpx%$_.,;:@!|{}[]()<>+-*/&~\"\n ";
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random() % n); };
  for (std::size_t n = 1 + below(4); n > 0; --n) {
    const std::size_t at = below(text.size() + 1);
    switch (below(4)) {
      case 0:
        text.erase(at, 1 + below(8));
        break;
      case 1:
        text.insert(at, 1, characters[below(characters.size())]);
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), below(24)));
        break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(random() & 0xff);
    }
  }
  return text;
}

/// Every instruction of the samples as a text.
inline std::vector<std::string> sample_instructions() {
  std::vector<std::string> all;
  for (const std::string& file : sample_files()) {
    const Module module = parse(file_text(file), file);
    for (const Function& function : module.functions)
      for (const Instruction& instruction : function.body) all.push_back(print(instruction, function));
  }
  return all;
}

}  // namespace kernelcast::ptx
