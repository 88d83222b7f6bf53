// `offload` for people.
#include <fmt/format.h>

#include "io/text.h"
#include "report/offload_views.h"
#include "report/text_parts.h"

namespace kernelcast::report {
namespace {

using namespace offload;

std::string decision_text(const Verdict& v) {
  switch (v.decision) {
    case Decision::cpu:
      return "stay on the CPU";
    case Decision::gpu:
      return "move to the GPU";
    case Decision::too_close:
      break;
  }
  return "too close to call";
}

std::string interval(const offload::Forecast& f) {
  return format_seconds(f.time_s / f.factor) + " to " + format_seconds(f.time_s * f.factor);
}

std::string joules(const Maybe& m) { return m.value ? format_si(*m.value, "J", 3) : "unknown"; }

std::string crossings(const BreakEven& b) {
  if (!b.size_reason.empty()) return b.size_reason;
  const auto who = [](Decision d) { return d == Decision::gpu ? "GPU" : "CPU"; };
  std::string text = fmt::format("{} = {} to {}: ", b.parameter, b.lowest, b.highest);
  if (b.crossings.empty()) return text + fmt::format("the {} wins throughout", who(b.at_smallest));
  text += fmt::format("{} at first", who(b.at_smallest));
  for (const auto& c : b.crossings) text += fmt::format(", {} from {}", who(c.faster), c.value);
  return text;
}

std::string row_text(const OffloadRow& r, const OffloadReport& report, const Style& style) {
  const Answer& a = r.answer;
  std::string text = fmt::format("{} ({} {}) or {}\n", style.bold(r.cpu.name), a.threads,
                                 a.threads == 1 ? "thread" : "threads", style.bold(r.gpu.name));
  text += fmt::format("  decision    {} (probability {}; within 10 % of each other: {})\n",
                      style.bold(decision_text(a.verdict)), format_percent(a.verdict.probability),
                      format_percent(a.verdict.tie_probability));
  using enum Table::Align;
  Table sides({left, right, left, right, right, right, right, right}, 2);
  sides.row({"side", "time", "90 %", "in", "out", "launch", "execution", "energy"});
  sides.row({"CPU", format_seconds(a.cpu.time.time_s), interval(a.cpu.time), "-", "-", format_seconds(a.cpu.launch_s),
             format_seconds(a.cpu.execution_s), joules(a.cpu.energy_j)});
  sides.row({"GPU", format_seconds(a.gpu.time.time_s), interval(a.gpu.time), format_seconds(a.gpu.transfer_in_s),
             format_seconds(a.gpu.transfer_out_s), format_seconds(a.gpu.launch_s), format_seconds(a.gpu.execution_s),
             joules(a.gpu.energy_j)});
  text += sides.str(style, true);
  for (const auto* side : {&a.cpu, &a.gpu})
    text += side->energy_j.value
                ? fmt::format("  power {}: idle {:.3g} W ({}), busy {:.3g} W ({})\n", side == &a.cpu ? "CPU" : "GPU",
                              *side->idle_w.value, side->idle_method, *side->busy_w.value, side->busy_method)
                : fmt::format("  energy: {}\n", side->energy_j.reason);
  if (report.question.weights.energy > 0)
    text += fmt::format("  cost {} * s + {} * J: CPU {:.4g}, GPU {:.4g}\n", report.question.weights.time,
                        report.question.weights.energy, *a.cpu.cost.value, *a.gpu.cost.value);
  text += "\n";
  Table kernels({left, right, left, right, left}, 2);
  kernels.row({"kernel", "CPU", "limit", "GPU", "limit"});
  for (const KernelTimes& k : a.kernels)
    kernels.row(
        {k.name, format_seconds(k.cpu.time_s), k.cpu.limiter, format_seconds(*k.gpu.time_s.value), k.gpu.limiter});
  text += kernels.str(style, true) + "\n";
  Table buffers({left, left, right}, 2);
  buffers.row({"buffer", "moves", "bytes"});
  for (const BufferUse& b : a.buffers)
    buffers.row({b.name,
                 b.resident ? "stays on the GPU"
                            : std::string(name_of(b.role)) + (b.by_user ? "" : " (by its loads and stores)"),
                 format_bytes(b.bytes)});
  text += buffers.str(style, true) + "\n";
  for (const auto& l : r.loops)
    text += l.loop.width > 1 ? fmt::format("  {}, line {}: vectors of {}, {} at a time\n", l.kernel, l.loop.line.line,
                                           l.loop.width, l.loop.interleave)
                             : fmt::format("  {}, line {}: not vectorised{}\n", l.kernel, l.loop.line.line,
                                           l.loop.reason.empty() ? "" : ": " + l.loop.reason);
  if (!r.loops.empty()) text += "\n";
  const BreakEven& b = r.break_even;
  text += "  break-even  " +
          (b.reps ? fmt::format("the GPU wins from {:.0f} {} on", *b.reps, *b.reps == 1 ? "repetition" : "repetitions")
                  : b.reps_reason) +
          "\n";
  text += "              " + crossings(b) + "\n";
  for (const Change& c : r.changes)
    text += fmt::format("  with {}: GPU {}, {} ({})\n", c.what, format_seconds(c.gpu_s), decision_text(c.verdict),
                        format_percent(c.verdict.probability));
  text += assumption_block(a.assumptions, "assumptions", style);
  return text;
}

}  // namespace

std::string offload_text(const OffloadReport& report, const Style& style) {
  std::string text;
  if (report.ranking) {
    using enum Table::Align;
    Table ranking({left, right, left, right, left, right}, 2);
    ranking.row({"GPU", "time", "90 %", "CPU", "decision", "probability"});
    for (const OffloadRow& r : report.rows)
      ranking.row({r.gpu.name, format_seconds(r.answer.gpu.time.time_s), interval(r.answer.gpu.time),
                   format_seconds(r.answer.cpu.time.time_s), decision_text(r.answer.verdict),
                   format_percent(r.answer.verdict.probability)});
    return style.bold(report.source) + "\n" + ranking.str(style, true);
  }
  for (const OffloadRow& r : report.rows) text += (text.empty() ? "" : "\n") + row_text(r, report, style);
  return text;
}

}  // namespace kernelcast::report
