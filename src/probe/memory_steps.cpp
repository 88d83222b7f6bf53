#include "probe/memory_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "probe/memory_programs.h"

namespace kernelcast::probe {
namespace {

std::string walk(std::int64_t bytes, int line_bytes) {
  return fmt::format(".access a step={} span={} lane=0", line_bytes, bytes);
}

constexpr double alike = 0.25;  // cycles

using Times = std::vector<std::pair<int, double>>;

/// `time` of the steps 4, 8, 16 ... `last` bytes.
template <class Time>
Times times_by_step(int last, const Time& time) {
  Times out;
  for (int step = 4; step <= last; step *= 2) out.emplace_back(step, time(step));
  return out;
}

/// The least step that takes as long as the largest.
int first_at_the_most(const Times& times) {
  const double most = times.back().second;
  return std::find_if(times.begin(), times.end(), [most](const auto& t) { return t.second >= most - alike; })->first;
}

}  // namespace

double shared_latency_cycles(const TestedSm& m) { return chain_of(m, ".access a lane=0", "LDS", unrolled).per_load; }

SharedBanks shared_banks(const TestedSm& m) {
  // A conflict of two may hide behind few load/store lanes, where only the latency shows it, or behind a scheduler's
  // turns, where only many loads do.
  const Times times = times_by_step(1024, [&m](int step) {
    const std::string access = fmt::format(".access a lane={}", step);
    return chain_of(m, access, "LDS", unrolled).per_load + cycles_per_load(m, access, "LDS", m.warps);
  });
  const auto least = times.front().second, most = times.back().second;
  if (most <= least + alike) return {};
  SharedBanks out;
  for (const auto& [step, time] : times) {
    if (time <= least + alike) out.bank_bytes = step;
    if (time >= most - alike && out.banks == 0) out.banks = step / out.bank_bytes;
  }
  return out;
}

std::vector<CurvePoint> latency_by_size(const TestedSm& m, int line_bytes, std::int64_t largest) {
  constexpr std::int64_t smallest = 1024;
  const Chain first = chain_of(m, walk(smallest, line_bytes), "LDG", smallest / line_bytes);
  std::vector<CurvePoint> out;
  const auto add = [&](std::int64_t bytes) {
    const std::int64_t loads = bytes / line_bytes;
    const double time = second_pass(m, walk(bytes, line_bytes), chained("LDG", loads));
    out.push_back({static_cast<double>(bytes), (time - first.beside) / static_cast<double>(loads)});
  };
  for (std::int64_t bytes = smallest; bytes <= largest; bytes *= 2) {
    add(bytes);
    const std::int64_t halfway = bytes + bytes / 2;
    if (halfway / line_bytes % unrolled == 0 && halfway <= largest) add(halfway);
  }
  return out;
}

double cold_latency_cycles(const TestedSm& m, int line_bytes) {
  return chain_of(m, fmt::format(".access a step={} span=0 lane=0", line_bytes), "LDG", unrolled).per_load;
}

int fill_bytes(const TestedSm& m) {
  const int step = first_at_the_most(times_by_step(1024, [&m](int bytes) {
    return chain_of(m, fmt::format(".access a step={} span=0 lane=0", bytes), "LDG", unrolled).per_load;
  }));
  return step > 4 ? step : 0;
}

int line_bytes(const TestedSm& m) {
  const Times times = times_by_step(
      256, [&m](int bytes) { return cycles_per_load(m, fmt::format(".access a lane={}", bytes), "LDG", m.warps); });
  return times.back().second <= times.front().second + alike ? 0 : first_at_the_most(times);
}

double shared_bytes_per_cycle(const TestedSm& m, int lane_bytes) {
  const std::string access = fmt::format(".access a lane={0} bytes={0}", lane_bytes);
  return lane_bytes * m.warp_size / cycles_per_load(m, access, "LDS", m.warps);
}

double cached_bytes_per_cycle(const TestedSm& m, std::int64_t region) {
  const int bytes = 4 * m.warp_size;
  const std::int64_t loads = std::max<std::int64_t>(region / m.warps / bytes, 1);
  const int many =
      static_cast<int>((std::max<std::int64_t>(loads, 128) + side_by_side - 1) / side_by_side * side_by_side);
  const std::string access = fmt::format(".access a step={} span={} warp={}", bytes, loads * bytes, loads * bytes);
  return bytes / warm_cycles_per_load(m, access, "LDG", m.warps, many);
}

double stream_bytes_per_cycle(const TestedSm& m, int warps, int lane_bytes) {
  const int bytes = lane_bytes * m.warp_size;
  const std::string access =
      fmt::format(".access a step={} span=0 warp=268435456 lane={} bytes={}", bytes, lane_bytes, lane_bytes);
  return bytes / cycles_per_load(m, access, "LDG", warps);
}

}  // namespace kernelcast::probe
