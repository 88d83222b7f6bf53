// `explain` as JSON: the profile under the launch, one entry a device; schema/explain.schema.json.
#include "kernelcast/error.h"
#include "report/breakdown.h"
#include "report/execution_views.h"
#include "report/json_parts.h"
#include "report/views.h"

namespace kernelcast::report {
namespace {

Json line_json(const KernelProfile& p, SourceLine line) {
  if (line.file < 0 || static_cast<std::size_t>(line.file) >= p.files.size()) {
    Json j = Json::object();
    put_unknown(j, "file", "the code generator kept no source line");
    put_unknown(j, "line", "the code generator kept no source line");
    return j;
  }
  return {{"file", p.files[static_cast<std::size_t>(line.file)]}, {"line", line.line}};
}

Json loops_json(const KernelProfile& p, const Breakdown& b) {
  Json list = Json::array();
  for (std::size_t i = 0; i < p.loops.size(); ++i) {
    const Loop& loop = p.loops[i];
    const LoopTrips& t = b.loops[i];
    Json j = {{"at", line_json(p, loop.line)}, {"parent", loop.parent}, {"expression", loop.trips.str()}};
    if (t.measured) {
      j["trips"] = number(*t.measured);
    } else if (t.executed) {
      put_unknown(j, "trips", "executed, and no block of code counts them");
    } else if (t.exact) {
      j["trips"] = *t.exact;
    } else if (t.assumed) {
      j["trips"] = number(*t.assumed);
    } else {
      put_unknown(j, "trips", "differs from lane to lane");
    }
    j["assumed"] = t.assumed.has_value();
    j["counts"] = name_of(t.executed ? Origin::executed : Origin::closed);
    if (t.between) j["between"] = {t.between->lo, t.between->hi};
    list.push_back(std::move(j));
  }
  return list;
}

Json branches_json(const KernelProfile& p, const Workload& w, const CountOrigin& origin) {
  static constexpr const char* verdicts[] = {"uniform", "divergent", "unknown"};
  Json list = Json::array();
  for (std::size_t i = 0; i < p.branches.size(); ++i) {
    const Branch& branch = p.branches[i];
    Json j = {{"at", line_json(p, branch.line)},
              {"verdict", verdicts[static_cast<int>(branch.verdict)]},
              {"why", branch.reason},
              {"loop_exit", branch.loop_exit},
              {"predicated", branch.predicated}};
    const bool counted = i < w.branch_counts.size();
    j["warps"] = counted ? number(w.branch_counts[i].warps) : Json(0);
    j["divergent_warps"] = counted ? number(w.branch_counts[i].divergent) : Json(0);
    j["counts"] = name_of(i < origin.branches.size() ? origin.branches[i] : Origin::closed);
    list.push_back(std::move(j));
  }
  return list;
}

Json access_json(const KernelProfile& p, const Access& a, const AccessPattern& pattern) {
  Json j = {{"at", line_json(p, a.line)},
            {"space", name_of(a.space)},
            {"kind", name_of(a.kind)},
            {"bytes", a.bytes},
            {"copies", a.copies()}};
  if (a.buffer >= 0) {
    j["buffer"] = p.buffers.at(static_cast<std::size_t>(a.buffer)).name;
  } else {
    put_unknown(j, "buffer", "the base of the address is not a parameter or array");
  }
  if (a.unknown >= 0) {
    put_unknown(j, "offset", p.unknowns.at(static_cast<std::size_t>(a.unknown)).reason);
  } else {
    j["offset"] = a.offset.str();
  }
  j["pattern"] = pattern.words;
  if (pattern.lane_stride) {
    j["lane_stride_bytes"] = *pattern.lane_stride;
  } else {
    put_unknown(j, "lane_stride_bytes", "not the same between all neighbouring work-items, or decided by data");
  }
  j["requests"] = number(pattern.count.requests);
  j["sectors_per_request"] = number(pattern.sectors_per_request);
  j["passes_per_request"] = number(pattern.passes_per_request);
  j["counts"] = name_of(pattern.origin);
  return j;
}

Json accesses_json(const KernelProfile& p, const Breakdown& b) {
  Json list = Json::array();
  std::size_t next = 0;
  for (const Block& block : p.blocks) {
    for (const Access& a : block.accesses) list.push_back(access_json(p, a, b.accesses[next++]));
  }
  return list;
}

Json lines_json(const ForecastReport& f, const KernelProfile& p, const Breakdown& b) {
  Json list = Json::array();
  for (const LineShare& s : b.lines) {
    Json j = {{"at", line_json(p, s.line)},
              {"instruction_share", number(s.instruction_share)},
              {"sector_share", number(s.sector_share)},
              {"active_lanes", number(s.active_lanes)},
              {"counts", name_of(s.origin)}};
    const std::size_t file_index = static_cast<std::size_t>(s.line.file);
    const auto file =
        s.line.file >= 0 && file_index < p.files.size() ? f.sources.find(p.files[file_index]) : f.sources.end();
    if (file != f.sources.end() && s.line.line >= 1 && static_cast<std::size_t>(s.line.line) <= file->second.size()) {
      j["text"] = file->second[static_cast<std::size_t>(s.line.line - 1)];
    } else {
      put_unknown(j, "text", "the line is not in a file that could be read");
    }
    list.push_back(std::move(j));
  }
  return list;
}

Json registers_json(const Registers& r) {
  return {{"per_thread", number(r.per_thread)},
          {"low", number(r.low)},
          {"high", number(r.high)},
          {"method", r.method},
          {"spill_bytes", number(r.spill_bytes)},
          {"in_text_order", number(r.in_text_order)},
          {"text_order_spill_bytes", number(r.text_order_spill_bytes)}};
}

}  // namespace

Json explanation_json(const ForecastReport& f, const DeviceResult& d) {
  Json j = {{"device", d.device.id}, {"codegen_target", d.device.codegen_target}};
  if (!d.profile || !d.workload) {
    for (const char* key : {"kernel", "registers", "shared", "loops", "branches", "accesses", "lines", "notes"}) {
      put_unknown(j, key, d.failure);
    }
  } else {
    const KernelProfile& p = *d.profile;
    const Breakdown b = breakdown(p, *d.workload, d.launch, d.origin);
    j["kernel"] = p.kernel;
    j["registers"] = registers_json(p.registers);
    j["shared"] = {{"static_bytes", p.static_shared_bytes},
                   {"dynamic_bytes", d.launch.dynamic_shared_bytes},
                   {"per_block_bytes", number(d.workload->shared_bytes_per_block)}};
    j["loops"] = loops_json(p, b);
    j["branches"] = branches_json(p, *d.workload, d.origin);
    j["accesses"] = accesses_json(p, b);
    j["lines"] = lines_json(f, p, b);
    j["notes"] = p.notes;
  }
  j["assumptions"] = assumptions_json(d.assumptions);
  j["predictions"] = Json::array();
  for (const ModelResult& m : d.models) j["predictions"].push_back(prediction_json(f, d, m));
  return j;
}

std::string explain_json(const ForecastReport& forecast) {
  Json j = head_json(forecast.head);
  j["explanations"] = Json::array();
  for (const DeviceResult& d : forecast.devices) j["explanations"].push_back(explanation_json(forecast, d));
  j["findings"] = findings_json(forecast.findings);
  return dumped(j);
}

}  // namespace kernelcast::report
