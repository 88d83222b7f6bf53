// Launches found by evaluating host code.
#include "kernelcast/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "kernelcast/error.h"

namespace kernelcast {
namespace {

constexpr const char* host_kernels = R"(
__global__ void saxpy(int n, float a, const float* x, float* y) { y[0] = a * x[n]; }
template <int K> __global__ void scale(float* y, int n) { y[n] *= K; }
)";

HostProgram program_of(const std::string& host, std::vector<std::string> argv = {}, HostOptions options = {}) {
  Source source;
  source.path = "program.cu";
  source.language = Language::cuda;
  source.text = host_kernels + host;
  options.argv = std::move(argv);
  return host_launches(source, options);
}

std::int64_t whole(const HostNumber& n) {
  return std::holds_alternative<std::int64_t>(n) ? std::get<std::int64_t>(n) : -1;
}

/// saxpy over 1000 elements in blocks of 256, with 64 bytes of shared memory; y has twice the elements of x.
void expect_saxpy(const HostLaunch& l) {
  EXPECT_EQ(l.kernel, "saxpy");
  EXPECT_EQ(whole(l.grid[0]), 4);
  EXPECT_EQ(whole(l.block[0]), 256);
  EXPECT_EQ(whole(l.shared), 64);
  ASSERT_EQ(l.args.size(), 4u);
  EXPECT_EQ(std::get<std::int64_t>(l.args[0].value), 1000);
  EXPECT_EQ(std::get<double>(l.args[1].value), 2.5);
  EXPECT_EQ(std::get<HostBuffer>(l.args[2].value).elements, 1000);
  EXPECT_EQ(std::get<HostBuffer>(l.args[3].value).elements, 2000);
}

TEST(HostLaunches, EvaluatesArgumentsFunctionsAndAllocations) {
  const HostProgram p = program_of(R"(
int ceil_div(int a, int b) { return (a + b - 1) / b; }
int main(int argc, char** argv) {
  if (argc != 2) { return 1; }
  int n = atoi(argv[1]);
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc((void**)&y, 2 * n * sizeof(float));
  saxpy<<<ceil_div(n, 256), 256, 64>>>(n, 2.5f, x, y);
})",
                                   {"1000"});
  ASSERT_EQ(p.launches.size(), 1u);
  expect_saxpy(p.launches[0]);
  EXPECT_TRUE(p.launches[0].unknowns().empty());
}

TEST(HostLaunches, RowsOfAPitchedAllocationArePaddedTo512Bytes) {
  const char* host = R"(
int main() {
  float* y;
  size_t pitch;
  cudaMallocPitch(&y, &pitch, 1000 * sizeof(float), 30);
  saxpy<<<4, 256, 64>>>(pitch / sizeof(float), 2.5f, y, y);
})";
  const HostProgram p = program_of(host);
  ASSERT_EQ(p.launches.size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(p.launches[0].args[0].value), 1024);
  EXPECT_EQ(std::get<HostBuffer>(p.launches[0].args[2].value).elements, 30 * 1024);
  EXPECT_THAT(p.assumed, testing::ElementsAre(testing::HasSubstr("padded to a multiple of 512 bytes: 4096")));

  HostOptions options;
  options.lets["pitch"] = std::int64_t{4000};
  const HostProgram given = program_of(host, {}, options);
  ASSERT_EQ(given.launches.size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(given.launches[0].args[0].value), 1000);
  EXPECT_TRUE(given.assumed.empty());
}

TEST(HostLaunches, LoopsAreRepetitionsAndWrappersPassTheirSizesOn) {
  const HostProgram p = program_of(R"(
void wrap(float* y, int n, dim3 g, dim3 b) { scale<3><<<g, b>>>(y, n); }
int main() {
  float* y;
  cudaMalloc(&y, 400);
  for (int i = 0; i < 20; i++) wrap(y, 100, dim3(4, 2), dim3(16, 16));
  for (int i = 1; i <= 4; i *= 2) scale<i0><<<i, 32>>>(y, 7);
})");
  ASSERT_EQ(p.launches.size(), 1u);  // i0 is not declared: the second launch cannot be compiled
  EXPECT_EQ(p.launches[0].kernel, "scale<3>");
  EXPECT_EQ(p.launches[0].repetitions, 20);
  EXPECT_EQ(whole(p.launches[0].grid[1]), 2);
  EXPECT_EQ(whole(p.launches[0].block[1]), 16);
}

TEST(HostLaunches, TheDriverNamesKernelsByTheirText) {
  const HostProgram p = program_of(R"(
int main() {
  CUmodule module;
  CUfunction run, other;
  CUdeviceptr x, y;
  int n = 1000;
  float a = 2.5f;
  cuModuleLoad(&module, "program.ptx");
  cuModuleGetFunction(&run, module, "saxpy");
  cuModuleGetFunction(&other, module, "nowhere");
  cuMemAlloc(&x, n * 4);
  cuMemAlloc(&y, n * 8);
  void* arguments[] = {&n, &a, &x, &y};
  cuLaunchKernel(run, (n + 255) / 256, 2, 1, 256, 1, 1, 64, 0, arguments, 0);
  cuLaunchKernel(other, 1, 1, 1, 32, 1, 1, 0, 0, arguments, 0);
})");
  ASSERT_EQ(p.launches.size(), 2u);
  expect_saxpy(p.launches[0]);
  EXPECT_EQ(whole(p.launches[0].grid[1]), 2);
  EXPECT_EQ(p.launches[1].kernel, "nowhere");
  EXPECT_EQ(whole(p.launches[1].block[0]), 32);
}

TEST(HostLaunches, RoundsToTheNearestWholeNumber) {
  const HostProgram p = program_of(R"(
int main() {
  float* y;
  cudaMalloc(&y, 4096);
  scale<1><<<dim3(rint(2.5), lround(2.5), lrint(3.5)), dim3(rintf(6.6f), truncf(4.9f), cosf(0.0f))>>>(y, 1);
})");
  ASSERT_EQ(p.launches.size(), 1u);
  EXPECT_EQ(whole(p.launches[0].grid[0]), 2);
  EXPECT_EQ(whole(p.launches[0].grid[1]), 3);
  EXPECT_EQ(whole(p.launches[0].grid[2]), 4);
  EXPECT_EQ(whole(p.launches[0].block[0]), 7);
  EXPECT_EQ(whole(p.launches[0].block[1]), 4);
  EXPECT_EQ(whole(p.launches[0].block[2]), 1);
}

TEST(HostLaunches, NodesOfGraphsAreLaunches) {
  const HostProgram p = program_of(R"(
int main() {
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaKernelNodeParams k = {0};
  float* y;
  int n = 7;
  cudaMalloc(&y, 4096);
  void* arguments[] = {&y, &n};
  k.func = (void*)scale<4>;
  k.gridDim = dim3(5, 2, 1);
  k.blockDim = dim3(64, 1, 1);
  k.sharedMemBytes = 128;
  k.kernelParams = arguments;
  cudaGraphAddKernelNode(&node, graph, nullptr, 0, &k);
})");
  ASSERT_EQ(p.launches.size(), 1u);
  EXPECT_EQ(p.launches[0].kernel, "scale<4>");
  EXPECT_EQ(whole(p.launches[0].grid[1]), 2);
  EXPECT_EQ(whole(p.launches[0].block[0]), 64);
  EXPECT_EQ(whole(p.launches[0].shared), 128);
  EXPECT_EQ(std::get<HostBuffer>(p.launches[0].args[0].value).elements, 1024);
  EXPECT_EQ(std::get<std::int64_t>(p.launches[0].args[1].value), 7);
}

TEST(HostLaunches, ThreadsRunAndWhatALibraryCallsBackMayRun) {
  const HostProgram p = program_of(R"(
float* y;
void* worker(void* given) { scale<1><<<*(int*)given, 32>>>(y, 1); return 0; }
void each(int) { scale<2><<<3, 32>>>(y, 1); }
int main() {
  cudaMalloc(&y, 4096);
  int blocks = 6;
  pthread_t thread;
  pthread_create(&thread, 0, worker, &blocks);
  call_often(each);
  return 0;
})");
  ASSERT_EQ(p.launches.size(), 2u);
  EXPECT_EQ(whole(p.launches[0].grid[0]), 6);
  EXPECT_TRUE(p.launches[0].conditions.empty());
  EXPECT_EQ(whole(p.launches[1].grid[0]), 3);
  EXPECT_THAT(p.launches[1].conditions, testing::ElementsAre(testing::HasSubstr("calls of each() by call_often()")));
  EXPECT_TRUE(p.launches[1].more);
}

TEST(HostLaunches, WhatASearchFindsIsUnknownWhereItMayHaveEndedBefore) {
  const HostProgram p = program_of(R"(
int main() {
  float* y;
  cudaMalloc(&y, 4096);
  int found = 0, whole = 0;
  for (int i = 0; i < 8; i++) {
    found = i;
    if (system(0) > 5) break;
  }
  for (int i = 0; i < 8; i++) whole = i;
  scale<1><<<found + 1, 32>>>(y, 1);
  scale<2><<<whole + 1, 32>>>(y, 1);
})");
  ASSERT_EQ(p.launches.size(), 2u);
  EXPECT_EQ(whole(p.launches[0].grid[0]), -1);
  EXPECT_EQ(whole(p.launches[1].grid[0]), 8);
}

TEST(HostLaunches, WhatTheHostCopiesIntoVariablesOfTheDevice) {
  const HostProgram p = program_of(R"(
struct Params { int n; float w; };
__constant__ float weights[3];
__constant__ Params params;
__device__ int counter;
int main() {
  float h[3] = {1, 2, 3}, *y;
  Params p = {5, 0.5f};
  int c = 7;
  cudaMalloc(&y, 4096);
  cudaMemcpyToSymbol(weights, h, sizeof(h));
  cudaMemcpyToSymbol(params, &p, sizeof(p));
  cudaMemcpyToSymbol(counter, &c, sizeof(c));
  scale<1><<<1, 32>>>(y, 1);
  h[2] = 9;
  cudaMemcpyToSymbol(weights, h + 2, sizeof(float), 0);
  scale<1><<<1, 32>>>(y, 1);
  if (system(0) > 5) cudaMemcpyToSymbol(weights, h, sizeof(h));
  void* address;
  cudaGetSymbolAddress(&address, params);
  scale<1><<<1, 32>>>(y, 1);
})");
  ASSERT_EQ(p.launches.size(), 3u);
  EXPECT_TRUE(p.launches[2].globals.empty());
  const auto& first = p.launches[0].globals;
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(first.at("counter").contents, std::string("\7\0\0\0", 4));
  EXPECT_EQ(first.at("params").elements, 1);
  EXPECT_EQ(first.at("params").contents, std::string("\5\0\0\0\0\0\0\x3f", 8));
  std::array<float, 3> weights{};
  const auto read = [&weights](const HostBuffer& b) {
    EXPECT_EQ(b.contents.size(), sizeof weights);
    std::memcpy(weights.data(), b.contents.data(), std::min(b.contents.size(), sizeof weights));
  };
  read(first.at("weights"));
  EXPECT_EQ(weights, (std::array<float, 3>{1, 2, 3}));
  EXPECT_FALSE(p.launches[1].globals.contains("counter")) << "the kernel may have written it";
  read(p.launches[1].globals.at("weights"));
  EXPECT_EQ(weights, (std::array<float, 3>{9, 2, 3}));
}

TEST(HostLaunches, InitializersThatDoNotFitDoNoHarm) {
  const HostProgram p = program_of(R"(
struct Info { int size; };
Missing choose() {
  Info a = {{1, 2}, 3};
  return a;
}
int main() {
  Info a = {{1, 2}, 3};
  auto b = choose();
  float* y;
  cudaMalloc(&y, 4096);
  scale<1><<<1, 32>>>(y, 1);
})");
  EXPECT_EQ(p.launches.size(), 1u);
}

TEST(HostLaunches, WhatEndsALoopHappensOnce) {
  const HostProgram p = program_of(R"(
int main() {
  float* y;
  cudaMalloc(&y, 4096);
  for (int outer = 0; outer < 3; outer++)
    for (int i = 0; i < 100; i++) {
      scale<1><<<1, 32>>>(y, 1);
      if (system(0) > 5) {
        scale<2><<<1, 32>>>(y, 1);
        break;
      }
      if (system(0) > 6) scale<3><<<1, 32>>>(y, 1);
    }
})");
  std::map<std::string, std::int64_t> times;
  for (const HostLaunch& l : p.launches) times[l.kernel] += l.repetitions;
  EXPECT_EQ(times, (std::map<std::string, std::int64_t>{{"scale<1>", 300}, {"scale<2>", 3}, {"scale<3>", 300}}));
}

TEST(HostLaunches, LoopsBehindTheLastLaunchOfOneFunctionAreEvaluatedInTheNext) {
  const HostProgram p = program_of(R"(
void first(float* y) {
  scale<1><<<1, 32>>>(y, 1);
  for (int i = 0; i < 8; i++) y[i] = 0;
}
void second(float* y) {
  int blocks = 0;
  for (int i = 0; i < 8; i++) blocks += 2;
  scale<2><<<blocks, 32>>>(y, 1);
})");
  ASSERT_EQ(p.launches.size(), 2u);
  EXPECT_EQ(whole(p.launches[1].grid[0]), 16);
}

TEST(HostLaunches, UnknownValuesSayWhyAndAreGivenByName) {
  const std::string host = R"(
int main() {
  int width = system(0) % 1000;
  float* y;
  cudaMalloc(&y, width * sizeof(float));
  scale<2><<<(width + 31) / 32, 32>>>(y, width);
})";
  const HostProgram p = program_of(host);
  ASSERT_EQ(p.launches.size(), 1u);
  const auto unknown = p.launches[0].unknowns();
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_EQ(unknown[0].name, "width");
  EXPECT_EQ(unknown[0].why, "system() is not evaluated");
  HostOptions given;
  given.lets["width"] = std::int64_t{4096};
  const HostProgram q = program_of(host, {}, given);
  ASSERT_EQ(q.launches.size(), 1u);
  EXPECT_EQ(whole(q.launches[0].grid[0]), 128);
  EXPECT_EQ(std::get<HostBuffer>(q.launches[0].args[0].value).elements, 4096);
}

TEST(HostLaunches, OffsetsSurviveCastsByWayOfVoid) {
  const HostProgram p = program_of(
      "__global__ void k(const int4* a, const char* b);\n"
      "int main() { short* d; cudaMalloc(&d, 8192);\n"
      "  const void* v = d + 1024; k<<<1, 32>>>((const int4*)v, (const char*)v); }");
  ASSERT_EQ(p.launches.size(), 1u);
  EXPECT_EQ(std::get<HostBuffer>(p.launches[0].args[0].value).elements, (8192 - 2048) / 16);
  EXPECT_EQ(std::get<HostBuffer>(p.launches[0].args[1].value).elements, 8192 - 2048);
}

TEST(HostLaunches, ArgumentsOfAPackGoByPosition) {
  const HostProgram p = program_of(
      "template <class... Args> __global__ void k(float* out, Args... args) { out[0] = (0.0f + ... + args); }\n"
      "int main() { float* d; cudaMalloc(&d, 64); k<<<1, 32>>>(d, 1, 2.5f, 3); }");
  ASSERT_EQ(p.launches.size(), 1u);
  std::vector<std::string> names;
  for (const HostArgument& a : p.launches[0].args) names.push_back(a.name);
  EXPECT_EQ(names, (std::vector<std::string>{"out", "args", "2", "3"}));
}

TEST(HostLaunches, EndlessProgramsEnd) {
  HostOptions few;
  few.max_steps = 100'000;
  const HostProgram p =
      program_of("int main() { float* y; cudaMalloc(&y, 4); for (;;) scale<1><<<1, 1>>>(y, 0); }", {}, few);
  ASSERT_EQ(p.launches.size(), 1u);
  ASSERT_EQ(p.notes.size(), 1u);
  EXPECT_THAT(p.notes[0], testing::HasSubstr("limit of 100000 evaluated steps"));
}

TEST(HostLaunches, LongLoopsWithoutLaunchesAreLeft) {
  const HostProgram p = program_of(R"(
int main() {
  int n = 1 << 24, sum = 0;
  for (int i = 0; i < n; i++) sum += i;
  float* y;
  cudaMalloc(&y, n);
  scale<1><<<n / 256, 256>>>(y, sum);
})");
  ASSERT_EQ(p.launches.size(), 1u);
  EXPECT_EQ(whole(p.launches[0].grid[0]), 65536);
  EXPECT_THAT(std::get<HostUnknown>(p.launches[0].args[1].value).why, testing::HasSubstr("too long"));
}

TEST(HostLaunches, FunctionsOfTheRuntimeLaunch) {
  const HostProgram p = program_of(R"(
int main() {
  float* y;
  int n = 12;
  cudaMalloc(&y, 4096);
  void* args[] = {&y, &n};
  cudaLaunchKernel((const void*)scale<5>, dim3(3), dim3(64), args, 128, 0);
})");
  ASSERT_EQ(p.launches.size(), 1u);
  EXPECT_EQ(p.launches[0].kernel, "scale<5>");
  EXPECT_EQ(whole(p.launches[0].grid[0]), 3);
  EXPECT_EQ(whole(p.launches[0].shared), 128);
  EXPECT_EQ(std::get<std::int64_t>(p.launches[0].args[1].value), 12);
}

TEST(HostLaunches, ConfigurationsWithAnArrayOfArguments) {
  const HostProgram p = program_of(R"(
__global__ void fill(float* y, int n) { y[0] = n; }
int main() {
  float* y;
  int n = 12;
  cudaMalloc(&y, 4096);
  cudaLaunchConfig_t c = {};
  c.gridDim = dim3(3, 2);
  c.blockDim = dim3(64);
  c.dynamicSmemBytes = 256;
  void* args[] = {&y, &n};
  cudaLaunchKernelExC(&c, (const void*)fill, args);
})");
  ASSERT_EQ(p.launches.size(), 1u);
  EXPECT_EQ(whole(p.launches[0].grid[1]), 2);
  EXPECT_EQ(whole(p.launches[0].shared), 256);
  ASSERT_EQ(p.launches[0].args.size(), 2u);
  EXPECT_EQ(std::get<std::int64_t>(p.launches[0].args[1].value), 12);
}

constexpr const char* encoded_map = R"(
#include <cuda.h>
#include <stdint.h>
__global__ void copy(const __grid_constant__ CUtensorMap map, int n) {}
__global__ void copy_far(const CUtensorMap* map, int n) {}
template <int Rows> CUtensorMap map_of(void* data, uint64_t width, uint64_t height) {
  CUtensorMap map;
  uint64_t sizes[2] = {width, height}, strides[1] = {width * 2};
  uint32_t box[2] = {64, Rows}, steps[2] = {1, 1};
  cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, sizes, strides, box, steps,
                         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}
)";

std::string box_of(const HostLaunch& l) {
  const auto* map = std::get_if<HostTensorMap>(&l.args.at(0).value);
  return map == nullptr ? "none" : map->text();
}

TEST(HostLaunches, TensorMapsKeepTheirBoxes) {
  const HostProgram p = program_of(std::string(encoded_map) + R"(
int main() {
  void* data;
  cudaMalloc(&data, 1 << 20);
  CUtensorMap map = map_of<128>(data, 512, 1024), none, *on_device;
  copy<<<8, 128>>>(map, 1);
  cudaMalloc(&on_device, sizeof(CUtensorMap));
  cudaMemcpy(on_device, &map, sizeof(CUtensorMap), cudaMemcpyHostToDevice);
  copy_far<<<8, 128>>>(on_device, 2);
  copy_far<<<8, 128>>>(on_device, 3);
  copy<<<8, 128>>>(none, 4);
})");
  ASSERT_EQ(p.launches.size(), 4u);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(box_of(p.launches[k]), "64x128:2") << k;
  EXPECT_EQ(box_of(p.launches[3]), "none");
}

TEST(HostLaunches, TensorMapsByAFunctionOfTheDriverAndOfPackedElements) {
  const HostProgram p = program_of(std::string(encoded_map) + R"(
int main(int argc, char** argv) {
  void *data = nullptr, *found = nullptr;
  cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, 0);
  PFN_cuTensorMapEncodeTiled encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled>(found);
  CUtensorMap map;
  uint64_t sizes[2] = {512, 512}, strides[1] = {256};
  uint32_t box[2] = {128, 32}, steps[2] = {1, 1};
  encode(&map, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, 2, data, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
         CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  copy<<<8, 128>>>(map, 1);
  box[1] = atoi(argv[1]);
  encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 2, data, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
         CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  copy<<<8, 128>>>(map, 2);
})");
  ASSERT_EQ(p.launches.size(), 2u);
  EXPECT_EQ(box_of(p.launches[0]), "64x32:1");
  EXPECT_EQ(box_of(p.launches[1]), "none") << "a size that is not known";
}

TEST(HostLaunches, ClustersOfAConfiguration) {
  const HostProgram p = program_of(R"(
__global__ void fill(float* y, int n) { y[0] = n; }
int main() {
  float* y;
  cudaMalloc(&y, 4096);
  cudaLaunchConfig_t c = {};
  c.gridDim = dim3(4);
  c.blockDim = dim3(64);
  cudaLaunchAttribute list[2];
  list[0].id = cudaLaunchAttributePriority;
  list[0].val.priority = 7;
  list[1].id = cudaLaunchAttributeClusterDimension;
  list[1].val.clusterDim = {2, 1, 1};
  c.attrs = list;
  c.numAttrs = 2;
  cudaLaunchKernelEx(&c, fill, y, 5);
  c.numAttrs = 1;
  cudaLaunchKernelEx(&c, fill, y, 6);
})");
  ASSERT_EQ(p.launches.size(), 2u);
  EXPECT_EQ(whole(p.launches[0].cluster[0]), 2);
  EXPECT_EQ(whole(p.launches[0].cluster[1]), 1);
  EXPECT_EQ(whole(p.launches[1].cluster[0]), 0);
}

// The parameter itself is read nowhere by its name.
TEST(HostLaunches, LetsReachParametersBehindTheirAddresses) {
  HostOptions options;
  options.lets["n"] = std::int64_t{12};
  const HostProgram p = program_of(R"(
__global__ void fill(float* y, int n) { y[0] = n; }
void launch(float* y, int n) {
  void* args[] = {&y, &n};
  cudaLaunchKernel((const void*)fill, dim3(3), dim3(64), args, 0, 0);
})",
                                   {}, options);
  ASSERT_EQ(p.launches.size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(p.launches[0].args[1].value), 12);
}

TEST(HostLaunches, OtherLanguagesAreRefused) {
  Source source;
  source.path = "program.cl";
  source.language = Language::opencl;
  EXPECT_THROW(host_launches(source, {}), UserError);
}

constexpr const char* contents_kernels = R"(
enum Mode { slow = 3 };
struct Inner { short s[3]; double d; };
struct Settings { int n; float a; Mode mode; Inner inner; char last; };
__global__ void use(const Settings* settings, float* out) { out[settings->n] = settings->a; }
__global__ void change(Settings* settings) { settings->n = 1; }
__global__ void pick(const int* index, float* out) { out[index[0]] = 1; }
)";

const HostBuffer& buffer_of(const HostLaunch& launch, std::size_t k) {
  return std::get<HostBuffer>(launch.args.at(k).value);
}

TEST(HostContents, AStructureThatTheHostFillsReachesTheKernel) {
  const HostProgram p = program_of(std::string(contents_kernels) + R"(
int main() {
  Settings s, *d; float* out;
  s.n = 7; s.a = 1.5f; s.mode = slow; s.inner.s[0] = -1; s.inner.s[1] = 2; s.inner.s[2] = 3; s.inner.d = 0.25; s.last = 'x';
  cudaMalloc((void**)&d, sizeof(Settings));
  cudaMalloc((void**)&out, 400);
  cudaMemcpy(d, &s, sizeof s, cudaMemcpyHostToDevice);
  use<<<1, 32>>>(d, out);
  use<<<2, 32>>>(d, out);
  change<<<1, 32>>>(d);
  use<<<3, 32>>>(d, out);
})");
  struct Inner {
    short s[3];
    double d;
  };
  struct Settings {
    int n;
    float a;
    int mode;
    Inner inner;
    char last;
  };
  ASSERT_EQ(p.launches.size(), 4u);
  for (const std::size_t k : {0u, 1u, 2u}) {  // a parameter that points to const leaves it as it was
    const std::string& bytes = buffer_of(p.launches[k], 0).contents;
    ASSERT_EQ(bytes.size(), sizeof(Settings));
    Settings held;
    std::memcpy(&held, bytes.data(), sizeof held);
    EXPECT_EQ(held.n, 7);
    EXPECT_EQ(held.a, 1.5f);
    EXPECT_EQ(held.mode, 3);
    EXPECT_THAT(held.inner.s, testing::ElementsAre(-1, 2, 3));
    EXPECT_EQ(held.inner.d, 0.25);
    EXPECT_EQ(held.last, 'x');
  }
  EXPECT_EQ(buffer_of(p.launches[0], 1).contents, "") << "nobody wrote it";
  EXPECT_EQ(buffer_of(p.launches[3], 0).contents, "") << "a kernel wrote it";
}

TEST(HostContents, ArraysWhereEachElementIsKnown) {
  const HostProgram p = program_of(std::string(contents_kernels) + R"(
int main() {
  int h[3] = {5, -6, 7}, *d; float* out;
  cudaMalloc((void**)&d, sizeof h);
  cudaMalloc((void**)&out, 400);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  pick<<<1, 32>>>(d, out);
  h[1] = system(0);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  pick<<<2, 32>>>(d, out);
  int* m;
  cudaMallocManaged(&m, 2 * sizeof(int));
  m[0] = 8; m[1] = 9;
  pick<<<3, 32>>>(m, out);
  int* large = (int*)calloc(262145, 4), *dl;
  large[7] = 3;
  cudaMalloc((void**)&dl, 262145 * 4);
  cudaMemcpy(dl, large, 262145 * 4, cudaMemcpyHostToDevice);
  pick<<<4, 32>>>(dl, out);
  pick<<<5, 32>>>(dl + 1, out);
  pick<<<6, 32>>>(dl + 8, out);
})");
  ASSERT_EQ(p.launches.size(), 6u);
  const std::string first = buffer_of(p.launches[0], 0).contents, third = buffer_of(p.launches[2], 0).contents;
  EXPECT_EQ(first, std::string("\x05\0\0\0\xfa\xff\xff\xff\x07\0\0\0", 12));
  EXPECT_EQ(buffer_of(p.launches[1], 0).contents, "") << "one is not known";
  EXPECT_EQ(third, std::string("\x08\0\0\0\x09\0\0\0", 8));
  EXPECT_EQ(buffer_of(p.launches[3], 0).contents, "") << "more than 1 MiB";
  EXPECT_EQ(buffer_of(p.launches[4], 0).contents.size(), std::size_t{1} << 20);
  EXPECT_EQ(buffer_of(p.launches[4], 0).repeats, 0);
  EXPECT_EQ(buffer_of(p.launches[5], 0).contents, std::string(4, '\0'));
  EXPECT_EQ(buffer_of(p.launches[5], 0).repeats, 1) << "from there to the end";
}

TEST(HostContents, MemoryThatIsSetToOneByte) {
  const HostProgram p = program_of("#include <stdlib.h>\n#include <string.h>\n" + std::string(contents_kernels) + R"(
int main() {
  const size_t n = 100000000;
  int *d; float* out;
  cudaMalloc((void**)&d, n * sizeof(int));
  cudaMalloc((void**)&out, n * sizeof(float));
  cudaMemset(d, 0, n * sizeof(int));
  pick<<<1, 32>>>(d, out);
  cudaMemset(d, 0xff, n * sizeof(int));
  pick<<<2, 32>>>(d, out);
  cudaMemsetAsync(d, 0, n, 0);
  pick<<<3, 32>>>(d, out);
  int* h = (int*)malloc(n * sizeof(int));
  memset(h, 0, n * sizeof(int));
  cudaMemcpy(d, h, n * sizeof(int), cudaMemcpyHostToDevice);
  pick<<<4, 32>>>(d, out);
  memset(h, 1, n * sizeof(int));
  int* g = (int*)malloc(n * sizeof(int));
  memcpy(g, h, n * sizeof(int));
  cudaMemcpy(d, g, n * sizeof(int), cudaMemcpyHostToDevice);
  pick<<<5, 32>>>(d, out);
  int few[4] = {1, 2, 3, 4}, *e;
  memset(few + 2, 0, 2 * sizeof(int));
  cudaMalloc((void**)&e, sizeof few);
  cudaMemcpy(e, few, sizeof few, cudaMemcpyHostToDevice);
  pick<<<6, 32>>>(e, out);
})");
  ASSERT_EQ(p.launches.size(), 6u);
  EXPECT_EQ(buffer_of(p.launches[5], 0).contents, "") << "a part behind what is known";
  EXPECT_EQ(buffer_of(p.launches[4], 0).contents, std::string(4, '\1'));
  for (const std::size_t k : {0u, 1u, 3u, 4u}) EXPECT_EQ(buffer_of(p.launches[k], 0).repeats, 1) << k;
  EXPECT_EQ(buffer_of(p.launches[0], 0).contents, std::string(4, '\0'));
  EXPECT_EQ(buffer_of(p.launches[1], 0).contents, std::string(4, '\xff'));
  EXPECT_EQ(buffer_of(p.launches[2], 0).contents, "") << "a part of it";
  EXPECT_EQ(buffer_of(p.launches[3], 0).contents, std::string(4, '\0'));
}

TEST(HostContents, WhatNobodyWroteBesideKnownValuesIsZero) {
  const HostProgram p = program_of("#include <stdlib.h>\n" + std::string(contents_kernels) + R"(
int main() {
  int h[3], *d, *m, *part; float* out;
  cudaMalloc((void**)&d, sizeof h);
  cudaMalloc((void**)&part, 8);
  cudaMalloc((void**)&out, 400);
  h[1] = 5;
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  pick<<<1, 32>>>(d, out);
  int* heap = (int*)malloc(sizeof h);
  heap[2] = 6;
  cudaMemcpy(d, heap, sizeof h, cudaMemcpyHostToDevice);
  pick<<<2, 32>>>(d, out);
  cudaMemcpy(part, heap + 2, 4, cudaMemcpyHostToDevice);
  pick<<<3, 32>>>(part, out);
  Settings s, *ds;
  s.n = 9;
  cudaMalloc((void**)&ds, sizeof s);
  cudaMemcpy(ds, &s, sizeof s, cudaMemcpyHostToDevice);
  use<<<4, 32>>>(ds, out);
})");
  ASSERT_EQ(p.launches.size(), 4u);
  EXPECT_EQ(buffer_of(p.launches[0], 0).contents, std::string("\0\0\0\0\x05\0\0\0\0\0\0\0", 12));
  EXPECT_EQ(buffer_of(p.launches[1], 0).contents, std::string("\0\0\0\0\0\0\0\0\x06\0\0\0", 12));
  EXPECT_EQ(buffer_of(p.launches[2], 0).contents, std::string("\x06\0\0\0\0\0\0\0", 8));
  const std::string& settings = buffer_of(p.launches[3], 0).contents;
  ASSERT_FALSE(settings.empty());
  EXPECT_EQ(settings.substr(0, 4), std::string("\x09\0\0\0", 4));
  EXPECT_EQ(settings.find_first_not_of('\0', 1), std::string::npos);
}

TEST(HostContents, WhatMayHaveBeenWrittenIsNotZero) {
  const HostProgram p = program_of("#include <stdlib.h>\n" + std::string(contents_kernels) + R"(
void fill(int* to);
int main() {
  int h[3], *d; float* out;
  cudaMalloc((void**)&d, sizeof h);
  cudaMalloc((void**)&out, 400);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  pick<<<1, 32>>>(d, out);  // nothing is known
  h[system(0) % 3] = 1;
  h[1] = 5;
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  pick<<<2, 32>>>(d, out);
  int g[3];
  fill(g);
  g[1] = 5;
  cudaMemcpy(d, g, sizeof g, cudaMemcpyHostToDevice);
  pick<<<3, 32>>>(d, out);
  int k[3], other[3];
  k[0] = other[1];  // it is copied, whatever it is
  k[1] = 5;
  cudaMemcpy(d, k, sizeof k, cudaMemcpyHostToDevice);
  pick<<<4, 32>>>(d, out);
})");
  ASSERT_EQ(p.launches.size(), 4u);
  for (const HostLaunch& l : p.launches) EXPECT_EQ(buffer_of(l, 0).contents, "") << whole(l.grid[0]);
}

TEST(HostContents, AKernelThatOnlyReadsLeavesThemAsTheyWere) {
  const std::string start = R"(
__device__ int inner(int* p, int k) { return *(p + k); }
__device__ void put(int* p) { *p = 1; }
)";
  const std::string end = R"(
int main() {
  int h[2] = {5, 6}, *d; float* out;
  cudaMalloc((void**)&d, sizeof h);
  cudaMalloc((void**)&out, 400);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  k<<<1, 32>>>(d, out);
  k<<<2, 32>>>(d, out);
})";
  const auto contents = [&](const std::string& body) {
    const HostProgram p = program_of(start + "__global__ void k(int* p, float* out) { " + body + " }" + end);
    EXPECT_EQ(p.launches.size(), 2u);
    return buffer_of(p.launches[1], 0).contents;
  };
  for (const char* reads : {"out[p[0]] = *(p + 1);", "out[inner(p, 1)] = inner(p + 1, 0);", "out[p[p[0] - 5]] = 1;"})
    EXPECT_EQ(contents(reads).size(), 8u) << reads;
  for (const char* writes :
       {"p[0] = 1;", "++p[1];", "put(p);", "put(p + 1);", "int* q = p; *q = 1;", "atomicAdd(p, 1);",
        "*(out + p[0]) = 1; *(p + 1) += 2;", "int& r = p[0]; r = 1;", "put(&p[1]);"})
    EXPECT_EQ(contents(writes), "") << writes;
}

TEST(HostContents, RowsOfAMatrixAreCountedInElements) {
  const HostProgram p = program_of(R"(
__global__ void rows(float (*a)[8], int n) { a[n][0] = 1; }
int main() {
  float (*a)[8];
  cudaMalloc((void**)&a, 10 * sizeof *a);
  rows<<<1, 32>>>(a, 3);
  rows<<<2, 32>>>(a + 1, 3);
})");
  ASSERT_EQ(p.launches.size(), 2u);
  EXPECT_EQ(buffer_of(p.launches[0], 0).elements, 80);
  EXPECT_EQ(buffer_of(p.launches[1], 0).elements, 72);
}

TEST(HostContents, LaunchesAlikeWithOtherContentsHaveNone) {
  const HostProgram p = program_of(std::string(contents_kernels) + R"(
int main() {
  int h[1], *d, *same; float* out;
  cudaMalloc((void**)&d, 4);
  cudaMalloc((void**)&same, 4);
  cudaMalloc((void**)&out, 400);
  for (int i = 0; i < 3; ++i) {
    h[0] = i;
    cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice);
    pick<<<1, 32>>>(d, out);
    h[0] = 4;
    cudaMemcpy(same, h, 4, cudaMemcpyHostToDevice);
    pick<<<2, 32>>>(same, out);
  }
})");
  ASSERT_EQ(p.launches.size(), 2u);
  EXPECT_EQ(p.launches[0].repetitions, 3);
  EXPECT_EQ(buffer_of(p.launches[0], 0).contents, "");
  EXPECT_EQ(buffer_of(p.launches[1], 0).contents, std::string("\x04\0\0\0", 4));
}

TEST(HostContents, ElementsOfAnotherSizeAreNotReadAsTheirs) {
  const HostProgram p = program_of(std::string(contents_kernels) + R"(
int main() {
  long h[2] = {1, 2}; int* d; float* out;
  cudaMalloc((void**)&d, sizeof h);
  cudaMalloc((void**)&out, 400);
  cudaMemcpy((void*)d, (void*)h, sizeof h, cudaMemcpyHostToDevice);
  pick<<<1, 32>>>(d, out);
})");
  ASSERT_EQ(p.launches.size(), 1u);
  EXPECT_EQ(buffer_of(p.launches[0], 0).contents, "");
}

TEST(HostContents, PinnedMemoryIsMarkedAndManagedMemoryIsNot) {
  const HostProgram p = program_of("#include <stdlib.h>\n" + std::string(contents_kernels) + R"(
int main() {
  int *h, *d, *m, *r; float* out;
  cudaHostAlloc((void**)&h, 400, cudaHostAllocMapped);
  cudaHostGetDevicePointer((void**)&d, (void*)h, 0);
  cudaMallocManaged(&m, 400);
  cudaMalloc((void**)&out, 400);
  r = (int*)malloc(400);
  cudaHostRegister(r, 400, cudaHostRegisterMapped);
  pick<<<1, 32>>>(d, out);
  pick<<<2, 32>>>(m, out);
  pick<<<3, 32>>>(r, out);
  int* aligned = (int*)(((size_t)r + 4095) & ~(size_t)4095), *there;
  cudaHostGetDevicePointer((void**)&there, (void*)aligned, 0);
  pick<<<4, 32>>>(there, out);
})");
  ASSERT_EQ(p.launches.size(), 4u);
  EXPECT_TRUE(buffer_of(p.launches[3], 0).in_host_memory);
  EXPECT_FALSE(buffer_of(p.launches[3], 0).elements);
  EXPECT_TRUE(buffer_of(p.launches[0], 0).in_host_memory);
  EXPECT_EQ(buffer_of(p.launches[0], 0).elements, 100);
  EXPECT_FALSE(buffer_of(p.launches[0], 1).in_host_memory);
  EXPECT_FALSE(buffer_of(p.launches[1], 0).in_host_memory);
  EXPECT_TRUE(buffer_of(p.launches[2], 0).in_host_memory);
}

}  // namespace
}  // namespace kernelcast
