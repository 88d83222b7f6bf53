// Idea: a loop in its steady state takes the same time every trip, and so does a round of resident blocks, so what is
// too long to simulate is simulated short and continued along straight lines.
//
// Blocks: with n = q r + t blocks on the SM (r resident, 0 <= t < r) runs of r + t and of 2 r + t blocks give the time
// of a round; the rest (ramp, tail) stays in the first. Loops: the time is taken as a + sum over the shortened loops l
// of s_l i_l, where i_l are all trips of a warp through l. One run more for each of them, with half of its trips, gives
// the slopes s_l (a small linear system: halving an outer loop halves the trips of inner ones).
//
// Outer loops are shortened first, because that leaves the inner ones as they are; never below `fewest_trips`. A few
// trips may be all ramp, with slopes that are too small: no time is shorter than what its busiest pipe needs.
#include <algorithm>
#include <cmath>
#include <optional>

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

/// Loops of other roles that run in step with one: they hand each other the stages of shared memory.
std::vector<std::size_t> in_step(const UserProgram& program, std::size_t loop) {
  std::vector<std::size_t> all{loop};
  const UserLoop& l = program.loops[loop];
  for (std::size_t k = 0; k < program.loops.size(); ++k) {
    const UserLoop& other = program.loops[k];
    if (other.role != l.role && depth(program, static_cast<int>(k)) == depth(program, static_cast<int>(loop)) &&
        std::abs(other.trips - l.trips) <= std::max(8.0, 0.1 * l.trips))
      all.push_back(k);
  }
  return all;
}

/// So many trips of a loop, as many fewer of those in step with it.
void set_trips(const UserProgram& program, std::size_t loop, double trips, std::vector<double>& all) {
  const double fewer = program.loops[loop].trips - trips;
  for (const std::size_t l : in_step(program, loop)) all[l] = std::max(1.0, program.loops[l].trips - fewer);
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
    const bool done = std::ranges::any_of(plan.shortened, [&](int k) {
      const std::vector<std::size_t> step = in_step(program, static_cast<std::size_t>(k));
      return std::ranges::find(step, at) != step.end();
    });
    if (done || weight(program, l) < 0.02 * program.instructions) continue;
    double low = fewest_trips, high = program.loops[at].trips;
    while (high - low > 0.5) {  // the largest number of trips that fits
      const double middle = (low + high) / 2;
      set_trips(program, at, middle, plan.trips);
      (instructions_with(program, plan.trips) <= wanted ? low : high) = middle;
    }
    set_trips(program, at, std::floor(low), plan.trips);
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

  struct Run {
    double cycles = 0;
    std::vector<double> busy;  // of each pipe, cycles
  };
  Run run(const UserProgram& program, double blocks) {
    SmLaunch l;
    l.blocks = static_cast<int>(blocks);
    l.warps_per_block = launch_.warps_per_block;
    l.resident_blocks = static_cast<int>(launch_.resident);
    l.deadline_s = launch_.deadline_s;
    l.pass_waits = true;
    Result r = simulate(spec_, program.program, l);
    Run run{static_cast<double>(r.cycles), {}};
    for (std::size_t u = 0; u < spec_.units.size(); ++u)
      run.busy.push_back(static_cast<double>(r.unit_busy[u]) * spec_.units[u].schedulers / spec_.schedulers);
    ++out_.runs;
    out_.passed_waits += r.passed_waits;
    out_.simulated_instructions += r.warp_instructions;
    if (r.warp_instructions > out_.sample.warp_instructions) out_.sample = std::move(r);
    return run;
  }

  /// Cycles of all trips of some blocks.
  struct Continued {
    double by_trips = 0;         // along a straight line in the trips of each shortened loop
    double by_instructions = 0;  // in proportion to the instructions
    bool told_apart = true;      // whether the first can be had: the runs tell what a trip of each loop takes
  };
  Continued cycles(const Plan& plan, double blocks) {
    const UserProgram base = with_trips(program_, plan.trips);
    const Run whole = run(base, blocks);
    const std::size_t n = plan.shortened.size();
    if (n == 0) return {whole.cycles, whole.cycles, true};
    std::vector<std::vector<double>> difference(n, std::vector<double>(n));
    std::vector<double> left(n);  // trips of each shortened loop that are still to come
    std::vector<Run> less;
    for (std::size_t k = 0; k < n; ++k) {
      std::vector<double> trips = plan.trips;
      const auto halved = static_cast<std::size_t>(plan.shortened[k]);
      set_trips(program_, halved, std::ceil(trips[halved] / 2), trips);
      const UserProgram shorter = with_trips(program_, trips);
      for (std::size_t c = 0; c < n; ++c) {
        const auto l = static_cast<std::size_t>(plan.shortened[c]);
        difference[k][c] = base.loops[l].iterations - shorter.loops[l].iterations;
        left[c] = program_.loops[l].iterations - base.loops[l].iterations;
      }
      less.push_back(run(shorter, blocks));
    }
    // What `value` of the whole comes to; nothing where the loops cannot be told apart.
    const auto continued = [&](const auto& value) -> std::optional<double> {
      std::vector<double> saved(n), slopes;
      for (std::size_t k = 0; k < n; ++k) saved[k] = value(whole) - value(less[k]);
      if (!solve(difference, saved, slopes)) return std::nullopt;
      double total = value(whole);
      for (std::size_t k = 0; k < n; ++k) {
        if (slopes[k] < 0) return std::nullopt;
        total += slopes[k] * left[k];
      }
      return total;
    };
    const std::optional<double> total = continued([](const Run& r) { return r.cycles; });
    Continued out{total.value_or(0), whole.cycles * program_.instructions / base.instructions, total.has_value()};
    for (std::size_t u = 0; u < whole.busy.size(); ++u)
      if (const auto busy = continued([u](const Run& r) { return r.busy[u]; }))
        for (double* cycles : {&out.by_trips, &out.by_instructions}) *cycles = std::max(*cycles, *busy);
    return out;
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
    out.cycles = runs.cycles(full, n).by_trips;
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
    const Runs::Continued all = runs.cycles(plan, n);
    out.cycles = all.told_apart ? all.by_trips : all.by_instructions;
    return out;
  }
  const Runs::Continued one = runs.cycles(plan, first), two = runs.cycles(plan, second);
  // Both in the same way: the difference of two is the time of a round.
  const bool by_trips = one.told_apart && two.told_apart && two.by_trips > one.by_trips;
  const double from = by_trips ? one.by_trips : one.by_instructions, to = by_trips ? two.by_trips : two.by_instructions;
  out.cycles = from + std::max(0.0, to - from) * (rounds - 1);
  return out;
}

}  // namespace kernelcast::sm
