// Idea: a loop in its steady state takes the same time every trip, and so does a round of resident blocks, so what is
// too long to simulate is simulated short and continued along straight lines.
//
// Blocks: with n = q r + t blocks on the SM (r resident, 0 <= t < r) runs of r + t and of 2 r + t blocks give the time
// of a round; the rest (ramp, tail) stays in the first. Loops: the time is taken as a + sum over the shortened loops l
// of s_l i_l, where i_l are all trips of a warp through l. One run more for each of them, with half of its trips, gives
// the slopes s_l (a small linear system: halving an outer loop halves the trips of inner ones).
//
// Outer loops are shortened first, because that leaves the inner ones as they are; never below `fewest_trips`.
#include <algorithm>
#include <cmath>

#include "kernelcast/error.h"
#include "kernelcast/sm_model.h"

namespace kernelcast::sm {
namespace {

constexpr double fewest_trips = 4;
constexpr std::size_t most_shortened = 3;

struct Plan {
  std::vector<double> trips;
  std::vector<int> shortened;
};

double instructions_with(const UserProgram& program, const std::vector<double>& trips) {
  return with_trips(program, trips).instructions;
}

/// Warp instructions that all trips of a loop take, with those of the loops inside.
double weight(const UserProgram& program, int loop) {
  double sum = 0;
  for (std::size_t l = 0; l < program.loops.size(); ++l)
    for (int up = static_cast<int>(l); up >= 0; up = program.loops[static_cast<std::size_t>(up)].parent)
      if (up == loop) sum += program.loops[l].iterations * program.loops[l].instructions;
  return sum;
}

int depth(const UserProgram& program, int loop) {
  int d = 0;
  for (int up = program.loops[static_cast<std::size_t>(loop)].parent; up >= 0;
       up = program.loops[static_cast<std::size_t>(up)].parent)
    ++d;
  return d;
}

/// Trips with which a warp executes at most `wanted` instructions, as far as that goes.
Plan plan_for(const UserProgram& program, double wanted) {
  Plan plan;
  for (const UserLoop& l : program.loops) plan.trips.push_back(l.trips);
  std::vector<int> order;
  for (std::size_t l = 0; l < program.loops.size(); ++l)
    if (program.loops[l].trips > fewest_trips) order.push_back(static_cast<int>(l));
  // Those that matter, the outermost first, of equal depth the heaviest.
  std::ranges::stable_sort(order, [&](int a, int b) {
    const int da = depth(program, a), db = depth(program, b);
    return da != db ? da < db : weight(program, a) > weight(program, b);
  });
  for (const int l : order) {
    if (plan.shortened.size() == most_shortened) break;
    if (instructions_with(program, plan.trips) <= wanted) break;
    const auto at = static_cast<std::size_t>(l);
    if (weight(program, l) < 0.02 * program.instructions) continue;
    double low = fewest_trips, high = program.loops[at].trips;
    while (high - low > 0.5) {  // the largest number of trips that fits
      const double middle = (low + high) / 2;
      plan.trips[at] = middle;
      (instructions_with(program, plan.trips) <= wanted ? low : high) = middle;
    }
    plan.trips[at] = std::floor(low);
    plan.shortened.push_back(l);
  }
  return plan;
}

/// Solves a x = b by elimination with pivots; false where a is singular.
bool solve(std::vector<std::vector<double>> a, std::vector<double> b, std::vector<double>& x) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t r = k + 1; r < n; ++r)
      if (std::abs(a[r][k]) > std::abs(a[pivot][k])) pivot = r;
    if (std::abs(a[pivot][k]) < 1e-9) return false;
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t r = k + 1; r < n; ++r) {
      const double factor = a[r][k] / a[k][k];
      for (std::size_t c = k; c < n; ++c) a[r][c] -= factor * a[k][c];
      b[r] -= factor * b[k];
    }
  }
  x.assign(n, 0);
  for (std::size_t k = n; k-- > 0;) {
    double rest = b[k];
    for (std::size_t c = k + 1; c < n; ++c) rest -= a[k][c] * x[c];
    x[k] = rest / a[k][k];
  }
  return true;
}

class Runs {
 public:
  Runs(const Spec& spec, const UserProgram& program, const UserLaunch& launch, Extrapolation& out)
      : spec_(spec), program_(program), launch_(launch), out_(out) {}

  double run(const UserProgram& program, double blocks) {
    Launch l;
    l.blocks = static_cast<int>(blocks);
    l.warps_per_block = launch_.warps_per_block;
    l.resident_blocks = static_cast<int>(launch_.resident);
    Result r = simulate(spec_, program.program, l);
    const auto cycles = static_cast<double>(r.cycles);
    ++out_.runs;
    out_.simulated_instructions += r.warp_instructions;
    if (r.warp_instructions > out_.sample.warp_instructions) out_.sample = std::move(r);
    return cycles;
  }

  /// All trips of `blocks` blocks.
  double cycles(const Plan& plan, double blocks) {
    const UserProgram base = with_trips(program_, plan.trips);
    const double base_cycles = run(base, blocks);
    const std::size_t n = plan.shortened.size();
    if (n == 0) return base_cycles;
    std::vector<std::vector<double>> difference(n, std::vector<double>(n));
    std::vector<double> saved(n), slopes;
    for (std::size_t k = 0; k < n; ++k) {
      std::vector<double> trips = plan.trips;
      double& halved = trips[static_cast<std::size_t>(plan.shortened[k])];
      halved = std::ceil(halved / 2);
      const UserProgram less = with_trips(program_, trips);
      for (std::size_t c = 0; c < n; ++c) {
        const auto l = static_cast<std::size_t>(plan.shortened[c]);
        difference[k][c] = base.loops[l].iterations - less.loops[l].iterations;
      }
      saved[k] = base_cycles - run(less, blocks);
    }
    double total = base_cycles;
    bool usable = solve(difference, saved, slopes);
    for (std::size_t k = 0; usable && k < n; ++k) {
      const auto l = static_cast<std::size_t>(plan.shortened[k]);
      usable = slopes[k] >= 0;
      total += slopes[k] * (program_.loops[l].iterations - base.loops[l].iterations);
    }
    // Where loops cannot be told apart: in proportion to the instructions.
    return usable ? total : base_cycles * program_.instructions / base.instructions;
  }

 private:
  const Spec& spec_;
  const UserProgram& program_;
  const UserLaunch& launch_;
  Extrapolation& out_;
};

}  // namespace

UserProgram shortened_to(const UserProgram& program, double instructions) {
  return with_trips(program, plan_for(program, instructions).trips);
}

Extrapolation simulate_shortened(const Spec& spec, const UserProgram& program, const UserLaunch& launch,
                                 double most_instructions) {
  Extrapolation out;
  Runs runs(spec, program, launch, out);
  const double n = std::max(1.0, launch.blocks), r = std::clamp(launch.resident, 1.0, n);
  const double warps = launch.warps_per_block;
  Plan full;
  for (const UserLoop& l : program.loops) full.trips.push_back(l.trips);
  if (n * warps * program.instructions <= most_instructions) {
    out.cycles = runs.cycles(full, n);
    return out;
  }
  const double rounds = std::floor(n / r), tail = n - rounds * r;
  const double first = r + tail, second = 2 * r + tail;
  const bool shorten_blocks = rounds > 2;
  out.blocks_shortened = shorten_blocks;
  const double blocks = shorten_blocks ? first + second : n;
  Plan plan = full;
  if (blocks * warps * program.instructions > most_instructions) {
    // Each shortened loop costs another run of about the same length.
    for (double share = 2; share <= 1.0 + most_shortened; ++share) {
      plan = plan_for(program, most_instructions / (share * blocks * warps));
      if (1.0 + static_cast<double>(plan.shortened.size()) <= share) break;
    }
    const double left = instructions_with(program, plan.trips) * blocks * warps;
    if (left > 2 * most_instructions)
      throw LimitError("sm: " + program.program.name + " would take " + std::to_string(std::llround(left)) +
                       " simulated warp instructions even when shortened; the limit is " +
                       std::to_string(std::llround(most_instructions)) + "; ask kernelcast");
  }
  out.shortened = plan.shortened;
  if (!shorten_blocks) {
    out.cycles = runs.cycles(plan, n);
    return out;
  }
  const double one = runs.cycles(plan, first), two = runs.cycles(plan, second);
  out.cycles = one + std::max(0.0, two - one) * (rounds - 1);
  return out;
}

}  // namespace kernelcast::sm
