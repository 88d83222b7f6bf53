// `explain --annotate`: the source with the shares of each line in the margin.
#include <fmt/format.h>

#include <algorithm>

#include "io/text.h"
#include "report/breakdown.h"
#include "report/text_parts.h"
#include "report/views.h"

namespace kernelcast::report {
namespace {

constexpr std::size_t most_annotated = 160;  // bytes of a source line
constexpr double hot = 0.1;                  // share from which a number stands out
constexpr int context = 3;                   // lines before and after those with work

struct Margin {
  double instructions = 0, sectors = 0, conflicts = 0, stalls = 0;
};

/// Of each file, by line.
std::map<int, std::map<int, Margin>> margins_of(const DeviceResult& d, const LineCosts& costs) {
  std::map<int, std::map<int, Margin>> all;
  for (const LineShare& s : breakdown(*d.profile, *d.workload, d.launch, d.origin).lines) {
    Margin& m = all[s.line.file][s.line.line];
    m.instructions = s.instruction_share;
    m.sectors = s.sector_share;
  }
  double conflicts = 0, stalls = 0;
  for (const auto& [line, cost] : costs) {
    conflicts += cost.conflicts;
    stalls += cost.stall_cycles;
  }
  for (const auto& [line, cost] : costs) {
    Margin& m = all[line.file][line.line];
    m.conflicts = conflicts > 0 ? cost.conflicts / conflicts : 0;
    m.stalls = stalls > 0 ? cost.stall_cycles / stalls : 0;
  }
  return all;
}

std::string margin_text(double share, const Style& style) {
  if (!(share > 0)) return std::string(8, ' ');
  const std::string text = fmt::format("{:>7} ", share < 0.0005 ? "<0.1 %" : format_percent(share));
  return share >= hot ? style.red(text) : text;
}

std::string file_text(const std::vector<std::string>& lines, const std::map<int, Margin>& margins, const Style& style) {
  std::string out;
  int before = 0;
  for (int l = 1; l <= static_cast<int>(lines.size()); ++l) {
    const auto near = margins.lower_bound(l - context);
    if (near == margins.end() || near->first > l + context) continue;
    if (before > 0 && before != l - 1) out += style.dim("    ...") + "\n";
    before = l;
    const auto found = margins.find(l);
    const Margin m = found == margins.end() ? Margin{} : found->second;
    const std::string& text = lines[static_cast<std::size_t>(l - 1)];
    out += margin_text(m.instructions, style) + margin_text(m.sectors, style) + margin_text(m.conflicts, style) +
           margin_text(m.stalls, style) + style.dim(fmt::format("{:>5} | ", l)) + text.substr(0, most_annotated) + "\n";
  }
  return out;
}

}  // namespace

std::string annotated_text(const ForecastReport& forecast, const std::vector<LineCosts>& costs, const Style& style) {
  std::string out;
  for (std::size_t i = 0; i < forecast.devices.size(); ++i) {
    const DeviceResult& d = forecast.devices[i];
    if (i > 0) out += "\n";
    out += device_heading(forecast, d, style) + model_blocks(d, style, false);
    if (!d.workload) continue;
    for (const auto& [file, margins] : margins_of(d, costs[i])) {
      if (file < 0) continue;
      const std::string& path = d.profile->files.at(static_cast<std::size_t>(file));
      const auto lines = forecast.sources.find(path);
      if (lines == forecast.sources.end() || lines->second.empty()) continue;
      out += "\n" + style.bold(path) + "\n" + style.dim(" instr.  sectors conflicts waits   line") + "\n" +
             file_text(lines->second, margins, style);
    }
  }
  return out;
}

}  // namespace kernelcast::report
