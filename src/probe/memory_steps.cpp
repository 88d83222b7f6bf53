#include "probe/memory_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "probe/memory_programs.h"

namespace kernelcast::probe {
namespace {

std::string walk(std::int64_t bytes, int line_bytes) {
  return fmt::format(".access a step={} span={} lane=0", line_bytes, bytes);
}

}  // namespace

double shared_latency_cycles(const Machine& m) { return chain_of(m, ".access a lane=0", "LDS", unrolled).per_load; }

SharedBanks shared_banks(const Machine& m) {
  // A conflict of two may hide behind few load/store lanes, where only the latency shows it, or behind a scheduler's
  // turns, where only many loads do.
  std::vector<std::pair<int, double>> times;
  for (int step = 4; step <= 1024; step *= 2) {
    const std::string access = fmt::format(".access a lane={}", step);
    times.emplace_back(step,
                       chain_of(m, access, "LDS", unrolled).per_load + cycles_per_load(m, access, "LDS", m.warps));
  }
  const auto least = times.front().second, most = times.back().second;
  constexpr double close = 0.25;  // cycles
  if (most <= least + close) return {};
  SharedBanks out;
  for (const auto& [step, time] : times) {
    if (time <= least + close) out.bank_bytes = step;
    if (time >= most - close && out.banks == 0) out.banks = step / out.bank_bytes;
  }
  return out;
}

std::vector<CurvePoint> latency_by_size(const Machine& m, int line_bytes, std::int64_t largest) {
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

double cold_latency_cycles(const Machine& m, int line_bytes) {
  return chain_of(m, fmt::format(".access a step={} span=0 lane=0", line_bytes), "LDG", unrolled).per_load;
}

int fill_bytes(const Machine& m) {
  std::vector<std::pair<int, double>> times;
  for (int step = 4; step <= 1024; step *= 2)
    times.emplace_back(step,
                       chain_of(m, fmt::format(".access a step={} span=0 lane=0", step), "LDG", unrolled).per_load);
  const double most = times.back().second;
  constexpr double close = 0.25;  // cycles
  for (const auto& [step, time] : times)
    if (time >= most - close) return step > 4 ? step : 0;
  return 0;
}

int line_bytes(const Machine& m) {
  std::vector<std::pair<int, double>> times;
  for (int step = 4; step <= 256; step *= 2)
    times.emplace_back(step, cycles_per_load(m, fmt::format(".access a lane={}", step), "LDG", m.warps));
  const double most = times.back().second;
  constexpr double close = 0.25;  // cycles
  if (most <= times.front().second + close) return 0;
  for (const auto& [step, time] : times)
    if (time >= most - close) return step;
  return 0;
}

double shared_bytes_per_cycle(const Machine& m) {
  return 4 * m.warp_size / cycles_per_load(m, ".access a lane=4", "LDS", m.warps);
}

double cached_bytes_per_cycle(const Machine& m, std::int64_t region) {
  const int bytes = 4 * m.warp_size;
  const std::int64_t loads = std::max<std::int64_t>(region / m.warps / bytes, 1);
  const int many =
      static_cast<int>((std::max<std::int64_t>(loads, 128) + side_by_side - 1) / side_by_side * side_by_side);
  const std::string access = fmt::format(".access a step={} span={} warp={}", bytes, loads * bytes, loads * bytes);
  return bytes / warm_cycles_per_load(m, access, "LDG", m.warps, many);
}

double stream_bytes_per_cycle(const Machine& m, int warps) {
  const int bytes = 4 * m.warp_size;
  return bytes / cycles_per_load(m, fmt::format(".access a step={} span=0 warp=268435456", bytes), "LDG", warps);
}

}  // namespace kernelcast::probe
