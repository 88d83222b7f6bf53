// What host code reads from files and texts, what it keeps in maps and tuples, and what it asks of kernels.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "kernelcast/host.h"

namespace kernelcast {
namespace {

namespace fs = std::filesystem;

/// A folder of data files, and programs that launch `kernel<<<n, 32>>>(nullptr)`.
class HostFiles : public testing::Test {
 protected:
  HostFiles() : folder_(fs::path(testing::TempDir()) / ("host_files_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    options_.data_folders = {folder_.string()};
  }
  ~HostFiles() override { fs::remove_all(folder_); }

  void file(const std::string& name, const std::string& contents) {
    std::ofstream(folder_ / name, std::ios::binary) << contents;
  }

  HostProgram program(const std::string& body, const std::string& before = "") {
    source_.path = "program.cu";
    source_.language = Language::cuda;
    source_.text = R"(
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>
__global__ void kernel(float* y) { y[0] = 1; }
)" + before + "\nint main(int argc, char** argv) {\n  int n = 0;\n" +
                   body + "\n  kernel<<<n, 32>>>(nullptr);\n}\n";
    return host_launches(source_, options_);
  }

  /// Blocks of the only launch; -1: not known, -2: not one launch.
  std::int64_t blocks(const std::string& body, const std::string& before = "") {
    const HostProgram p = program(body, before);
    if (p.launches.size() != 1) return -2;
    const HostNumber& n = p.launches[0].grid[0];
    return std::holds_alternative<std::int64_t>(n) ? std::get<std::int64_t>(n) : -1;
  }

  fs::path folder_;
  Source source_;
  HostOptions options_;
};

TEST_F(HostFiles, NumbersAndWordsAreScanned) {
  file("sizes.txt", "size 12 x 0x1f\n7 8.5\n");
  EXPECT_EQ(blocks(R"(FILE* f = fopen("sizes.txt", "r"); char word[20]; int a, b;
                      n = fscanf(f, "%s %d x %i", word, &a, &b) + a + b + strlen(word);)"),
            3 + 12 + 31 + 4);
  EXPECT_EQ(blocks(R"(FILE* f = fopen("sizes.txt", "r"); char line[80]; fgets(line, 80, f);
                      float x; fgets(line, 80, f); sscanf(line, "%d %f", &n, &x); n += (int)(2 * x);)"),
            7 + 17);
  EXPECT_EQ(blocks(R"(FILE* f = fopen("sizes.txt", "r"); int c; while ((c = fgetc(f)) != EOF) if (c == '\n') n++;
                      fseek(f, 0, SEEK_END); n += 10 * ftell(f);)"),
            2 + 10 * 21);
  EXPECT_EQ(blocks(R"(int a, b; sscanf("3,44", "%1d,%d", &a, &b); n = 100 * a + b;)"), 344);
}

TEST_F(HostFiles, StructuresAreReadAsTheyLieInMemory) {
  std::string bytes(16, '\0');
  const std::int32_t width = 640;
  const std::int16_t height = 48;
  std::memcpy(&bytes[4], &width, 4);
  std::memcpy(&bytes[8], &height, 2);
  file("image.bin", bytes + "rest");
  EXPECT_EQ(
      blocks(R"(FILE* f = fopen("image.bin", "rb"); Header h; n = fread(&h, sizeof(h), 1, f) * h.width + h.height;)",
             "struct Header { char magic[4]; int width; short height; int more; };"),
      640 + 48);
}

TEST_F(HostFiles, Streams) {
  file("graph.txt", "% a comment\n5 6\n1 2\n");
  EXPECT_EQ(blocks(R"(std::ifstream in("graph.txt"); if (!in) exit(1); std::string line;
                      while (std::getline(in, line)) if (line[0] != '%') break;
                      std::stringstream words(line); int m; words >> n >> m; n = 10 * n + m;)"),
            56);
  EXPECT_EQ(blocks(R"(std::ifstream in; in.open("graph.txt"); std::string word; while (in >> word) n++;)"), 7);
  EXPECT_EQ(blocks(R"(std::ifstream in("graph.txt", std::ios::binary | std::ios::ate); n = in.tellg();)"), 20);
  EXPECT_EQ(blocks(R"(std::stringstream s; s << "1" << 7 << std::endl; s >> n;)"), 17);
}

TEST_F(HostFiles, WhatIsNotThereOrOutsideIsNotKnown) {
  EXPECT_EQ(blocks(R"(FILE* f = fopen("absent.txt", "r"); if (!f) exit(1); fscanf(f, "%d", &n);)"), -1);
  EXPECT_EQ(blocks(R"(std::ifstream in("absent.txt"); if (!in) exit(1); in >> n;)"), -1);
  file("here.txt", "9");
  const char* body = R"(FILE* f = fopen("here.txt", "r"); fscanf(f, "%d", &n);)";
  EXPECT_EQ(blocks(body), 9);
  source_.readable_dirs = {(folder_ / "elsewhere").string()};
  EXPECT_EQ(blocks(body), -1);
}

TEST_F(HostFiles, TextsAreFormatted) {
  EXPECT_EQ(blocks(R"(char name[40]; sprintf(name, "%s_%03d.txt", "data", 7); n = strcmp(name, "data_007.txt") == 0;)"),
            1);
  EXPECT_EQ(blocks(R"(char name[] = "a12b"; n = atoi(name + 1) + sizeof(name);)"), 17);
  EXPECT_EQ(
      blocks(
          R"(std::string s = "a-b-c"; s.erase(1, 1); s.insert(0, "xy"); s.replace(0, 1, "zzz"); n = s.size() + s.find('b');)"),
      8 + 5);
  EXPECT_EQ(blocks("n = std::numeric_limits<short>::max();"), 32767);
}

TEST_F(HostFiles, MapsAndSets) {
  EXPECT_EQ(blocks(R"(std::map<std::string, int> m; m["b"] = 2; m["a"] = 1; m["b"] += 40;
                      for (const auto& [name, value] : m) n = 100 * n + value; n += m.count("c");)"),
            142);
  EXPECT_EQ(blocks(R"(std::unordered_map<int, int> m{{1, 10}, {2, 20}}; auto at = m.find(2);
                      if (at != m.end()) n = at->second; m.erase(1); n += m.size();)"),
            21);
  EXPECT_EQ(blocks(R"(std::set<int> s; for (int i = 0; i < 30; ++i) s.insert(i % 7); n = 10 * s.size() + *s.begin();)"),
            70);
  EXPECT_EQ(blocks(R"(std::map<int, int> m; m.insert(std::make_pair(3, 4)); m.emplace(1, 2); n = m.begin()->second;)"),
            2);
  EXPECT_EQ(blocks(R"(std::set<int> s; s.insert(system(0)); n = s.size();)"), -1);
}

TEST_F(HostFiles, WhatASkippedLoopAddsIsNotKnown) {
  const std::string loop = R"(FILE* f = fopen("absent.txt", "r"); int x; std::vector<int> v(3); std::string s;
                              std::map<int, int> m; int k = 5, other = 6;
                              while (fscanf(f, "%d", &x) == 1) { v.push_back(x); s += 'a'; m[x] = 1; count(k); })";
  const char* counts = "void count(int& n) { ++n; }";
  EXPECT_EQ(blocks(loop + "n = v.size();", counts), -1);
  EXPECT_EQ(blocks(loop + "n = s.size();", counts), -1);
  EXPECT_EQ(blocks(loop + "n = m.size();", counts), -1);
  EXPECT_EQ(blocks(loop + "n = k;", counts), -1);
  EXPECT_EQ(blocks(loop + "n = other;", counts), 6);
}

TEST_F(HostFiles, GridsAreMadeOfOtherTriples) {
  const HostProgram p = program(R"(
  dim3 grid(2); uint3 triple = make_uint3(7, 8, 9); grid = triple; n = 1;
  kernel<<<grid, 64>>>(nullptr);)");
  ASSERT_EQ(p.launches.size(), 2U);
  EXPECT_EQ(std::get<std::int64_t>(p.launches[0].grid[0]), 7);
  EXPECT_EQ(std::get<std::int64_t>(p.launches[0].grid[2]), 9);
}

TEST_F(HostFiles, Tuples) {
  EXPECT_EQ(blocks(R"(auto t = std::make_tuple(3, 2.5, 4L); n = std::get<0>(t) * std::get<2>(t);)"), 12);
  EXPECT_EQ(blocks("auto [a, b] = sizes(); n = a + b;", "std::tuple<int, int> sizes() { return {6, 7}; }"), 13);
  EXPECT_EQ(blocks("int m; std::tie(n, m) = sizes(); n -= m;", "std::tuple<int, int> sizes() { return {9, 7}; }"), 2);
  EXPECT_EQ(blocks("std::pair<int, int> p(4, 5); auto& [a, b] = p; b = 8; n = a + p.second;"), 12);
}

TEST_F(HostFiles, VirtualFunctionsAreThoseOfTheClassThatWasMade) {
  const char* classes = R"(
struct Shape { virtual int size() { return 1; } virtual ~Shape() {} int twice() { return 2 * size(); } };
struct Square : Shape { int size() override { return 25; } };)";
  EXPECT_EQ(blocks("Shape* s = new Square; n = s->twice() + s->Shape::size();", classes), 51);
  EXPECT_EQ(blocks("Square s; Shape& any = s; n = any.size();", classes), 25);
  EXPECT_EQ(blocks("Any* a = elsewhere(); int m = a->size() + a->twice(); n = 3;",
                   "struct Any { virtual int size() = 0; int twice() { return 2 * size(); } };\nAny* elsewhere();"),
            3)
      << "no class that has the body is known";
}

TEST_F(HostFiles, LaunchesThroughTablesOfFunctionsAreFoundInLongLoops) {
  const char* body = R"(
  long sum = 0;
  for (int i = 0; i < 3; ++i) { for (long k = 0; k < 1000000; ++k) sum += k; table[i % 2](i + 4); }
  n = 1;)";
  const HostProgram p = program(body, R"(
void one(int blocks) { kernel<<<blocks, 64>>>(nullptr); }
void two(int blocks) { kernel<<<2 * blocks, 64>>>(nullptr); }
void (*table[])(int) = {one, two};)");
  ASSERT_EQ(p.launches.size(), 4U);
  EXPECT_EQ(std::get<std::int64_t>(p.launches[1].grid[0]), 10);
}

TEST_F(HostFiles, KernelsOfNoSourceAreKnownByTheirNames) {
  const HostProgram p = program(R"(
  CUmodule module; CUfunction f; n = 1;
  cuModuleGetFunction(&f, module, "elsewhere");
  cuLaunchKernel(f, 3, 2, 1, 16, 16, 1, 64, 0, nullptr, nullptr);)");
  ASSERT_EQ(p.launches.size(), 2U);
  EXPECT_EQ(p.launches[0].kernel, "elsewhere");
  EXPECT_EQ(std::get<std::int64_t>(p.launches[0].grid[1]), 2);
  EXPECT_EQ(std::get<std::int64_t>(p.launches[0].shared), 64);
}

TEST_F(HostFiles, OccupancyIsAskedForAndThenKnown) {
  const char* body = R"(
  int grid, block, per_unit; cudaFuncAttributes a;
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel, 0, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, kernel, 128, 512);
  cudaFuncGetAttributes(&a, kernel);
  n = 1000000 * grid + 1000 * block + 10 * per_unit + a.numRegs / 10;)";
  const HostProgram asked = program(body);
  ASSERT_EQ(asked.kernels_asked.size(), 1U);
  EXPECT_EQ(asked.kernels_asked[0].symbol, "_Z6kernelPf");
  EXPECT_EQ(asked.launches[0].unknowns()[0].why, "the occupancy of a kernel");
  options_.kernels["_Z6kernelPf"] = {40, 0, 0, 1024};
  options_.device = {{"warpSize", 32}, {"multiProcessorCount", 10}, {"maxThreadsPerBlock", 1024}};
  // 1536 threads and as many bytes of shared memory: 768 is the largest block that fills the unit, as does 512.
  options_.resident_blocks = [](const HostKernel&, std::int64_t threads, std::int64_t shared) {
    return std::min(1536 / threads, shared > 0 ? 1536 / shared : 1536);
  };
  EXPECT_EQ(blocks(body), 20 * 1000000 + 768 * 1000 + 3 * 10 + 4);
  // Twelve blocks of 128 threads a unit, ten units, clusters of 2 x 3.
  EXPECT_EQ(blocks(R"(
  cudaLaunchAttribute attribute; attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2; attribute.val.clusterDim.y = 3; attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t c; c.blockDim = dim3(128); c.dynamicSmemBytes = 0; c.attrs = &attribute; c.numAttrs = 1;
  cudaOccupancyMaxActiveClusters(&n, (void*)kernel, &c);)"),
            20);
}

TEST_F(HostFiles, NamesOfTheDriverAndOfRareFlagsAreKnown) {
  EXPECT_EQ(blocks(R"(
  CUdevice device; CUdeviceptr memory; cudaStream_t stream = cudaStreamPerThread; cudaError_t e = cudaErrorInvalidPitchValue;
  cuDeviceGet(&device, 0); cuMemsetD32Async(memory, 0, 16, stream);
  if (e == cudaSuccess) return;
  n = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B * 100 + CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION * 10 +
      cudaOccupancyDisableCachingOverride;)"),
            441);
}

}  // namespace
}  // namespace kernelcast
