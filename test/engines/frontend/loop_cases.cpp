// Each kernel is written around one loop; `a` and `b` are not restrict unless they say so.
#include "engines/frontend/loop_cases.h"

namespace kernelcast::labelled {
namespace {

using enum Condition;

std::string kernel(const std::string& parameters, const std::string& before, const std::string& body,
                   const std::string& after) {
  return "__kernel void k(" + parameters + ") {\n  const int id = (int)get_global_id(0);\n  " + before +
         "\n  for (int i = 0; i < n; ++i) {\n" + body + "\n  }\n  " + after + "\n}\n";
}

constexpr const char* buffers = "__global const int* restrict in, __global int* restrict out, int n";
constexpr const char* floats = "__global const float* restrict in, __global float* restrict out, int n";

/// A loop that sums in private variables, with the branch on data.
std::string with(const std::string& body) {
  return kernel(buffers, "int s = 0, t = 0, u = id;", body, "out[id] = s + t + u;");
}
std::string with_floats(const std::string& body) {
  return kernel(floats, "float s = 0.0f, t = 1.0f, u = (float)id;", body, "out[id] = s + t + u;");
}
std::string in_loop(const std::string& parameters, const std::string& body) {
  return kernel(parameters, "int s = 0;", body, "if (s == 12345) return;");
}

constexpr auto Y = Legality::yes;
constexpr auto N = Legality::no;
constexpr auto U = Legality::unknown;

}  // namespace

std::vector<Case> cases() {
  std::vector<Case> all = opencl_cases();
  for (const Case& c : cuda_cases()) all.push_back(c);
  return all;
}

std::vector<Case> opencl_cases() {
  const std::string c = "in[i * (int)get_global_size(0) + id] > 0";
  return {
      // Iterations that commute.
      {"integer sum in both paths", with("if (" + c + ") { s += i; } else { s += 2 * i; }"), Y, none, Y, none},
      {"sums of their own", with("if (" + c + ") { s += i; } else { t += i; }"), Y, none, Y, none},
      {"no else", with("if (" + c + ") { s += i * i; }"), Y, none, Y, none},
      {"exclusive or", with("if (" + c + ") { s ^= i; } else { s ^= ~i; }"), Y, none, Y, none},
      {"chain in one path only", with("if (" + c + ") { s = s * 3 + i; } else { t += i; }"), Y, none, Y, none},
      {"chains in both paths, apart", with("if (" + c + ") { s = s * 3 + i; } else { t = t * 5 - i; }"), Y, none, Y,
       none},
      {"code in front of the branch", with("int x = in[(i + id) % 7]; if (x > id) { s += x; } else { s -= x; }"), Y,
       none, Y, none},
      {"sum behind the branch", with("int x; if (" + c + ") { x = i; } else { x = -i; } s += x;"), Y, none, Y, none},
      {"branch on the lane", with("if ((id + i) % 3 == 0) { s += i; } else { t -= i; }"), Y, none, Y, none},
      {"store to each iteration's own place",
       kernel(
           buffers, "",
           "if (" + c +
               ") { out[i * (int)get_global_size(0) + id] = i; } else { out[i * (int)get_global_size(0) + id] = -i; }",
           ""),
       Y, none, Y, none},
      {"count of atomics",
       in_loop("__global const int* restrict in, __global int* restrict hist, int n",
               "if (" + c + ") { atomic_add(hist, i); } else { atomic_add(hist + 1, i); }"),
       Y, none, Y, none},
      {"inner loops in the paths",
       with("if (" + c +
            ") { for (int k = 0; k < 9; ++k) { s += k * i; if (s > 99) break; } } else { for (int k = 0; k < 5; ++k) t "
            "^= k + i; }"),
       Y, none, Y, none},
      {"mathematics by value",
       with_floats("if (in[i] > u) { s = s * 0.5f + sqrt(in[i]); } else { t = t * 0.5f + fabs(in[i]); }"), Y, none, Y,
       none},

      // Carried dependences.
      {"branch on a running value", with("if (u & 1) { u = u * 3 + 1; } else { u = u >> 1; }"), Y, none, N,
       carried_dependence},
      {"branch on a sum", with("if (s > " + c + ") { s += i; } else { s -= i; }"), Y, none, N, carried_dependence},
      {"front writes", with("u = u * 69069 + 1; if (u & 64) { s += i; } else { t += i; }"), Y, none, N,
       carried_dependence},
      {"branch on memory that a path writes",
       kernel("__global int* data, int n", "", "if (data[id] > i) { data[id] -= 2; } else { data[id] += 3; }", ""), Y,
       none, N, carried_dependence},
      {"counter changed in a path", with("if (" + c + ") { s += i; ++i; } else { t += i; }"), Y, none, N,
       carried_dependence},
      {"front writes a counter of its own", with("++u; if ((u & 1) == (id & 1)) { s += i; } else { t += i; }"), Y, none,
       N, carried_dependence},

      // Paths that depend on each other.
      {"one path reads what the other writes", with("if (" + c + ") { s = s + t; } else { t = t * 2 + i; }"), Y, none,
       N, dependent_paths},
      {"both paths set", with("if (" + c + ") { s = i; } else { s = -i; }"), Y, none, N, dependent_paths},
      {"product and sum", with("if (" + c + ") { s += i; } else { s *= 3; }"), Y, none, N, dependent_paths},
      {"shifts", with("if (" + c + ") { s = (s << 1) | 1; } else { s = s << 1; }"), Y, none, N, dependent_paths},
      {"sum that a path looks at", with("if (" + c + ") { s += i; } else { t += s; }"), Y, none, N, dependent_paths},

      // Code behind the branch.
      {"tail that hands on", with("if (" + c + ") { s += i; } else { s -= i; } t = t * 31 + s;"), Y, none, N,
       code_after_branch},
      {"tail that chains", with("int x; if (" + c + ") { x = i; } else { x = -i; } u = u * 17 + x;"), Y, none, N,
       code_after_branch},

      // Memory.
      {"same place", kernel(buffers, "", "if (" + c + ") { out[id] = i; } else { out[id] = -i; }", ""), Y, none, N,
       same_address},
      {"place that data decide",
       kernel(buffers, "",
              "if (" + c + ") { out[(in[i] & 15) * 128 + id] = i; } else { out[(in[i] & 15) * 128 + id] = -i; }", ""),
       Y, none, U, same_address},
      {"pointers that may alias",
       kernel(
           "__global const int* in, __global int* out, int n", "",
           "if (" + c +
               ") { out[i * (int)get_global_size(0) + id] = i; } else { out[i * (int)get_global_size(0) + id] = -i; }",
           ""),
       Y, none, U, aliasing},
      {"stride that may be nothing",
       kernel("__global const int* restrict in, __global int* restrict out, int n, int m", "",
              "if (" + c + ") { out[i * m + id] = i; } else { out[i * m + id] = -i; }", ""),
       Y, none, U, same_address},
      {"neighbours",
       kernel(buffers, "", "if (" + c + ") { out[i * 128 + id] = i; } else { out[(i + 1) * 128 + id] = -i; }", ""), Y,
       none, U, same_address},
      {"one place for all lanes", kernel(buffers, "", "if (" + c + ") { out[3] = i; } else { out[4] = -i; }", ""), U,
       same_address, U, same_address},
      {"sum in memory", kernel(buffers, "", "if (" + c + ") { out[id] += i; } else { out[id] -= i; }", ""), Y, none, N,
       same_address},

      // Atomics.
      {"old value used",
       in_loop("__global const int* restrict in, __global int* restrict slot, int n",
               "if (" + c + ") { s += atomic_add(slot, 1); } else { s -= 1; }"),
       U, atomic, N, atomic},
      {"exchange",
       in_loop("__global const int* restrict in, __global int* restrict slot, int n",
               "if (" + c + ") { atomic_xchg(slot, i); } else { s -= 1; }"),
       U, atomic, N, atomic},
      {"compare and exchange",
       in_loop("__global const int* restrict in, __global int* restrict slot, int n",
               "if (" + c + ") { atomic_cmpxchg(slot, i, id); } else { s += 1; }"),
       U, atomic, N, atomic},
      {"two kinds at one place",
       in_loop("__global const int* restrict in, __global int* restrict slot, int n",
               "if (" + c + ") { atomic_add(slot, i); } else { atomic_max(slot, i); }"),
       U, atomic, U, atomic},

      // Early exits.
      {"break in a path", with("if (" + c + ") { s += i; if (s > 99) break; } else { t += i; }"), Y, none, N,
       early_exit},
      {"return in a path", with("if (" + c + ") { s += i; } else { if (i > 7) return; t += i; }"), Y, none, N,
       early_exit},
      {"break in front", with("if (s > 70) break; if (" + c + ") { s += i; } else { t += i; }"), Y, none, N,
       early_exit},
      {"break behind", with("if (" + c + ") { s += i; } else { t += i; } if (s > 1000) break;"), Y, none, N,
       early_exit},
      {"continue in front", with("if (i == id) continue; if (" + c + ") { s += i; } else { t += i; }"), U, early_exit,
       U, early_exit},
      {"continue in a path", with("if (" + c + ") { s += i; if (s & 4) continue; } else { t += i; } u += t;"), U,
       early_exit, U, early_exit},
      {"jump",
       kernel(buffers, "int s = 0, t = 0;", "if (" + c + ") { s += i; if (s > 99) goto done; } else { t += i; }",
              "done: out[id] = s + t;"),
       U, early_exit, U, early_exit},
      {"loop test on a path's value",
       "__kernel void k(__global const int* restrict in, __global int* restrict out, int n) {\n  const int id = "
       "(int)get_global_id(0);\n  int s = 0;\n"
       "  for (int i = 0; s < n; ++i) {\n    if (in[i * 64 + id] > 0) { s += 3; } else { s += 1; }\n  }\n  out[id] = "
       "s;\n}\n",
       Y, none, N, early_exit},

      // Rounding.
      {"float sum in both paths", with_floats("if (in[i] > u) { s += in[i]; } else { s += 1.0f; }"), Y, none, N,
       float_reduction},
      {"float product", with_floats("if (in[i] > u) { t *= in[i]; } else { t *= 0.5f; }"), Y, none, N, float_reduction},

      // Barriers and votes.
      {"barrier in front", with("barrier(CLK_LOCAL_MEM_FENCE); if (" + c + ") { s += i; } else { t += i; }"), N,
       collective, N, collective},
      {"barrier behind", with("if (" + c + ") { s += i; } else { t += i; } barrier(CLK_GLOBAL_MEM_FENCE);"), N,
       collective, N, collective},
      {"vote", with("if (" + c + ") { s += i; } else { t += i; } s += work_group_any(s > 5);"), N, collective, N,
       collective},
      {"barrier in a function",
       "void meet(void) { barrier(CLK_LOCAL_MEM_FENCE); }\n" +
           with("if (" + c + ") { s += i; } else { t += i; } meet();"),
       N, collective, N, collective},

      // Pointers.
      {"pointer set again",
       kernel("__global int* restrict a, __global int* restrict b, int n", "__global int* p = a; if (n > 3) p = b;",
              "if ((id + i) % 3 == 0) { p[i * 128 + id] = i; } else { b[i * 128 + id] = -i; }", ""),
       Y, none, U, aliasing},
      {"offset pointer",
       kernel(buffers, "__global int* p = out + id;",
              "if (" + c + ") { p[i * 128] = i; } else { out[i * 128 + id] = -i; }", ""),
       Y, none, U, same_address},
      {"pointer that moves",
       kernel(buffers, "__global int* p = out + id * 32;", "if (" + c + ") { *p = i; ++p; } else { *p = -i; }", ""), Y,
       none, N, dependent_paths},
      {"address taken",
       kernel(buffers, "int s = 0; int* p = &s;", "if (" + c + ") { *p = i; } else { s = s * 3 + i; }", "out[id] = s;"),
       Y, none, N, same_address},
      {"an array of the lane's own",
       kernel(buffers, "int a[4] = {0, 0, 0, 0};", "if (" + c + ") { a[i & 3] = i; } else { a[i & 3] -= i; }",
              "out[id] = a[0] + a[1] * 3 + a[2] * 5 + a[3] * 7;"),
       Y, none, U, same_address},
      {"members",
       "typedef struct { int a, b; } Pair;\n" + kernel(buffers, "Pair s = {0, 1};",
                                                       "if (" + c + ") { s.a += i; } else { s.b = s.b * 3 + i; }",
                                                       "out[id] = s.a + s.b;"),
       Y, none, N, dependent_paths},
      {"vector elements",
       kernel(buffers, "int2 s = (int2)(0, 1);", "if (" + c + ") { s.x += i; } else { s.y = s.y * 3 + i; }",
              "out[id] = s.x + s.y;"),
       Y, none, N, dependent_paths},
      {"an object of each iteration",
       with_floats(
           "float w; const float v = fract(in[i] * 3.0f, &w); if (v > 0.5f) { s = s * 0.5f + w; } else { t = t * "
           "0.25f - w; }"),
       Y, none, Y, none},

      // What is not followed.
      {"volatile",
       kernel("__global const int* restrict in, volatile __global int* flag, int n", "int s = 0;",
              "if (" + c + ") { s += flag[0]; } else { s -= 1; }", "flag[id + 1] = s;"),
       U, volatile_access, N, volatile_access},
      {"fence", with("if (" + c + ") { s += i; mem_fence(CLK_GLOBAL_MEM_FENCE); } else { t += i; }"), U, opaque, U,
       opaque},
      {"fence behind another call",
       with("if (" + c +
            ") { s += i; vstore2((int2)(s, i), 0, out + id * 4); } else { t += i; mem_fence(CLK_GLOBAL_MEM_FENCE); }"),
       U, opaque, U, opaque},
      {"an atomic of the source's own",
       "void atomic_append(volatile __global int* p, int v) { int old = *p; while (atomic_cmpxchg(p, old, old * 2 + v) "
       "!= old) "
       "old = *p; }\n" +
           in_loop("__global const int* restrict in, __global int* restrict slot, int n",
                   "if (" + c + ") { atomic_append(slot, i); } else { s += 1; }"),
       U, volatile_access, N, volatile_access},
      {"random state behind a pointer",
       "uint draw(uint* state) { *state = *state * 69069u + 1u; return *state >> 16; }\n" +
           kernel(buffers, "uint r = (uint)id; int s = 0, t = 0;",
                  "if (" + c + ") { s += (int)draw(&r); } else { t += (int)draw(&r) * 3; }", "out[id] = s + t;"),
       Y, none, U, aliasing},
      {"random state in front",
       "uint draw(uint* state) { *state = *state * 69069u + 1u; return *state >> 16; }\n" +
           kernel(buffers, "uint r = (uint)id; int s = 0, t = 0;",
                  "const uint x = draw(&r); if (x & 1u) { s += i; } else { t += (int)x; }", "out[id] = s + t;"),
       Y, none, N, carried_dependence},
      {"function that writes through a pointer",
       "void put(__global int* p, int i) { p[i & 3] = i; }\n" +
           kernel(buffers, "", "if (" + c + ") { put(out + id * 4, i); } else { put(out + id * 4, -i); }", ""),
       Y, none, U, aliasing},
      {"function by value",
       "int stir(int x) { return x * 31 + 7; }\n" + with("if (" + c + ") { s += stir(i); } else { t += stir(-i); }"), Y,
       none, Y, none},
  };
}

}  // namespace kernelcast::labelled
