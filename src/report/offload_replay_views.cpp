// `offload --replay`: the published table beside the models; schema/offload-replay.schema.json.
#include <fmt/format.h>

#include "io/text.h"
#include "report/json_parts.h"
#include "report/offload_views.h"

namespace kernelcast::report {

using offload::Decision;

namespace {

std::string short_name(Decision d) { return d == Decision::too_close ? "close" : d == Decision::gpu ? "GPU" : "CPU"; }

std::string marked(Decision d, const offload::ReplayCell& cell) {
  const double high = std::max(cell.cpu_cost, cell.gpu_cost), low = std::min(cell.cpu_cost, cell.gpu_cost);
  const bool right = d == Decision::too_close ? high / low <= offload::tie_ratio : d == cell.cheaper();
  return short_name(d) + (right ? "" : " x");
}

}  // namespace

std::string offload_replay_text(const OffloadReplayReport& report, const Style& style) {
  std::string text = fmt::format("{}; code of the CPU: {}\n", style.bold(report.table), report.cpu_code);
  for (const OffloadReplayPlatform& p : report.platforms) {
    text += fmt::format("\n{} and {}\n", style.bold(p.cpu), style.bold(p.gpu));
    using enum Table::Align;
    Table table({left, right, right, right, right, right, right, right, right, left, left, left, left}, 2);
    table.row({"program", "MiB", "n", "CPU", "GPU", "CPU/GPU", "CPU", "GPU", "CPU/GPU", "kernelcast", "printed", "2017",
               "corrected"});
    for (const auto& c : p.cells) {
      table.row({c.cell.program, fmt::format("{:g}", c.cell.size_mib), fmt::format("{}", c.n),
                 fmt::format("{:.2f}", c.cell.cpu_cost), fmt::format("{:.2f}", c.cell.gpu_cost),
                 fmt::format("{:.2f}", c.cell.cpu_cost / c.cell.gpu_cost), fmt::format("{:.2f}", c.cpu_s * 1e3),
                 fmt::format("{:.2f}", c.gpu_s * 1e3), fmt::format("{:.2f}", c.cpu_s / c.gpu_s),
                 fmt::format("{} {:.0f} %", marked(c.ours.decision, c.cell), 100 * c.ours.probability),
                 marked(c.cell.printed, c.cell), marked(c.as_printed, c.cell), marked(c.corrected, c.cell)});
    }
    text += "  (measured, then forecast, in milliseconds; x: not the cheaper side)\n" + table.str(style, true) + "\n";
    Table scores({left, right, right, right, right}, 2);
    scores.row({"who decides", "right", "CPU cells found", "too close", "loss"});
    for (const auto& l : p.scores)
      scores.row({l.name, fmt::format("{} of {}", l.score.right, l.score.cells),
                  fmt::format("{} of {}", l.score.cpu_found, l.score.cpu_cells), fmt::format("{}", l.score.too_close),
                  fmt::format("{:.4f}", l.score.loss)});
    text += scores.str(style, true);
  }
  return text;
}

std::string offload_replay_json(const OffloadReplayReport& report) {
  Json j = head_json(report.head);
  j["table"] = report.table;
  j["cpu_code"] = report.cpu_code;
  j["platforms"] = Json::array();
  for (const OffloadReplayPlatform& p : report.platforms) {
    Json platform{{"cpu", p.cpu}, {"gpu", p.gpu}, {"cells", Json::array()}, {"scores", Json::array()}};
    for (const auto& c : p.cells) {
      Json cell;
      cell["program"] = c.cell.program;
      cell["size_mib"] = number(c.cell.size_mib);
      cell["n"] = c.n;
      cell["measured"] = {{"cpu_cost", number(c.cell.cpu_cost)},
                          {"gpu_cost", number(c.cell.gpu_cost)},
                          {"cheaper", name_of(c.cell.cheaper())}};
      cell["cpu_time_s"] = number(c.cpu_s);
      cell["gpu_time_s"] = number(c.gpu_s);
      cell["transfer_s"] = number(c.transfer_s);
      cell["decision"] = name_of(c.ours.decision);
      cell["probability"] = number(c.ours.probability);
      cell["printed"] = name_of(c.cell.printed);
      cell["offload_2017_as_printed"] = name_of(c.as_printed);
      cell["offload_2017_corrected"] = name_of(c.corrected);
      platform["cells"].push_back(cell);
    }
    for (const auto& l : p.scores)
      platform["scores"].push_back({{"who", l.name},
                                    {"right", l.score.right},
                                    {"cells", l.score.cells},
                                    {"cpu_cells", l.score.cpu_cells},
                                    {"cpu_found", l.score.cpu_found},
                                    {"too_close", l.score.too_close},
                                    {"loss", number(l.score.loss)}});
    j["platforms"].push_back(platform);
  }
  return dumped(j);
}

}  // namespace kernelcast::report
