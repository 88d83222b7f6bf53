// Launches in device code become calls; nothing else of the text changes.
#include <gtest/gtest.h>

#include "frontend/source/host_code.h"

namespace kernelcast::frontend {
namespace {

TEST(ChildLaunches, HostCodeStays) {
  const std::string text =
      "__global__ void k(int* a) { a[0] = 1 << 2; }\n// f<<<1, 2>>>(3);\nvoid host(int* a) { k<<<1, 64>>>(a); "
      "\"k<<<1>>>()\"; }\n";
  EXPECT_EQ(child_launches_as_calls(text), text);
}

TEST(ChildLaunches, DeviceCodeCalls) {
  EXPECT_EQ(child_launches_as_calls(
                "__global__ void k(int* a) { ns::f<int, 2> <<<dim3(n / 2, (m)), 64>>>(a, g(1)); h<<<1, 2>>>( ); }"),
            "__global__ void k(int* a) { __kc_launch_child(__kc_child(dim3(n / 2, (m)), 64), a, g(1)); "
            "__kc_launch_child(__kc_child(1, 2) ); }");
  EXPECT_EQ(child_launches_as_calls("__device__ void d() {\n  f<<<1,\n  2>>>(\n  1);\n}\n"),
            "__device__ void d() {\n  __kc_launch_child(__kc_child(1,\n  2), \n  1);\n}\n");
}

TEST(ChildLaunches, DamagedTextIsNoReasonToStop) {
  for (const char* text :
       {"<<<", "__global__ void k() { <<<", "__global__ void k() { f<<<1>>>", "__global__ void k() { f<<<1>>>(",
        "__device__ void k() { >>> f<<<(1>>>() }", "__global__ k { <<<>>>() }"})
    EXPECT_GE(child_launches_as_calls(text).size(), 3u) << text;
}

}  // namespace
}  // namespace kernelcast::frontend
