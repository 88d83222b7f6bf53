#include "probe/memory_programs.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernelcast/error.h"

namespace kernelcast::probe {
namespace {

/// Cycles from the first to the last clock reading of `warps` warps that run `count` loads each, in the last of
/// `passes`.
double all_warps(const TestedSm& m, const std::string& access, const char* load, int count, int warps, int passes) {
  std::string body;
  for (int r = 0; r < side_by_side; ++r) body += fmt::format("{} R{}, R0, [a]\n", load, 2 + r);
  const std::string text = fmt::format("{}\nloop {}\nBAR\nCLK\nloop {}\n{}end\nMOV R1, R{}\nCLK\nend\n", access, passes,
                                       count / side_by_side, body, 1 + side_by_side);
  std::uint64_t from = ~std::uint64_t{0}, to = 0;
  for (const std::vector<std::uint64_t>& clocks : m.run(sm::assemble(text, "loads"), warps)) {
    from = std::min(from, clocks.at(clocks.size() - 2));
    to = std::max(to, clocks.back());
  }
  return static_cast<double>(to - from);
}

double per_load(const TestedSm& m, const std::string& access, const char* load, int warps, int loads, int passes) {
  return (all_warps(m, access, load, 2 * loads, warps, passes) - all_warps(m, access, load, loads, warps, passes)) /
         (static_cast<double>(loads) * warps);
}

}  // namespace

double second_pass(const TestedSm& m, const std::string& access, const std::string& body) {
  const sm::Program program = sm::assemble(access + "\nloop 2\n" + body + "MOV R1, R0\nCLK\nend\n", "memory");
  const std::vector<std::uint64_t> clocks = m.run(program, 1).front();
  if (clocks.size() != 2) throw InternalError("a program of memory must read the clock twice");
  return static_cast<double>(clocks[1] - clocks[0]);
}

std::string chained(const char* load, std::int64_t count) {
  const std::int64_t written = std::min<std::int64_t>(count, unrolled), trips = count / written;
  const std::string body = fmt::format("repeat {}\n{} R0, R0, [a]\nend\n", written, load);
  return trips > 1 ? fmt::format("loop {}\n{}end\n", trips, body) : body;
}

Chain chain_of(const TestedSm& m, const std::string& access, const char* load, std::int64_t count) {
  const double one = second_pass(m, access, chained(load, count));
  const double two = second_pass(m, access, chained(load, 2 * count));
  return {(two - one) / static_cast<double>(count), 2 * one - two};
}

double cycles_per_load(const TestedSm& m, const std::string& access, const char* load, int warps) {
  return per_load(m, access, load, warps, 128, 1);
}

double warm_cycles_per_load(const TestedSm& m, const std::string& access, const char* load, int warps, int loads) {
  return per_load(m, access, load, warps, loads, 2);
}

}  // namespace kernelcast::probe
