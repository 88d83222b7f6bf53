// `replay ffma`: the four steps on the cycle-level SM of a device.
#include <fmt/format.h>

#include <map>

#include "cli/catalog.h"
#include "cli/output.h"
#include "cli/replay.h"
#include "kernelcast/probe.h"

namespace kernelcast::cli {
namespace {

using report::ReplayTable;
using report::ReplayValue;

ReplayValue value_of(const probe::Result& r) {
  if (r.value) return *r.value;
  if (r.lists.empty()) return r.reason.empty() ? ReplayValue() : ReplayValue("unknown: " + r.reason);
  if (r.lists.size() == 1 && r.lists[0].size() <= 8) {
    std::string text;
    for (const double v : r.lists[0]) text += (text.empty() ? "" : "-") + fmt::format("{:g}", v);
    return text;
  }
  return fmt::format("{} lists", r.lists.size());
}

/// What the text prints for Tesla K20, by result.
const std::map<std::string, ReplayValue>& printed_of_k20() {
  static const std::map<std::string, ReplayValue> printed{
      {"fmul.conflict_free.fraction_of_peak", 0.6640}, {"fmul.conflict_2way.fraction_of_peak", 0.6206},
      {"ffma.order.1221.fraction_of_peak", 0.97},      {"ffma.best_order", std::string("1-2-2-1")},
      {"control.dual_code", std::string("delay 0")},
  };
  return printed;
}

struct FfmaStep {
  const char* id;
  const char* title;
  std::vector<const char*> starts;  // of results' ids
};

}  // namespace

std::vector<ReplayTable> replay_ffma(const ReplayInputs& in) {
  const Device device = in.catalog->find(in.flags->device);
  probe::Options options;
  options.device_folder = in.catalog->folder();
  if (in.progress) options.progress = [](const std::string& text) { progress_line(text); };
  const probe::Report report = probe::probe_sim(device, options);
  const FfmaStep steps[] = {
      {"step-1", "latency and throughput", {}},
      {"step-2",
       "register banks: pairs at 99.5 % of theoretical throughput are free of conflict",
       {"register.", "fmul.conflict", "ffma.conflict", "banks."}},
      {"step-3", "control codes: delay 0 is dual issue, linear bits are the stall", {"control."}},
      {"bandwidth", "bandwidth by access width", {"shared.read_bytes_per_cycle.", "dram.read_bytes_per_cycle."}},
      {"step-4",
       "FFMA throughput of the orders of single (1) and dual (2) issue",
       {"ffma.order", "ffma.best", "ffma.filler", "ffma.displaced"}},
  };
  const bool k20 = device.id == "nvidia-tesla-k20";
  std::vector<ReplayTable> tables;
  for (const FfmaStep& s : steps)
    tables.push_back(
        {s.id, fmt::format("{} ({})", s.title, device.name), {"result", "value", "unit", "printed", "what"}, {}, {}});
  for (const probe::Result& r : report.results) {
    std::size_t at = 0;
    for (std::size_t s = 1; s < std::size(steps); ++s)
      for (const char* start : steps[s].starts)
        if (r.id.starts_with(start)) at = s;
    const auto printed = printed_of_k20().find(r.id);
    tables[at].rows.push_back({r.id, value_of(r), r.unit.empty() ? ReplayValue() : ReplayValue(r.unit),
                               k20 && printed != printed_of_k20().end() ? printed->second : ReplayValue(), r.what});
  }
  tables[1].notes = {
      "Printed for K20: single issue reaches 66.67 % in theory; FMUL R4,R1,R0 66.40 %, R4,R2,R0 62.06 % of peak."};
  tables[4].notes = {
      "Printed for K20: 97 % for 1-2-2-1, the best of six; earlier work 68.75 %. The other five are in a figure "
      "without numbers."};
  std::erase_if(tables, [](const ReplayTable& t) { return t.rows.empty(); });
  return tables;
}

}  // namespace kernelcast::cli
