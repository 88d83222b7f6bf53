// Which buffers are taken apart, and which arguments counts depend on, from programs made by hand.
#include "execute/buffer_roles.h"

#include <gtest/gtest.h>

#include "execute/fill.h"
#include "execute/relevant.h"

namespace kernelcast::interpreter {
namespace {

/// A program over 32-bit registers; register 0 is an address, constants are inputs.
struct Made {
  Program program;
  Made() {
    program.registers.assign(32, ValueType::i32);
    program.element_types.assign(2, ValueType::i32);
    for (int b = 0; b < 2; ++b) {
      AccessSite site;
      site.buffer = b;
      program.sites.push_back(site);
    }
    program.blocks.push_back({});
  }
  std::uint32_t constant(std::uint64_t value) {
    ProgramInput in;
    in.kind = ProgramInput::Kind::constant;
    in.type = ValueType::i32;
    in.reg = next++;
    in.low = value;
    program.inputs.push_back(in);
    return in.reg;
  }
  std::uint32_t add(Opcode op, std::uint32_t a, std::uint32_t b = no_register) {
    SimtInstruction i;
    i.op = op;
    i.type = ValueType::i32;
    i.a = a;
    i.b = b;
    i.dst = next++;
    program.code.push_back(i);
    return i.dst;
  }
  std::uint32_t load(int buffer, std::uint32_t address = 0) {
    const std::uint32_t value = add(Opcode::load, address);
    program.code.back().site = buffer;
    return value;
  }
  void store(int buffer, std::uint32_t value, std::uint32_t address = 0) {
    add(Opcode::store, address, value);
    program.code.back().dst = no_register;
    program.code.back().site = buffer;
  }
  std::uint32_t next = 1;
};

bool packed(const Made& m) { return packed_buffers(m.program, 2)[0]; }

TEST(Packed, BytesOfAWord) {
  Made m;
  const std::uint32_t word = m.load(0);
  m.add(Opcode::and_, word, m.constant(0xff));
  m.add(Opcode::and_, m.add(Opcode::lshr, word, m.constant(8)), m.constant(0xff));
  m.add(Opcode::lshr, word, m.constant(24));
  EXPECT_TRUE(packed(m));
  EXPECT_FALSE(packed_buffers(m.program, 2)[1]);
}

TEST(Packed, NotWhatIsUsedWhole) {
  Made m;
  const std::uint32_t word = m.load(0);
  m.add(Opcode::and_, word, m.constant(0xff));
  m.add(Opcode::lshr, word, m.constant(24));
  m.store(1, word);
  EXPECT_FALSE(packed(m));
}

TEST(Packed, NotAnIndexOfWhichTheLowPartIsTaken) {
  Made m;
  m.add(Opcode::and_, m.load(0), m.constant(0xff));
  EXPECT_FALSE(packed(m));
}

TEST(Packed, NotWhereAMaskLeavesMost) {
  Made m;
  const std::uint32_t word = m.load(0);
  m.add(Opcode::and_, word, m.constant(0xffffff));
  m.add(Opcode::lshr, word, m.constant(24));
  EXPECT_FALSE(packed(m));
}

TEST(Packed, NotWhatDecidesABranch) {
  Made m;
  const std::uint32_t word = m.load(0);
  m.add(Opcode::lshr, word, m.constant(8));
  m.add(Opcode::lshr, word, m.constant(24));
  m.program.blocks[0].end = ProgramBlock::End::branch;
  m.program.blocks[0].condition = word;
  EXPECT_FALSE(packed(m));
}

TEST(Packed, GetAllBitsByDefault) {
  FillTarget t;
  t.type = {ValueType::i32, ElementType::Sign::unsigned_, true};
  t.index_range = 100;
  EXPECT_EQ(default_fill(t), "uniform(0,100)");
  t.packed = true;
  EXPECT_EQ(default_fill(t), "uniform(0,4294967296)");
  t.type.sign = ElementType::Sign::signed_;
  EXPECT_EQ(default_fill(t), "uniform(-2147483648,2147483648)");
  t.type = {ValueType::i64, ElementType::Sign::signed_, true};
  EXPECT_NO_THROW((void)make_fill("", t));
}

TEST(Relevance, WhatIsOnlyStoredIsNot) {
  Made m;
  const std::uint32_t argument = m.next++, index = m.next++;
  m.store(0, m.add(Opcode::mul, argument, m.constant(3)), m.add(Opcode::add, 0, index));
  const Relevance r(m.program);
  EXPECT_FALSE(r.of_register(argument));
  EXPECT_TRUE(r.of_register(index));
}

TEST(Relevance, ThroughMemoryToACondition) {
  Made m;
  const std::uint32_t argument = m.next++, other = m.next++;
  m.store(0, argument);
  m.store(1, other);
  m.program.blocks[0].end = ProgramBlock::End::branch;
  m.program.blocks[0].condition = m.load(0);
  const Relevance r(m.program);
  EXPECT_TRUE(r.of_register(argument));
  EXPECT_FALSE(r.of_register(other));
  EXPECT_TRUE(r.of_buffer(0));
  EXPECT_FALSE(r.of_buffer(1));
}

TEST(Relevance, OfABufferThroughAnother) {
  Made m;
  m.store(1, m.load(0));  // what decides is copied from the first
  m.program.blocks[0].end = ProgramBlock::End::branch;
  m.program.blocks[0].condition = m.load(1);
  const Relevance r(m.program);
  EXPECT_TRUE(r.of_buffer(0));
  EXPECT_TRUE(r.of_buffer(1));
}

TEST(Relevance, OverEdges) {
  Made m;
  const std::uint32_t argument = m.next++, around = m.next++;
  m.program.blocks[0].edges.push_back({0, {{ValueType::i32, around, argument}}, false});
  m.program.blocks[0].condition = around;
  EXPECT_TRUE(Relevance(m.program).of_register(argument));
}

TEST(Relevance, OfTheFieldThatIsRead) {
  Made m;
  ProgramInput in;
  in.kind = ProgramInput::Kind::parameter_block;
  in.reg = m.next++;
  in.low = 2;
  m.program.inputs.push_back(in);
  const std::uint32_t first = m.load(-1, in.reg), second = m.load(-1, in.reg);
  m.program.code[1].imm = 4;
  m.program.blocks[0].condition = first;
  m.store(0, second);
  const Relevance r(m.program);
  EXPECT_TRUE(r.of_field({2, 0, ValueType::i32, "s.a", false}));
  EXPECT_FALSE(r.of_field({2, 4, ValueType::i32, "s.b", false}));
  EXPECT_FALSE(r.of_field({1, 0, ValueType::i32, "t.a", false}));
}

}  // namespace
}  // namespace kernelcast::interpreter
