// PTX of what GPUs have had since 2017: matrix instructions, asynchronous copies, clusters; and atomics by type,
// stores, reads by loads in flight. Parameters and clocks are those of ptx.h.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::probe::cuda {

/// A form of mma.sync.
struct Mma {
  std::string name;          // "f16_f32": inputs, accumulator
  std::string shape, types;  // "m16n8k16", ".f32.f16.f16.f32"
  int a, b, c;               // registers a thread
  const char *input, *sum;   // their types
  double fma;                // multiply-adds of a warp
  int architecture;          // the first that has it
  const char* version;       // of PTX
  std::string data;          // the kind of operands (matrix_data)
};
std::vector<Mma> mmas(int architecture);

/// A form of wgmma, with sm_90a.
struct Wgmma {
  std::string name;                      // "bf16_f32"
  std::string types;                     // ".f32.bf16.bf16"
  int n, k;                              // m is 64
  bool from_registers;                   // A
  const char* sum;                       // "f32", "b32": type of accumulator registers
  int sums;                              // of them a thread
  const char* tail;                      // operands behind scale-d
  std::string data;                      // the kind of operands
  [[nodiscard]] std::string id() const;  // "bf16_f32.n256.ss"
};
std::vector<Wgmma> wgmmas(int architecture);

/// Random finite operands of a kind, 16 KiB: "f16", "bf16", "tf32", "f64", "s8", "e4m3".
std::vector<std::string> matrix_kinds();
std::string matrix_data(const std::string& kind);
inline constexpr int matrix_thread_bytes = 512;  // what a thread of mma.sync loads lies there

/// "mma_chain": one accumulator; "mma_wide": four, of two A and two B.
std::string mma_chain_module(const Mma& m, int texts);
std::string mma_wide_module(const Mma& m, int texts);
/// "wgmma": `groups` times a fence, `texts` wgmma on one accumulator, a commit and a wait for all.
std::string wgmma_module(const Wgmma& w, int groups, int texts);

/// An atomic operation on [$p] with operands of the thread's number.
struct Atomic {
  std::string name;  // "red_add_u32"
  std::string text;
  int bytes;
  const char* words;
};
std::vector<Atomic> global_atomics();
std::vector<Atomic> shared_atomics();
/// "atomics": 8 a turn and thread at more + thread * extra (one pass).
std::string atomics_module(const Atomic& a);
/// "shared_atomics": `texts` at room + thread * extra.
std::string shared_atomics_module(const Atomic& a, int texts);

/// "matrix_move": `texts` ldmatrix or stmatrix x4; lane rows are `extra` bytes apart.
std::string matrix_move_module(bool store, int texts);
/// "shared_write": `texts` stores of `bytes`, lanes beside each other.
std::string shared_write_module(int texts, int bytes);

/// "async_copy": `texts` copies of 16 bytes a thread. `wait`: for each; otherwise groups of four, four in flight.
std::string async_copy_module(int texts, bool wait);
inline constexpr int bulk_stages = 5, bulk_bytes = 8192;
/// "bulk_wait": one thread; `texts` copies of `bytes` with an mbarrier, each waited for.
std::string bulk_wait_module(int texts, int bytes);
/// "bulk_ring": one thread; `turns` times `bulk_stages` copies of `bulk_bytes`, as many in flight. The pieces are
/// (number & extra) * blocks + block.
std::string bulk_ring_module();

/// "cluster_chase": loads from the neighbour's shared memory, each gives the next address. "cluster_read": `texts`
/// loads of 16 bytes a thread from the neighbour (`neighbour` false: from its own block, the same way).
std::string cluster_chase_module(int texts);
std::string cluster_read_module(int texts, bool neighbour);

/// "reads": `turns` times `loads` loads of `bytes` a thread; after `extra` turns from the beginning of data again.
std::string reads_module(int loads, int bytes);
/// "writes": the same of stores, four of 16 bytes at a time.
std::string writes_module();

}  // namespace kernelcast::probe::cuda
