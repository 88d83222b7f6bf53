// Formats: https://github.com/KernelTuner/kernel_tuner, kernel_tuner/schema: T1 input-schema 1.0.0, T4 results-schema
// 1.0.0, cache 1.0.0 and 1.1.0; caches before those lack "schema_version" and mark failures with a time of 1e20.
// Kernel Tuner appends to its cache as it goes and closes the last two braces at the end only.
#include "validate/kernel_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "kernelcast/error.h"
#include "validate/scores.h"

namespace kernelcast::validate {
namespace {

using Json = nlohmann::ordered_json;

constexpr double failed_time = 1e19;  // anything above: the 1e20 of old caches

[[noreturn]] void fail(const std::string& path, const std::string& what) { throw UserError(path + ": " + what); }

Json parsed(const std::string& path, const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_discarded()) return json;
  std::string closed = text.substr(0, text.find_last_not_of(" \t\r\n,") + 1) + "}}";
  json = Json::parse(closed, nullptr, false);
  if (!json.is_discarded() && json.contains("cache")) return json;
  try {
    return Json::parse(text);
  } catch (const Json::exception& e) {
    fail(path, fmt::format("not JSON: {}", e.what()));
  }
}

/// The member, which must be there.
const Json& member(const std::string& path, const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) fail(path, fmt::format("there is no \"{}\"", key));
  return object.at(key);
}

/// A number or a text as an expression.
std::string expression(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return fmt::format("{}", value.get<std::int64_t>());
  if (value.is_number()) return fmt::format("{}", value.get<double>());
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  return "";
}

std::string text_of(const Json& object, const char* key) {
  return object.contains(key) ? expression(object.at(key)) : "";
}

std::vector<std::string> list_of(const Json& value) {
  std::vector<std::string> list;
  if (value.is_array()) {
    for (const Json& v : value) list.push_back(expression(v));
  } else if (!value.is_null()) {
    list.push_back(expression(value));
  }
  return list;
}

std::int64_t bytes_of_type(const std::string& path, const std::string& type) {
  static const std::map<std::string, std::int64_t> bytes{
      {"int8", 1},    {"uint8", 1},   {"char", 1},    {"bool", 1},   {"int16", 2},    {"uint16", 2},
      {"half", 2},    {"float16", 2}, {"int", 4},     {"int32", 4},  {"uint32", 4},   {"float", 4},
      {"float32", 4}, {"half2", 4},   {"int64", 8},   {"uint64", 8}, {"double", 8},   {"float64", 8},
      {"float2", 8},  {"int2", 8},    {"float4", 16}, {"int4", 16},  {"double2", 16}, {"float3", 12}};
  const auto found = bytes.find(type);
  if (found == bytes.end()) fail(path, fmt::format("the size of an argument of type \"{}\" is not known", type));
  return found->second;
}

SpaceArgument argument_of(const std::string& path, const Json& json) {
  SpaceArgument a;
  a.name = text_of(json, "Name");
  a.scalar = text_of(json, "MemoryType") == "Scalar";
  a.constant_memory = text_of(json, "MemType") == "Constant";
  a.size = text_of(json, "Size");
  a.value = text_of(json, "FillValue");
  if (a.scalar ? a.value.empty() : a.size.empty()) {
    fail(path, fmt::format("argument \"{}\" has no \"{}\"", a.name, a.scalar ? "FillValue" : "Size"));
  }
  if (!a.scalar) a.element_bytes = bytes_of_type(path, text_of(json, "Type"));
  return a;
}

std::string language_of(const std::string& path, const std::string& name) {
  if (name == "CUDA") return "cuda";
  if (name == "HIP") return "hip";
  if (name == "OpenCL") return "opencl";
  fail(path, fmt::format("language \"{}\" is not CUDA, HIP or OpenCL", name));
}

/// The block's expressions, if they name nothing but tuning parameters; otherwise the kernel must say its block.
void read_block(const Json& kernel, const Json& parameters, SpaceDescription& space) {
  if (!kernel.contains("LocalSize")) return;
  std::array<std::string, 3> block;
  const std::array<const char*, 3> axes{"X", "Y", "Z"};
  for (std::size_t i = 0; i < 3; ++i) {
    block[i] = text_of(kernel.at("LocalSize"), axes[i]);
    for (const std::string& name : names_in(block[i])) {
      const bool known =
          std::any_of(parameters.begin(), parameters.end(), [&](const Json& p) { return text_of(p, "Name") == name; });
      if (!known) return;
    }
  }
  space.block = block;
}

/// Kernel Tuner's default divisor is the block size of the axis, when a parameter of that name exists.
void read_divisors(const Json& kernel, const Json& parameters, SpaceDescription& space) {
  const std::array<const char*, 3> keys{"GridDivX", "GridDivY", "GridDivZ"};
  const std::array<const char*, 3> defaults{"block_size_x", "block_size_y", "block_size_z"};
  for (std::size_t i = 0; i < 3; ++i) {
    if (kernel.contains(keys[i]) && !kernel.at(keys[i]).is_null()) {
      space.grid_divisors[i] = list_of(kernel.at(keys[i]));
    } else if (std::any_of(parameters.begin(), parameters.end(),
                           [&](const Json& p) { return text_of(p, "Name") == defaults[i]; })) {
      space.grid_divisors[i] = {defaults[i]};
    }
  }
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
  fail(path, fmt::format("unit \"{}\" of a time is not one of s, ms, us, ns", unit));
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
    c.parameters.emplace_back(name, expression(value));
  }
  c.status = status_of_invalidity(text_of(result, "invalidity"));
  if (result.contains("times")) {
    if (const auto runs = median_of(result.at("times"), "runtimes")) {
      set_time(c, *runs * 1e-3);
      return c;
    }
  }
  if (result.contains("measurements")) {
    for (const Json& m : result.at("measurements")) {
      if (text_of(m, "name") != "time" || !m.contains("value") || !m.at("value").is_number()) continue;
      set_time(c, m.at("value").get<double>() * seconds_in(path, text_of(m, "unit")));
      return c;
    }
  }
  if (c.status == "ok") fail(path, "a result that is correct has no times and no measurement called time");
  return c;
}

Configuration cache_configuration(const std::string& path, const std::vector<std::string>& keys, const Json& entry) {
  Configuration c;
  for (const std::string& key : keys) c.parameters.emplace_back(key, expression(member(path, entry, key.c_str())));
  const Json& time = member(path, entry, "time");
  if (time.is_string()) {
    c.status = time.get<std::string>();
  } else if (!time.is_number()) {
    fail(path, "a \"time\" is neither a number nor the name of a failure");
  } else if (time.get<double>() > failed_time) {
    c.status = "failed";
  } else {
    set_time(c, median_of(entry, "times").value_or(time.get<double>()) * 1e-3);
  }
  return c;
}

}  // namespace

SpaceDescription read_t1(const std::string& path, const std::string& text) {
  const Json json = parsed(path, text);
  const Json& kernel = member(path, json, "KernelSpecification");
  const Json& parameters = member(path, member(path, json, "ConfigurationSpace"), "TuningParameters");
  SpaceDescription space;
  space.place = path;
  space.kernel_name = text_of(kernel, "KernelName");
  space.kernel_file = text_of(kernel, "KernelFile");
  space.kernel_id = space.kernel_name;
  space.language = language_of(path, text_of(kernel, "Language"));
  if (kernel.contains("CompilerOptions")) {
    for (const std::string& option : list_of(kernel.at("CompilerOptions"))) {
      space.fast_math = space.fast_math || option.ends_with("use_fast_math") || option == "-cl-fast-relaxed-math";
    }
  }
  if (kernel.contains("ProblemSize")) space.problem = list_of(kernel.at("ProblemSize"));
  if (space.problem.size() > 3) fail(path, "\"ProblemSize\" has more than three entries");
  read_block(kernel, parameters, space);
  read_divisors(kernel, parameters, space);
  const std::string shared = text_of(kernel, "SharedMemory");
  if (!shared.empty()) space.dynamic_shared = shared;
  if (kernel.contains("Arguments")) {
    for (const Json& a : kernel.at("Arguments")) space.arguments.push_back(argument_of(path, a));
  }
  return space;
}

std::vector<Configuration> read_tuner_results(const std::string& path, const std::string& text) {
  const Json json = parsed(path, text);
  std::vector<Configuration> all;
  if (json.contains("ConfigurationSpace")) fail(path, "is a space (T1): give it with --t1, and its results as ROWS");
  if (!json.contains("results") && !json.contains("cache")) {
    fail(path, "has neither \"results\" (T4) nor \"cache\" (Kernel Tuner's cache)");
  }
  if (json.contains("results")) {
    for (const Json& result : json.at("results")) {
      all.push_back(t4_configuration(path, result));
      all.back().place = fmt::format("{}#{}", path, all.size());
    }
    return all;
  }
  const std::vector<std::string> keys = list_of(member(path, json, "tune_params_keys"));
  const std::string gpu = text_of(json, "device_name");
  for (const auto& [key, entry] : member(path, json, "cache").items()) {
    Configuration c = cache_configuration(path, keys, entry);
    c.gpu = gpu;
    c.place = fmt::format("{}#{}", path, key);
    all.push_back(std::move(c));
  }
  return all;
}

}  // namespace kernelcast::validate
