// A listener that adds up. A stall that reaches over the end of a window counts in each with its part.
#include "kernelcast/sm_views.h"

#include <algorithm>
#include <limits>

namespace kernelcast::sm {
namespace {

class Recorder final : public Listener {
 public:
  Recorder(Views& out, const Spec& spec, const ViewOptions& options)
      : out_(out), spec_(spec), options_(options), last_span_(out.by_warp.size(), none) {}

  void on_issue(const Issue& issue) override {
    if (out_.timeline.size() < options_.most_issues) out_.timeline.push_back(issue);
    if (issue.unit >= 0) {
      std::vector<std::uint64_t>& busy = out_.units[static_cast<std::size_t>(issue.unit)].by_window;
      busy[window(issue.cycle)] += static_cast<std::uint64_t>(issue.busy);
    }
    if (!issue.second) count(issue.cycle, static_cast<std::uint64_t>(spec_.turn_cycles), issue.warp, Stall::issued);
  }

  void on_stall(std::uint64_t cycle, std::uint64_t cycles, int warp, Stall why) override {
    count(cycle, cycles, warp, why);
  }

 private:
  [[nodiscard]] std::size_t window(std::uint64_t cycle) const {
    return std::min(static_cast<std::size_t>(cycle / out_.window_cycles), out_.by_window.size() - 1);
  }

  /// Makes the warp's last span longer where it goes on.
  void extend(std::uint64_t cycle, std::uint64_t cycles, int warp, Stall why) {
    std::size_t& last = last_span_[static_cast<std::size_t>(warp)];
    if (last != none) {
      Span& span = out_.spans[last];
      if (span.why == why && span.cycle + span.cycles == cycle) {
        span.cycles += cycles;
        return;
      }
    }
    if (out_.spans.size() >= options_.most_spans) return;
    last = out_.spans.size();
    out_.spans.push_back({cycle, cycles, warp, why});
  }

  void count(std::uint64_t cycle, std::uint64_t cycles, int warp, Stall why) {
    extend(cycle, cycles, warp, why);
    const auto reason = static_cast<std::size_t>(why);
    out_.by_warp[static_cast<std::size_t>(warp)][reason] += cycles;
    while (cycles > 0) {
      const std::size_t w = window(cycle);
      const std::uint64_t end = w + 1 == out_.by_window.size() ? cycle + cycles : (w + 1) * out_.window_cycles;
      const std::uint64_t part = std::min(cycles, end - cycle);
      out_.by_window[w][reason] += part;
      cycle += part;
      cycles -= part;
    }
  }

  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  Views& out_;
  const Spec& spec_;
  const ViewOptions& options_;
  std::vector<std::size_t> last_span_;  // of each warp: index into Views::spans
};

}  // namespace

Views watch(const Spec& spec, const Program& program, const SmLaunch& launch, const ViewOptions& options) {
  Views out;
  out.program = disassemble(program);
  for (const Instruction& i : program.instructions) out.instructions.emplace_back(info(i.op).name);
  out.launch = launch;
  const std::uint64_t cycles = simulate(spec, program, launch).cycles;
  const auto windows = static_cast<std::uint64_t>(std::max(options.windows, 1));
  out.window_cycles = std::max<std::uint64_t>((cycles + windows - 1) / windows, 1);
  out.by_window.assign(std::max<std::uint64_t>((cycles + out.window_cycles - 1) / out.window_cycles, 1), {});
  out.by_warp.assign(static_cast<std::size_t>(launch.blocks) * static_cast<std::size_t>(launch.warps_per_block), {});
  for (const Unit& unit : spec.units)
    out.units.push_back(
        {unit.name, spec.schedulers / unit.schedulers, std::vector<std::uint64_t>(out.by_window.size(), 0)});
  Recorder recorder(out, spec, options);
  out.result = simulate(spec, program, launch, &recorder);
  return out;
}

}  // namespace kernelcast::sm
