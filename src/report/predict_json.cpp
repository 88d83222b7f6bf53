// `predict` as JSON: one entry for each device and model; schema/predict.schema.json.
#include "report/execution_views.h"
#include "report/json_parts.h"
#include "report/views.h"

namespace kernelcast::report {

std::string predict_json(const ForecastReport& forecast) {
  Json j = head_json(forecast.head);
  j["predictions"] = Json::array();
  for (const DeviceResult& d : forecast.devices) {
    for (const ModelResult& m : d.models) j["predictions"].push_back(prediction_json(forecast, d, m));
  }
  j["findings"] = findings_json(forecast.findings);
  return dumped(j);
}

}  // namespace kernelcast::report
