// Joining the assumptions of several stages: order is kept, repeats are dropped.
#include "report/results.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/text.h"

namespace kernelcast::report {

std::vector<Assumption> merged(const std::vector<const std::vector<Assumption>*>& lists) {
  std::vector<Assumption> all;
  for (const auto* list : lists) {
    for (const Assumption& a : *list) {
      if (std::find(all.begin(), all.end(), a) == all.end()) all.push_back(a);
    }
  }
  return all;
}

namespace {

std::string ids(const Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

}  // namespace

void add_findings(std::vector<FindingReport>& known, const KernelProfile& profile, const Execution& execution) {
  for (const Finding& f : execution.findings) {
    FindingReport r{f, profile.kernel, ""};
    if (f.line.file >= 0 && static_cast<std::size_t>(f.line.file) < profile.files.size())
      r.file = profile.files[static_cast<std::size_t>(f.line.file)];
    const bool stands = std::any_of(known.begin(), known.end(), [&](const FindingReport& k) {
      return k.finding.kind == f.kind && k.file == r.file && k.finding.line.line == f.line.line;
    });
    if (!stands) known.push_back(std::move(r));
  }
}

std::string FindingReport::text() const {
  const std::string place = file.empty() ? "kernel " + kernel : fmt::format("{}:{}", file, finding.line.line);
  const std::string_view tool = tool_of(finding.kind);
  std::string out =
      fmt::format("{}: {}{}{}: {}", place, tool, tool.empty() ? "" : ": ", name_of(finding.kind), finding.text);
  if (finding.kind == Finding::Kind::limit) return out;
  const bool two = finding.kind == Finding::Kind::race || finding.kind == Finding::Kind::divergent_barrier;
  out += fmt::format(" [block {}, thread {}", ids(finding.block), ids(finding.thread));
  if (finding.between_blocks)
    out += fmt::format(" and block {}, thread {}", ids(finding.other_block), ids(finding.other_thread));
  else if (two)
    out += fmt::format(" and {}", ids(finding.other_thread));
  return out + (finding.count > 1 ? fmt::format("; {} in all]", format_count(finding.count)) : "]");
}

}  // namespace kernelcast::report
