// A timed loop runs twice; only its second pass counts, so that caches of instructions and of data are as a pass leaves
// them. A chain waits for its last load before the clock is read. What a pass takes beside its loads does not depend on
// their number: it is found once from two lengths.
#include "probe/memory_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernelcast/error.h"

namespace kernelcast::probe {
namespace {

constexpr int unrolled = 64;
constexpr int side_by_side = 8;  // loads of a warp that do not wait for each other

/// Cycles of the second pass of `body`, for one warp.
double second_pass(const Machine& m, const std::string& access, const std::string& body) {
  const sm::Program program = sm::assemble(access + "\nloop 2\n" + body + "MOV R1, R0\nCLK\nend\n", "memory");
  const std::vector<std::uint64_t> clocks = m.run(program, 1).front();
  if (clocks.size() != 2) throw InternalError("a program of memory must read the clock twice");
  return static_cast<double>(clocks[1] - clocks[0]);
}

/// `count` chained loads, a multiple of 64 or below it.
std::string chained(const char* load, std::int64_t count) {
  const std::int64_t written = std::min<std::int64_t>(count, unrolled), trips = count / written;
  const std::string body = fmt::format("repeat {}\n{} R0, R0, [a]\nend\n", written, load);
  return trips > 1 ? fmt::format("loop {}\n{}end\n", trips, body) : body;
}

struct Chain {
  double per_load = 0, beside = 0;  // cycles of a load; of a pass beside its loads
};
Chain chain_of(const Machine& m, const std::string& access, const char* load, std::int64_t count) {
  const double one = second_pass(m, access, chained(load, count));
  const double two = second_pass(m, access, chained(load, 2 * count));
  return {(two - one) / static_cast<double>(count), 2 * one - two};
}

std::string walk(std::int64_t bytes, int line_bytes) {
  return fmt::format(".access a step={} span={} lane=0", line_bytes, bytes);
}

/// Cycles from the first to the last clock reading of `warps` warps that run `count` loads each.
double all_warps(const Machine& m, const std::string& access, const char* load, int count, int warps) {
  std::string body;
  for (int r = 0; r < side_by_side; ++r) body += fmt::format("{} R{}, R0, [a]\n", load, 2 + r);
  const std::string text = fmt::format("{}\nBAR\nCLK\nloop {}\n{}end\nMOV R1, R{}\nCLK\n", access, count / side_by_side,
                                       body, 1 + side_by_side);
  std::uint64_t from = ~std::uint64_t{0}, to = 0;
  for (const std::vector<std::uint64_t>& clocks : m.run(sm::assemble(text, "loads"), warps)) {
    from = std::min(from, clocks.front());
    to = std::max(to, clocks.back());
  }
  return static_cast<double>(to - from);
}

/// Cycles a load when many warps load: two lengths, so that beginning and end cancel.
double cycles_per_load(const Machine& m, const std::string& access, const char* load, int warps) {
  return (all_warps(m, access, load, 256, warps) - all_warps(m, access, load, 128, warps)) / (128.0 * warps);
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

double stream_bytes_per_cycle(const Machine& m, int warps) {
  const int bytes = 4 * m.warp_size;
  return bytes / cycles_per_load(m, fmt::format(".access a step={} span=0 warp=268435456", bytes), "LDG", warps);
}

}  // namespace kernelcast::probe
