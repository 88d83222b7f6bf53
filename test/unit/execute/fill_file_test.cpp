#include "execute/fill_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kernelcast/error.h"

namespace kernelcast::interpreter::fill_file_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Sign = ElementType::Sign;

class FillFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "kernelcast-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }
  std::filesystem::path folder_;
};

FillTarget target(ValueType type, std::int64_t elements) {
  return {"a", elements, size_of(type), {type, Sign::signed_, true}, 100, 1};
}

template <class T>
std::string raw(const std::vector<T>& v) {
  return {reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T)};
}

std::string npy(const std::string& dtype, const std::string& shape, const std::string& data, int version = 1,
                const std::string& order = "False") {
  std::string dictionary = "{'descr': " + dtype + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  while ((dictionary.size() + 1 + (version == 1 ? 10 : 12)) % 64 != 0) dictionary += ' ';
  dictionary += '\n';
  std::string head = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
  head += static_cast<char>(dictionary.size() & 0xff);
  head += static_cast<char>(dictionary.size() >> 8);
  if (version > 1) head += std::string(2, '\0');
  return head + dictionary + data;
}

template <class T>
std::vector<T> values(const std::string& path, const FillTarget& t) {
  std::vector<T> v(static_cast<std::size_t>(t.elements * t.element_bytes) / sizeof(T));
  make_fill("file:" + path, t)->write(0, {reinterpret_cast<unsigned char*>(v.data()), v.size() * sizeof(T)});
  return v;
}

std::string error_of(const std::string& path, const FillTarget& t) {
  try {
    make_fill("file:" + path, t);
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

TEST_F(FillFile, RawBytes) {
  const std::string path = write("a.bin", raw<float>({1, 2, 3, 4}));
  EXPECT_THAT(values<float>(path, target(ValueType::f32, 4)), ElementsAre(1, 2, 3, 4));
  float two = 0;  // from the middle
  FillTarget pairs = target(ValueType::f32, 2);
  pairs.element_bytes = 8;
  make_fill("file:" + path, pairs)->write(4, {reinterpret_cast<unsigned char*>(&two), 4});
  EXPECT_EQ(two, 2);
}

TEST_F(FillFile, Npy) {
  for (const int version : {1, 2, 3}) {
    const std::string path = write("a.npy", npy("'<f4'", "(2, 2)", raw<float>({1, 2, 3, 4}), version));
    EXPECT_THAT(values<float>(path, target(ValueType::f32, 4)), ElementsAre(1, 2, 3, 4));
    FillTarget vectors = target(ValueType::f32, 1);
    vectors.element_bytes = 16;
    EXPECT_THAT(values<float>(path, vectors), ElementsAre(1, 2, 3, 4));
  }
  const std::string scalar = write("s.npy", npy("\"<i8\"", "()", raw<std::int64_t>({9})));
  EXPECT_THAT(values<std::int64_t>(scalar, target(ValueType::i64, 1)), ElementsAre(9));
  const std::string bytes = write("b.npy", npy("'|u1'", "(3,)", raw<std::uint8_t>({7, 8, 255})));
  EXPECT_THAT(values<std::uint8_t>(bytes, target(ValueType::i8, 3)), ElementsAre(7, 8, 255));  // of either sign
  const std::string complex = write("c.npy", npy("'<c8'", "(2,)", raw<float>({1, 2, 3, 4})));
  EXPECT_THAT(values<float>(complex, target(ValueType::f32, 4)), ElementsAre(1, 2, 3, 4));
}

TEST_F(FillFile, UnknownElementsTakeAnyTypeOfTheRightSize) {
  FillTarget t = target(ValueType::i32, 2);
  t.type.known = false;
  EXPECT_EQ(error_of(write("f.npy", npy("'<f4'", "(2,)", raw<float>({1, 2}))), t), "no error");
  EXPECT_THAT(error_of(write("d.npy", npy("'<f8'", "(2,)", raw<double>({1, 2}))), t), HasSubstr("it holds <f8"));
}

TEST_F(FillFile, WrongSizes) {
  const auto t = target(ValueType::f32, 4);
  const std::string shorter = write("short.bin", raw<float>({1, 2, 3}));
  EXPECT_EQ(error_of(shorter, t),
            "buffer a=4:file:" + shorter + ": it has 12 bytes, the buffer 16 (4 elements of 4 bytes)");
  EXPECT_THAT(error_of(write("long.bin", raw<float>({1, 2, 3, 4, 5})), t), HasSubstr("it has 20 bytes"));
  EXPECT_THAT(error_of(write("shape.npy", npy("'<f4'", "(2, 3)", raw<float>({1, 2, 3, 4, 5, 6}))), t),
              HasSubstr("it holds 2 x 3 of <f4, the buffer has 4 elements of 4 bytes"));
  EXPECT_THAT(error_of(write("cut.npy", npy("'<f4'", "(4,)", raw<float>({1, 2}))), t),
              HasSubstr("it has 8 bytes behind its header, the buffer 16"));
  EXPECT_THAT(error_of(write("huge.npy", npy("'<f4'", "(4611686018427387904, 4)", "")), t),
              HasSubstr("the buffer has 4"));
  EXPECT_THAT(error_of(shorter, target(ValueType::f32, 0)), HasSubstr("buffer a=COUNT:file:"));
  EXPECT_THAT(error_of(write("empty", ""), t), HasSubstr("it has 0 bytes"));
}

TEST_F(FillFile, WrongTypes) {
  const auto t = target(ValueType::f32, 2);
  const auto of = [&](const std::string& dtype, const std::string& order = "False") {
    return error_of(write("x.npy", npy(dtype, "(2,)", std::string(64, '\0'), 1, order)), t);
  };
  EXPECT_THAT(of("'<f8'"), HasSubstr("it holds <f8, the buffer 32-bit floating point; convert it with array.astype()"));
  EXPECT_THAT(of("'<i4'"), HasSubstr("it holds <i4"));
  EXPECT_THAT(of("'>f4'"), HasSubstr("big-endian (>f4); save array.astype(\"<f4\")"));
  EXPECT_THAT(of("'<f4'", "True"), HasSubstr("Fortran order; save numpy.ascontiguousarray(array)"));
  EXPECT_THAT(of("'|O'"), HasSubstr("(|O) are not plain numbers"));
  EXPECT_THAT(of("'<U4'"), HasSubstr("are not plain numbers"));
  EXPECT_THAT(of("'<M8[ns]'"), HasSubstr("are not plain numbers"));
  EXPECT_THAT(of("'<f0'"), HasSubstr("are not plain numbers"));
  EXPECT_THAT(of("[('x', '<f4')]"), HasSubstr("records of several fields"));
  EXPECT_THAT(error_of(write("i.npy", npy("'<f4'", "(2,)", raw<float>({1, 2}))), target(ValueType::i32, 2)),
              HasSubstr("the buffer 32-bit integers"));
}

TEST_F(FillFile, BrokenHeaders) {
  const auto t = target(ValueType::f32, 2);
  const std::string magic = "\x93NUMPY";
  const auto of = [&](const std::string& bytes) { return error_of(write("x.npy", bytes), t); };
  EXPECT_THAT(of(magic), HasSubstr("it ends inside its .npy header"));
  EXPECT_THAT(of(magic + std::string("\x01\x00\xff\xff{}", 6)), HasSubstr("it ends inside its .npy header"));
  EXPECT_THAT(of(npy("'<f4'", "(2,)", "", 9)), HasSubstr("version 9; versions 1 to 3 are known"));
  for (const char* dictionary : {"{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}",
                                 "{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}", "nonsense",
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': (2", "{'descr'",
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}"}) {
    std::string bytes = magic + std::string("\x01\x00", 2);
    bytes += static_cast<char>(std::strlen(dictionary));
    bytes += '\0';
    EXPECT_THAT(of(bytes + dictionary + std::string(16, ' ')), HasSubstr("its .npy header cannot be read"))
        << dictionary;
  }
}

TEST_F(FillFile, FilesThatAreNone) {
  const auto t = target(ValueType::f32, 2);
  EXPECT_THAT(error_of((folder_ / "missing").string(), t), HasSubstr("No such file"));
  EXPECT_THAT(error_of(folder_.string(), t), HasSubstr("it is not a regular file"));
  EXPECT_THAT(error_of("", t), HasSubstr("there is no file name"));
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(error_of(pipe, t), HasSubstr("it is not a regular file"));
}

TEST_F(FillFile, BecameShorter) {
  const std::string path = write("a.bin", raw<float>({1, 2, 3, 4}));
  const auto fill = make_fill("file:" + path, target(ValueType::f32, 4));
  std::filesystem::resize_file(path, 8);
  std::vector<unsigned char> out(16);
  EXPECT_THROW(fill->write(0, out), UserError);
}

// Every cut of a good file is an error, none is trouble.
TEST_F(FillFile, CutsOfAGoodFile) {
  const std::string whole = npy("'<f4'", "(2,)", raw<float>({1, 2}));
  for (std::size_t n = 6; n < whole.size(); ++n)
    EXPECT_THAT(error_of(write("x.npy", whole.substr(0, n)), target(ValueType::f32, 2)), HasSubstr("buffer a=2:file:"));
}

TEST_F(FillFile, NumpyWroteIt) {
  const char* folder = std::getenv("KERNELCAST_VALIDATION");
  if (folder == nullptr) GTEST_SKIP() << "KERNELCAST_VALIDATION does not name a folder of validation data";
  const auto path = std::filesystem::path(folder) / "fills" / "dedispersion-shifts.npy";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is missing";
  const auto v = values<float>(path.string(), target(ValueType::f32, 1536));
  EXPECT_TRUE(std::is_sorted(v.rbegin(), v.rend()));  // delays fall with frequency
  EXPECT_GT(v.front(), v.back());
}

}  // namespace
}  // namespace kernelcast::interpreter::fill_file_test
