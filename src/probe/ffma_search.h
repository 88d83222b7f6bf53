// Step 4 in general: the order of instructions and registers under which FFMA run fastest. What is written is a
// register tile, c[i][j] += a[i] * b[j], again and again, as the inner loop of a matrix product has it.
#pragma once

#include "probe/steps.h"

namespace kernelcast::probe {

struct FfmaSearch {
  double fraction = 0, first_fraction = 0;  // of peak: the best, and the tile row by row on registers in their order
  std::vector<Ffma> tile;                   // the best, in its order
  GroupPattern pattern;
  int tried = 0;
  // The best tile with the filler in each slot of the control groups, paired in the way that suits it, and the best
  // program when it begins that many slots behind the beginning of a group. Empty where no code issues two at once.
  std::vector<double> by_filler, by_displacement;
};

/// What is known before.
struct FfmaKnown {
  Banks banks;                        // empty: no registers conflict, or nobody knows which
  int registers = 32;                 // R0 and on, that the program may use
  double latency = 1;                 // of FFMA, in cycles: codes with a stall must respect it
  std::optional<std::uint32_t> dual;  // the code for dual issue
  GroupPattern order;                 // with it: the fastest of the six orders
  std::vector<Ffma> order_tile;       // and the instructions that were measured in these orders
};

/// Looks from several beginnings for the program that runs fastest, changing one thing at a time: which slots go
/// together, two of the order, the register of an operand. Gives up after some hundred programs.
FfmaSearch search_ffma(const TestedSm& m, const FfmaKnown& known);

}  // namespace kernelcast::probe
