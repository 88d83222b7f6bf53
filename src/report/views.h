// One function a view: a value to text, or to JSON as the schemas in schema/ say it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernelcast/model.h"
#include "picture/line_costs.h"
#include "report/results.h"
#include "report/style.h"

namespace kernelcast::report {

std::string predict_text(const ForecastReport& forecast, const Style& style);
std::string predict_json(const ForecastReport& forecast);
std::string predict_csv(const ForecastReport& forecast);

std::string explain_text(const ForecastReport& forecast, const Style& style);
std::string explain_json(const ForecastReport& forecast);

using LineCosts = std::map<SourceLine, picture::LineCost>;
/// The source with shares in the margin; `costs` is parallel to the forecast's devices, empty where one has no counts.
std::string annotated_text(const ForecastReport& forecast, const std::vector<LineCosts>& costs, const Style& style);

/// The list of devices; `failures` are files that cannot be read, as one line each.
struct DeviceList {
  Head head;
  std::vector<Device> devices;
  std::vector<std::string> failures;
};
std::string devices_text(const DeviceList& list, const Style& style);
std::string devices_json(const DeviceList& list);
/// One device with every number, its source and the file that set it.
std::string device_text(const Device& device, const Style& style);
std::string device_json(const Head& head, const Device& device);

std::string models_text(std::span<const Model* const> models, const Style& style);
std::string models_json(const Head& head, std::span<const Model* const> models);

}  // namespace kernelcast::report
