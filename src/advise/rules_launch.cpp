// Grid and block: blocks that do not fill the device, and what a launch itself takes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "advise/cut.h"
#include "advise/place.h"
#include "advise/rules.h"
#include "io/text.h"
#include "kernelcast/error.h"
#include "kernelcast/model.h"

namespace kernelcast::advice {
namespace {

/// Lines that print, allocate, start kernels or set up random numbers, whose code no source has: their time is another
/// than what is counted.
bool does_more_than_counted(const Subject& s) {
  return std::ranges::any_of(s.profile().blocks, [&](const Block& b) {
    return std::ranges::any_of(b.lines, [&](const LineOps& l) {
      const std::string text = s.text(l.line);
      return text.find("<<<") != std::string::npos ||
             std::ranges::any_of(std::array{"printf", "malloc", "new", "curand_init", "skipahead"},
                                 [&](const char* call) { return find_word(text, call) != std::string::npos; });
    });
  });
}

/// Blocks of other sizes and shapes that cover the same threads.
std::vector<Dim3> other_blocks(const Subject& s) {
  std::vector<Dim3> all;
  if (why_blocks_are_fixed(s).empty()) {
    for (const std::int64_t x : {32, 64, 128, 256, 512, 1024}) all.push_back({x, 1, 1});
  } else if (shape_is_free(s)) {
    all = {{32, 4, 1}, {32, 8, 1}, {32, 16, 1}, {64, 4, 1}, {64, 8, 1}, {128, 2, 1}, {256, 1, 1}, {16, 16, 1}};
  }
  const Dim3 block = s.workload().block, grid = s.workload().grid;
  // The time to start a block was measured to 512 threads; larger blocks would seem to cost no more.
  if (block.count() <= 512) std::erase_if(all, [](const Dim3& b) { return b.count() > 512; });
  const std::int64_t most = s.profile().max_threads_per_block;
  std::erase_if(all, [&](const Dim3& b) {
    return b == block || grid.x * block.x % b.x != 0 || grid.y * block.y % b.y != 0 || (most > 0 && b.count() > most);
  });
  return all;
}

std::string shape_text(const Dim3& size) {
  return size.y == 1 ? fmt::format("{}", size.x) : fmt::format("dim3({}, {})", size.x, size.y);
}

/// Blocks of the busiest SM over those of the mean one.
double unevenness(double blocks, double units) { return std::ceil(blocks / units) / (blocks / units); }

/// What all requests to memory take of the L1 and of the L2.
double wavefronts(const Workload& w) {
  double sum = 0;
  for (const AccessCount& c : w.access_counts) sum += c.bank_passes + c.segments + c.sectors;
  return sum;
}

/// Whether the launch changes what the device does: more warps at once, work spread more evenly, wider rows of threads
/// that need fewer wavefronts, or no time for starting blocks. A gain without any of these is less than the model can
/// tell.
bool has_cause(const Subject& s, const DeviceResult& now) {
  const Estimate& e = *now.models.front().estimate;
  if (s.estimate().limiter == "block_starts" || e.occupancy.fraction > 1.01 * s.estimate().occupancy.fraction)
    return true;
  if (1.01 * wavefronts(*now.workload) < wavefronts(s.workload())) return true;
  const double units = s.unit_count();
  return 1.01 * unevenness(now.workload->blocks, units) < unevenness(s.workload().blocks, units);
}

std::vector<Draft> block_sizes(const Subject& s) {
  const Dim3 block = s.workload().block, grid = s.workload().grid;
  std::optional<DeviceResult> best;
  Dim3 best_block, best_grid;
  double best_s = *s.estimate().time_s.value;
  for (const Dim3& other : other_blocks(s)) {
    ForecastQuestion q = s.question();
    q.launch.block = other;
    q.global.reset();
    q.grid = Dim3{grid.x * block.x / other.x, grid.y * block.y / other.y, grid.z};
    auto now = s.ask(q);
    if (!now) continue;
    const double seconds = *now->models.front().estimate->time_s.value;
    if (seconds >= best_s || !has_cause(s, *now)) continue;
    best_s = seconds;
    best_block = other;
    best_grid = *q.grid;
    best = std::move(now);
  }
  if (!best) return {};
  Draft d;
  d.message = fmt::format("blocks of {} threads: {} occupancy, limited by {}",
                          block.y == 1 ? fmt::format("{}", block.x) : fmt::format("{} x {}", block.x, block.y),
                          format_percent(s.estimate().occupancy.fraction), s.estimate().occupancy.limiter);
  d.change = fmt::format("<<<{}, {}>>> in place of <<<{}, {}>>>", shape_text(best_grid), shape_text(best_block),
                         shape_text(grid), shape_text(block));
  d.forecast = std::move(best);
  return {std::move(d)};
}

/// Loops that step by the size of the grid take any number of blocks: as many as the units hold at once, or a multiple.
std::vector<Draft> more_blocks(const Subject& s) {
  const Dim3 grid = s.workload().grid, block = s.workload().block;
  if (grid.y != 1 || grid.z != 1 || s.estimate().occupancy.limiter != "grid") return {};
  if (grid.x == 1 && s.workload().barriers > 0) return {};  // the one block is there to synchronize
  // Where each thread has one iteration already, more of them have nothing to do.
  const bool strides = std::any_of(s.profile().loops.begin(), s.profile().loops.end(), [&s](const Loop& l) {
    return l.unknown < 0 && l.trips.depends_on(num_groups(0)) && s.most_trips(l).value_or(2) >= 2;
  });
  if (!strides) return {};
  std::optional<DeviceResult> best;
  double best_s = *s.estimate().time_s.value;
  for (const int waves : {1, 2}) {
    // As many as fit by registers and shared memory: asked of a grid that is large enough.
    Workload many = s.workload();
    many.grid.x = 1 << 20;
    many.blocks = static_cast<double>(many.grid.x);
    ForecastQuestion q = s.question();
    q.global.reset();
    q.grid = Dim3{static_cast<std::int64_t>(
                      s.unit_count() * std::max(1.0, std::floor(occupancy(many, s.device()).blocks_per_unit)) * waves),
                  1, 1};
    if (q.grid->x <= grid.x) continue;
    auto now = s.ask(q);
    if (!now || *now->models.front().estimate->time_s.value >= best_s) continue;
    best_s = *now->models.front().estimate->time_s.value;
    best = std::move(now);
  }
  if (!best) return {};
  Draft d;
  d.message = fmt::format("{} leave room on the SMs: {} occupancy", format_count_of(s.workload().blocks, "block"),
                          format_percent(s.estimate().occupancy.fraction));
  d.change = fmt::format("<<<{}, {}>>> in place of <<<{}, {}>>>: the loop steps by the size of the grid",
                         best->workload->grid.x, shape_text(block), grid.x, shape_text(block));
  d.forecast = std::move(best);
  return {std::move(d)};
}

/// Blocks that all units hold at once.
double together(const Subject& s) { return s.unit_count() * std::max(1.0, s.estimate().occupancy.blocks_per_unit); }

/// Registers limit the blocks of an SM, and are an estimate: the number of waves is not known.
bool waves_are_a_guess(const Subject& s) {
  return s.estimate().occupancy.limiter == "registers" && s.fewest_registers() < s.workload().registers_per_thread;
}

/// Nobody had to guess how long the kernel runs: data decide no trip count, and nothing waits.
bool length_is_known(const Subject& s) {
  return std::none_of(s.profile().loops.begin(), s.profile().loops.end(),
                      [&](const Loop& l) { return l.wait != Loop::Wait::none || (l.unknown >= 0 && !s.knows_data()); });
}

bool moves_data(const Subject& s) {
  return std::any_of(s.sites().begin(), s.sites().end(),
                     [](const Site& o) { return o.access->space == MemorySpace::global && o.count.requests > 0; });
}

std::vector<Draft> tails(const Subject& s) {
  const double blocks = s.workload().blocks, units = s.unit_count(), wave = together(s);
  if (blocks <= units || does_more_than_counted(s) || !length_is_known(s)) return {};
  if (s.estimate().limiter == "block_starts") return {};  // fewer blocks gain by that, not by even ones
  // What a grid of that many blocks would take if every unit ended at the same time: the same work in as many blocks as
  // fill all rounds.
  const double step = blocks >= wave ? wave : units;
  const double even = std::floor(blocks / step) * step;
  if (even == blocks || even <= 0) return {};
  if (blocks >= wave && waves_are_a_guess(s)) return {};
  const double rounds = blocks / step;
  // The last round is as long as the others, and no more than what it leaves idle can be gained.
  const double idle = 1 - rounds / std::ceil(rounds);
  const auto what_if = [even](Variant& v) { spread_over(v, even); };
  const auto same = forecast_variant(s, [](Variant&) {}), now = forecast_variant(s, what_if);
  if (!same || !now) return {};
  Draft d;
  d.message = blocks >= wave
                  ? fmt::format("the last wave is not full: {} on {:.0f} SMs that hold {:.3g} are {:.3g} waves",
                                format_count_of(blocks, "block"), units, wave / units, rounds)
                  : fmt::format("SMs have unequal work: {} on {:.0f} of them, {:.0f} or {:.0f} each",
                                format_count_of(blocks, "block"), units, std::floor(rounds), std::ceil(rounds));
  d.change = fmt::format(
      "smaller blocks, or {:.0f} blocks that take work in a grid-stride loop of many iterations:\n"
      "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)",
      even);
  d.seconds = *s.estimate().time_s.value * std::max(now->seconds / same->seconds, 1 - idle);
  d.limiter = now->limiter;
  d.assumptions.emplace_back("the work can be spread evenly over the blocks");
  return {std::move(d)};
}

/// A loop that was unrolled whole: more accesses of one line stand in a block of code than anybody writes there.
bool was_unrolled(const Subject& s) {
  constexpr double passages = 16;
  for (const Block& b : s.profile().blocks) {
    std::map<std::pair<SourceLine, AccessKind>, double> copies;
    for (const Access& a : b.accesses)
      if (a.line.line > 0 && a.space == MemorySpace::global && (copies[{a.line, a.kind}] += a.copies()) >= passages)
        return true;
  }
  return false;
}

/// Most of what loops issue is for one lane of a warp: more blocks have no share in it.
bool is_serial(const Subject& s) {
  constexpr double few = 2;  // lanes
  double warps = 0, lanes = 0;
  for (std::size_t b = 0; b < s.profile().blocks.size(); ++b) {
    if (s.profile().blocks[b].loop < 0) continue;
    warps += s.profile().blocks[b].ops.total() * s.workload().block_counts.at(b).warps;
    lanes += s.profile().blocks[b].ops.total() * s.workload().block_counts.at(b).lanes;
  }
  return warps > 0 && lanes < few * warps;
}

std::vector<Draft> small_grids(const Subject& s) {
  const double blocks = s.workload().blocks, units = s.unit_count();
  if (blocks > units / 2 || blocks < 1 || s.estimate().limiter == "launch" || does_more_than_counted(s)) return {};
  // Threads that can be cut into other blocks are the rule block-size's.
  if ((s.profile().loops.empty() && !was_unrolled(s)) || (s.workload().block.y == 1 && s.closed() && cut_freely(s)))
    return {};
  // A loop that data end (a search) is not divided without doing more in all.
  if (std::ranges::any_of(s.profile().loops, [](const Loop& l) { return l.unknown >= 0; })) return {};
  if (blocks == 1 && s.workload().barriers > 0) return {};  // the one block is there to synchronize
  if (is_serial(s)) return {};
  // Blocks whose loops synchronize depend on what the iterations before did.
  if (std::any_of(s.profile().blocks.begin(), s.profile().blocks.end(),
                  [](const Block& b) { return b.loop >= 0 && b.barriers > 0; }))
    return {};
  const auto what_if = [units](Variant& v) { spread_over(v, units); };
  return {{{},
           "",
           fmt::format("{} on {:.0f} SMs: the others are idle", format_count_of(blocks, "block"), units),
           "split the loops over more blocks; where they add up one result, add the parts at the end",
           what_if,
           {},
           {"the work of a block can be divided, at no cost"}}};
}

std::vector<Draft> launch_time(const Subject& s) {
  if (!length_is_known(s) || !moves_data(s) || does_more_than_counted(s)) return {};
  const double total = *s.estimate().time_s.value;
  for (const Bound& b : s.estimate().bounds) {
    if (b.kind != BoundKind::launch || !b.without || b.time.value() < 0.3 * total) continue;
    Draft d;
    d.message =
        fmt::format("starting the kernel takes {} of {}", format_seconds(b.time.value()), format_seconds(total));
    d.change =
        "do more per launch: fuse it with the kernels before and after it, batch several inputs, or record a CUDA "
        "graph";
    d.seconds = b.without->value();
    d.limiter = s.estimate().bounds.size() > 1 ? s.estimate().bounds[s.estimate().limiter == b.name ? 1 : 0].name : "";
    d.assumptions.emplace_back("fused: this kernel's own launch costs nothing, and its data still pass memory");
    return {std::move(d)};
  }
  return {};
}

}  // namespace

std::span<const Rule> launch_rules() {
  static const Rule list[] = {
      {{"block-size", "another block size is quicker"}, block_sizes},
      {{"more-blocks", "a loop over the grid leaves room for more blocks"}, more_blocks},
      {{"tail", "the last wave of blocks fills part of the device"}, tails},
      {{"small-grid", "fewer blocks than compute units"}, small_grids},
      {{"launch-bound", "the launch takes a large part of the time"}, launch_time},
  };
  return list;
}

}  // namespace kernelcast::advice
