// Structures that host code passes to kernels by value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "kernelcast/host.h"

namespace kernelcast {
namespace {

HostLaunch only_launch(const std::string& text) {
  Source source;
  source.path = "program.cu";
  source.language = Language::cuda;
  source.text = text;
  const HostProgram p = host_launches(source, {});
  EXPECT_EQ(p.launches.size(), 1u);
  return p.launches.empty() ? HostLaunch{} : p.launches.front();
}

HostStructure first_structure(const HostLaunch& l) {
  const HostStructure* s = l.args.empty() ? nullptr : std::get_if<HostStructure>(&l.args.front().value);
  EXPECT_NE(s, nullptr);
  return s == nullptr ? HostStructure{} : *s;
}

template <class T>
T at(const HostStructure& s, std::size_t offset) {
  T value{};
  EXPECT_LE(offset + sizeof value, s.bytes.size());
  std::memcpy(&value, s.bytes.data() + offset, sizeof value);
  return value;
}

/// '1' where a byte is known.
std::string known(const HostStructure& s) {
  std::string text;
  for (const char c : s.known) text += c != 0 ? '1' : '0';
  return text;
}

TEST(HostStructures, HoldNumbersArraysAndPointers) {
  const HostStructure s = first_structure(only_launch(R"(
struct Field { float* data; int size[2]; double scale; char kind; };
__global__ void kernel(Field f) { f.data[f.size[1]] = f.scale; }
int main() {
  Field f;
  cudaMalloc(&f.data, 400);
  f.size[0] = 7;
  f.size[1] = -9;
  f.scale = 0.5;
  kernel<<<1, 32>>>(f);
})"));
  ASSERT_EQ(s.bytes.size(), 32u);
  EXPECT_EQ(at<int>(s, 8), 7);
  EXPECT_EQ(at<int>(s, 12), -9);
  EXPECT_EQ(at<double>(s, 16), 0.5);
  EXPECT_EQ(known(s),
            "00000000"
            "11111111"
            "11111111"
            "00000000");  // the pointer, and what nobody wrote
  ASSERT_EQ(s.pointers.size(), 1u);
  EXPECT_EQ(s.pointers.at(0).elements, 100);
}

TEST(HostStructures, AreClearedAndCopiedAsAWhole) {
  const HostStructure s = first_structure(only_launch(R"(
#include <string.h>
struct Part { float factor; int n; };
struct Field { Part parts[2][2]; int size; };
__global__ void kernel(Field f, float* out) { out[f.size] = f.parts[1][0].factor; }
int main() {
  Field f, other;
  float* out;
  cudaMalloc(&out, 400);
  memset(&f, 0, sizeof f);
  f.parts[1][0].factor = 0.5f;
  memset(&other, 0, sizeof(Field));
  other.size = 9;
  memcpy(&f.size, &other.size, sizeof(int));
  memcpy(&f.parts[1][1].n, &other.size, sizeof f.parts[1][1].n);
  kernel<<<1, 32>>>(f, out);
})"));
  ASSERT_EQ(s.bytes.size(), 36u);
  EXPECT_EQ(known(s), std::string(36, '1'));
  EXPECT_EQ(at<int>(s, 0), 0);
  EXPECT_EQ(at<float>(s, 16), 0.5F);
  EXPECT_EQ(at<int>(s, 20), 0);
  EXPECT_EQ(at<int>(s, 28), 9);
  EXPECT_EQ(at<int>(s, 32), 9);
}

TEST(HostStructures, HoldBasesMembersAndThreeSizes) {
  const HostStructure s = first_structure(only_launch(R"(
struct Shape { int rows = 3; };
template <class T> struct Pair { T a, b; Pair(T x, T y) : a(x), b(y) {} };
struct Layout : Shape { Pair<short> strides; dim3 tile; Layout(int r) : strides(r, 2 * r), tile(4, 5) {} };
__global__ void kernel(Layout l, int* out) { out[l.rows] = l.tile.x; }
int main() {
  int* out;
  cudaMalloc(&out, 64);
  kernel<<<1, 32>>>(Layout(10), out);
})"));
  ASSERT_EQ(s.bytes.size(), 20u);
  EXPECT_EQ(at<int>(s, 0), 3);
  EXPECT_EQ(at<short>(s, 4), 10);
  EXPECT_EQ(at<short>(s, 6), 20);
  for (unsigned axis = 0; axis < 3; ++axis) EXPECT_EQ(at<unsigned>(s, 8 + 4 * axis), axis == 2 ? 1 : 4 + axis);
  EXPECT_EQ(known(s), std::string(20, '1'));
}

TEST(HostStructures, ArraysOfBasesAreFilledLikeTheirOwn) {
  const HostStructure s = first_structure(only_launch(R"(
#include <algorithm>
#include <iterator>
template <int N> struct Sizes {
  long size[N];
  int rank;
  Sizes(const long* from) : rank(N) { std::copy(from, from + N, std::begin(this->size)); }
};
template <int N> struct View : Sizes<N> {
  int stride[N];
  View(const long* from) : Sizes<N>(from) { std::copy_n(from + 1, 1, stride + 1); stride[0] = 1; }
};
__global__ void kernel(View<2> v, int* out) { out[v.size[1]] = v.stride[0]; }
int main() {
  const long sizes[2] = {30, 40};
  int* out;
  cudaMalloc(&out, 64);
  kernel<<<1, 32>>>(View<2>(sizes), out);
})"));
  ASSERT_EQ(s.bytes.size(), 32u);
  EXPECT_EQ(at<long>(s, 0), 30);
  EXPECT_EQ(at<long>(s, 8), 40);
  EXPECT_EQ(at<int>(s, 16), 2);
  EXPECT_EQ(at<int>(s, 20), 1);
  EXPECT_EQ(at<int>(s, 24), 40);
}

TEST(HostStructures, BasesAreCopiesOfWhatAFunctionReturns) {
  const HostStructure s = first_structure(only_launch(R"(
template <int N> struct Coord {
  int index[N];
  Coord(const int (&from)[N]) { for (int i = 0; i < N; ++i) index[i] = from[i]; }
  template <int K> const int& at() const { return this->index[K]; }
};
Coord<2> coord(int a, int b) { int both[2] = {a, b}; return Coord<2>(both); }
struct Tile : Coord<2> {
  Tile(int m, int n) : Coord<2>(coord(m, n)) {}
  int rows() const { return this->template at<0>(); }
};
struct Sizes { int rows, columns; };
__global__ void kernel(Sizes s, int* out) { out[s.rows] = s.columns; }
int main() {
  int* out;
  cudaMalloc(&out, 64);
  Tile tile(5, 6);
  kernel<<<1, 32>>>(Sizes{tile.rows(), tile.index[1]}, out);
})"));
  EXPECT_EQ(at<int>(s, 0), 5);
  EXPECT_EQ(at<int>(s, 4), 6);
}

TEST(HostStructures, MembersOfUnionsShareBytes) {
  const HostStructure s = first_structure(only_launch(R"(
struct Wide {
  struct Parts { unsigned long long low, high; };
  union { Parts parts; unsigned __int128 whole; };
  Wide(unsigned long long low, unsigned long long high) : parts{low, high} {}
  unsigned long long over(unsigned long long divisor) const { return (unsigned long long)(whole / divisor); }
};
union Bits { float real; unsigned whole; unsigned char bytes[4]; };
struct Numbers { unsigned long long quotient; int exponent, real, parts; Bits bits; };
__global__ void kernel(Numbers n, int* out) { out[n.exponent] = n.real; }
int main() {
  int* out;
  cudaMalloc(&out, 64);
  Numbers n;
  n.quotient = Wide(0, 1).over(1ull << 60);
  Bits b;
  b.real = 1.0f;
  n.exponent = b.whole >> 23;
  b.whole = 0x40000000;
  n.real = (int)b.real;
  Wide w(5, 6);
  w.whole = (w.whole << 64) + 7;
  n.parts = w.parts.high * 10 + w.parts.low;
  n.bits.bytes[0] = 0; n.bits.whole = 0x3f800000;
  kernel<<<1, 32>>>(n, out);
})"));
  EXPECT_EQ(at<unsigned long long>(s, 0), 16);
  EXPECT_EQ(at<int>(s, 8), 127);
  EXPECT_EQ(at<int>(s, 12), 2);
  EXPECT_EQ(at<int>(s, 16), 57);
  EXPECT_EQ(at<float>(s, 20), 1.0F);
  EXPECT_EQ(known(s), std::string(24, '1'));
}

TEST(HostStructures, WholeNumbersOf128Bits) {
  const HostStructure s = first_structure(only_launch(R"(
struct Numbers { long high, low, negative, shifted; int compares; double real; };
__global__ void kernel(Numbers n, int* out) { out[n.compares] = n.high; }
int main() {
  int* out;
  cudaMalloc(&out, 64);
  unsigned __int128 product = (unsigned __int128)0xffffffffffffffffull * 0xffffffffffffffffull;
  __int128 minus = -5;
  Numbers n;
  n.high = (long)(product >> 64);
  n.low = (long)product;
  n.negative = (long)(minus * 3 / 2);
  n.shifted = (long)((__int128)1 << 100 >> 98);
  n.compares = (product > 7) + (minus < 0) + (product == product + 1) + !product;
  n.real = (double)((unsigned __int128)1 << 70);
  kernel<<<1, 32>>>(n, out);
})"));
  EXPECT_EQ(at<long>(s, 0), -2);
  EXPECT_EQ(at<long>(s, 8), 1);
  EXPECT_EQ(at<long>(s, 16), -7);
  EXPECT_EQ(at<long>(s, 24), 4);
  EXPECT_EQ(at<int>(s, 32), 2);
  EXPECT_EQ(at<double>(s, 40), 0x1p70);
}

TEST(HostStructures, ListsOfValuesFillBases) {
  const HostStructure s = first_structure(only_launch(R"(
struct Range { int begin, ends[2]; };
struct Named : Range { int name; };
__global__ void kernel(Named n, int* out) { out[n.begin] = n.name; }
int main() {
  int* out;
  cudaMalloc(&out, 64);
  kernel<<<1, 32>>>(Named{{5, {6, 7}}, 8}, out);
})"));
  for (int k = 0; k < 4; ++k) EXPECT_EQ(at<int>(s, 4 * static_cast<std::size_t>(k)), 5 + k);
}

TEST(HostStructures, SayWhatIsNotKnownOfThem) {
  const HostStructure s = first_structure(only_launch(R"(
#include <cstdlib>
struct Range { int begin, end; };
__global__ void kernel(Range r, int* out) { out[r.begin] = r.end; }
int main() {
  int* out;
  cudaMalloc(&out, 64);
  Range r{5, system(0)};
  kernel<<<1, 32>>>(r, out);
})"));
  EXPECT_EQ(known(s), "11110000");
  EXPECT_EQ(at<int>(s, 0), 5);
  ASSERT_EQ(s.unknown.size(), 1u);
  EXPECT_THAT(s.unknown.at(4).why, ::testing::HasSubstr("system()"));
}

TEST(HostStructures, FunctionObjectsHoldWhatTheyCapture) {
  const HostStructure s = first_structure(only_launch(R"(
template <class F> __global__ void each(F f, int n) { if (threadIdx.x < n) f(threadIdx.x); }
int main() {
  float* data;
  int stride = 12;
  cudaMalloc(&data, 1200);
  auto scale = [=] __device__(int i) { data[i * stride] *= 2; };
  each<<<1, 32>>>(scale, 10);
})"));
  ASSERT_EQ(s.bytes.size(), 16u);
  ASSERT_EQ(s.pointers.size(), 1u);
  EXPECT_EQ(s.pointers.at(0).elements, 300);
  EXPECT_EQ(at<int>(s, 8), 12);
}

TEST(HostStructures, LaunchesWithOthersAreOthers) {
  Source source;
  source.path = "program.cu";
  source.language = Language::cuda;
  source.text = R"(
struct Range { int begin, end; };
__global__ void kernel(Range r, int* out) { out[r.begin] = r.end; }
int main() {
  int* out;
  cudaMalloc(&out, 64);
  for (int k = 0; k < 4; ++k) kernel<<<1, 32>>>(Range{k / 2, 9}, out);
})";
  const HostProgram p = host_launches(source, {});
  ASSERT_EQ(p.launches.size(), 2u);
  EXPECT_EQ(p.launches[0].repetitions, 2);
}

}  // namespace
}  // namespace kernelcast
