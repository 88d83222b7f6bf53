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

HostProgram read(const std::string& text) {
  HostOptions options;
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

constexpr const char* long_fill = R"(#include <cstdlib>
__global__ void k(const int* n, int* o) { o[blockIdx.x] = n[blockIdx.x]; }
int main() {
  const int n = 1 << 22;
  int* h = (int*)malloc(4l * n);
  for (int i = 0; i < n; ++i) { FILL }
  int* p; int* q; cudaMalloc(&p, 4l * n); cudaMalloc(&q, 4l * n);
  cudaMemcpy(p, h, 4l * n, cudaMemcpyHostToDevice);
  k<<<100, 32>>>(p, q);
})";

HostProgram filled_by(const std::string& fill) {
  std::string text = long_fill;
  return read(text.replace(text.find("FILL"), 4, fill));
}

TEST(HostRandom, TheFirstElementsOfALongFillStandForTheOthers) {
  for (const char* fill : {"h[i] = rand() % 100;", "h[i] = i % 8; for (int k = 0; k < 100000; ++k) h[i] += k & 1;"}) {
    const HostProgram p = filled_by(fill);
    ASSERT_EQ(p.launches.size(), 1U);
    const auto& b = std::get<HostBuffer>(p.launches[0].args[0].value);
    if (std::string(fill).find("rand") == std::string::npos) {  // few elements were written: nothing is known
      EXPECT_TRUE(b.contents.empty());
      continue;
    }
    ASSERT_GT(b.repeats, 10000);
    ASSERT_EQ(static_cast<std::int64_t>(b.contents.size()), 4 * b.repeats);
    srand(1);
    for (int k = 0; k < 100; ++k) EXPECT_EQ(static_cast<unsigned char>(b.contents[4 * k]), rand() % 100) << k;
    ASSERT_EQ(p.assumed.size(), 1U);
    EXPECT_NE(p.assumed[0].find("the loop at line 6 is too long to evaluate; the first"), std::string::npos);
  }
}

TEST(HostRandom, SoDoThoseOfRows) {
  const HostProgram p =
      filled_by("if (i == 8) break; for (int k = 0; k < n / 8; ++k) h[i * (n / 8) + k] = rand() % 100;");
  ASSERT_EQ(p.launches.size(), 1U);
  EXPECT_GT(std::get<HostBuffer>(p.launches[0].args[0].value).repeats, 10000);
}

TEST(HostRandom, RowsThatRiseStandForNothing) {
  const HostProgram p = filled_by("h[i] = i;");
  ASSERT_EQ(p.launches.size(), 1U);
  const auto& b = std::get<HostBuffer>(p.launches[0].args[0].value);
  EXPECT_TRUE(b.contents.empty());
  EXPECT_EQ(b.repeats, 0);
}

TEST(HostRandom, LoopsInsideALongOneArePassedOver) {
  const HostProgram p = filled_by(
      "h[i] = rand() % 10000; char* t = (char*)malloc(h[i]); "
      "for (int c = 0; c < h[i]; ++c) t[c] = c;");
  ASSERT_EQ(p.launches.size(), 1U);
  EXPECT_GT(std::get<HostBuffer>(p.launches[0].args[0].value).repeats, 1000);
}

}  // namespace
}  // namespace kernelcast
