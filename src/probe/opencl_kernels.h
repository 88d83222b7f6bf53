// OpenCL C of the micro-benchmarks: one program with a kernel for each.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::probe::opencl {

/// An operation on x with operands a and b, which a compiler cannot fold over several turns.
struct Operation {
  const char* name;   // "ffma"
  const char* type;   // "float"
  const char* text;   // "x * a + b"
  double operations;  // in the text
  double a, b;        // values; x begins with b
  const char* words;
  bool vectors = false;  // measured on vectors, too
};
/// Elements of the vectors, beside scalars.
inline constexpr int vector_widths[] = {4, 8, 16};
/// `doubles`: with those of FP64.
std::vector<Operation> operations(bool doubles);

inline constexpr int chain_ops = 16;           // of a turn of a latency kernel
inline constexpr int chains = 8, repeats = 4;  // of a turn of a throughput kernel

/// "chain_ffma_4": (__global T4* out, int n, T a, T b), dependent operations on vectors of `width`; scalars where it
/// is 1.
std::string chain_kernel(const Operation& o, int width);
/// "wide_ffma_4": likewise, independent ones.
std::string wide_kernel(const Operation& o, int width);
std::string name_of_chain(const Operation& o, int width);
std::string name_of_wide(const Operation& o, int width);
/// empty(out); walk(next, at, steps); read and copy(in, out, each, step, turns) on float16.
std::string memory_kernels();
inline constexpr int local_words = 1024;  // of 4 bytes that local_walk goes through
/// local_walk(out, next, steps); barriers(out, words, count); atomic_chain(counters, count) for one work-item;
/// atomics(counters, apart, count), a counter of `apart` words further for each work-item.
std::string sharing_kernels();

}  // namespace kernelcast::probe::opencl
