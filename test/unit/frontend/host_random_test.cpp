// Random numbers of the host program, against the same statements run by the C and C++ libraries of this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernelcast/host.h"

namespace kernelcast {
namespace {

HostProgram read(const std::string& text, std::int64_t max_steps = HostOptions().max_steps) {
  HostOptions options;
  options.max_steps = max_steps;
  Source source;
  source.path = "program.cu";
  source.language = Language::cuda;
  source.text = text;
  return host_launches(source, options);
}

/// The grids of all launches, one for each time.
std::vector<std::int64_t> grids(const HostProgram& p) {
  std::vector<std::int64_t> all;
  for (const HostLaunch& l : p.launches) {
    const auto* x = std::get_if<std::int64_t>(&l.grid[0]);
    all.insert(all.end(), static_cast<std::size_t>(l.repetitions), x != nullptr ? *x : -1);
  }
  return all;
}

// Runs the statements here, and keeps their text.
#define DRAW(...)                                                                         \
  const std::string statements = #__VA_ARGS__;                                            \
  std::vector<std::int64_t> expected;                                                     \
  {                                                                                       \
    const auto launch = [&](long long blocks) { expected.push_back(blocks); };            \
    __VA_ARGS__                                                                           \
  }                                                                                       \
  const HostProgram p = read(                                                             \
      "#include <cstdlib>\n#include <random>\n#include <algorithm>\n#include <numeric>\n" \
      "#include <vector>\n__global__ void k(int* o) { o[blockIdx.x] = 1; }\nint* out;\n"  \
      "void launch(long long blocks) { k<<<(int)blocks, 32>>>(out); }\nint main() {\n" +  \
      statements + "\n}\n")

TEST(HostRandom, TheGeneratorsOfTheCLibrary) {
  DRAW(srand(7); launch(rand() % 100000 + 1); for (int i = 0; i < 50; ++i) rand(); launch(rand() % 100000 + 1);
       srand(0); launch(rand() % 100000 + 1); srand(4000000000u); launch(random() % 100000 + 1); unsigned state = 5;
       launch(rand_r(&state) % 100000 + 1); launch(rand_r(&state) % 100000 + 1); srand48(9);
       launch((int)(drand48() * 1e5) + 1); launch(lrand48() % 100000 + 1); launch(abs((int)(mrand48() % 100000)) + 1););
  EXPECT_EQ(grids(p), expected);
  EXPECT_TRUE(p.notes.empty());
  EXPECT_TRUE(p.assumed.empty());
}

TEST(HostRandom, EnginesAndDistributionsOfTheCppLibrary) {
  DRAW(std::mt19937 g(12); std::uniform_int_distribution<int> d(10, 99999); launch(d(g)); launch(d(g));
       std::mt19937 copy = g; launch((int)(g() % 1000) + 1); launch((int)(copy() % 1000) + 2); g.discard(11);
       std::uniform_real_distribution<> r(1.0, 1000.0); launch((int)r(g)); std::uniform_real_distribution<float> rf;
       launch((int)(rf(g) * 1e5f) + 1); std::normal_distribution<float> nf(1000.f, 10.f); launch((int)nf(g));
       launch((int)nf(g)); launch((int)nf(g)); std::normal_distribution<double> nd(1000, 10); launch((int)nd(g));
       std::default_random_engine e; launch(d(e)); e.seed(5); launch(d(e)); std::mt19937_64 wide(3); launch(d(wide));
       std::uniform_int_distribution<size_t> ds(1, 50000); launch((int)ds(g));
       std::uniform_int_distribution<int> negative(-5, 5); launch(negative(g) + 10); std::bernoulli_distribution b(0.3);
       int count = 0; for (int i = 0; i < 100; ++i) count += b(g); launch(count + 1000);
       std::exponential_distribution<> x(0.001); launch((int)x(g) + 1););
  EXPECT_EQ(grids(p), expected);
}

TEST(HostRandom, ElementsAreShuffled) {
  DRAW(std::vector<int> v(1000); std::iota(v.begin(), v.end(), 1);
       std::shuffle(v.begin(), v.end(), std::default_random_engine(3)); launch(v[0]); launch(v[500]); launch(v[999]););
  EXPECT_EQ(grids(p), expected);
}

TEST(HostRandom, ASeedThatIsNotKnownIsListed) {
  const HostProgram p = read(R"(#include <cstdlib>
#include <ctime>
__global__ void k(int* o) { o[blockIdx.x] = 1; }
int main() { int* p; srand(time(NULL)); k<<<rand() % 10 + 1, 32>>>(p); })");
  ASSERT_EQ(p.launches.size(), 1U);
  srand(1);
  EXPECT_EQ(grids(p), std::vector<std::int64_t>{rand() % 10 + 1});
  ASSERT_EQ(p.assumed.size(), 1U);
  EXPECT_NE(p.assumed[0].find("the seed of rand() at line 4 is not known"), std::string::npos) << p.assumed[0];
}

TEST(HostRandom, NumbersBehindALongLoopDecideNoSize) {
  const HostProgram p = read(R"(#include <cstdlib>
__global__ void k(float* o) { o[blockIdx.x] = 1; }
int main() {
  int n = 1 << 24;
  float* h = (float*)malloc(4l * n);
  for (int i = 0; i < n; ++i) h[i] = rand() / 3.0f;
  float* p; cudaMalloc(&p, 4l * n);
  k<<<rand() % 10 + 1, 32>>>(p); })");
  ASSERT_EQ(p.launches.size(), 1U);
  const auto* u = std::get_if<HostUnknown>(&p.launches[0].grid[0]);
  ASSERT_NE(u, nullptr);
  EXPECT_EQ(u->why, "rand() behind draws that were not evaluated (line 6)");
}

HostProgram filled_by(const std::string& fill, const std::string& argument = "p", const std::string& type = "int") {
  const std::string library = fill.find("std::") == std::string::npos ? "" : "#include <random>\n";
  return read(library + "using type = " + type + R"(;
#include <math.h>
#include <stdlib.h>
__global__ void k(const type* n, int* o) { o[blockIdx.x] = n[blockIdx.x]; }
int main() {
  const int n = 1 << 22;
  type* h = (type*)malloc(4l * n);
  for (int i = 0; i < n; ++i) { )" +
                  fill + R"( }
  type* p; int* q; cudaMalloc(&p, 4l * n); cudaMalloc(&q, 4l * n);
  cudaMemcpy(p, h, 4l * n, cudaMemcpyHostToDevice);
  k<<<100, 32>>>()" +
                  argument + ", q);\n}\n",
              2000000);
}

const HostBuffer& filled(const HostProgram& p) { return std::get<HostBuffer>(p.launches.at(0).args.at(0).value); }

TEST(HostRandom, TheFirstElementsOfALongFillStandForTheOthers) {
  const HostProgram p = filled_by("h[i] = rand() % 10 * (i % 4);");
  const HostBuffer& b = filled(p);
  ASSERT_GT(b.repeats, 10000);
  ASSERT_EQ(static_cast<std::int64_t>(b.contents.size()), 4 * b.repeats);
  srand(1);
  for (int k = 0; k < 100; ++k) EXPECT_EQ(static_cast<unsigned char>(b.contents[4 * k]), rand() % 10 * (k % 4)) << k;
  ASSERT_EQ(p.assumed.size(), 1U);
  EXPECT_NE(p.assumed[0].find("the loop at line 8 is too long to evaluate; the first"), std::string::npos);
}

TEST(HostRandom, FewElementsStandForNothing) {
  const HostProgram p = filled_by("h[i] = i % 8; for (int k = 0; k < 100000; ++k) h[i] += k & 1;");
  EXPECT_TRUE(filled(p).contents.empty());
  EXPECT_TRUE(filled(p).fill.empty());
}

/// "uniform(0,100)" as {0, 100}.
std::vector<double> numbers_in(const std::string& fill) {
  std::vector<double> all;
  for (std::size_t at = fill.find('('); at != std::string::npos && fill[at] != ')';
       at = fill.find_first_of(",)", at + 1))
    all.push_back(std::stod(fill.substr(at + 1)));
  return all;
}

TEST(HostRandom, IndependentNumbersAreKnownByTheirDistribution) {
  const HostProgram p = filled_by("h[i] = rand() % 100;");
  EXPECT_EQ(filled(p).fill, "uniform(0,100)");
  EXPECT_TRUE(filled(p).contents.empty());
  ASSERT_EQ(p.assumed.size(), 1U);
  EXPECT_NE(p.assumed[0].find("elements that it writes stand for the others: uniform(0,100)"), std::string::npos);
  EXPECT_EQ(filled(filled_by("h[i] = rand() % 2;")).fill, "uniform(0,2)");

  const HostProgram wide = filled_by("h[i] = rand() / (float)RAND_MAX;", "p", "float");
  ASSERT_TRUE(filled(wide).fill.starts_with("uniform(")) << filled(wide).fill;
  EXPECT_NEAR(numbers_in(filled(wide).fill)[0], 0, 1e-3);
  EXPECT_NEAR(numbers_in(filled(wide).fill)[1], 1, 1e-3);

  const HostProgram normal =
      filled_by("static std::mt19937 g(1); static std::normal_distribution<float> d(3, 2); h[i] = d(g);", "p", "float");
  ASSERT_TRUE(filled(normal).fill.starts_with("normal(")) << filled(normal).fill;
  EXPECT_NEAR(numbers_in(filled(normal).fill)[0], 3, 0.1);
  EXPECT_NEAR(numbers_in(filled(normal).fill)[1], 2, 0.1);

  // Neither of these is independent and even: they stay what they are.
  EXPECT_GT(filled(filled_by("h[i] = rand() % 10 * (rand() % 10);")).repeats, 10000);
  EXPECT_GT(filled(filled_by("h[i] = i % 7;")).repeats, 10000);
}

TEST(HostRandom, RowsGoOn) {
  EXPECT_EQ(filled(filled_by("h[i] = i;")).fill, "iota(0,1)");
  EXPECT_EQ(filled(filled_by("h[i] = 3 * i + 7;")).fill, "iota(7,3)");
  EXPECT_EQ(filled(filled_by("h[i] = n - 2 * i;")).fill, "iota(4194304,-2)");
  EXPECT_EQ(filled(filled_by("h[i] = i / 16;")).fill, "iota(0,0.0625)");
  EXPECT_EQ(filled(filled_by("h[i] = 0.5f * i;", "p", "float")).fill, "iota(0,0.5)");
  const HostBuffer near = filled(filled_by("h[i] = 1e6f + rand() % 8 * 0.125f;", "p", "float"));
  EXPECT_FALSE(near.fill.starts_with("iota")) << near.fill;
  const HostBuffer from = filled(filled_by("h[i] = i;", "p + 1000"));
  EXPECT_EQ(from.fill, "iota(1000,1)") << "from where the argument points to";
}

TEST(HostRandom, SumsOfRandomLengthsAreOffsets) {
  const HostProgram p = filled_by("h[i] = i == 0 ? 0 : h[i - 1] + rand() % 9;");
  ASSERT_TRUE(filled(p).fill.starts_with("offsets(")) << filled(p).fill;
  EXPECT_NEAR(numbers_in(filled(p).fill)[0], 4, 0.1);
}

TEST(HostRandom, SoDoThoseOfRows) {
  const HostProgram p =
      filled_by("if (i == 8) break; for (int k = 0; k < n / 8; ++k) h[i * (n / 8) + k] = rand() % 100;");
  EXPECT_EQ(filled(p).fill, "uniform(0,100)");
}

TEST(HostRandom, RowsOfALoopAroundOrInsideStandForNothing) {
  for (const char* fill :
       {"if (i == 8) break; for (int k = 0; k < n / 8; ++k) h[i * (n / 8) + k] = k;", "h[i] = (int)sqrt((double)i);"}) {
    const HostProgram p = filled_by(fill);
    EXPECT_TRUE(filled(p).contents.empty()) << fill;
    EXPECT_TRUE(filled(p).fill.empty()) << fill;
  }
}

TEST(HostRandom, WhatIsNoNumberStandsForNothing) {
  const HostProgram p = filled_by("h[i] = sqrt(-1.0 - i);", "p", "float");
  EXPECT_TRUE(filled(p).contents.empty());
  EXPECT_TRUE(filled(p).fill.empty()) << filled(p).fill;
}

TEST(HostRandom, LoopsInsideALongOneArePassedOver) {
  const HostProgram p = filled_by(
      "h[i] = rand() % 10000; char* t = (char*)malloc(h[i]); "
      "for (int c = 0; c < h[i]; ++c) t[c] = c;");
  EXPECT_TRUE(filled(p).fill.starts_with("uniform(")) << filled(p).fill;
}

}  // namespace
}  // namespace kernelcast
