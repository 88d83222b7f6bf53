// The data of the page: `explain`'s and `advise`'s objects, and the numbers of the plots.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/printable.h"
#include "io/text.h"
#include "kernelcast/setting.h"
#include "model/ratio_error.h"
#include "report/breakdown.h"
#include "report/json_parts.h"
#include "report/page_views.h"

namespace kernelcast::report {
namespace {

constexpr std::size_t longest_shown = 2000;  // bytes of a source line that are shown
constexpr int most_lines = 4000;             // of a file
constexpr int around = 60;                   // lines before the first and after the last one with work, in longer files
constexpr std::size_t most_instructions = 6000;  // of the target's code
constexpr std::size_t most_spans = 16000;

/// Four digits: as exact as any forecast, and short. 0: the launch does not fit.
Json rounded(double x) {
  if (!std::isfinite(x)) return 0;
  return std::strtod(fmt::format("{:.4g}", x).c_str(), nullptr);
}

Json uses_json(const std::vector<picture::Use>& uses) {
  Json list = Json::array();
  for (const picture::Use& u : uses) {
    Json j = {{"name", u.name}, {"amount", number(u.amount)}};
    put(j, "peak", std::isfinite(u.peak) && u.peak > 0 ? std::optional(u.peak) : std::nullopt,
        "the device file does not say it");
    list.push_back(std::move(j));
  }
  return list;
}

Json roofline_json(const picture::Roofline& r) {
  return {{"clock_hz", number(r.clock_hz)},
          {"operations", r.operations},
          {"total", number(r.total)},
          {"compute", uses_json(r.compute)},
          {"memory", uses_json(r.memory)}};
}

Json residency_json(const picture::Residency& r) {
  Json curves = Json::array();
  for (const picture::ResidencyCurve& c : r.curves)
    curves.push_back(
        {{"of", c.of}, {"here", number(c.here)}, {"at", c.at}, {"warps", c.warps}, {"limiters", c.limiters}});
  return {{"most_warps", number(r.most_warps)}, {"curves", curves}};
}

Json what_if_json(const PageDetail& d) {
  if (!d.what_if) return {{"reason", d.no_what_if}};
  const picture::WhatIfGrid& g = *d.what_if;
  Json axes = Json::array();
  for (const picture::Axis& a : g.axes) {
    Json values = Json::array();
    for (const double v : a.values) values.push_back(number(v));
    axes.push_back({{"name", a.name},
                    {"label", a.label},
                    {"unit", a.unit},
                    {"values", values},
                    {"base", a.base},
                    {"note", a.note}});
  }
  Json seconds = Json::array();
  std::string limiter;
  for (std::size_t i = 0; i < g.seconds.size(); ++i) {
    seconds.push_back(rounded(static_cast<double>(g.seconds[i])));
    limiter += static_cast<char>('a' + g.limiter[i]);
  }
  return {{"axes", axes}, {"seconds", seconds}, {"limiters", g.limiters}, {"limiter", limiter}};
}

Json lanes_json(const std::vector<picture::LanePicture>& pictures) {
  Json list = Json::array();
  for (const picture::LanePicture& p : pictures) {
    if (!p.reason.empty()) {
      list.push_back({{"reason", p.reason}});
      continue;
    }
    Json lanes = Json::array();
    for (const auto& o : p.offset) lanes.push_back(o ? Json(*o) : Json("off"));
    list.push_back({{"block", {p.block[0], p.block[1], p.block[2]}}, {"warp", p.warp}, {"lanes", lanes}});
  }
  return list;
}

/// Shares by line: those of the breakdown, and of conflicts and waits.
Json page_lines_json(const DeviceResult& d, const PageDetail& detail) {
  std::map<SourceLine, LineShare> shares;
  for (const LineShare& s : breakdown(*d.profile, *d.workload, d.launch, d.origin).lines) shares[s.line] = s;
  double conflicts = 0, stalls = 0;
  for (const auto& [line, cost] : detail.lines) {
    shares.try_emplace(line, LineShare{.line = line});
    conflicts += cost.conflicts;
    stalls += cost.stall_cycles;
  }
  Json list = Json::array();
  for (const auto& [line, share] : shares) {
    const auto found = detail.lines.find(line);
    const picture::LineCost cost = found == detail.lines.end() ? picture::LineCost{} : found->second;
    const bool known = line.file >= 0 && static_cast<std::size_t>(line.file) < d.profile->files.size();
    Json j = Json::object();
    j["file"] = known ? d.profile->files[static_cast<std::size_t>(line.file)] : std::string();
    j["line"] = known ? line.line : 0;
    j["instructions"] = number(share.instruction_share);
    j["sectors"] = number(share.sector_share);
    j["conflicts"] = conflicts > 0 ? rounded(cost.conflicts / conflicts) : Json(0);
    j["stalls"] = stalls > 0 ? rounded(cost.stall_cycles / stalls) : Json(0);
    list.push_back(std::move(j));
  }
  return list;
}

Json timeline_json(const PageDetail& d) {
  if (!d.timeline) return {{"reason", d.no_timeline}};
  const sm::Views& v = *d.timeline;
  Json states = Json::array(), spans = Json::array(), stalls = Json::object(), windows = Json::array();
  for (const sm::StallCycles& w : v.by_window) windows.push_back(w);
  for (std::size_t k = 0; k < sm::stall_count; ++k) {
    const std::string name(sm::name_of(static_cast<sm::Stall>(k)));
    states.push_back(name);
    std::uint64_t cycles = 0;
    for (const sm::StallCycles& w : v.by_warp) cycles += w[k];
    stalls[name] = cycles;
  }
  for (std::size_t i = 0; i < std::min(v.spans.size(), most_spans); ++i) {
    const sm::Span& s = v.spans[i];
    spans.push_back({s.cycle, s.cycles, s.warp, static_cast<int>(s.why)});
  }
  return {{"blocks", v.launch.blocks},
          {"warps_per_block", v.launch.warps_per_block},
          {"cycles", v.result.cycles},
          {"states", states},
          {"window_cycles", v.window_cycles},
          {"windows", windows},
          {"spans", spans},
          {"stalls", stalls}};
}

Json listing_json(const PageDetail& d, const std::string& target) {
  if (d.listing.empty()) return {{"reason", d.no_listing.empty() ? "the code generator gave no text" : d.no_listing}};
  Json lines = Json::array();
  std::vector<std::string> files;
  const std::size_t shown = std::min(d.listing.size(), most_instructions);
  for (std::size_t i = 0; i < shown; ++i) {
    const TargetLine& l = d.listing[i];
    int file = -1;
    if (!l.file.empty()) {
      const auto found = std::find(files.begin(), files.end(), l.file);
      file = static_cast<int>(found - files.begin());
      if (found == files.end()) files.push_back(l.file);
    }
    lines.push_back({l.text, file, l.line});
  }
  return {{"target", target}, {"files", files}, {"lines", lines}, {"left_out", d.listing.size() - shown}};
}

/// "prediction", or "failure": why there is none.
void put_prediction(Json& j, const ForecastReport& f, const DeviceResult& d) {
  if (!d.models.empty() && d.models.front().estimate) {
    j["prediction"] = prediction_json(f, d, d.models.front());
  } else {
    j["failure"] = !d.failure.empty() ? d.failure : d.models.empty() ? "no model was asked" : d.models.front().failure;
  }
}

Json models_json_of(const ForecastReport& f, const DeviceResult& d) {
  Json list = Json::array();
  for (const ModelResult& m : d.models) {
    const Json all = prediction_json(f, d, m);
    Json j = Json::object();
    for (const char* key : {"model", "time_s", "limiter", "reason"})
      if (all.contains(key)) j[key] = all[key];
    list.push_back(std::move(j));
  }
  return list;
}

Json page_device_json(const Page& page, std::size_t i) {
  const ForecastReport& f = page.forecast;
  const DeviceResult& d = f.devices[i];
  const std::optional<PageDetail>& detail = page.details[i];
  Json j = {{"device", d.device.id}, {"name", d.device.name}, {"detail", detail.has_value()}};
  put_prediction(j, f, d);
  if (!detail) return j;
  const MemoryGeometry g = d.device.geometry();
  j["geometry"] = {{"warp_size", g.warp_size},
                   {"sector_bytes", g.sector_bytes},
                   {"shared_banks", g.shared_banks},
                   {"bank_bytes", g.bank_bytes},
                   {"shared_pairs", g.shared_pairs}};
  j["models"] = models_json_of(f, d);
  Json explanation = explanation_json(f, d);
  explanation.erase("predictions");
  explanation.erase("lines");
  j["explanation"] = std::move(explanation);
  j["lines"] = page_lines_json(d, *detail);
  j["advice"] = Json::array();
  for (const Advice& a : detail->advice.findings) j["advice"].push_back(finding_json(a, detail->advice, f.source));
  j["roofline"] = roofline_json(detail->roofline);
  j["what_if"] = what_if_json(*detail);
  j["residency"] = residency_json(detail->residency);
  j["pictures"] = lanes_json(detail->lanes);
  j["listing"] = listing_json(*detail, d.profile->target);
  j["timeline"] = timeline_json(*detail);
  j["kinds"] = {"all", name_of(d.workload->basis()), d.models.front().estimate->limiter};
  return j;
}

/// First and last line of a file on which work falls.
Interval lines_with_work(const Page& page, const std::string& path) {
  Interval w{std::numeric_limits<int>::max(), 0};
  for (std::size_t i = 0; i < page.details.size(); ++i) {
    const DeviceResult& d = page.forecast.devices[i];
    if (!d.profile) continue;
    const auto note = [&](SourceLine l) {
      if (l.file < 0 || static_cast<std::size_t>(l.file) >= d.profile->files.size() ||
          d.profile->files[static_cast<std::size_t>(l.file)] != path)
        return;
      w.lo = std::min<std::int64_t>(w.lo, l.line);
      w.hi = std::max<std::int64_t>(w.hi, l.line);
    };
    for (const Block& b : d.profile->blocks)
      for (const LineOps& l : b.lines) note(l.line);
  }
  return w;
}

Json sources_json(const Page& page) {
  // The compiler may name the source otherwise, relative to the folder that it runs in.
  const bool any_work = std::any_of(page.forecast.sources.begin(), page.forecast.sources.end(), [&](const auto& file) {
    return !file.second.empty() && lines_with_work(page, file.first).hi > 0;
  });
  Json list = Json::array();
  for (const auto& [path, lines] : page.forecast.sources) {
    const Interval work = lines_with_work(page, path);
    if (lines.empty() || (work.hi == 0 && (any_work || path != page.forecast.source))) continue;
    int first = 1, last = static_cast<int>(lines.size());
    std::string note;
    if (last > most_lines) {
      if (work.hi > 0) first = std::max(1, static_cast<int>(work.lo) - around);
      last = std::min(last, std::min(first + most_lines - 1, work.hi > 0 ? static_cast<int>(work.hi) + around : last));
      note = fmt::format("Lines {} to {} of {}.", first, last, lines.size());
    }
    Json texts = Json::array();
    for (int l = first; l <= last; ++l) {
      const std::string& text = lines[static_cast<std::size_t>(l - 1)];
      texts.push_back(text.size() <= longest_shown
                          ? text
                          : text.substr(0, longest_shown) +
                                fmt::format(" ... {} more bytes", text.size() - longest_shown));
    }
    list.push_back({{"path", path}, {"first", first}, {"note", note}, {"lines", texts}});
  }
  return list;
}

Json compared_json(const Page& page) {
  const ComparedForecast& c = *page.compared;
  Json devices = Json::array();
  for (std::size_t i = 0; i < c.forecast.devices.size(); ++i) {
    const DeviceResult &d = c.forecast.devices[i], &old = page.forecast.devices[i];
    Json j = {{"device", d.device.id}};
    put_prediction(j, c.forecast, d);
    const auto time = [](const DeviceResult& r) {
      return r.models.empty() || !r.models.front().estimate ? std::nullopt : r.models.front().estimate->time_s.value;
    };
    if (const auto now = time(d), before = time(old); now && before && *before > 0) {
      const bool local = d.workload->local_bytes() > 0 || old.workload->local_bytes() > 0;
      const RatioError error =
          kernelcast_ratio_error_of(*old.models.front().estimate, *d.models.front().estimate, local);
      const double ratio = *now / *before, factor = std::exp(error.half_width());
      j["ratio"] = {{"value", number(ratio)},
                    {"interval", {number(ratio / factor), number(ratio * factor)}},
                    {"probability", number(1 - error.above(ratio, 1))}};
    }
    devices.push_back(std::move(j));
  }
  return {{"source", c.forecast.source}, {"devices", devices}, {"diff", c.diff}};
}

Json accuracy_json() {
  Json list = Json::array();
  for (const AccuracyTable& t : accuracy_tables())
    list.push_back({{"title", t.title}, {"file", t.file}, {"columns", t.columns}, {"rows", t.rows}});
  return list;
}

}  // namespace

std::string report_json(const Page& page) {
  Json j = head_json(page.forecast.head);
  j["source"] = page.forecast.source;
  j["devices"] = Json::array();
  for (std::size_t i = 0; i < page.forecast.devices.size(); ++i) j["devices"].push_back(page_device_json(page, i));
  j["sources"] = sources_json(page);
  j["findings"] = Json::array();
  for (const FindingReport& f : page.forecast.findings) j["findings"].push_back(f.text());
  if (page.compared) j["compared"] = compared_json(page);
  j["accuracy"] = accuracy_json();
  return printable_json(with_flags_in(j).dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string trace_json(const Device& device, const sm::Views& v) {
  Json events = Json::array();
  events.push_back(
      {{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", "one SM of " + device.name}}}});
  for (std::size_t w = 0; w < v.by_warp.size(); ++w)
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", 1},
                      {"tid", w},
                      {"args", {{"name", fmt::format("warp {}", w)}}}});
  for (const sm::Span& s : v.spans)
    events.push_back({{"name", std::string(sm::name_of(s.why))},
                      {"cat", "warp"},
                      {"ph", "X"},
                      {"ts", s.cycle},
                      {"dur", s.cycles},
                      {"pid", 1},
                      {"tid", s.warp}});
  const Json j = {{"traceEvents", events},
                  {"otherData", {{"unit", "1 us of the trace is 1 cycle of the SM"}, {"device", device.id}}}};
  return printable_json(j.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace kernelcast::report
