#include "report/sm_views.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/text.h"
#include "report/json_parts.h"

namespace kernelcast::report {
namespace {

Json stalls_json(const sm::StallCycles& cycles) {
  Json j = Json::object();
  for (std::size_t k = 0; k < sm::stall_count; ++k) j[std::string(sm::name_of(static_cast<sm::Stall>(k)))] = cycles[k];
  return j;
}

sm::StallCycles total_of(const sm::Views& views) {
  sm::StallCycles total{};
  for (const sm::StallCycles& w : views.by_warp)
    for (std::size_t k = 0; k < sm::stall_count; ++k) total[k] += w[k];
  return total;
}

double utilisation(const sm::Views& views, std::size_t unit) {
  return static_cast<double>(views.result.unit_busy[unit]) /
         (static_cast<double>(views.result.cycles) * views.units[unit].sets);
}

Json issue_json(const sm::Views& views, const sm::Listener::Issue& i) {
  Json j = {{"cycle", i.cycle},
            {"scheduler", i.scheduler},
            {"warp", i.warp},
            {"instruction", i.instruction},
            {"name", views.instructions[static_cast<std::size_t>(i.instruction)]}};
  if (i.unit >= 0) j["unit"] = views.units[static_cast<std::size_t>(i.unit)].name;
  j["dual"] = i.second;
  j["operand_cycles"] = i.reads;
  j["unit_cycles"] = i.busy;
  return j;
}

Json span_json(const sm::Span& s) {
  return {{"cycle", s.cycle}, {"cycles", s.cycles}, {"warp", s.warp}, {"reason", std::string(sm::name_of(s.why))}};
}

/// One letter for each sm::Stall, in its order.
constexpr std::string_view letters = "#fcduamgpbw.";
static_assert(letters.size() == sm::stall_count);

constexpr std::uint64_t chart_cycles = 96;
constexpr std::size_t chart_warps = 32;

/// A row for each warp, a letter for each cycle from the first issue on.
std::string chart(const sm::Views& views, const Style& style) {
  if (views.timeline.empty() || views.spans.empty()) return "";
  const std::uint64_t from = views.timeline.front().cycle;
  std::vector<std::string> rows(std::min(views.by_warp.size(), chart_warps), std::string(chart_cycles, ' '));
  for (const sm::Span& s : views.spans) {
    if (static_cast<std::size_t>(s.warp) >= rows.size() || s.cycle + s.cycles <= from) continue;
    const std::uint64_t first = std::max(s.cycle, from) - from;
    for (std::uint64_t c = first; c < std::min(s.cycle + s.cycles - from, chart_cycles); ++c)
      rows[static_cast<std::size_t>(s.warp)][c] = letters[static_cast<std::size_t>(s.why)];
  }
  std::string out = style.bold(fmt::format("warp  cycles from {} on", from)) + "\n";
  for (std::size_t w = 0; w < rows.size(); ++w) {
    rows[w].erase(rows[w].find_last_not_of(' ') + 1);
    out += fmt::format("{:4}  {}", w, rows[w]) + "\n";
  }
  for (std::size_t k = 0; k < sm::stall_count; ++k)
    out += fmt::format("{}{} {}", k == 0 ? "      " : ", ", letters[k], sm::name_of(static_cast<sm::Stall>(k)));
  if (views.by_warp.size() > rows.size())
    out += fmt::format("\n      the first {} of {} warps", rows.size(), views.by_warp.size());
  return out + "\n\n";
}

std::string counted(std::uint64_t n, const std::string& noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

}  // namespace

std::string sm_views_text(const Device& device, const sm::Views& views, const Style& style) {
  const sm::Result& r = views.result;
  std::string out =
      style.bold(device.name) + fmt::format(": {} of {} on one SM\n\n",
                                            counted(static_cast<std::uint64_t>(views.launch.blocks), "block"),
                                            counted(static_cast<std::uint64_t>(views.launch.warps_per_block), "warp"));
  out += fmt::format("{}, {} ({:.3g} a cycle), {} of them second of a pair\n\n", counted(r.cycles, "cycle"),
                     counted(r.warp_instructions, "warp instruction"),
                     static_cast<double>(r.warp_instructions) / static_cast<double>(r.cycles), r.dual_issues);
  out += chart(views, style);
  const sm::StallCycles total = total_of(views);
  double all = 0;
  for (const std::uint64_t n : total) all += static_cast<double>(n);
  Table stalls({Table::Align::left, Table::Align::right});
  stalls.row({"warps", "share of their cycles"});
  for (std::size_t k = 0; k < sm::stall_count; ++k)
    stalls.row({std::string(sm::name_of(static_cast<sm::Stall>(k))),
                fmt::format("{:.1f} %", all > 0 ? 100 * static_cast<double>(total[k]) / all : 0)});
  Table units({Table::Align::left, Table::Align::right});
  units.row({"pipe", "busy"});
  for (std::size_t u = 0; u < views.units.size(); ++u)
    units.row({views.units[u].name, fmt::format("{:.1f} %", 100 * utilisation(views, u))});
  out += stalls.str(style, true) + "\n" + units.str(style, true);
  if (r.hazards > 0)
    out += fmt::format("\n{} reads of registers that were not ready, the first at line {}\n", r.hazards,
                       r.first_hazard_line);
  return out;
}

std::string sm_views_json(const Head& head, const Device& device, const sm::Views& views) {
  Json j = head_json(head);
  const sm::Result& r = views.result;
  j["device"] = device.id;
  j["program"] = views.program;
  j["blocks"] = views.launch.blocks;
  j["warps_per_block"] = views.launch.warps_per_block;
  j["cycles"] = r.cycles;
  j["warp_instructions"] = r.warp_instructions;
  j["dual_issues"] = r.dual_issues;
  j["bank_conflict_cycles"] = r.bank_conflict_cycles;
  j["instruction_cache_misses"] = r.icache_misses;
  j["hazards"] = r.hazards;
  j["window_cycles"] = views.window_cycles;
  j["timeline"] = Json::array();
  for (const sm::Listener::Issue& i : views.timeline) j["timeline"].push_back(issue_json(views, i));
  j["stalls"] = {{"total", stalls_json(total_of(views))}, {"by_warp", Json::array()}, {"by_window", Json::array()}};
  for (const sm::StallCycles& w : views.by_warp) j["stalls"]["by_warp"].push_back(stalls_json(w));
  for (const sm::StallCycles& w : views.by_window) j["stalls"]["by_window"].push_back(stalls_json(w));
  j["stalls"]["timeline"] = Json::array();
  for (const sm::Span& s : views.spans) j["stalls"]["timeline"].push_back(span_json(s));
  j["units"] = Json::array();
  for (std::size_t u = 0; u < views.units.size(); ++u)
    j["units"].push_back({{"name", views.units[u].name},
                          {"sets", views.units[u].sets},
                          {"busy_cycles", r.unit_busy[u]},
                          {"utilisation", number(utilisation(views, u))},
                          {"by_window", views.units[u].by_window}});
  return dumped(j);
}

}  // namespace kernelcast::report
