#include "tune/feasible.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "machine/occupancy.h"

namespace kernelcast::tune {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

std::string sizes(const Dim3& d) { return fmt::format("{},{},{}", d.x, d.y, d.z); }

/// CUDA C++ programming guide, "Shared memory" of compute capability 7.x and later: static arrays are limited to 48 KB,
/// whatever a block may have; ptxas refuses more.
constexpr double most_static_shared_nvidia = 49152;

double as_double(std::int64_t n) { return static_cast<double>(n); }

bool too_much_static(const KernelProfile& p) {
  return p.target.starts_with("sm_") && as_double(p.static_shared_bytes) > most_static_shared_nvidia;
}

bool exceeds(const Dim3& d, const std::array<double, 3>& limit) {
  return as_double(d.x) > limit[0] || as_double(d.y) > limit[1] || as_double(d.z) > limit[2];
}

}  // namespace

std::string_view name_of(Refusal r) {
  switch (r) {
    case Refusal::none:
      return "none";
    case Refusal::constraint:
      return "constraint";
    case Refusal::threads:
      return "threads per block";
    case Refusal::block_shape:
      return "shape of the block";
    case Refusal::grid:
      return "size of the grid";
    case Refusal::shared_memory:
      return "shared memory";
    case Refusal::launch_bounds:
      return "launch bounds";
    case Refusal::registers:
      return "registers";
    case Refusal::source:
      return "source";
    case Refusal::forecast:
      return "forecast";
    case Refusal::count_:
      break;
  }
  return "none";
}

LaunchLimits::LaunchLimits(const Device& d)
    : name_(d.name),
      threads_(d.get_or(Field::limits_max_threads_per_block, unlimited)),
      shared_(d.get_or(Field::limits_shared_bytes_per_block, unlimited)),
      block_{d.get_or(Field::limits_max_block_x, unlimited), d.get_or(Field::limits_max_block_y, unlimited),
             d.get_or(Field::limits_max_block_z, unlimited)},
      grid_{d.get_or(Field::limits_max_grid_x, unlimited), d.get_or(Field::limits_max_grid_y, unlimited),
            d.get_or(Field::limits_max_grid_z, unlimited)} {}

Refusal LaunchLimits::check(const LaunchShape& s) const {
  if (s.block_known && as_double(s.block.count()) > threads_) return Refusal::threads;
  if (s.block_known && exceeds(s.block, block_)) return Refusal::block_shape;
  if (s.grid_known && exceeds(s.grid, grid_)) return Refusal::grid;
  if (as_double(s.dynamic_shared_bytes) > shared_) return Refusal::shared_memory;
  return Refusal::none;
}

Refusal LaunchLimits::check(const KernelProfile& p, const Dim3& block, double shared_bytes) const {
  if (p.required_block.x > 0 && !(p.required_block == block)) return Refusal::launch_bounds;
  if (p.max_threads_per_block > 0 && block.count() > p.max_threads_per_block) return Refusal::launch_bounds;
  if (shared_bytes > shared_ || too_much_static(p)) return Refusal::shared_memory;
  return Refusal::none;
}

std::string LaunchLimits::why(Refusal refusal, const LaunchShape& s) const {
  switch (refusal) {
    case Refusal::threads:
      return fmt::format("{} threads in a block, {} allows {}", s.block.count(), name_, threads_);
    case Refusal::block_shape:
      return fmt::format("a block of {}, {} allows {},{},{}", sizes(s.block), name_, block_[0], block_[1], block_[2]);
    case Refusal::grid:
      return fmt::format("a grid of {}, {} allows {},{},{}", sizes(s.grid), name_, grid_[0], grid_[1], grid_[2]);
    case Refusal::shared_memory:
      return fmt::format("{} bytes of dynamic shared memory, {} allows {} a block", s.dynamic_shared_bytes, name_,
                         shared_);
    default:
      return std::string(name_of(refusal));
  }
}

std::string LaunchLimits::why(Refusal refusal, const KernelProfile& p, const Dim3& block, double shared_bytes) const {
  if (refusal == Refusal::shared_memory && too_much_static(p)) {
    return fmt::format("{} bytes of shared memory in static arrays, {} is the most that NVIDIA's compiler accepts",
                       p.static_shared_bytes, most_static_shared_nvidia);
  }
  if (refusal == Refusal::shared_memory) {
    return fmt::format("{} bytes of shared memory, static arrays included, {} allows {} a block", shared_bytes, name_,
                       shared_);
  }
  if (p.required_block.x > 0 && !(p.required_block == block)) {
    return fmt::format("a block of {}, the kernel requires {} (reqd_work_group_size)", sizes(block),
                       sizes(p.required_block));
  }
  return fmt::format("{} threads in a block, the kernel's launch bounds allow {}", block.count(),
                     p.max_threads_per_block);
}

double most_registers(const Device& device, double threads) {
  const UnitLimits unit = unit_limits(device);
  if (unit.registers == UnitLimits::none) return unlimited;
  const auto fits = [&](double registers) {
    UnitLimits wide = unit;
    wide.registers_per_thread = UnitLimits::none;
    return resident_blocks(wide, {threads, registers, 0}).by_registers >= 1;
  };
  // Beyond the most that a thread can have the compiler spills: nobody needs more.
  const double most = unit.registers_per_thread == UnitLimits::none ? 1024 : unit.registers_per_thread;
  if (fits(most)) return unlimited;
  double low = 0, high = most;  // fits(low), not fits(high)
  while (high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

double probability_above(const Registers& r, double most) {
  // AMD's code generator has chosen the registers itself, for the largest block that it was told of.
  if (most == unlimited || r.method == "code generator") return 0;
  constexpr double z95 = 1.6448536269514722;  // of the standard normal distribution
  const double spread = (most >= r.per_thread ? r.high - r.per_thread : r.per_thread - r.low) / z95;
  if (spread <= 0) return r.per_thread > most ? 1 : 0;
  // A count above `most` is a whole number: the half makes room for rounding.
  return 0.5 * std::erfc((most + 0.5 - r.per_thread) / spread / std::sqrt(2.0));
}

}  // namespace kernelcast::tune
