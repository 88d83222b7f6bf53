#include "execute/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "execute/element_type.h"
#include "kernelcast/address.h"
#include "kernelcast/error.h"

namespace kernelcast::interpreter {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A kernel with a float buffer that is read, an int buffer that is read, and a float buffer that is written.
struct Case {
  KernelProfile profile;
  Program program;
  Launch launch;
  ExecuteOptions options;

  Case() {
    profile.parameters = {{"x", "float*", true, false, false, 0},
                          {"index", "const int *", true, false, false, 0},
                          {"out", "ptr addrspace(1)", true, false, false, 0}};
    for (int i = 0; i < 3; ++i)
      profile.buffers.push_back({profile.parameters[i].name, MemorySpace::global, -1, 256, i});
    profile.blocks.emplace_back();
    for (int i = 0; i < 3; ++i) {
      Access a;
      a.buffer = i;
      a.kind = i == 2 ? AccessKind::store : AccessKind::load;
      profile.blocks[0].accesses.push_back(a);
    }
    launch.grid = {4, 1, 1};
    launch.block = {64, 1, 1};
  }
  int add(const Buffer& b) {
    profile.buffers.push_back(b);
    Access a;
    a.buffer = static_cast<int>(profile.buffers.size()) - 1;
    profile.blocks[0].accesses.push_back(a);
    return a.buffer;
  }
  [[nodiscard]] Memory memory() const { return Memory(profile, program, launch, options); }
};

template <class T>
T value(Memory& m, int buffer, std::int64_t offset) {
  T v{};
  const unsigned char* at = m.at(buffer, offset, sizeof(T));
  EXPECT_NE(at, nullptr);
  if (at != nullptr) std::memcpy(&v, at, sizeof(T));
  return v;
}

template <class Error>
std::string error_of(const Case& s) {
  try {
    Memory m(s.profile, s.program, s.launch, s.options);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(MemoryTest, BoundsOfADeclaredBuffer) {
  Case s;
  s.launch.buffers["x"] = {1025, "iota"};
  Memory m = s.memory();
  EXPECT_EQ(m.buffer(0).bytes, 4100);
  EXPECT_TRUE(m.buffer(0).declared);
  EXPECT_EQ(value<float>(m, 0, 4096), 1024);
  EXPECT_EQ(m.at(0, 4097, 4), nullptr);
  EXPECT_EQ(m.at(0, 4100, 1), nullptr);
  EXPECT_EQ(m.at(0, -1, 4), nullptr);
  EXPECT_EQ(m.at(0, offset_mask - 3, 4), nullptr);  // a negative offset as the low bits of an address
  EXPECT_EQ(m.at(-1, 0, 4), nullptr);
  EXPECT_EQ(m.at(3, 0, 4), nullptr);
  EXPECT_NE(m.at(0, 0, 4100), nullptr);
  EXPECT_EQ(m.at(0, 0, 4101), nullptr);
}

TEST(MemoryTest, RangesOverPagesAreFilled) {
  Case s;
  s.launch.buffers["x"] = {8192, "iota"};
  Memory m = s.memory();
  float two[2] = {};
  std::memcpy(two, m.at(0, 4092, 8), 8);
  EXPECT_THAT(two, ElementsAre(1023, 1024));
  const auto* all = reinterpret_cast<const float*>(m.at(0, 0, 32768));
  for (int i = 0; i < 8192; ++i) ASSERT_EQ(all[i], i);
}

TEST(MemoryTest, WritesStay) {
  Case s;
  s.launch.buffers["x"] = {2000, "uniform"};
  Memory m = s.memory();
  const std::vector<unsigned char> before = m.contents(0);
  const float seven = 7;
  std::memcpy(m.at(0, 4000, 4), &seven, 4);
  EXPECT_EQ(value<float>(m, 0, 4000), 7);
  const std::vector<unsigned char> after = m.contents(0);
  EXPECT_EQ(after.size(), 8000U);
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + 4000, after.begin()));
  EXPECT_TRUE(std::equal(before.begin() + 4004, before.end(), after.begin() + 4004));
  EXPECT_EQ(std::memcmp(after.data() + 4000, &seven, 4), 0);
}

// The order of touching makes no difference, nor do threads.
RC_GTEST_PROP(MemoryProperty, ContentsDoNotDependOnTheOrder, ()) {
  Case s;
  s.launch.buffers["x"] = {20000, *rc::gen::element<std::string>("uniform", "normal", "sorted")};
  Memory a = s.memory(), b = s.memory();
  for (const int page : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 19)))
    RC_ASSERT(a.at(0, page * page_bytes, 1) != nullptr);
  for (std::int64_t offset = 79996; offset >= 0; offset -= 4) RC_ASSERT(b.at(0, offset, 4) != nullptr);
  RC_ASSERT(a.contents(0) == b.contents(0));
}

TEST(MemoryTest, ThreadsSeeTheSameContents) {
  Case s;
  s.launch.buffers["x"] = {std::int64_t{1} << 20, "permutation"};
  Memory m = s.memory();
  const std::vector<unsigned char> expected = s.memory().contents(0);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::int64_t i = 0; i < 1024; ++i) {
        const std::int64_t offset = ((i * 37 + t * 11) % 1024) * page_bytes + 128 * (i % 32);
        if (std::memcmp(m.at(0, offset, 64), expected.data() + offset, 64) != 0) ++wrong;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(m.resident_bytes(), 1024 * (page_bytes + 1));  // every page once
}

TEST(MemoryTest, UndeclaredBuffersGrowWithWhatIsTouched) {
  Case s;
  Memory m = s.memory();
  EXPECT_FALSE(m.buffer(0).declared);
  EXPECT_EQ(m.touched_end(0), 0);
  EXPECT_THAT(m.assumptions(), IsEmpty());
  EXPECT_NE(m.at(0, std::int64_t{1} << 30, 4), nullptr);
  EXPECT_NE(m.at(0, 96, 4), nullptr);
  EXPECT_EQ(m.touched_end(0), (std::int64_t{1} << 30) + 4);
  EXPECT_EQ(m.at(0, offset_mask - 3, 4), nullptr);
  EXPECT_LE(m.resident_bytes(), 2 * 2 * page_bytes);
  Memory small = s.memory();
  EXPECT_NE(small.at(0, 396, 4), nullptr);
  EXPECT_EQ(small.contents(0).size(), 400U);
}

TEST(MemoryTest, SizesOutliveTheContents) {
  Case c;
  Memory m = c.memory();
  ASSERT_NE(m.at(2, 4000, 4), nullptr);
  const std::int64_t end = m.touched_end(2);
  m.drop_contents();
  EXPECT_EQ(m.touched_end(2), end);
  EXPECT_GE(end, 4004);
}

TEST(MemoryTest, Assumptions) {
  Case s;
  s.launch.buffers["index"] = {500, ""};
  Memory m = s.memory();
  for (int b = 0; b < 3; ++b) EXPECT_NE(m.at(b, 396, 4), nullptr);
  EXPECT_THAT(m.assumptions(),
              ElementsAre(Assumption{"size and contents of buffer x",
                                     "100 elements of 4 bytes, as far as touched; uniform(0,1)",
                                     KC_SETTING(buffer) " x=COUNT:FILL", Assumption::Kind::contents, "x"},
                          Assumption{"contents of buffer index", "uniform(0,500)", KC_SETTING(buffer) " index=500:FILL",
                                     Assumption::Kind::contents, "index"},
                          // never read: nobody asks what it holds
                          Assumption{"size of buffer out", "100 elements of 4 bytes, as far as touched",
                                     KC_SETTING(buffer) " out=COUNT"}));
  s.launch.buffers = {{"x", {200, "zero"}}, {"index", {200, "iota"}}, {"out", {200, ""}}};
  Memory given = s.memory();
  for (int b = 0; b < 3; ++b) EXPECT_NE(given.at(b, 396, 4), nullptr);
  EXPECT_THAT(given.assumptions(), IsEmpty());
}

// Indices of nobody knows what are inside every buffer that was declared; without any, one a thread.
TEST(MemoryTest, DefaultIndicesAreInside) {
  Case s;
  s.launch.buffers = {{"x", {70, ""}}, {"index", {4000, ""}}, {"out", {1, ""}}};
  Memory m = s.memory();
  std::set<int> seen;
  for (std::int64_t i = 0; i < 4000; ++i) seen.insert(value<int>(m, 1, 4 * i));
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), 69);
  s.launch.buffers.clear();
  EXPECT_EQ(s.memory().buffer(1).fill, "uniform(0,256)");
}

TEST(MemoryTest, UninitialisedMemoryIsTracked) {
  Case s;
  s.launch.buffers = {{"x", {3000, "none"}}, {"index", {100, "zero"}}};
  Memory m = s.memory();
  EXPECT_TRUE(m.tracked(0));
  EXPECT_FALSE(m.tracked(1));
  EXPECT_FALSE(m.tracked(2));
  EXPECT_FALSE(m.tracked(-1));
  EXPECT_NE(m.at(0, 0, 4), nullptr);
  EXPECT_FALSE(m.written(0, 0, 4));
  m.mark_written(0, 4, 4);
  EXPECT_TRUE(m.written(0, 4, 4));
  EXPECT_TRUE(m.written(0, 5, 2));
  EXPECT_FALSE(m.written(0, 4, 5));
  EXPECT_FALSE(m.written(0, 3, 2));
}

RC_GTEST_PROP(MemoryProperty, WrittenBytesAreThoseMarked, ()) {
  Case s;
  s.launch.buffers["x"] = {100, "none"};
  Memory m = s.memory();
  std::vector<bool> marked(400);
  const auto range = [] {
    const int first = *rc::gen::inRange(0, 400);
    return std::pair(first, *rc::gen::inRange(1, std::min(200, 400 - first) + 1));
  };
  const int times = *rc::gen::inRange(1, 6);
  for (int i = 0; i < times; ++i) {
    const auto [first, n] = range();
    m.mark_written(0, first, n);
    for (int b = first; b < first + n; ++b) marked[b] = true;
  }
  for (int i = 0; i < 20; ++i) {
    const auto [first, n] = range();
    const auto begin = marked.begin() + first;
    RC_ASSERT(m.written(0, first, n) == std::all_of(begin, begin + n, [](bool b) { return b; }));
  }
}

TEST(MemoryTest, BuffersOfTheSource) {
  Case s;
  const int table = s.add({"table", MemorySpace::constant, 12, 4, -1});
  const int filter = s.add({"filter", MemorySpace::constant, 4356, 4, -1});
  const int links = s.add({"links", MemorySpace::global, 16, 8, -1});
  const int tile = s.add({"tile", MemorySpace::shared, 1024, 4, -1});
  const int slot = s.add({"slot", MemorySpace::local, 64, 4, -1});
  s.program.images.push_back({table, {1, 0, 0, 0, 2, 0, 0, 0}, {}, false});
  s.program.images.push_back({filter, std::vector<unsigned char>(4356), {}, false});
  s.program.images.push_back({links, {}, {{8, table, 4}}, false});
  Memory m = s.memory();
  EXPECT_EQ(m.size(), 8);
  EXPECT_EQ(value<int>(m, table, 4), 2);
  EXPECT_EQ(value<int>(m, table, 8), 0);
  EXPECT_EQ(m.at(table, 12, 1), nullptr);
  EXPECT_EQ(value<std::uint64_t>(m, links, 0), 0U);
  EXPECT_EQ(value<std::uint64_t>(m, links, 8), global_address(table, 4));
  EXPECT_EQ(value<int>(m, filter, 0), 0);
  EXPECT_EQ(m.at(tile, 0, 4), nullptr);
  EXPECT_EQ(m.at(slot, 0, 4), nullptr);
  EXPECT_EQ(m.buffer(tile).data, nullptr);
  EXPECT_EQ(m.buffer(tile).name, "tile");
  EXPECT_THAT(m.assumptions(),
              ElementsAre(Assumption{"contents of buffer filter", "zero", KC_SETTING(buffer) " filter=1089:FILL",
                                     Assumption::Kind::contents, "filter"}));
  s.launch.buffers["filter"] = {1089, "3"};
  s.launch.buffers["table"] = {3, "9"};
  Memory filled = s.memory();
  EXPECT_EQ(value<int>(filled, filter, 4352), 3);
  EXPECT_EQ(value<int>(filled, table, 0), 9);
  s.launch.buffers["filter"] = {1000, "3"};
  EXPECT_THAT(error_of<UserError>(s), HasSubstr("buffer filter=1000: the source declares 4356 bytes"));
}

TEST(MemoryTest, GivenContents) {
  Case s;
  s.launch.buffers["x"] = {3, "uniform"};
  s.options.contents["x"] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40};
  s.options.contents["index"] = {5, 0, 0, 0};
  Memory m = s.memory();
  EXPECT_EQ(value<float>(m, 0, 0), 1);
  EXPECT_EQ(value<float>(m, 0, 8), 3);
  EXPECT_EQ(m.at(0, 12, 1), nullptr);
  EXPECT_EQ(value<int>(m, 1, 0), 5);
  EXPECT_EQ(m.at(1, 4, 4), nullptr);
  EXPECT_THAT(m.assumptions(), IsEmpty());
  EXPECT_EQ(m.contents(0), s.options.contents["x"]);
  s.launch.buffers["x"] = {4, ""};
  EXPECT_THAT(error_of<UserError>(s),
              HasSubstr("contents given for buffer x have 12 bytes, the buffer has 16 (buffer x=COUNT)"));
}

TEST(MemoryTest, TheLimitIsKept) {
  Case s;
  s.launch.buffers["x"] = {1 << 20, "zero"};
  s.options.max_memory_bytes = 100000;
  Memory m = s.memory();
  std::string text = "no error";
  try {
    for (std::int64_t at = 0; at < (1 << 22); at += page_bytes) EXPECT_NE(m.at(0, at, 4), nullptr);
  } catch (const LimitError& e) {
    text = e.what();
  }
  EXPECT_EQ(text,
            "the buffers touched need more than the 100 kB of max_memory (reached in buffer x); those with a size are "
            "4.19 MB in all. Raise max_memory, give sizes with buffer, or run fewer blocks with sample");
  EXPECT_LE(m.resident_bytes(), 100000);
  EXPECT_GT(m.resident_bytes(), 90000);
  EXPECT_NE(m.at(0, 0, 4), nullptr);  // what is there stays usable
}

TEST(MemoryTest, SizesBeyondTheAddressSpace) {
  Case s;
  s.launch.buffers["x"] = {std::int64_t{1} << 40, ""};
  EXPECT_THAT(error_of<UserError>(s),
              HasSubstr("buffer x=1099511627776: a buffer has at most 1.1 TB, here 274877906944 elements"));
  s.launch.buffers["x"] = {std::int64_t{1} << 34, "zero"};  // 64 GiB: costs what is touched
  Memory m = s.memory();
  EXPECT_NE(m.at(0, (std::int64_t{1} << 36) - 4, 4), nullptr);
  EXPECT_EQ(m.resident_bytes(), page_bytes + 1);
}

TEST(MemoryTest, BadFillsNameTheBuffer) {
  Case s;
  s.launch.buffers["index"] = {10, "unifrm"};
  EXPECT_THAT(error_of<UserError>(s),
              HasSubstr("buffer index=10:unifrm: there is no such fill; did you mean \"uniform\"?"));
}

struct Spelling {
  const char* type;
  ValueType scalar;
  int bytes;
};

TEST(ElementTypeTest, PointeesOfSourceTypes) {
  for (const Spelling& c :
       {Spelling{"float*", ValueType::f32, 4}, Spelling{"const float4 *restrict", ValueType::f32, 16},
        Spelling{"__global const unsigned char*", ValueType::i8, 1}, Spelling{"double2*", ValueType::f64, 16},
        Spelling{"half*", ValueType::f16, 2}, Spelling{"unsigned long long const*", ValueType::i64, 8},
        Spelling{"uint*", ValueType::i32, 4}, Spelling{"global float3*", ValueType::f32, 16},
        Spelling{"float3*", ValueType::f32, 12}, Spelling{"uint32_t*", ValueType::i32, 4},
        Spelling{"uchar16*", ValueType::i8, 16}, Spelling{"bool*", ValueType::i1, 1},
        Spelling{"float**", ValueType::i64, 8}}) {
    const auto e = pointee_of(c.type);
    ASSERT_TRUE(e.has_value()) << c.type;
    EXPECT_EQ(e->type.scalar, c.scalar) << c.type;
    EXPECT_EQ(e->bytes, c.bytes) << c.type;
  }
  EXPECT_EQ(pointee_of("unsigned int*")->type.sign, ElementType::Sign::unsigned_);
  EXPECT_EQ(pointee_of("int*")->type.sign, ElementType::Sign::signed_);
  for (const char* none : {"ptr", "ptr addrspace(1)", "void*", "Node*", "float", "float5*", "", "*"})
    EXPECT_FALSE(pointee_of(none).has_value()) << none;
}

TEST(ElementTypeTest, ParametersOfSymbols) {
  EXPECT_THAT(parameter_types("_Z4axpyPfS_i"), ElementsAre("float*", "float*", "int"));
  EXPECT_THAT(parameter_types("_Z1kIiEvPT_S0_"), ElementsAre("int*", "int"));  // void k<int>(int*, int)
  EXPECT_THAT(parameter_types("_Z1fPFivEPi"), ElementsAre("int (*)()", "int*"));
  EXPECT_THAT(parameter_types("axpy"), IsEmpty());
}

TEST(ElementTypeTest, SymbolsAndAccessesTellWhatTypesDoNot) {
  Case s;
  s.profile.parameters[0].type = s.profile.parameters[1].type = "ptr";
  s.profile.symbol = "_Z1kPKhP6float4Pv";
  s.program.sites.resize(2);
  s.program.sites[0].buffer = 2;
  s.program.code.resize(2);
  for (auto& i : s.program.code) {
    i.op = Opcode::load;
    i.type = ValueType::f64;
    i.extra = 2;
    i.site = 0;
  }
  auto e = elements_of(s.profile, s.program);
  EXPECT_EQ(e[0].type.scalar, ValueType::i8);
  EXPECT_EQ(e[0].bytes, 1);
  EXPECT_EQ(e[1].bytes, 16);
  EXPECT_EQ(e[2].type.scalar, ValueType::f64);
  EXPECT_EQ(e[2].bytes, 16);  // every access is of two
  s.program.code[1].extra = 1;
  e = elements_of(s.profile, s.program);
  EXPECT_EQ(e[2].bytes, 8);
  s.program.code.clear();
  e = elements_of(s.profile, s.program);
  EXPECT_EQ(e[2].type.scalar, ValueType::i32);
  EXPECT_FALSE(e[2].type.known);
  s.profile.parameters[2].bytes = 24;  // a structure
  EXPECT_EQ(elements_of(s.profile, s.program)[2].bytes, 24);
}

}  // namespace
}  // namespace kernelcast::interpreter
