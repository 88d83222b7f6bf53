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

std::string probability(const Verdict& v) { return v.has_margin ? format_percent(v.probability) : "-"; }

std::string interval(const offload::SideTime& f, const Verdict& v) {
  if (!v.has_margin) return "-";
  return format_seconds(f.time_s / f.factor) + " to " + format_seconds(f.time_s * f.factor);
}

std::string joules(const Maybe& m) { return m.value ? format_si(*m.value, "J", 3) : "unknown"; }

std::string crossings(const BreakEven& b) {
  if (!b.size_reason.empty()) return b.size_reason;
  const auto who = [](Decision d) { return d == Decision::gpu ? "GPU" : "CPU"; };
  std::string text = fmt::format("{} = {} to {}: ", b.parameter, b.lowest, b.highest);
  if (b.crossings.empty()) {
    text += fmt::format("no break-even, the {} wins throughout", who(b.at_smallest));
  } else {
    text += fmt::format("{} at first", who(b.at_smallest));
    for (const auto& c : b.crossings) text += fmt::format(", {} from {}", who(c.faster), c.value);
  }
  return text + fmt::format("\n              not beyond {} = {} ({} of buffers): {}", b.parameter, b.highest,
                            format_bytes(b.highest_bytes), b.highest_reason);
}

std::string faults_text(const std::vector<std::string>& names) {
  if (names.size() == fault_names_2017().size()) return "as printed";
  return names.empty() ? "corrected" : fmt::format("with {}", fmt::join(names, ", "));
}

/// "offload-2017 as printed"
std::string model_text(DecisionModel m, const std::vector<std::string>& faults) {
  return std::string(name_of(m)) + (m == DecisionModel::offload_2017 ? " " + faults_text(faults) : "");
}

std::string decision_line(const OffloadDecision& a, const OffloadRequest& q, const Style& style) {
  std::string text = fmt::format("  decision    {}", style.bold(decision_text(a.verdict)));
  if (a.verdict.has_margin)
    return text + fmt::format(" (probability {}; within 10 % of each other: {})\n",
                              format_percent(a.verdict.probability), format_percent(a.verdict.tie_probability));
  text += fmt::format(" (by {}, which knows no error)\n", model_text(q.model, names_of(q.faults)));
  for (const FaultName2017& f : fault_names_2017())
    if (q.faults.*f.fault) text += fmt::format("  fault       {}: {}\n", f.name, f.what);
  return text;
}

std::string beside_text(const OffloadRow& r, const Style& style) {
  if (r.beside.empty()) return "";
  using enum Table::Align;
  Table table({left, right, right, left, right}, 2);
  table.row({"beside", "CPU", "GPU", "decision", "probability"});
  for (const auto& b : r.beside) {
    const std::string model = model_text(b.model, b.faults);
    if (b.answer)
      table.row({model, format_seconds(b.answer->cpu.time.time_s), format_seconds(b.answer->gpu.time.time_s),
                 decision_text(b.answer->verdict), probability(b.answer->verdict)});
    else
      table.row({model, "-", "-", b.reason, "-"});
  }
  return table.str(style, true) + "\n";
}

std::string row_text(const OffloadRow& r, const OffloadReport& report, const Style& style) {
  const OffloadDecision& a = r.answer;
  const bool margin = a.verdict.has_margin;
  std::string text = fmt::format("{} ({} {}) or {}\n", style.bold(r.cpu.name), a.threads,
                                 plural(a.threads, margin ? "thread" : "core"), style.bold(r.gpu.name));
  text += decision_line(a, report.question, style);
  using enum Table::Align;
  Table sides({left, right, left, right, right, right, right, right}, 2);
  sides.row({"side", "time", "90 %", "in", "out", "launch", "execution", "energy"});
  sides.row({"CPU", format_seconds(a.cpu.time.time_s), interval(a.cpu.time, a.verdict), "-", "-",
             format_seconds(a.cpu.launch_s), format_seconds(a.cpu.execution_s), joules(a.cpu.energy_j)});
  sides.row({"GPU", format_seconds(a.gpu.time.time_s), interval(a.gpu.time, a.verdict),
             format_seconds(a.gpu.transfer_in_s), format_seconds(a.gpu.transfer_out_s), format_seconds(a.gpu.launch_s),
             format_seconds(a.gpu.execution_s), joules(a.gpu.energy_j)});
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
  text += beside_text(r, style);
  if (!a.cpu.limiter.empty()) text += fmt::format("  limited by  CPU: {}, GPU: {}\n\n", a.cpu.limiter, a.gpu.limiter);
  if (!a.kernels.empty()) {
    Table kernels({left, right, left, right, left}, 2);
    kernels.row({"kernel", "CPU", "limit", "GPU", "limit"});
    for (const KernelTimes& k : a.kernels)
      kernels.row(
          {k.name, format_seconds(k.cpu.time_s), k.cpu.limiter, format_seconds(*k.gpu.time_s.value), k.gpu.limiter});
    text += kernels.str(style, true) + "\n";
  }
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
                                           l.loop.reason.empty() ? "" : ": " + first_line(l.loop.reason));
  if (!r.loops.empty()) text += "\n";
  const BreakEven& b = r.break_even;
  text +=
      "  break-even  " +
      (b.reps ? fmt::format("the GPU wins from {:.0f} {} on", *b.reps, plural(*b.reps, "repetition")) : b.reps_reason) +
      "\n";
  text += "              " + crossings(b) + "\n";
  for (const Change& c : r.changes)
    text += fmt::format("  with {}: GPU {}, {}{}\n", c.what, format_seconds(c.gpu_s), decision_text(c.verdict),
                        margin ? " (" + format_percent(c.verdict.probability) + ")" : "");
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
      ranking.row({r.gpu.name, format_seconds(r.answer.gpu.time.time_s), interval(r.answer.gpu.time, r.answer.verdict),
                   format_seconds(r.answer.cpu.time.time_s), decision_text(r.answer.verdict),
                   probability(r.answer.verdict)});
    const OffloadRequest& q = report.question;
    const std::string by =
        q.model == DecisionModel::kernelcast ? "" : ", by " + model_text(q.model, names_of(q.faults));
    return style.bold(report.source) + by + "\n" + ranking.str(style, true);
  }
  for (const OffloadRow& r : report.rows) text += (text.empty() ? "" : "\n") + row_text(r, report, style);
  return text;
}

}  // namespace kernelcast::report
