// Which blocks stand for a launch: the grid is cut into strata (first, inner and last blocks along each axis), since
// guards and halos make edges differ; inside a stratum, places are spread evenly with a random shift.
#pragma once

#include <cstdint>
#include <vector>

#include "kernelcast/launch.h"

namespace kernelcast::interpreter {

struct Stratum {
  std::int64_t population = 0;
  std::vector<std::int64_t> blocks;  // chosen, ascending, by number in the grid (x fastest)
  double part = 1;                   // share of each of them that runs
};

/// At least one block of each stratum while `wanted` lasts, the rest in proportion to the population; strata that get
/// none are counted with the largest. The middle block of the grid is always among them.
std::vector<Stratum> choose_blocks(const Dim3& grid, std::int64_t wanted, std::uint64_t seed);

/// The block that is run first, to see what one costs; it is of the largest stratum.
std::int64_t middle_block(const Dim3& grid);

/// Half of a 95 % interval of the total of a quantity, from one value for each chosen block of each stratum; strata
/// with one block of many take the spread of the others. 0 when everything ran, NaN when values are too few to tell.
/// Values are extrapolated from the part of the block that ran. Cochran, "Sampling Techniques", 5.4, with
/// Student's distribution and the effective degrees of freedom of his equation 5.16.
double half_interval(const std::vector<Stratum>& strata, const std::vector<std::vector<double>>& values);

/// The value that Student's distribution of so many degrees of freedom exceeds in 2.5 % of cases.
double student_97_5(double freedom);

}  // namespace kernelcast::interpreter
