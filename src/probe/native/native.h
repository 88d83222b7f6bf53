// Loops whose instructions are timed. One source, compiled for each instruction set (native/CMakeLists.txt says which);
// what the processor has is chosen when the program runs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelcast::probe::native {

enum class Op : unsigned char { add, mul, fma, div, sqrt, fma_and_add };
enum class Type : unsigned char { f32, f64, i32, i64 };  // integers without sign

/// One operation on `lanes` values at a time; 1: scalar. Each call of a loop runs `n` turns.
struct Loop {
  Op op;
  Type type;
  int lanes;
  void (*chain)(std::int64_t n);  // every operation needs the result of the one before
  int chain_ops;                  // operations a turn
  void (*parallel)(std::int64_t n);
  int parallel_ops;
};

/// Over `bytes`, a multiple of `stream_block`, from addresses that are multiples of 64.
inline constexpr std::size_t stream_block = 512;
struct Streams {
  void (*read)(const void* from, std::size_t bytes);
  void (*write)(void* to, std::size_t bytes);
  void (*copy)(void* to, const void* from, std::size_t bytes);
};

struct Kernels {
  const char* name;  // of the instruction set
  int bits;          // of its vector registers
  bool fused;        // false: fma is a multiplication and an addition
  const Loop* loops;
  int count;
  Streams streams;
};

/// The sets that this processor can run, narrowest first; nothing on architectures that the loops are not written for.
struct Sets {
  const Kernels* sets[3];
  int count;
};
Sets available();

/// Dependent loads: the address that is reached after `steps` (a multiple of 16) from `at`. Each line holds the address
/// of the next.
const void* chase(const void* at, std::int64_t steps);

/// Dependent integer additions, 64 a turn: one cycle each on the cores of Intel, AMD and Arm (the optimisation manuals
/// of all three give an addition of two registers a latency of one cycle), so this loop is the clock.
inline constexpr int clock_ops = 64;
void clock_loop(std::int64_t n);

/// Instructions that do nothing, 64 a turn: renamed, but given to no port.
inline constexpr int nothing_ops = 64;
void nothing_loop(std::int64_t n);

/// Instructions that each do something, and that no decoder joins: registers that become zero, which need no port
/// (Intel and AMD), and loads with additions of registers, 48 of either a turn. Whether there are such loops here
/// (x86-64).
bool can_take_in();
inline constexpr int zeroing_ops = 48, mixed_ops = 48;
void zeroing_loop(std::int64_t n);
void mixed_loop(const void* from, std::int64_t n);

/// Loads of eight bytes, eight a line of 64 bytes, over `bytes`, a multiple of 512.
void narrow_read(const void* from, std::size_t bytes);
/// One load of eight bytes from each of `count` lines (a multiple of 16), `stride` bytes apart.
void column_read(const void* from, std::size_t stride, std::int64_t count);

/// `times` loops of `trips` (1 or more) empty iterations, one after the other.
void nested_loops(std::int64_t times, std::int64_t trips);

/// Whether gather_loop() can run here (AVX2).
bool can_gather();
/// Gathers of four FP64 values from four lines at `from` (256 bytes), eight a turn, none of which needs another.
inline constexpr int gather_ops = 8, gather_values = 4;
void gather_loop(const void* from, std::int64_t n);
/// The same with scatters (AVX-512VL).
bool can_scatter();
void scatter_loop(void* to, std::int64_t n);

}  // namespace kernelcast::probe::native
