// The report as one HTML file, the data within it, and the timeline as a trace.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernelcast/frontend.h"
#include "kernelcast/sm_views.h"
#include "picture/lane_accesses.h"
#include "picture/line_costs.h"
#include "picture/residency.h"
#include "picture/roofline_points.h"
#include "picture/what_if_grid.h"
#include "report/advice_views.h"
#include "report/results.h"

namespace kernelcast::report {

/// What the parts of the page show of one device beside its forecast.
struct PageDetail {
  DeviceAdvice advice;
  picture::Roofline roofline;
  picture::Residency residency;
  std::vector<picture::LanePicture> lanes;  // parallel to the accesses
  std::map<SourceLine, picture::LineCost> lines;
  std::optional<picture::WhatIfGrid> what_if;
  std::string no_what_if;
  std::vector<TargetLine> listing;
  std::string no_listing;  // why there is none
  std::optional<sm::Views> timeline;
  std::string no_timeline;  // why there is none
};

/// Another version of the source on the same devices.
struct ComparedForecast {
  ForecastReport forecast;
  std::string diff;
};

struct Page {
  ForecastReport forecast;  // with sources
  std::vector<std::optional<PageDetail>>
      details;  // parallel to forecast.devices; nothing: no forecast, or side by side only
  std::optional<ComparedForecast> compared;
};

/// The data of the page: schema/report.schema.json.
std::string report_json(const Page& page);
std::string report_html(const Page& page);
/// Trace Event Format, as Perfetto reads it: a microsecond is a cycle.
std::string trace_json(const Device& device, const sm::Views& views);

/// A table of measured errors, from a document of validation/.
struct AccuracyTable {
  std::string title, file;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};
std::vector<AccuracyTable> accuracy_tables();

}  // namespace kernelcast::report
