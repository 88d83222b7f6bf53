// `advise` for people, as clang writes warnings: place, message, rule; the source line with the range marked; the
// change and the gain as notes.
#include <fmt/format.h>

#include <algorithm>

#include "io/text.h"
#include "report/advice_views.h"
#include "report/settings.h"

namespace kernelcast::report {
namespace {

constexpr std::size_t longest_line = 160;  // of source text that is quoted

std::string prefix_of(const Advice& a, const AdviceReport& r) {
  if (a.where.file.empty()) return r.source + ": ";
  return a.where.column > 0 ? fmt::format("{}:{}:{}: ", a.where.file, a.where.line, a.where.column)
                            : fmt::format("{}:{}: ", a.where.file, a.where.line);
}

/// The line and the range below it; a tab stays a tab, so that the marks stand below what they mark.
std::string quoted(const Advice& a, const AdviceReport& r, const Style& style) {
  const auto file = r.sources.find(a.where.file);
  if (file == r.sources.end() || a.where.line < 1 || static_cast<std::size_t>(a.where.line) > file->second.size())
    return "";
  const std::string& line = file->second[static_cast<std::size_t>(a.where.line - 1)];
  if (a.where.column < 1 || line.size() > longest_line) return "";
  const auto plain = [](unsigned char c) { return c == '\t' || (c >= 32 && c < 127); };
  std::string marks;
  for (int i = 1; i <= a.where.end_column; ++i) {
    const char c = line[static_cast<std::size_t>(i - 1)];
    marks += i < a.where.column ? (c == '\t' ? '\t' : ' ') : i == a.where.column ? '^' : '~';
  }
  const bool aligned = std::all_of(line.begin(), line.end(), plain);
  return fmt::format("  {}\n", line) + (aligned ? fmt::format("  {}\n", style.bold(marks)) : "");
}

std::string indented(const std::string& text, std::string_view margin) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += margin;
  }
  return out;
}

std::string gain_percent(double share) { return format_percent(std::round(share * 1000) / 1000); }

std::string gain_text(const Advice& a, const DeviceAdvice& d, const Style& style) {
  std::string text = fmt::format("{} (90 %: {} to {}) on {}: {} -> {}", style.bold("saves " + gain_percent(a.gain)),
                                 gain_percent(a.gain_low), gain_percent(a.gain_high), d.name, format_seconds(a.time_s),
                                 format_seconds(a.changed_time_s));
  if (!a.changed_limiter.empty())
    text += a.changed_limiter == a.limiter ? fmt::format(", still limited by {}", a.limiter)
                                           : fmt::format(", then limited by {}", a.changed_limiter);
  return text;
}

std::string finding_text(const Advice& a, const DeviceAdvice& d, const AdviceReport& r, const Style& style) {
  std::string out = fmt::format("{}advice: {} [-W{}]\n", style.bold(prefix_of(a, r)), style.bold(a.message), a.rule);
  out += quoted(a, r, style);
  out += fmt::format("  change: {}\n", indented(a.change, "          "));
  if (!a.defect) out += fmt::format("  {}\n", gain_text(a, d, style));
  out += a.diff;
  if (a.verified == Verified::rewrite) out += "  verified: rewrite (compiled, executed to equal results, forecast)\n";
  for (const std::string& text : a.assumptions) out += fmt::format("  {}\n", style.dim("assumed: " + text));
  return out;
}

}  // namespace

std::string advice_text(const AdviceReport& report, const Style& style) {
  std::string out;
  for (const DeviceAdvice& d : report.devices) {
    if (!out.empty()) out += "\n";
    if (!d.failure.empty()) {
      out += fmt::format("{} on {}: {}\n", d.kernel, d.name, with_flags(d.failure));
      continue;
    }
    out += fmt::format("{} on {}: {}, limited by {}", style.bold(d.kernel), style.bold(d.name),
                       format_seconds(*d.time_s), d.limiter);
    if (d.floor_s) out += fmt::format("; floor {}", format_seconds(*d.floor_s));
    out += "\n";
    for (const Advice& a : d.findings) out += "\n" + finding_text(a, d, report, style);
    if (d.findings.empty())
      out += fmt::format("no finding gains {} or more\n", format_percent(report.least_gain));
    else
      out += fmt::format("\n{}: each gain is that of one change alone\n",
                         format_count_of(static_cast<double>(d.findings.size()), "finding"));
  }
  return out;
}

}  // namespace kernelcast::report
