// Idea: blocks go to the SMs in rounds of S, threads of a block to the cores in rounds of P and to the load/store units
// in rounds of L; active warps and blocks hide time with diminishing gain, each by a constant factor.
//
// Source: "SKE, single-kernel estimate for CUDA". The images of formulas (2)-(9) are lost; this form is reconstructed
// from the text and has the shape of the paper's block-size sweep (test/golden/model/ske_sweep_test.cpp). Separate
// factors for T_e and T_c would not.
//
// Limits: no caches, no bandwidth; the same factor hides computation and memory; a grid smaller than S * n_b blocks is
// hidden as if it were full.
#include "model/ske.h"

#include <algorithm>
#include <cmath>

namespace kernelcast::ske {
namespace {

/// r_w and r_b as natural logarithms, so that (8) takes one exponential.
struct Hiding {
  double warps, blocks;
};
const Hiding plain{std::log(0.95), std::log(0.96)};
const Hiding correction_a{std::log(0.92), std::log(0.92)};
const Hiding correction_b{std::log(0.99), std::log(0.99)};

constexpr double barrier_issue_cycles = 4;  // (7), per warp

double at_most(double limit, double demand) { return demand > 0 ? std::floor(limit / demand) : no_limit; }

Status status_of(double left, double right, double step) {
  if (left > right) return Status::violated;
  return left + step > right ? Status::active : Status::satisfied;
}

}  // namespace

double words(double bytes) { return std::max(1.0, std::ceil(bytes / 4)); }

double active_blocks(const SkeDevice& m, const Kernel& k) {
  const double warps = std::ceil(k.threads / m.warp);
  const double by_size = std::min(at_most(m.max_threads_per_sm, k.threads), at_most(m.max_warps_per_sm, warps));
  const double by_memory =
      std::min(at_most(m.registers_per_sm, k.registers * k.threads), at_most(m.shared_bytes_per_sm, k.shared_bytes));
  return std::min({m.max_blocks_per_sm, by_size, by_memory});
}

SkeTimes forecast(const SkeDevice& m, const Kernel& k, Correction correction) {
  SkeTimes f;
  const double block_warps = std::ceil(k.threads / m.warp);
  f.active_blocks = active_blocks(m, k);
  f.active_warps = f.active_blocks * block_warps;
  f.corrected = correction != Correction::none && k.threads < m.cores / 2;

  double rounds = std::ceil(k.blocks / m.multiprocessors);
  const double barrier_rounds = rounds;
  double on_cores = k.threads, on_load_store = k.threads;
  Hiding hiding = plain;
  if (f.corrected && correction == Correction::a) hiding = correction_a;
  if (f.corrected && correction == Correction::b) {
    hiding = correction_b;
    rounds = std::ceil(k.blocks / (m.multiprocessors * f.active_blocks));
    on_cores = on_load_store = f.active_warps * m.warp;
  }
  const Ratio<per::Thread, per::Grid> compute_turns(rounds * std::ceil(on_cores / m.cores));
  const Ratio<per::Thread, per::Grid> memory_turns(k.access_conflicts * rounds *
                                                   std::ceil(on_load_store / m.load_store_units));
  f.compute = k.instruction_cycles * compute_turns / m.clock;  // (2), (3)
  f.memory = k.memory_cycles * memory_turns / m.clock;         // (4)-(6)
  const Cycles<per::Block> block_barriers(k.critical_share * k.barriers * barrier_issue_cycles * block_warps);
  f.barriers = block_barriers * Ratio<per::Block, per::Grid>(barrier_rounds) / m.clock;  // (7)
  f.hiding = std::exp(f.active_warps * hiding.warps + f.active_blocks * hiding.blocks);  // (8)
  return f;
}

std::string_view name_of(Status s) {
  switch (s) {
    case Status::satisfied:
      return "satisfied";
    case Status::active:
      return "active";
    case Status::violated:
      return "violated";
  }
  return "violated";
}

std::array<Constraint, 8> constraints(const SkeDevice& m, const Kernel& k, double n_b) {
  const auto make = [](int number, std::string_view name, double left, double right, double step) {
    return Constraint{number, name, left, right, status_of(left, right, step)};
  };
  return {
      make(10, "threads per block", k.threads, m.max_threads_per_block, 1),
      make(11, "threads per SM", k.threads * n_b, m.max_threads_per_sm, k.threads),
      make(12, "registers per SM", k.registers * k.threads * n_b, m.registers_per_sm, k.registers * k.threads),
      make(12, "registers per thread", k.registers, m.max_registers_per_thread, 1),
      make(13, "shared memory per SM", k.shared_bytes * n_b, m.shared_bytes_per_sm, k.shared_bytes),
      make(14, "active blocks per SM", n_b, active_blocks(m, k), 1),
      make(15, "constant memory", k.constant_bytes, m.constant_bytes, 1),
      make(16, "global memory", k.global_bytes, m.global_bytes, 1),
  };
}

bool feasible(const SkeDevice& m, const Kernel& k) {
  const double n_b = active_blocks(m, k);
  const auto all = constraints(m, k, n_b);
  return n_b >= 1 &&
         std::none_of(all.begin(), all.end(), [](const Constraint& c) { return c.status == Status::violated; });
}

}  // namespace kernelcast::ske
