#include "probe/opencl_kernels.h"

#include <fmt/format.h>

namespace kernelcast::probe::opencl {
namespace {

std::string vector_type(const Operation& o, int width) {
  return width == 1 ? o.type : fmt::format("{}{}", o.type, width);
}

}  // namespace

std::vector<Operation> operations(bool doubles) {
  // x + a and x * a of integers fold over several turns; with an exclusive or between them they do not.
  std::vector<Operation> out = {
      {"iadd", "uint", "(x + a) ^ b", 2, 1022117, 1009, "32-bit integer additions and exclusive ors in turn", true},
      {"imul", "uint", "(x * a) ^ b", 1, 1022117, 1009, "32-bit integer multiplications, each with an exclusive or",
       true},
      {"idiv", "uint", "a / x", 1, 1022117, 1009, "32-bit integer divisions"},
      {"ladd", "ulong", "(x + a) ^ b", 2, 1000036000099, 1000003, "64-bit integer additions and exclusive ors in turn",
       true},
      {"lmul", "ulong", "(x * a) ^ b", 1, 1000036000099, 1000003,
       "64-bit integer multiplications, each with an exclusive or", true},
      {"fadd", "float", "x + a", 1, 0.7654321, 1.2345678, "FP32 additions", true},
      {"fmul", "float", "x * a", 1, -1, 1.2345678, "FP32 multiplications", true},
      {"ffma", "float", "x * a + b", 1, 0.7654321, 1.2345678, "FP32 multiply-adds", true},
      {"fdiv", "float", "a / x", 1, 0.7654321, 1.2345678, "FP32 divisions"},
      {"fsqrt", "float", "sqrt(x + a)", 1, 0.7654321, 1.2345678, "FP32 square roots, each of a sum"},
      {"fexp", "float", "exp(a - x)", 1, 0.7654321, 1.2345678, "FP32 exponentials, each of a difference"},
      {"flog", "float", "log(x + a)", 1, 2, 1.2345678, "FP32 logarithms, each of a sum"},
      {"fsin", "float", "sin(x + a)", 1, 2, 1.2345678, "FP32 sines, each of a sum"},
      {"fcos", "float", "cos(x + a)", 1, 2, 1.2345678, "FP32 cosines, each of a sum"}};
  if (!doubles) return out;
  const std::vector<Operation> more = {
      {"dadd", "double", "x + a", 1, 0.7654321, 1.2345678, "FP64 additions", true},
      {"dmul", "double", "x * a", 1, -1, 1.2345678, "FP64 multiplications", true},
      {"dfma", "double", "x * a + b", 1, 0.7654321, 1.2345678, "FP64 multiply-adds", true},
      {"ddiv", "double", "a / x", 1, 0.7654321, 1.2345678, "FP64 divisions"},
      {"dexp", "double", "exp(a - x)", 1, 0.7654321, 1.2345678, "FP64 exponentials, each of a difference"}};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

std::string name_of_chain(const Operation& o, int width) { return fmt::format("chain_{}_{}", o.name, width); }

std::string chain_kernel(const Operation& o, int width) {
  std::string out = fmt::format(
      "__kernel void {0}(__global {1}* out, int n, {2} a0, {2} b0) {{\n  {1} a = ({1})(a0), b = ({1})(b0), x = b;\n"
      "  for (int i = 0; i < n; ++i) {{\n",
      name_of_chain(o, width), vector_type(o, width), o.type);
  for (int i = 0; i < chain_ops; ++i) out += fmt::format("    x = {};\n", o.text);
  return out + "  }\n  out[get_global_id(0)] = x;\n}\n";
}

std::string name_of_wide(const Operation& o, int width) { return fmt::format("wide_{}_{}", o.name, width); }

std::string wide_kernel(const Operation& o, int width) {
  const std::string type = vector_type(o, width);
  std::string out = fmt::format(
      "__kernel void {0}(__global {1}* out, int n, {2} a0, {2} b0) {{\n  {1} a = ({1})(a0), b = ({1})(b0);\n",
      name_of_wide(o, width), type, o.type);
  for (int k = 0; k < chains; ++k) out += fmt::format("  {0} x{1} = b + ({0})({1});\n", type, k);
  out += "  for (int i = 0; i < n; ++i) {\n";
  for (int r = 0; r < repeats; ++r)
    for (int k = 0; k < chains; ++k) {
      std::string text = o.text;
      // The one x of the text that is a variable; "exp" and "max" hold others.
      for (std::size_t at = 0; (at = text.find('x', at)) != std::string::npos; ++at) {
        const auto letter = [&](std::size_t i) { return i < text.size() && text[i] >= 'a' && text[i] <= 'z'; };
        if ((at > 0 && letter(at - 1)) || letter(at + 1)) continue;
        text.insert(at + 1, std::to_string(k));
      }
      out += fmt::format("    x{} = {};\n", k, text);
    }
  out += "  }\n  out[get_global_id(0)] = x0";
  for (int k = 1; k < chains; ++k) out += fmt::format(" + x{}", k);
  return out + ";\n}\n";
}

std::string sharing_kernels() {
  return R"(#define LOCAL_WORDS 1024
__kernel void local_walk(__global uint* out, __local uint* next, int steps) {
  for (uint i = get_local_id(0); i < LOCAL_WORDS; i += get_local_size(0)) next[i] = (i + 33) % LOCAL_WORDS;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint at = get_local_id(0);
  for (int k = 0; k < steps; k += 8) {
    at = next[at]; at = next[at]; at = next[at]; at = next[at];
    at = next[at]; at = next[at]; at = next[at]; at = next[at];
  }
  out[get_global_id(0)] = at;
}
__kernel void barriers(__global uint* out, __local uint* words, int count) {
  for (int k = 0; k < count; ++k) {
    words[get_local_id(0)] = k;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  out[get_global_id(0)] = words[get_local_id(0)];
}
// Counters stay below 2^31: the word that is added to is always the first, which no compiler knows.
__kernel void atomic_chain(__global uint* counters, int count) {
  uint was = 0;
  for (int k = 0; k < count; ++k) was = atomic_inc(counters + (was >> 31));
  counters[1] = was;
}
__kernel void atomics(__global uint* counters, int apart, int count) {
  __global uint* mine = counters + get_global_id(0) * apart;
  for (int k = 0; k < count; ++k) atomic_inc(mine);
}
)";
}

std::string memory_kernels() {
  return R"(__kernel void empty(__global float* out) {}
__kernel void walk(__global const uint* next, __global uint* at, int steps) {
  uint i = at[0] / 16 * 16;
  for (int k = 0; k < steps; k += 8) {
    i = next[i]; i = next[i]; i = next[i]; i = next[i];
    i = next[i]; i = next[i]; i = next[i]; i = next[i];
  }
  at[0] = i;
}
// A CPU's work-item has a piece of its own (step 1), a GPU's take turns (step: their number).
__kernel void read(__global const float16* in, __global float16* out, int each, int step, int turns) {
  int from = step == 1 ? get_global_id(0) * each : get_global_id(0);
  float16 a = 0, b = 0, c = 0, d = 0;
  for (int t = 0; t < turns; ++t)
    for (int i = 0; i < each; i += 4) {
      a += in[from + i * step];
      b += in[from + (i + 1) * step];
      c += in[from + (i + 2) * step];
      d += in[from + (i + 3) * step];
    }
  out[get_global_id(0)] = a + b + c + d;
}
__kernel void copy(__global const float16* in, __global float16* out, int each, int step, int turns) {
  int from = step == 1 ? get_global_id(0) * each : get_global_id(0);
  for (int t = 0; t < turns; ++t)
    for (int i = 0; i < each; ++i) out[from + i * step] = in[from + i * step];
}
)";
}

}  // namespace kernelcast::probe::opencl
