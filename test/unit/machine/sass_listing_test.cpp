// Names, classes and branches of the machine code of 54 kernels against NVIDIA's disassembler, as
// tools/measure/sass_listing.py wrote them down.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "machine/sass/code.h"

namespace kernelcast::sass {
namespace {

struct Listed {
  std::string name;
  std::optional<std::size_t> target;
};

struct Kernel {
  std::string symbol;
  int architecture = 0;
  std::vector<Instruction> code;
  std::vector<Listed> listed;
};

std::vector<Kernel> kernels() {
  std::ifstream in(KERNELCAST_SOURCE_DIR "/test/data/sass/listing.txt");
  std::vector<Kernel> out;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first, second, name;
    if (line.starts_with("#")) continue;
    words >> first >> second >> name;
    if (first == "kernel") {
      out.push_back({second + " " + name, std::stoi(name.substr(3)), {}, {}});
      continue;
    }
    out.back().code.push_back({std::stoull(first, nullptr, 16), std::stoull(second, nullptr, 16)});
    std::size_t target = 0;
    out.back().listed.push_back({name, words >> target ? std::optional(target) : std::nullopt});
  }
  return out;
}

TEST(Listing, NamesAreTheDisassemblers) {
  const auto all = kernels();
  ASSERT_GE(all.size(), 40U);
  for (const Kernel& k : all)
    for (std::size_t i = 0; i < k.code.size(); ++i)
      ASSERT_EQ(name_of(k.code[i]), k.listed[i].name) << k.symbol << " instruction " << i;
}

TEST(Listing, EveryInstructionHasAClass) {
  for (const Kernel& k : kernels())
    for (const Instruction& i : k.code)
      if (name_of(i) != "DEPBAR") {
        ASSERT_NE(class_of(i), OpClass::other) << k.symbol << " " << name_of(i);
      }
}

// A block starts where the disassembler has a branch go to, and behind every branch; successors are those places.
TEST(Listing, BlocksBeginWhereBranchesLead) {
  for (const Kernel& k : kernels()) {
    SCOPED_TRACE(k.symbol);
    const std::vector<Block> blocks = blocks_of(k.code, k.architecture);
    std::vector<std::size_t> at(k.code.size(), k.code.size());
    for (std::size_t b = 0; b < blocks.size(); ++b) at[blocks[b].first] = b;
    for (const Block& b : blocks) {
      const std::size_t last = b.end - 1;
      for (std::size_t i = b.first; i < last; ++i) ASSERT_NE(k.listed[i].name, "BRA") << i;
      if (k.listed[last].name != "BRA") continue;
      ASSERT_TRUE(k.listed[last].target) << last;
      ASSERT_LT(at[*k.listed[last].target], blocks.size()) << last;
      EXPECT_NE(std::find(b.successors.begin(), b.successors.end(), at[*k.listed[last].target]), b.successors.end());
    }
  }
}

TEST(Listing, WhatOnlyCallsReachIsLeftOut) {
  int with_calls = 0;
  for (const Kernel& k : kernels()) {
    const std::vector<Block> blocks = blocks_of(k.code, k.architecture);
    bool returns = false;
    for (const Block& b : blocks)
      for (std::size_t i = b.first; i < b.end; ++i) returns = returns || k.listed[i].name == "RET";
    EXPECT_FALSE(returns) << k.symbol;
    for (const Listed& l : k.listed) with_calls += l.name == "CALL";
    EXPECT_EQ(k.listed[blocks.back().end - 1].name == "NOP", false) << k.symbol;
  }
  EXPECT_GT(with_calls, 0);
}

}  // namespace
}  // namespace kernelcast::sass
