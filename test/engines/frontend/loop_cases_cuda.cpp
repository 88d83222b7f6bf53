// Labelled loops in CUDA: what the toolkit's own functions do to the verdicts.
#include "engines/frontend/loop_cases.h"

namespace kernelcast::labelled {
namespace {

using enum Condition;

constexpr auto Y = Legality::yes;
constexpr auto N = Legality::no;
constexpr auto U = Legality::unknown;

constexpr const char* buffers = "const int* __restrict__ in, int* __restrict__ out, int n";
constexpr const char* floats = "const float* __restrict__ in, float* __restrict__ out, int n";

std::string kernel(const std::string& head, const std::string& parameters, const std::string& before,
                   const std::string& body, const std::string& after) {
  return head + "__global__ void k(" + parameters + ") {\n  const int id = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
         before + "\n  for (int i = 0; i < n; ++i) {\n" + body + "\n  }\n  " + after + "\n}\n";
}
std::string with(const std::string& body, const std::string& head = "") {
  return kernel(head, buffers, "int s = 0, t = 0, u = id;", body, "out[id] = s + t + u;");
}

Case cuda(const char* name, std::string text, Legality postpone, Condition why_not_postpone, Legality advance,
          Condition why_not_advance) {
  return {name, std::move(text), postpone, why_not_postpone, advance, why_not_advance, "loop.cu"};
}

}  // namespace

std::vector<Case> cuda_cases() {
  const std::string c = "in[(i * 3 + id) & 1023] > 0";
  const std::string groups = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n";
  return {
      cuda("cuda: sums", with("if (" + c + ") { s += i; } else { t += 2 * i; }"), Y, none, Y, none),
      cuda("cuda: function by value",
           with("if (" + c + ") { s += stir(i); } else { t += stir(-i); }",
                "__device__ int stir(int x) { return x * 31 + 7; }\n"),
           Y, none, Y, none),
      cuda("cuda: store to each iteration's own place",
           kernel("", buffers, "",
                  "if (" + c +
                      ") { out[i * (gridDim.x * blockDim.x) + id] = i; } else { out[i * (gridDim.x * blockDim.x) + id] "
                      "= -i; }",
                  ""),
           Y, none, Y, none),
      cuda("cuda: counts in memory",
           kernel("", buffers, "", "if (" + c + ") { atomicAdd(out, i); } else { atomicAdd(out + 1, i); }", ""), Y,
           none, Y, none),
      cuda("cuda: sine and cosine of each iteration",
           kernel(
               "", floats, "float s = 0, t = 0;",
               "float a, b; sincosf(in[(i * 3 + id) & 1023], &a, &b); if (a > b) { s = s * 0.5f + a; } else { t = t * "
               "0.25f + b; }",
               "out[id] = s + t;"),
           Y, none, Y, none),

      cuda("cuda: floating-point atomics",
           kernel("", floats, "",
                  "if (in[(i * 3 + id) & 1023] > 0) { atomicAdd(out, 1.5f); } else { atomicAdd(out, 0.1f); }", ""),
           U, atomic, N, float_reduction),
      cuda("cuda: a wrapping counter",
           kernel("", "const int* __restrict__ in, unsigned* __restrict__ out, int n", "",
                  "if (" + c + ") { atomicInc(out, 5u); } else { atomicInc(out, 7u); }", ""),
           U, atomic, N, atomic),
      cuda("cuda: the place in a list",
           kernel("", buffers, "",
                  "if (" + c + ") { out[1 + atomicAdd(out, 1) % 99] = i; } else { out[128 + id] = i; }", ""),
           U, atomic, N, atomic),
      cuda("cuda: an atomic of the source's own",
           kernel("__device__ void atomicAppend(int* p, int v) { int o = *p, e; do { e = o; o = atomicCAS(p, e, e * 2 "
                  "+ v); } "
                  "while (o != e); }\n",
                  buffers, "", "if (" + c + ") { atomicAppend(out, i); } else { atomicAppend(out + 1, i); }", ""),
           U, atomic, N, atomic),

      cuda("cuda: barrier", with("if (" + c + ") { s += i; } else { t += i; } __syncthreads();"), N, collective, N,
           collective),
      cuda("cuda: warp barrier in a function",
           with("if (" + c + ") { s += i; meet(); } else { t += i; }", "__device__ void meet() { __syncwarp(); }\n"), N,
           collective, N, collective),
      cuda("cuda: shuffle", with("if (" + c + ") { s += i; } else { t += i; } s += __shfl_xor_sync(~0u, t, 1);"), N,
           collective, N, collective),
      cuda("cuda: vote", with("if (" + c + ") { s += __popc(__ballot_sync(__activemask(), 1)); } else { t += i; }"), N,
           collective, N, collective),
      cuda("cuda: cooperative group",
           with("if (" + c + ") { s += i; } else { t += i; } cg::this_thread_block().sync();", groups), N, collective,
           N, collective),
      cuda("cuda: vote of a tile",
           kernel(groups, buffers, "int s = 0, t = 0; auto tile = cg::tiled_partition<32>(cg::this_thread_block());",
                  "if (" + c + ") { s += i; } else { t += tile.any(i > id); }", "out[id] = s + t;"),
           N, collective, N, collective),

      cuda("cuda: fence", with("if (" + c + ") { s += i; __threadfence(); } else { t += i; }"), U, opaque, U, opaque),
      cuda("cuda: function of another file",
           with("if (" + c + ") { s += elsewhere(i); } else { t += i; }", "extern __device__ int elsewhere(int);\n"), U,
           opaque, U, opaque),
      cuda("cuda: assembly", with("if (" + c + ") { asm(\"add.s32 %0, %0, 1;\" : \"+r\"(s)); } else { t += i; }"), U,
           opaque, U, opaque),
      cuda("cuda: member function",
           kernel("struct W { int v; __device__ void put(int x) { v = x; } };\n", buffers, "W w{id}; int s = 0;",
                  "if (" + c + ") { w.put(i); } else { s += w.v; }", "out[id] = s;"),
           Y, none, U, aliasing),
      cuda("cuda: reference parameter",
           with("if (" + c + ") { put(s, i); } else { t += s; }", "__device__ void put(int& x, int v) { x += v; }\n"),
           Y, none, U, opaque),
      cuda("cuda: global variable",
           with("if (" + c + ") { g[id] = i; } else { g[id] = -i; }", "__device__ int g[4096];\n"), Y, none, N,
           same_address),
      cuda("cuda: lambda", with("auto put = [&](int v) { s += v * t; }; if (" + c + ") { put(i); } else { t += s; }"),
           Y, none, U, opaque),
      cuda("cuda: constructor with a body",
           with("if (" + c + ") { Log l(i); s += l.v; } else { t += i; }",
                "__device__ int lines; struct Log { int v; __device__ Log(int x) { v = x; lines = x; } };\n"),
           U, opaque, U, opaque),
      cuda("cuda: pointers without restrict",
           kernel("", "const int* in, int* out, int n", "",
                  "if (" + c +
                      ") { out[i * (gridDim.x * blockDim.x) + id] = i; } else { out[i * (gridDim.x * blockDim.x) + id] "
                      "= -i; }",
                  ""),
           Y, none, U, aliasing),
  };
}

}  // namespace kernelcast::labelled
