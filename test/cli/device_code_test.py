"""Device code as programs have it: bodies in other files, names of instances, textures, jumps into loops."""

import json
import unittest

from check_schema import checked
from program import Case

LAUNCH = ("--device", "v100", "--grid", "16", "--block", "64")


class DeviceCode(Case):
    def forecast(self, path, *args):
        return checked(self.good("predict", path, *LAUNCH, *args, "--format", "json"), "predict")["predictions"][0]

    def assumptions(self, prediction):
        return json.dumps(prediction["assumptions"])

    def test_a_body_in_a_file_beside(self):
        self.path("body.cu", "__device__ float inner(float x);\n__device__ float f(float x) {\n  for (int i = 0; i < 100; ++i) x = x * x + inner(x);\n  return x;\n}\n")
        self.path("inner.cuh", "// f(float) is not here: float f(float x) {\n__device__ float inner(float x) { return x * 0.5f; }\n")
        caller = "__device__ float f(float x);\n__global__ void k(float* a) { a[threadIdx.x] = f(a[threadIdx.x]); }\n"
        whole = "__device__ float inner(float x) { return x * 0.5f; }\n__device__ float f(float x) {\n  for (int i = 0; i < 100; ++i) x = x * x + inner(x);\n  return x;\n}\n" + caller
        apart, together = self.forecast(self.path("caller.cu", caller)), self.forecast(self.path("whole/k.cu".replace("/", "_"), whole))
        self.assertEqual(apart["counts"]["warp_instructions"], together["counts"]["warp_instructions"])

    def test_a_body_in_a_folder_of_includes(self):
        import os

        os.mkdir(self.path("lib"))
        os.mkdir(self.path("src"))
        self.path("lib/body.cu", "__device__ int far(int x) { return x * 3 + 1; }\n")
        source = self.path("src/k.cu", "__device__ int far(int x);\n__global__ void k(int* a) { a[threadIdx.x] = far(a[threadIdx.x]); }\n")
        self.bad(1, "calls 'far.int.'.*no body here", "predict", source, *LAUNCH)
        self.forecast(source, "-I", self.path("lib"))

    def test_names_of_instances(self):
        source = self.path("t.cu", """#include <cstdint>
typedef unsigned int word;
constexpr int size = 4;
enum class Kind { one, two };
template <class T> __global__ void f(T* a) { a[threadIdx.x] += 1; }
template <class T, int n> __global__ void g(const T* a, T* b) { b[threadIdx.x] = a[threadIdx.x] * n; }
template <Kind kind> __global__ void h(int* a) { a[threadIdx.x] = kind == Kind::one; }
template <class T> void launch(T* a) { f<<<1, 64>>>(a); }
void host(unsigned* u, double* d) {
  f<<<1, 64>>>(u);
  launch(d);
  auto kernel = g<float, 4>;
  kernel<<<1, 64>>>(nullptr, nullptr);
}
""")
        for name in ("f<unsigned int>", "f<uint32_t>", "f<std::uint32_t>", "f<unsigned>", "f<word>", "_Z1fIjEvPT_", "f<double>", "void f<double>(double*)",
                     "g<float, 4>", "g<float,size>", "g<float, 4>(const float*, float*)", "f<int64_t>", "f<long>", "h<Kind::two>", "f<uint8_t>",
                     "_Z1fIsEvPT_"):  # fmt: skip
            with self.subTest(name):
                self.forecast(source, "--kernel", name)
        self.bad(2, "has several kernels.*f<unsigned int>.*f<double>.*g<float, 4>", "predict", source, *LAUNCH)

    def test_textures_surfaces_and_images_are_named(self):
        texture = self.path("t.cu", """texture<float, 2, cudaReadModeElementType> old;
__global__ void sample(cudaTextureObject_t t, cudaSurfaceObject_t s, float* out) {
  float4 v = tex2D<float4>(t, threadIdx.x + 0.5f, 0.5f);
  float w = tex2D(old, threadIdx.x, 1) + tex1Dfetch<float>(t, threadIdx.x) + tex3D<float>(t, 1, 2, 3);
  surf2Dwrite(v.x + w, s, threadIdx.x * 4, 0);
  out[threadIdx.x] = v.y + surf2Dread<float>(s, threadIdx.x * 4, 1);
}
__global__ void beside(float* out) { out[threadIdx.x] = 1; }
void host(cudaGraphicsResource* r, cudaGraphicsResource_t s) {}
""")
        p = self.forecast(texture, "--kernel", "sample")
        self.assertIn("t.cu:3: its memory traffic and its filtering", self.assumptions(p))
        self.assertIn("t.cu:5", self.assumptions(p))
        self.assertNotIn("filtering", self.assumptions(self.forecast(texture, "--kernel", "beside")))
        image = self.path("i.cl", """__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
__kernel void sample(__read_only image2d_t in, __write_only image2d_t out, __global float* sum) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  float4 v = read_imagef(in, nearest, at);
  if (at.x < get_image_width(in)) write_imagef(out, at, v * 2);
  sum[get_global_id(0)] = v.x;
}
__kernel void beside(__global float* out) { out[get_global_id(0)] = 1; }
""")
        p = self.forecast(image, "--kernel", "sample")
        self.assertIn("i.cl:4: its memory traffic", self.assumptions(p))
        self.assertNotIn("filtering", self.assumptions(self.forecast(image, "--kernel", "beside")))
        for source in (texture, image):
            result = self.run_program("predict", source, "--device", "mi210", "--grid", "16", "--block", "64", "--kernel", "sample")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("it counts as nothing", result.stdout)

    def test_pairs_of_thrust_beside_its_algorithms(self):
        source = self.path("pairs.cu", """#include <thrust/device_vector.h>
#include <thrust/pair.h>
#include <thrust/sort.h>
#include <thrust/tuple.h>
__device__ thrust::pair<float, int> split(float x) { return thrust::make_pair(x * 0.5f, (int)x); }
__global__ void k(float* a, int* b) {
  float half;
  int whole, i = blockIdx.x * 64 + threadIdx.x;
  thrust::tie(half, whole) = split(a[i]);
  a[i] = half;
  thrust::tie(half, whole) = thrust::make_tuple(1.0f, whole + 1);
  b[i] = whole;
}
void host(thrust::device_vector<float>& v) { thrust::sort(v.begin(), v.end()); }
""")
        p = self.forecast(source, "--counts", "executed", "--buffer", "a=1024", "--buffer", "b=1024")
        stores = next(m for m in p["counts"]["memory"] if (m["space"], m["kind"]) == ("global", "store"))
        self.assertEqual(stores["requests"], 16 * 2 * 2)

    def test_a_child_is_named_and_counts_as_a_call(self):
        source = self.path("child.cu", """template <class T> __global__ void child(T* a, int n) { if (threadIdx.x < n) a[threadIdx.x] += 1; }
__global__ void plain() {}
__global__ void parent(int* a, int n) {
  if (threadIdx.x == 0) {
    child<int><<<dim3(n / 64, 1), 64, 0>>>(a,
                                           n);
    plain<<<1, 1>>>();
    cudaDeviceSynchronize();
  }
  a[threadIdx.x] = n;
}
void host(int* a) { parent<<<1, 64>>>(a, 64); cudaDeviceSynchronize(); }
""")
        named = self.assumptions(self.forecast(source, "--kernel", "parent", "--arg", "n=64"))
        self.assertIn("child.cu:5, a child: its time", named)
        self.assertIn("child.cu:7, a child: its time", named)
        self.forecast(source, "--kernel", "child<int>", "--arg", "n=64")

    def test_jumps_into_loops(self):
        duff = self.path("duff.cu", """__global__ void k(float* to, const float* from, int count) {
  int n = (count + 3) / 4;
  to += threadIdx.x * count;
  from += threadIdx.x * count;
  switch (count % 4) {
    case 0: do { *to++ = *from++;
    case 3: *to++ = *from++;
    case 2: *to++ = *from++;
    case 1: *to++ = *from++;
    } while (--n > 0);
  }
}
""")
        for counts in ("symbolic", "executed"):
            p = self.forecast(duff, "--arg", "count=64", "--counts", counts, "--buffer", "to=65536", "--buffer", "from=65536")
            self.assertIn("jumps into a loop", self.assumptions(p))
        stores = next(m for m in p["counts"]["memory"] if (m["space"], m["kind"]) == ("global", "store"))
        self.assertEqual(stores["requests"], 16 * 2 * 64)
        goto = self.path("goto.cu", "__global__ void k(int* a) {\n  int i = a[0];\nx: i++;\n  if (i & 1) goto y;\nz: if (a[i]) goto x;\ny: if (a[i + 1]) goto z;\n  a[3] = i;\n}\n")
        self.forecast(goto)


if __name__ == "__main__":
    unittest.main()
