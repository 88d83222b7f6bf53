// SKE, single-kernel estimate for CUDA: formulas (1)-(9), constraints (10)-(16) and the two corrections for small
// blocks, in the paper's own quantities. Blocks are CUDA's, an SM is a compute unit.
#pragma once

#include <array>
#include <limits>
#include <string_view>

#include "kernelcast/units.h"

namespace kernelcast::ske {

inline constexpr double no_limit = std::numeric_limits<double>::infinity();

struct SkeDevice {
  double multiprocessors = 1;   // S
  double cores = 1;             // P, per SM
  double load_store_units = 1;  // L, per SM
  double warp = 32;             // W
  Hertz clock;                  // 1 / T
  double max_threads_per_block = no_limit, max_threads_per_sm = no_limit, max_warps_per_sm = no_limit;
  double max_blocks_per_sm = no_limit;
  double registers_per_sm = no_limit, max_registers_per_thread = no_limit;
  double shared_bytes_per_sm = no_limit, constant_bytes = no_limit, global_bytes = no_limit;
};

/// One launch: b blocks of t threads, and what each thread does.
struct Kernel {
  double blocks = 1;                       // b
  double threads = 1;                      // t
  Cycles<per::Thread> instruction_cycles;  // sum_i n_i p_i
  Cycles<per::Thread> memory_cycles;       // sum_j m_j q_j
  double access_conflicts = 1;             // alpha
  double barriers = 0;                     // k
  double critical_share = 1;               // beta: 1 when all threads lie on the critical path
  double registers = 0;                    // M1, per thread
  double shared_bytes = 0;                 // M2, per block
  double constant_bytes = 0;               // M3
  double global_bytes = 0;                 // off-chip spaces together
};

/// (4)-(6): an access to `bytes` wide data counts as ceil(D / word) accesses of 4 bytes.
double words(double bytes);

/// Corrections for blocks with fewer than P/2 threads. a: r_w = r_b = 0.92. b: several blocks share an SM's cores
/// (see docs/model/ske.md) and r_w = r_b = 0.99.
enum class Correction { none, a, b };

/// (14): n_b, floored; 0 when not one block fits.
double active_blocks(const SkeDevice&, const Kernel&);

struct SkeTimes {
  double active_blocks = 0, active_warps = 0;  // n_b, n_w
  double hiding = 1;                           // (8) r_w^n_w * r_b^n_b
  bool corrected = false;                      // a correction was asked for and the block is small
  Seconds compute, memory, barriers;           // T_e and T_c before hiding, T_s
  [[nodiscard]] Seconds total() const { return (compute + memory) * hiding + barriers; }  // (9)
};
/// (1)-(9). The constraints are not checked here.
SkeTimes forecast(const SkeDevice&, const Kernel&, Correction = Correction::none);

enum class Status { satisfied, active, violated };
std::string_view name_of(Status);

/// One of (10)-(16): left <= right. `active`: nothing is left, that is, one more (block, or for the limits of a single
/// block or thread, one more unit) would violate it.
struct Constraint {
  int number = 0;
  std::string_view name;
  double left = 0, right = 0;
  Status status = Status::satisfied;
};
/// With n_b active blocks; pass active_blocks() for the model's own choice. Order: (10), (11), (12) per SM, (12) per
/// thread, (13), (14), (15), (16).
std::array<Constraint, 8> constraints(const SkeDevice&, const Kernel&, double active_blocks);
/// True if no constraint is violated with at least one active block.
bool feasible(const SkeDevice&, const Kernel&);

}  // namespace kernelcast::ske
