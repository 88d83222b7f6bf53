// Power of a busy device by its thermal design power: equation (19) of the model of 2017, in both readings of its print.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernelcast/device.h"

namespace kernelcast {

/// tdp_times: idle + 0.6 * TDP. tdp_over: idle + TDP / 0.6. The glyph between TDP and 0.6 is damaged; the first is the
/// default, because no device draws more than its design power for long, and the second does for every device.
enum class BusyPower : std::uint8_t { tdp_times, tdp_over };
/// "tdp-times-0.6", "tdp-over-0.6".
std::string_view name_of(BusyPower reading);
std::optional<BusyPower> busy_power_named(std::string_view name);

/// Idle power: of the device file, else a share of the design power.
struct IdleWatts {
  std::optional<double> watts;
  double least = 0;      // the lower end of what it may be
  bool assumed = false;  // by the share
  std::string how;       // how it was got, or why there is none
};
IdleWatts idle_watts(const Device& device);

struct BusyWatts {
  std::optional<double> watts;
  std::string how;  // how it was got, or why there is none
};
/// Measured (system.busy_w), else by (19); system.busy_share_of_tdp in place of either reading's share. What is missing
/// is named with where to set it.
BusyWatts busy_watts(const Device& device, double idle_w, BusyPower reading);

/// What a launch does, for power by instructions (20): instructions of lanes and bytes of DRAM traffic.
struct Activity {
  double instructions = 0, dram_bytes = 0;
};
/// Energy beyond idle, where the device file has the energy of an instruction.
std::optional<double> energy_beyond_idle_j(const Device& device, const Activity& activity);

}  // namespace kernelcast
