// PTX files of other compilers: KERNELCAST_PTX_CORPUS names a folder of .ptx files. At least 99 % of them are read,
// with no unknown opcode, and come back from the printer; the others are listed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "ptx/parse.h"
#include "ptx/print.h"

namespace kernelcast::ptx {
namespace {

/// What is wrong; empty: nothing.
std::string trouble_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  try {
    const Module module = parse(text.str(), path.string());
    std::set<std::string> unknown;
    for (const Function& function : module.functions)
      for (const Instruction& instruction : function.body)
        if (instruction.op == Op::unknown) unknown.insert(std::string(instruction.opcode));
    if (!unknown.empty()) return path.string() + ": unknown opcode " + *unknown.begin();
    if (!same(module, parse(print(module), path.string()))) return path.string() + ": the printed text differs";
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

TEST(PtxCorpus, NinetyNinePercentAreRead) {
  const char* folder = std::getenv("KERNELCAST_PTX_CORPUS");
  if (folder == nullptr) GTEST_SKIP() << "KERNELCAST_PTX_CORPUS names no folder";
  std::size_t files = 0, read = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".ptx") continue;
    ++files;
    const std::string trouble = trouble_of(entry.path());
    read += trouble.empty() ? 1 : 0;
    if (!trouble.empty()) std::cout << trouble << "\n";
  }
  std::cout << read << " of " << files << " files\n";
  EXPECT_GT(files, 0U);
  EXPECT_GE(read * 100, files * 99);
}

}  // namespace
}  // namespace kernelcast::ptx
