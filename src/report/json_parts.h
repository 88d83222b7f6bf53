// Pieces of JSON that several views share. Included by the *_json.cpp files of this folder only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "report/advice_views.h"
#include "report/results.h"

namespace kernelcast::report {

using Json = nlohmann::ordered_json;

/// {"schema_version", "tool_version", "command"}.
Json head_json(const Head& head);
/// A whole number where it is one (below 2^53), null for NaN and infinities.
Json number(double value);
Json dims(const Dim3& d);
/// The "counts" object of a workload.
Json counts_json(const Workload& workload);
Json assumptions_json(const std::vector<Assumption>& assumptions);
/// Puts `key` with its value; without one puts null and adds "KEY: why" to the object's "reason".
void put(Json& object, std::string_view key, const std::optional<double>& value, std::string_view why);
void put_unknown(Json& object, std::string_view key, std::string_view why);
/// One (device, model) entry of `predict`.
Json prediction_json(const report::ForecastReport& forecast, const DeviceResult& device, const ModelResult& result);
/// One device of `explain`.
Json explanation_json(const report::ForecastReport& forecast, const DeviceResult& device);
/// One finding of `advise`; `source` is the file of findings without a line.
Json finding_json(const Advice& advice, const DeviceAdvice& device, const std::string& source);
/// Every string with the settings that it names as flags.
Json with_flags_in(const Json& json);
/// Indented by two, with a final newline; bytes that are not UTF-8 are replaced.
std::string dumped(const Json& json);

}  // namespace kernelcast::report
