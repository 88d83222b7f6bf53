// PTX files of other compilers: KERNELCAST_PTX_CORPUS names a folder of .ptx files. At least 99 % of them are read,
// with no unknown opcode, and come back from the printer; the others are listed. Where KERNELCAST_PTXAS names NVIDIA's
// assembler, it accepts what is printed of every KERNELCAST_PTXAS_EVERY-th file (default: all) that it accepts at all.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
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

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool assembles(const std::string& ptxas, const std::filesystem::path& path) {
  const std::string text = text_of_file(path);
  const std::size_t at = text.find(".target ");
  const std::string target = text.substr(at + 8, text.find_first_of(", \n", at + 8) - at - 8);
  // Relocatable code may call what another file has; the quickest level of optimization is enough to accept a text.
  return std::system(
             (ptxas + " -c -O0 -arch=" + target + " '" + path.string() + "' -o /dev/null > /dev/null 2>&1").c_str()) ==
         0;
}

TEST(PtxCorpus, PtxasAcceptsWhatIsPrinted) {
  const char* folder = std::getenv("KERNELCAST_PTX_CORPUS");
  const char* ptxas = std::getenv("KERNELCAST_PTXAS");
  if (folder == nullptr || ptxas == nullptr) GTEST_SKIP() << "KERNELCAST_PTX_CORPUS and KERNELCAST_PTXAS are not set";
  const char* every = std::getenv("KERNELCAST_PTXAS_EVERY");
  const std::size_t step = every != nullptr ? std::stoul(every) : 1;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".ptx") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  const std::filesystem::path printed =
      std::filesystem::path(testing::TempDir()) / ("kernelcast_printed_" + std::to_string(getpid()) + ".ptx");
  std::size_t accepted = 0, refused_before = 0;
  for (std::size_t k = 0; k < paths.size(); k += step) {
    std::ofstream(printed) << print(parse(text_of_file(paths[k]), paths[k].string()));
    if (assembles(ptxas, printed)) {
      ++accepted;
    } else if (assembles(ptxas, paths[k])) {
      ADD_FAILURE() << paths[k] << " assembles, but not what is printed of it";
    } else {
      ++refused_before;
    }
  }
  std::filesystem::remove(printed);
  std::cout << accepted << " printed files assemble, " << refused_before << " do not even as they were\n";
  EXPECT_GT(accepted, 0U);
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
