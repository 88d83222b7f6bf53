// Formats: https://github.com/KernelTuner/kernel_tuner, kernel_tuner/schema: T1 input-schema 1.0.0, T4 results-schema
// 1.0.0, cache 1.0.0 and 1.1.0; caches before those lack "schema_version" and mark failures with a time of 1e20.
// Kernel Tuner appends to its cache as it goes and closes the last two braces at the end only.
#include "validate/recorded_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "tune/json.h"
#include "validate/scores.h"

namespace kernelcast::validate {
namespace {

using tune::expression_in;
using tune::fail_in;
using tune::Json;
using tune::list_in;
using tune::member;
using tune::text_in;

constexpr double failed_time = 1e19;  // anything above: the 1e20 of old caches

Json parsed(const std::string& path, const std::string& text) {
  tune::check_json_size(path, text);
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_discarded()) return json;
  std::string closed = text.substr(0, text.find_last_not_of(" \t\r\n,") + 1) + "}}";
  json = Json::parse(closed, nullptr, false);
  if (!json.is_discarded() && json.contains("cache")) return json;
  return tune::parse_json(path, text);
}

std::string status_of_invalidity(const std::string& invalidity) {
  return invalidity == "correct" || invalidity.empty() ? "ok" : invalidity;
}

std::optional<double> median_of(const Json& object, const char* key) {
  if (!object.contains(key) || !object.at(key).is_array()) return std::nullopt;
  std::vector<double> values;
  for (const Json& v : object.at(key)) {
    if (v.is_number()) values.push_back(v.get<double>());
  }
  if (values.empty()) return std::nullopt;
  return median(std::move(values));
}

double seconds_in(const std::string& path, const std::string& unit) {
  if (unit.empty() || unit == "ms" || unit == "milliseconds" || unit == "miliseconds") return 1e-3;
  if (unit == "s" || unit == "seconds") return 1;
  if (unit == "us" || unit == "microseconds") return 1e-6;
  if (unit == "ns" || unit == "nanoseconds") return 1e-9;
  fail_in(path, fmt::format("unit \"{}\" of a time is not one of s, ms, us, ns", unit));
}

void set_time(Configuration& c, double seconds) {
  if (c.status != "ok") return;
  if (seconds > 0 && seconds < failed_time) {
    c.measured_s = seconds;
  } else {
    c.status = "failed";
  }
}

Configuration t4_configuration(const std::string& path, const Json& result) {
  Configuration c;
  for (const auto& [name, value] : member(path, result, "configuration").items()) {
    c.parameters.emplace_back(name, expression_in(value));
  }
  c.status = status_of_invalidity(text_in(result, "invalidity"));
  if (result.contains("times")) {
    if (const auto runs = median_of(result.at("times"), "runtimes")) {
      set_time(c, *runs * 1e-3);
      return c;
    }
  }
  if (result.contains("measurements")) {
    for (const Json& m : result.at("measurements")) {
      if (text_in(m, "name") != "time" || !m.contains("value") || !m.at("value").is_number()) continue;
      set_time(c, m.at("value").get<double>() * seconds_in(path, text_in(m, "unit")));
      return c;
    }
  }
  if (c.status == "ok") fail_in(path, "a result that is correct has no times and no measurement called time");
  return c;
}

Configuration cache_configuration(const std::string& path, const std::vector<std::string>& keys, const Json& entry) {
  Configuration c;
  for (const std::string& key : keys) c.parameters.emplace_back(key, expression_in(member(path, entry, key.c_str())));
  const Json& time = member(path, entry, "time");
  if (time.is_string()) {
    c.status = time.get<std::string>();
  } else if (!time.is_number()) {
    fail_in(path, "a \"time\" is neither a number nor the name of a failure");
  } else if (time.get<double>() > failed_time) {
    c.status = "failed";
  } else {
    set_time(c, median_of(entry, "times").value_or(time.get<double>()) * 1e-3);
  }
  return c;
}

}  // namespace

SpaceDescription read_t1(const std::string& path, const std::string& text) {
  SpaceDescription space;
  static_cast<tune::T1File&>(space) = tune::read_t1(path, text);
  space.kernel_id = space.kernel_name;
  return space;
}

std::vector<Configuration> read_tuner_results(const std::string& path, const std::string& text) {
  const Json json = parsed(path, text);
  std::vector<Configuration> all;
  if (json.contains("ConfigurationSpace"))
    fail_in(path, "is a space (T1): give it with " KC_SETTING(t1) ", and its results as ROWS");
  if (!json.contains("results") && !json.contains("cache")) {
    fail_in(path, "has neither \"results\" (T4) nor \"cache\" (Kernel Tuner's cache)");
  }
  if (json.contains("results")) {
    for (const Json& result : json.at("results")) {
      const std::string place = fmt::format("{}#{}", path, all.size() + 1);
      all.push_back(t4_configuration(place, result));
      all.back().place = place;
    }
    return all;
  }
  const std::vector<std::string> keys = list_in(member(path, json, "tune_params_keys"));
  const std::string gpu = text_in(json, "device_name");
  for (const auto& [key, entry] : member(path, json, "cache").items()) {
    const std::string place = fmt::format("{}#{}", path, key);
    Configuration c = cache_configuration(place, keys, entry);
    c.gpu = gpu;
    c.place = place;
    all.push_back(std::move(c));
  }
  return all;
}

}  // namespace kernelcast::validate
