// `explain` for people: the forecast as in `predict`, then what it stands on: registers, shared memory, loops,
// branches, accesses, the source lines that the work falls on, and every assumption.
#include <fmt/format.h>

#include <algorithm>

#include "io/text.h"
#include "report/breakdown.h"
#include "report/execution_views.h"
#include "report/text_parts.h"
#include "report/views.h"

namespace kernelcast::report {
namespace {

constexpr auto left = Table::Align::left;
constexpr auto right = Table::Align::right;

/// A formula that a person may read: the start of longer ones, which divisions by arguments make.
std::string formula_text(const Expr& e) {
  constexpr std::size_t most = 200;
  std::string text = e.str();
  if (text.size() <= most) return text;
  const std::size_t all = text.size();
  text.resize(most);
  return fmt::format("{}... ({} characters; all in --format json)", text, format_count(static_cast<double>(all)));
}

std::string trips_text(const Loop& loop, const LoopTrips& t) {
  if (t.measured) return fmt::format("{:.4g} in the mean (executed)", *t.measured);
  if (t.executed) return "executed";
  if (t.assumed) return fmt::format("{:.6g} (assumed: data decide)", *t.assumed);
  const std::string symbolic = formula_text(loop.trips);
  if (t.exact) {
    const std::string value = fmt::format("{}", *t.exact);
    return value == symbolic ? value : fmt::format("{} = {}", symbolic, value);
  }
  if (t.between) return fmt::format("{}, from {} to {}", symbolic, t.between->lo, t.between->hi);
  return symbolic;
}

std::string section(std::string_view title, const Table& table, const Style& style, bool heading) {
  if (table.empty()) return "";
  return fmt::format("  {}\n{}", style.bold(title), table.str(style, heading));
}

std::string registers_text(const KernelProfile& p, const Workload& w, const Launch& launch, bool executed) {
  const Registers& r = p.registers;
  std::string out = fmt::format("  registers  {} per thread by {}", format_count(r.per_thread), r.method);
  if (r.low != r.high) out += fmt::format(", between {} and {}", format_count(r.low), format_count(r.high));
  if (r.spill_bytes > 0) out += fmt::format(", {} spilled", format_bytes(r.spill_bytes));
  if (!executed) out += fmt::format("\n  counts     {}", name_of(w.counts_method));  // else the heading has said more
  out += fmt::format("\n  shared     {} {} per block: {} static, {} of the launch\n", w.shared_bytes_per_block,
                     plural(static_cast<double>(w.shared_bytes_per_block), "byte"), p.static_shared_bytes,
                     launch.dynamic_shared_bytes);
  if (p.stack_bytes > 0) out += fmt::format("  stack      {} per thread in local memory\n", p.stack_bytes);
  return out;
}

std::string loops_text(const KernelProfile& p, const Breakdown& b, const Style& style) {
  Table table({left, left, left}, 4);
  for (std::size_t i = 0; i < p.loops.size(); ++i) {
    int depth = 0;
    for (int up = p.loops[i].parent; up >= 0; up = p.loops[static_cast<std::size_t>(up)].parent) ++depth;
    table.row({line_text(p, p.loops[i].line), std::string(static_cast<std::size_t>(2 * depth), ' ') + "loop",
               trips_text(p.loops[i], b.loops[i])});
  }
  return section("loops: trips", table, style, false);
}

std::string verdict(Branch::Verdict v) {
  switch (v) {
    case Branch::Verdict::uniform:
      return "uniform";
    case Branch::Verdict::divergent:
      return "divergent";
    case Branch::Verdict::unknown:
      return "decided by data";
  }
  return "";
}

/// Copies of one branch (a loop that the compiler unrolled) stand in one row.
struct BranchRow {
  std::vector<std::string> cells;
  int copies = 0;
  double warps = 0, divergent = 0;
};

std::string branches_text(const KernelProfile& p, const Workload& w, const Style& style) {
  std::vector<BranchRow> rows;
  for (std::size_t i = 0; i < p.branches.size(); ++i) {
    const Branch& branch = p.branches[i];
    const std::vector<std::string> cells{
        line_text(p, branch.line),
        verdict(branch.verdict) + (branch.loop_exit ? " (loop)" : "") + (branch.predicated ? " (predicated)" : ""),
        branch.reason};
    auto row = std::find_if(rows.begin(), rows.end(), [&](const BranchRow& r) { return r.cells == cells; });
    if (row == rows.end()) row = rows.insert(row, BranchRow{cells});
    ++row->copies;
    row->warps += w.branch_counts.at(i).warps;
    row->divergent += w.branch_counts.at(i).divergent;
  }
  Table table({left, left, left, left}, 4);
  for (const BranchRow& r : rows) {
    std::string how = r.warps > 0 ? format_percent(r.divergent / r.warps) + " of warps diverge" : "never executed";
    if (r.copies > 1) how += fmt::format(", {} copies", r.copies);
    table.row({r.cells[0], r.cells[1], how, r.cells[2]});
  }
  return section("branches", table, style, false);
}

std::string address_text(const KernelProfile& p, const Access& a) {
  const std::string base = a.buffer < 0 ? "?" : p.buffers.at(static_cast<std::size_t>(a.buffer)).name;
  if (a.unknown >= 0) return fmt::format("{}[?]", base);
  std::string text = fmt::format("{} + {}", base, formula_text(a.offset));
  if (!a.also.empty()) text += fmt::format(" and {} more like it", a.also.size());
  return text;
}

std::string cost_text(const Access& a, const AccessPattern& pattern) {
  if (a.bulk) return fmt::format("{} copies", format_count(pattern.count.bytes / a.bytes));
  if (pattern.count.requests <= 0) return "";
  if (a.space == MemorySpace::shared) return fmt::format("{:.3g} passes/request", pattern.passes_per_request);
  return fmt::format("{:.3g} sectors/request", pattern.sectors_per_request);
}

/// The column stands only where there is more than one origin to tell apart.
std::vector<std::string> with_origin(std::vector<std::string> cells, bool executed, std::string origin) {
  if (executed) cells.insert(cells.end() - 1, std::move(origin));
  return cells;
}

std::string accesses_text(const KernelProfile& p, const Breakdown& b, const Style& style) {
  std::vector<Table::Align> columns{left, left, right, left, left, right, left};
  if (b.executed) columns.push_back(left);
  Table table(columns, 4);
  table.row(with_origin({"line", "access", "bytes", "pattern", "cost", "requests", "address in bytes"}, b.executed,
                        "counts"));
  std::size_t next = 0;
  for (const Block& block : p.blocks) {
    for (const Access& a : block.accesses) {
      const AccessPattern& pattern = b.accesses[next++];
      table.row(with_origin(
          {line_text(p, a.line), fmt::format("{} {}", name_of(a.space), name_of(a.kind)), fmt::format("{}", a.bytes),
           pattern.words, cost_text(a, pattern), format_count(pattern.count.requests), address_text(p, a)},
          b.executed, std::string(name_of(pattern.origin))));
    }
  }
  return next == 0 ? "" : section("memory accesses", table, style, true);
}

std::string source_text(const ForecastReport& f, const KernelProfile& p, SourceLine line) {
  if (line.file < 0 || static_cast<std::size_t>(line.file) >= p.files.size()) return "";
  const auto file = f.sources.find(p.files[static_cast<std::size_t>(line.file)]);
  if (file == f.sources.end() || line.line < 1 || static_cast<std::size_t>(line.line) > file->second.size()) return "";
  const std::string& text = file->second[static_cast<std::size_t>(line.line - 1)];
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first);
}

std::string lines_text(const ForecastReport& f, const KernelProfile& p, const Breakdown& b, const Style& style) {
  std::vector<Table::Align> columns{left, right, right, left};
  if (b.executed) columns = {left, right, right, right, left, left};
  Table table(columns, 4);
  std::vector<std::string> heading{"line", "instructions", "traffic", "source"};
  if (b.executed) heading = {"line", "instructions", "traffic", "lanes", "counts", "source"};
  table.row(heading);
  for (const LineShare& s : b.lines) {
    std::vector<std::string> cells{line_text(p, s.line), format_percent(s.instruction_share),
                                   format_percent(s.sector_share)};
    if (b.executed) {
      cells.push_back(s.active_lanes > 0 ? fmt::format("{:.3g}", s.active_lanes) : "");
      cells.emplace_back(name_of(s.origin));
    }
    cells.push_back(source_text(f, p, s.line));
    table.row(cells);
  }
  if (b.lines.empty()) return "";
  return section(fmt::format("where it goes: {} warp instructions, {} sectors", format_count(b.instructions),
                             format_count(b.sectors)),
                 table, style, true);
}

std::string notes_text(const KernelProfile& p, const Style& style) {
  Table table({left}, 4);
  for (const std::string& note : p.notes) table.row({note});
  return section("notes", table, style, false);
}

std::string profile_text(const ForecastReport& f, const DeviceResult& d, const Style& style) {
  const KernelProfile& p = *d.profile;
  const Breakdown b = breakdown(p, *d.workload, d.launch, d.origin);
  return registers_text(p, *d.workload, d.launch, d.execution != nullptr) + execution_text(d, style) +
         loops_text(p, b, style) + branches_text(p, *d.workload, style) + accesses_text(p, b, style) +
         lines_text(f, p, b, style) + notes_text(p, style);
}

}  // namespace

std::string explain_text(const ForecastReport& forecast, const Style& style) {
  std::string out;
  for (const DeviceResult& d : forecast.devices) {
    if (!out.empty()) out += "\n";
    out += device_heading(forecast, d, style);
    out += model_blocks(d, style, true);
    if (d.workload) out += profile_text(forecast, d, style);
    out += unmodeled_block(d.profile.get(), style);
    out += assumption_block(d.assumptions, "assumptions", style);
  }
  return out;
}

}  // namespace kernelcast::report
