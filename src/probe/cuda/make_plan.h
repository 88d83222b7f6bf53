// The plan of the micro-benchmarks for a device, and the names of its series.
#pragma once

#include <string>

#include "probe/cuda/plan.h"

namespace kernelcast::probe::cuda {

struct PlanOptions {
  std::string ptxas;    // empty: no patched cubins
  double seconds = 60;  // of all phases
  int max_rounds = 60;
};
Plan make_plan(const Info& info, const PlanOptions& options);

/// Adds the phases whose cubins are patched: control fields, register banks, order of FFMA. A reason goes into the
/// plan's notes where there can be none.
void add_patched(Plan& plan, const PlanOptions& options);

/// Adds the phases of what came after 2017: matrix instructions, asynchronous copies, clusters; atomics by type,
/// stores, launches by size. They are short: six rounds are enough for them.
void add_tensor(Plan& plan, const PlanOptions& options);

/// The arguments that every kernel of ours takes (ptx.h); buffers by index, -1: none.
struct OurArguments {
  int out = 0, data = -1, more = -1;
  unsigned turns = 1, extra = 0;
  std::size_t data_offset = 0;
};
std::vector<Argument> arguments_of(const OurArguments& a);

inline constexpr const char* lengths[] = {"short", "long"};  // names of a pair of series whose difference counts
inline constexpr unsigned wide_threads = 512;                // of a throughput kernel: 16 warps on one unit
inline constexpr int order_texts = 512;                      // FFMA in the body of an order
inline constexpr int bank_registers = 16;                    // of the test of triples
inline constexpr unsigned stalls = 16;                       // values of the stall field

/// One way to order and encode a tile of FFMA.
struct Order {
  int rows = 4, columns = 8;  // factors a and b; rows * columns accumulators
  enum class Path : unsigned char { rows, serpentine, columns } path = Path::rows;
  enum class Parity : unsigned char { apart, alike, mixed } parity = Parity::apart;  // of the numbers of a and b
  bool reuse = false;  // where the next instruction reads the same factor
  unsigned stall = 1;
  bool yield = false;
};
std::vector<Order> orders();
std::string words_of(const Order& o);

}  // namespace kernelcast::probe::cuda
