// Figures of the workload as execution measured them, in words and in JSON.
#include "report/execution_views.h"

#include <fmt/format.h>

#include <initializer_list>

#include "io/text.h"

namespace kernelcast::report {
namespace {

double blocks_run(const Workload& w) { return w.sampled ? w.sampled->blocks_run : w.blocks; }

double sectors_of(const MemoryGeometry& g, double bytes) { return bytes / g.sector_bytes; }

/// Warp executions of branches, and those of them that diverged.
BranchCount branches_of(const Workload& w) {
  BranchCount all;
  for (const BranchCount& b : w.branch_counts) {
    all.warps += b.warps;
    all.divergent += b.divergent;
  }
  return all;
}

/// Hit rates in a few usual sizes of caches.
std::string reuse_row(const Workload& w, const ReuseDistances& r, std::initializer_list<int> kib) {
  std::string out;
  for (const int size : kib) {
    const double rate = r.hit_rate(sectors_of(w.geometry, size * 1024.0));
    const std::string cache = size < 1024 ? fmt::format("{} KiB", size) : fmt::format("{} MiB", size / 1024);
    out += fmt::format("{}{} in {}", out.empty() ? "" : ", ", format_percent(rate), cache);
  }
  return out;
}

Json reuse_json(const ReuseDistances& r) {
  Json nearer = Json::array();
  for (const double n : r.nearer) nearer.push_back(number(n));
  return {{"touches", number(r.touches)}, {"cold", number(r.cold)}, {"nearer_than_power_of_two", nearer}};
}

Json locality_json(const Locality& l) {
  return {{"block", reuse_json(l.block)},
          {"resident", reuse_json(l.resident)},
          {"grid", reuse_json(l.grid)},
          {"block_sectors", number(l.block_sectors)},
          {"resident_sectors", number(l.resident_sectors)},
          {"resident_blocks", number(l.resident_blocks)}};
}

Json interval_json(const Workload& w) {
  constexpr std::string_view why = "too few blocks ran to tell how they differ";
  Json j;
  put(j, "warp_instructions", w.sampled ? w.sampled->instructions : 0, why);
  put(j, "global_sectors", w.sampled ? w.sampled->sectors : 0, why);
  return j;
}

}  // namespace

std::string method_text(const Workload& w) {
  if (w.counts_method == CountsMethod::symbolic) return "symbolic";
  const char* how = w.counts_method == CountsMethod::mixed ? "closed forms; where data decide, " : "";
  if (!w.sampled && w.blocks == 1) return fmt::format("{}: {}the block executed", name_of(w.counts_method), how);
  if (!w.sampled)
    return fmt::format("{}: {}all {} blocks executed", name_of(w.counts_method), how, format_count(w.blocks));
  return fmt::format("{}: {}{} of {} executed; 95 %: +-{} of instructions, +-{} of sectors", name_of(w.counts_method),
                     how, format_count(blocks_run(w)), format_count_of(w.blocks, "block"),
                     format_percent(w.sampled->instructions), format_percent(w.sampled->sectors));
}

std::string execution_text(const DeviceResult& d, const Style& style) {
  if (!d.execution) return "";
  const Workload& w = *d.workload;
  const BranchCount branches = branches_of(w);
  const double warp_ops = w.warp_ops.total();
  Table table({Table::Align::left, Table::Align::left}, 4);
  if (warp_ops > 0)
    table.row({"active lanes",
               fmt::format("{:.3g} of {} in the mean", w.thread_ops.total() / warp_ops, w.geometry.warp_size)});
  if (branches.warps > 0)
    table.row({"branches", fmt::format("{} of {} diverge", format_percent(branches.divergent / branches.warps),
                                       format_count(branches.warps))});
  table.row({"imbalance",
             fmt::format("slowest warp {:.3g} times the mean of its block, between barriers", w.warp_imbalance)});
  if (w.locality) {
    const Locality& l = *w.locality;
    const auto bytes = [&](double sectors) { return format_bytes(sectors * w.geometry.sector_bytes); };
    table.row(
        {"working set", fmt::format("{} of a block, {} of {:.3g} {} at a time", bytes(l.block_sectors),
                                    bytes(l.resident_sectors), l.resident_blocks, plural(l.resident_blocks, "block"))});
    table.row({"hits of a block", reuse_row(w, l.block, {16, 64, 128})});
    table.row({"of blocks at a time", reuse_row(w, l.resident, {16, 64, 128})});
    table.row({"of all that ran", reuse_row(w, l.grid, {1024, 4096, 40960})});
  }
  return fmt::format("  {}\n{}", style.bold("execution"), table.str(style, false));
}

Json execution_json(const Workload& w) {
  const BranchCount branches = branches_of(w);
  Json j = {{"blocks_run", number(blocks_run(w))},
            {"half_interval_95", interval_json(w)},
            {"branches", number(branches.warps)},
            {"divergent_branches", number(branches.divergent)},
            {"warp_imbalance", number(w.warp_imbalance)}};
  if (w.locality) j["locality"] = locality_json(*w.locality);
  return j;
}

Json findings_json(const std::vector<FindingReport>& findings) {
  Json list = Json::array();
  for (const FindingReport& r : findings) {
    const Finding& f = r.finding;
    Json j = {{"kind", name_of(f.kind)}, {"kernel", r.kernel}, {"text", f.text}, {"count", number(f.count)}};
    if (!r.file.empty()) {
      j["file"] = r.file;
      j["line"] = f.line.line;
    } else {
      put_unknown(j, "file", "the source line is not known");
      put_unknown(j, "line", "the source line is not known");
    }
    if (f.kind != Finding::Kind::limit) {
      j["block"] = dims(f.block);
      j["thread"] = dims(f.thread);
    }
    if (f.kind == Finding::Kind::race || f.kind == Finding::Kind::divergent_barrier)
      j["other_thread"] = dims(f.other_thread);
    if (f.between_blocks) j["other_block"] = dims(f.other_block);
    if (!tool_of(f.kind).empty()) j["tool"] = tool_of(f.kind);
    list.push_back(std::move(j));
  }
  return list;
}

}  // namespace kernelcast::report
