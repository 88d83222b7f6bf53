// folder: cli
// A command line, a word a line: the answer is a command or an Error, whatever the words. Nothing runs.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/run.h"
#include "kernelcast/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> words{"kernelcast", ""};
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') {
      words.emplace_back();
    } else if (data[i] != 0) {
      words.back() += static_cast<char>(data[i]);
    }
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  try {
    (void)kernelcast::cli::chosen_command(static_cast<int>(words.size()), arguments.data());
  } catch (const kernelcast::Error&) {
  }
  return 0;
}
