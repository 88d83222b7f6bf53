// The reader of cubins on files made here (whole, truncated, damaged) and, where ptxas is found, on its own: changing a
// field must change its bits and nothing else.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <random>

#include "kernelcast/error.h"
#include "machine/sass/cubin.h"
#include "probe/cuda/assemble_ptx.h"
#include "probe/cuda/ptx.h"

namespace {

using namespace kernelcast;
using namespace kernelcast::probe::cuda;
using namespace kernelcast::sass;

void put(std::string& bytes, std::size_t at, std::uint64_t value, int width) {
  if (bytes.size() < at + static_cast<std::size_t>(width)) bytes.resize(at + static_cast<std::size_t>(width));
  for (int i = 0; i < width; ++i) bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i) & 0xff);
}

// FFMA R2, R0, R3, R5 with stall 4, yield, write barrier 1, no read barrier, waiting for 0 and 2, reuse of a and c.
constexpr std::uint64_t low = 0x0000000300027223;
constexpr std::uint64_t control_bits = 4 | 0U << 4 | 1U << 5 | 7U << 8 | 5U << 11 | 5U << 17;
constexpr std::uint64_t high = 5 | control_bits << 41;

/// Sections: none, names, .nv.info, .text.k with two instructions, which takes 24 registers and 48 bytes of stack.
std::string synthetic(int abi = 7) {
  std::string out(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  out.resize(64);
  put(out, 8, static_cast<std::uint64_t>(abi), 1);
  put(out, 18, 190, 2);
  put(out, 48, abi >= 8 ? 0x6005a04 : 0x32055a, 4);
  const std::string names("\0.shstrtab\0.nv.info\0.text.k\0", 28);
  const std::size_t names_at = out.size();
  out += names;
  out.resize(96);
  const std::size_t info_at = out.size();
  put(out, info_at, 0x0008'11'04, 4);  // another attribute first
  put(out, info_at + 4, 6, 4);
  put(out, info_at + 8, 48, 4);
  put(out, info_at + 12, 0x0008'2f'04, 4);
  put(out, info_at + 16, 6, 4);
  put(out, info_at + 20, 24, 4);
  const std::size_t code_at = 128;
  put(out, code_at, low, 8);
  put(out, code_at + 8, high, 8);
  put(out, code_at + 16, low, 8);
  put(out, code_at + 24, high, 8);
  const std::size_t table = out.size();
  out.resize(table + 4 * 64);
  const auto section = [&](std::size_t i, std::uint64_t name, std::uint64_t type, std::uint64_t at, std::uint64_t size,
                           std::uint64_t info) {
    put(out, table + i * 64, name, 4);
    put(out, table + i * 64 + 4, type, 4);
    put(out, table + i * 64 + 24, at, 8);
    put(out, table + i * 64 + 32, size, 8);
    put(out, table + i * 64 + 44, info, 4);
  };
  section(1, 1, 3, names_at, names.size(), 0);
  section(2, 11, 0x70000000, info_at, 24, 0);
  section(3, 20, 1, code_at, 32, 6);
  put(out, 40, table, 8);
  put(out, 58, 64, 2);
  put(out, 60, 4, 2);
  put(out, 62, 1, 2);
  return out;
}

std::string message_of(std::string bytes) {
  try {
    const Cubin cubin(std::move(bytes), "k.cubin");
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(Cubin, KernelsRegistersAndFieldsAreRead) {
  for (int abi : {7, 8}) {
    const Cubin cubin(synthetic(abi), "k.cubin");
    EXPECT_EQ(cubin.architecture(), 90);
    ASSERT_EQ(cubin.kernels().size(), 1U);
    const Cubin::Kernel& k = cubin.kernel("k");
    EXPECT_EQ(k.instructions, 2U);
    EXPECT_EQ(k.registers, 24);
    EXPECT_EQ(k.stack_bytes, 48U);
    EXPECT_EQ(k.shared_bytes, 0U);
    const Instruction i = cubin.at(k, 1);
    EXPECT_EQ(get(i, opcode), ffma_registers);
    EXPECT_EQ(get(i, destination), 2U);
    EXPECT_EQ(get(i, source_a), 0U);
    EXPECT_EQ(get(i, source_b), 3U);
    EXPECT_EQ(get(i, source_c), 5U);
    const sm::Control c = control_of(i);
    EXPECT_EQ(c.stall, 4);
    EXPECT_TRUE(c.yield);
    EXPECT_EQ(c.write_barrier, 1);
    EXPECT_EQ(c.read_barrier, -1);
    EXPECT_EQ(c.wait_mask, 5);
    EXPECT_EQ(c.reuse, 5);
    EXPECT_EQ(sm::encode_control(c), get(i, control));
  }
}

TEST(Cubin, StaticSharedMemoryIsWithoutTheSystems) {
  for (const auto& [architecture, size, expected] :
       {std::tuple{80, 2048, 2048}, {90, 2048, 1024}, {90, 1024, 0}, {90, 16, 0}}) {
    std::string bytes = synthetic();
    const std::size_t table = bytes.size() - 4 * 64;
    const std::string names("\0.shstrtab\0.nv.info\0.text.k\0.nv.shared.k\0", 42);
    const std::size_t names_at = bytes.size() + 64;  // behind a fifth section
    bytes.resize(names_at);
    bytes += names;
    const std::size_t fifth = table + 4 * 64;
    put(bytes, fifth, 28, 4);
    put(bytes, fifth + 4, 8, 4);  // no bytes in the file
    put(bytes, fifth + 32, static_cast<std::uint64_t>(size), 8);
    put(bytes, table + 64 + 24, names_at, 8);
    put(bytes, table + 64 + 32, names.size(), 8);
    put(bytes, 60, 5, 2);
    put(bytes, 48, 0x320500U | static_cast<unsigned>(architecture), 4);
    EXPECT_EQ(Cubin(bytes, "k.cubin").kernel("k").shared_bytes, static_cast<std::uint64_t>(expected)) << size;
  }
}

TEST(Cubin, WhatIsNoCubinIsRefusedWithTheReason) {
  EXPECT_EQ(message_of(""), "k.cubin: not a cubin: no ELF file");
  std::string b = synthetic();
  b[4] = 1;
  EXPECT_EQ(message_of(b), "k.cubin: not a cubin: not a 64-bit little-endian ELF file");
  b = synthetic();
  put(b, 18, 62, 2);
  EXPECT_EQ(message_of(b), "k.cubin: not a cubin: the ELF file is for another machine");
  b = synthetic();
  put(b, 48, 61, 4);
  EXPECT_EQ(message_of(b), "k.cubin: sm_61 has other instructions; sm_70 and later can be read");
  b = synthetic();
  put(b, 40, ~std::uint64_t{0}, 8);
  EXPECT_NE(message_of(b).find("the table of sections"), std::string::npos);
  b = synthetic();
  put(b, 62, 4, 2);
  EXPECT_EQ(message_of(b), "k.cubin: damaged cubin: no table of names");
  b = synthetic();
  put(b, b.size() - 64 + 32, 24, 8);
  EXPECT_EQ(message_of(b), "k.cubin: damaged cubin: .text.k is no multiple of 16 bytes");
  b = synthetic();
  put(b, b.size() - 64 + 24, ~std::uint64_t{0} - 8, 8);
  EXPECT_NE(message_of(b).find(".text.k at 18446744073709551607"), std::string::npos);
  b = synthetic();
  put(b, b.size() - 64, 1000, 4);
  EXPECT_EQ(message_of(b), "k.cubin: damaged cubin: a section's name lies outside the table of names");
}

TEST(Cubin, EveryTruncationIsRefused) {
  const std::string whole = synthetic();
  for (std::size_t n = 0; n < whole.size(); ++n) EXPECT_NE(message_of(whole.substr(0, n)), "") << n;
}

TEST(Cubin, DamageIsReadOrRefusedWithinTheFile) {
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = synthetic(7 + i % 2);
    for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random() % 3 == 0 ? 0xff : random() % 256);
    try {
      const Cubin cubin(bytes, "damaged");
      for (const Cubin::Kernel& k : cubin.kernels())
        for (std::size_t at = 0; at < k.instructions; ++at) (void)cubin.at(k, at);
    } catch (const UserError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 19000);
}

TEST(Cubin, BadPatchesAreRefused) {
  Cubin cubin(synthetic(), "k.cubin");
  const Cubin::Kernel k = cubin.kernel("k");
  EXPECT_THROW(cubin.patch(k, 2, stall, 1), UserError);
  EXPECT_THROW(cubin.patch(k, 0, stall, 16), UserError);
  EXPECT_THROW(cubin.patch(k, 0, destination, 24), UserError);
  EXPECT_THROW((void)cubin.kernel("other"), UserError);
  EXPECT_EQ(cubin.bytes(), synthetic());
  cubin.patch(k, 0, destination, 23);
  cubin.patch(k, 0, source_c, zero_register);
  EXPECT_EQ(get(cubin.at(k, 0), destination), 23U);
}

const std::vector<BitField> patched_fields{destination, source_a,      source_b,     source_c,  stall,
                                           yield,       write_barrier, read_barrier, wait_mask, reuse};

/// A field of one instruction set to `value`: it reads back, and only its own bits differ.
void check_patch(const Cubin& before, const Cubin::Kernel& k, std::size_t index, BitField field, std::uint32_t value) {
  Cubin after = before;
  after.patch(k, index, field, value);
  ASSERT_EQ(get(after.at(k, index), field), value);
  ASSERT_EQ(before.bytes().size(), after.bytes().size());
  const std::size_t from = k.offset + index * 16;
  for (std::size_t bit = 0; bit < before.bytes().size() * 8; ++bit) {
    const bool in_field = bit >= from * 8 + static_cast<std::size_t>(field.first) &&
                          bit < from * 8 + static_cast<std::size_t>(field.first + field.width);
    const auto at = [&](const Cubin& c) { return c.bytes()[bit / 8] >> (bit % 8) & 1; };
    if (!in_field) {
      ASSERT_EQ(at(before), at(after)) << field.name << " bit " << bit;
    }
  }
}

RC_GTEST_PROP(Sass, OneFieldMovesAlone, (std::uint64_t a, std::uint64_t b, unsigned value)) {
  const Instruction before{a, b};
  for (const BitField& field : patched_fields) {
    const std::uint32_t v = value & ((1U << field.width) - 1);
    const Instruction after = with(before, field, v);
    RC_ASSERT(get(after, field) == v);
    RC_ASSERT(with(after, field, get(before, field)) == before);
    for (const BitField& other : patched_fields)
      if (other.first != field.first) {
        RC_ASSERT(get(after, other) == get(before, other));
      }
  }
}

TEST(Cubin, PtxasOwnFilesTakePatches) {
  const char* named = std::getenv("KERNELCAST_PTXAS");
  const auto ptxas = sass::find_ptxas(named != nullptr ? named : "");
  if (!ptxas) GTEST_SKIP() << "ptxas is not installed";
  std::mt19937 random(1);
  int made = 0;
  for (int architecture : {70, 75, 80, 86, 89, 90}) {
    SCOPED_TRACE(architecture);
    const Assembled a = assemble(*ptxas, fma_body(48, 64), architecture);
    if (a.cubin.empty()) {  // an assembler of CUDA 13 knows sm_75 and later only
      EXPECT_NE(a.message.find("sm_" + std::to_string(architecture)), std::string::npos) << a.message;
      continue;
    }
    ++made;
    const Cubin cubin(a.cubin, "sm_" + std::to_string(architecture));
    EXPECT_EQ(cubin.architecture(), architecture);
    ASSERT_EQ(cubin.kernels().size(), 1U);
    const Cubin::Kernel& k = cubin.kernels().front();
    EXPECT_GE(k.registers, 48);
    std::size_t ffma = 0;
    for (std::size_t i = 0; i < k.instructions; ++i) {
      const Instruction instruction = cubin.at(k, i);
      if (get(instruction, opcode) == ffma_registers) {
        ++ffma;
        for (const BitField& r : register_fields) EXPECT_LT(static_cast<int>(get(instruction, r)), k.registers);
      }
      EXPECT_EQ(sm::encode_control(control_of(instruction)), get(instruction, control)) << i;
    }
    EXPECT_EQ(ffma, 64U);
    for (const BitField& field : patched_fields) {
      const std::uint32_t limit = field.width == 8 ? static_cast<std::uint32_t>(k.registers) : 1U << field.width;
      check_patch(cubin, k, random() % k.instructions, field, static_cast<std::uint32_t>(random() % limit));
    }
  }
  EXPECT_GT(made, 0);
}

}  // namespace
