// Names of parameterised tests. Without one ctest shows the bytes of the parameter, which differ from run to run.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace kernelcast::test {

/// `text` with everything that a test's name cannot have as underscores, and the test's number where texts repeat.
inline std::string test_name(std::string_view text) {
  std::string name(text);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}
inline std::string test_name(std::string_view text, std::size_t index) {
  return test_name(text) + "_" + std::to_string(index);
}

}  // namespace kernelcast::test
