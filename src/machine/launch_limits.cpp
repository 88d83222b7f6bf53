// The limits that a driver checks before it launches. What a whole compute unit cannot hold (registers, resident
// threads) is checked by occupancy().
#include "machine/launch_limits.h"

#include <limits>
#include <string>

#include "device/describe.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast {
namespace {

struct Axis {
  Field field;
  const char* key;
  const char* name;
};
constexpr Axis block_axes[3] = {{Field::limits_max_block_x, "limits.max_block_x", "x"},
                                {Field::limits_max_block_y, "limits.max_block_y", "y"},
                                {Field::limits_max_block_z, "limits.max_block_z", "z"}};
constexpr Axis grid_axes[3] = {{Field::limits_max_grid_x, "limits.max_grid_x", "x"},
                               {Field::limits_max_grid_y, "limits.max_grid_y", "y"},
                               {Field::limits_max_grid_z, "limits.max_grid_z", "z"}};

[[noreturn]] void refuse(const std::string& what, double asked, double limit, const char* key, const Device& device,
                         const char* advice) {
  throw UserError(what + " is " + describe::number(asked) + ", but " + device.name + " allows at most " +
                  describe::number(limit) + " (" + key + "); " + advice);
}

void check_axes(const Dim3& size, const Axis (&axes)[3], const char* what, const Device& device, const char* advice) {
  const std::int64_t sizes[3] = {size.x, size.y, size.z};
  for (int i = 0; i < 3; ++i) {
    const auto limit = device.get(axes[i].field);
    const double asked = static_cast<double>(sizes[i]);
    if (limit && asked > *limit) {
      refuse(std::string(what) + " in " + axes[i].name, asked, *limit, axes[i].key, device, advice);
    }
  }
}

constexpr double unlimited = std::numeric_limits<double>::infinity();

std::array<double, 3> bounds_of(const Device& d, const Axis (&axes)[3]) {
  return {d.get_or(axes[0].field, unlimited), d.get_or(axes[1].field, unlimited), d.get_or(axes[2].field, unlimited)};
}

bool within(const Dim3& size, const std::array<double, 3>& most) {
  return static_cast<double>(size.x) <= most[0] && static_cast<double>(size.y) <= most[1] &&
         static_cast<double>(size.z) <= most[2];
}

void check_cluster(const Workload& work, const Device& device) {
  const double blocks = static_cast<double>(work.cluster.count());
  if (blocks <= 0) return;
  if (const auto limit = device.get(Field::limits_max_blocks_per_cluster); limit && blocks > *limit)
    refuse("the number of blocks in a cluster", blocks, *limit, "limits.max_blocks_per_cluster", device,
           "give the kernel a smaller cluster");
  const auto grid = work.grid.array(), cluster = work.cluster.array();
  for (std::size_t i = 0; i < 3; ++i)
    if (grid[i] % cluster[i] != 0)
      throw UserError("the grid size in " + std::string(grid_axes[i].name) + " is " + std::to_string(grid[i]) +
                      ", no multiple of the " + std::to_string(cluster[i]) +
                      " blocks of a cluster; give another " KC_SETTING(grid));
}

void check_set_registers(const Workload& work, const Device& device) {
  if (const auto limit = device.get(Field::limits_registers_per_unit); limit && work.set_registers_per_block > *limit)
    refuse("the number of registers that a block asks for by setmaxnreg", work.set_registers_per_block, *limit,
           "limits.registers_per_unit", device, "give the warps fewer registers");
}

}  // namespace

LaunchBounds::LaunchBounds(const Device& d)
    : threads(d.get_or(Field::limits_max_threads_per_block, unlimited)),
      shared_bytes(d.get_or(Field::limits_shared_bytes_per_block, unlimited)),
      block(bounds_of(d, block_axes)),
      grid(bounds_of(d, grid_axes)) {}

bool LaunchBounds::admit(const Workload& work) const {
  return static_cast<double>(work.block.count()) <= threads && within(work.block, block) && within(work.grid, grid) &&
         work.shared_bytes_per_block <= shared_bytes && work.cluster.count() <= 0 && work.set_registers_per_block <= 0;
}

void check_launch(const Workload& work, const Device& device) {
  const char* smaller_block = "give a smaller " KC_SETTING(block);
  const double threads = static_cast<double>(work.block.count());
  if (const auto limit = device.get(Field::limits_max_threads_per_block); limit && threads > *limit) {
    refuse("the number of threads in a block", threads, *limit, "limits.max_threads_per_block", device, smaller_block);
  }
  check_axes(work.block, block_axes, "the block size", device, smaller_block);
  check_axes(work.grid, grid_axes, "the grid size", device, "give a smaller " KC_SETTING(grid));
  if (const auto limit = device.get(Field::limits_shared_bytes_per_block);
      limit && work.shared_bytes_per_block > *limit) {
    refuse("the shared memory of a block, in bytes,", work.shared_bytes_per_block, *limit,
           "limits.shared_bytes_per_block", device,
           "give less " KC_SETTING(shared) ", or a smaller " KC_SETTING(block) " or tile");
  }
  check_cluster(work, device);
  check_set_registers(work, device);
}

}  // namespace kernelcast
