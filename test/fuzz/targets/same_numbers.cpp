// folder: report
// `predict` as text, JSON and CSV: one kernel with whatever launch, devices and times; every number that the text shows
// is that of the JSON, rounded as the text's unit says, and so is the table's.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "fuzz/drawn.h"
#include "kernelcast/bind.h"
#include "kernelcast/error.h"
#include "kernelcast/model.h"
#include "report/views.h"
#include "support/copy_profile.h"

using namespace kernelcast;
using Json = nlohmann::json;

namespace {

std::vector<Device> all_gpus() {
  const DeviceCatalog catalog("");
  std::vector<Device> devices;
  for (const std::string& id : catalog.ids())
    if (Device d = catalog.find(id); d.kind == "gpu") devices.push_back(std::move(d));
  return devices;
}

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

/// A time from 1e-21 s to 1e12 s.
double drawn_time(fuzz::Drawn& drawn) {
  return (1 + static_cast<double>(drawn.below(9000)) / 1000) *
         std::pow(10.0, static_cast<double>(drawn.below(34)) - 21);
}

report::DeviceResult result_on(const Device& device, fuzz::Drawn& drawn) {
  report::DeviceResult d;
  d.device = device;
  d.launch.grid = {static_cast<std::int64_t>(1 + drawn.value<std::uint16_t>()),
                   static_cast<std::int64_t>(1 + drawn.below(9)), 1};
  d.launch.block = {static_cast<std::int64_t>(1 + drawn.below(256)), static_cast<std::int64_t>(1 + drawn.below(4)), 1};
  d.launch.args["n"] = static_cast<std::int64_t>(drawn.value<std::int32_t>());
  d.launch.args["rounds"] = static_cast<std::int64_t>(drawn.below(1000));
  static const auto profile = std::make_shared<const KernelProfile>(test::copy_profile());
  Binder binder(*profile, device.geometry());
  binder.set_work_limit(1e5);
  d.workload = binder.bind(d.launch);
  d.profile = profile;
  const bool drawn_times = drawn.below(2) != 0;
  for (const Model* model : all_models()) {
    report::ModelResult m;
    m.model = model->name();
    try {
      m.estimate = model->estimate(*profile, *d.workload, device);
    } catch (const Error& e) {
      m.failure = e.what();
    }
    if (m.estimate && drawn_times) {
      Estimate& e = *m.estimate;
      e.time_s.value = drawn_time(drawn);
      e.interval_lo_s = *e.time_s.value / 2;
      e.interval_hi_s = *e.time_s.value * 2;
      if (e.floor_s.value) e.floor_s.value = drawn_time(drawn);
      if (e.energy_j.value) e.energy_j.value = drawn_time(drawn);
      for (Bound& b : e.bounds) b.time = Seconds(drawn_time(drawn));
    }
    d.models.push_back(std::move(m));
  }
  return d;
}

/// "12.3 us" at the beginning of `text`, in SI units.
double quantity(const std::string& text, const std::string& unit) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  require(end != text.c_str(), "no number: " + text);
  if (*end == ' ') ++end;
  const std::string rest(end);
  if (unit == "s" && rest.starts_with("min")) return number * 60;
  if (unit == "s" && rest.starts_with("h")) return number * 3600;
  if (rest.starts_with(unit) && !rest.starts_with(unit + unit)) return number;
  static const std::map<char, double> prefixes{{'a', 1e-18}, {'f', 1e-15}, {'p', 1e-12}, {'n', 1e-9},
                                               {'u', 1e-6},  {'m', 1e-3},  {'k', 1e3},   {'M', 1e6},
                                               {'G', 1e9},   {'T', 1e12},  {'P', 1e15},  {'E', 1e18}};
  const auto prefix = prefixes.find(rest.empty() ? ' ' : rest.front());
  require(prefix != prefixes.end() && rest.compare(1, unit.size(), unit) == 0, "no unit " + unit + ": " + text);
  return number * prefix->second;
}

void same(const std::string& text, const std::string& unit, const Json& number, const std::string& what) {
  require(number.is_number(), what + " is not in the JSON");
  const double want = number.get<double>(), got = quantity(text, unit);
  require(std::abs(got - want) <= 0.0051 * std::abs(want), what + ": text " + text + ", JSON " + number.dump());
}

std::string after(const std::string& line, const std::string& word) {
  const std::size_t at = line.find(word);
  require(at != std::string::npos, "no \"" + word + "\" in: " + line);
  return line.substr(at + word.size());
}

/// The lines of one model of one device against its entry in the JSON.
void compare(const std::vector<std::string>& lines, const Json& p) {
  const std::string model = p["model"], head = lines.front();
  if (p["time_s"].is_number()) {
    const std::string time = after(head, "  " + model + "  ");
    same(time, "s", p["time_s"], "time");
    if (p["interval_s"].is_array()) {
      same(after(time, "(90 %: "), "s", p["interval_s"][0], "interval");
      same(after(time, " to "), "s", p["interval_s"][1], "interval");
    }
    if (p["limiter"].is_string()) require(after(time, ", limited by ") == p["limiter"].get<std::string>(), "limiter");
  }
  std::size_t shown = 0;
  for (const std::string& line : lines) {
    if (line.starts_with("    floor ")) same(after(line, "floor "), "s", p["floor_s"], "floor");
    if (line.starts_with("    energy ")) same(after(line, "energy "), "J", p["energy_j"], "energy");
    for (const Json& b : p["bounds"]) {
      const std::string name = "    " + b["name"].get<std::string>() + " ";
      if (!line.starts_with(name) || line.find(b["why"].get<std::string>()) == std::string::npos) continue;
      const std::size_t number = line.find_first_not_of(' ', name.size());
      same(line.substr(number), "s", b["time_s"], "bound " + b["name"].get<std::string>());
      ++shown;
    }
  }
  std::size_t wanted = 0;
  for (const Json& b : p["bounds"]) wanted += b["time_s"].get<double>() != 0 ? 1 : 0;
  require(shown >= wanted, "a bound is missing: " + head);
}

void compare_text(const std::string& text, const Json& json) {
  std::string device;
  std::size_t next = 0;
  const Json& all = json["predictions"];
  std::vector<std::string> lines;
  const auto end_of_model = [&] {
    if (!lines.empty()) compare(lines, all.at(next++));
    lines.clear();
  };
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (const std::size_t id = line.find("  ["); !line.starts_with(" ") && id != std::string::npos) {
      end_of_model();
      device = line.substr(id + 3, line.size() - id - 4);
      continue;
    }
    const bool of_model = next + (lines.empty() ? 0 : 1) < all.size();
    if (of_model && !device.empty()) {
      const Json& p = all.at(next + (lines.empty() ? 0 : 1));
      if (p["device"].get<std::string>() == device && line.starts_with("  " + p["model"].get<std::string>() + "  ")) {
        end_of_model();
        lines.push_back(line);
        continue;
      }
    }
    if (!lines.empty()) lines.push_back(line);
  }
  end_of_model();
  require(next == all.size(), "the text has " + std::to_string(next) + " models of " + std::to_string(all.size()));
}

void compare_csv(const std::string& csv, const Json& json) {
  std::istringstream in(csv);
  std::string line;
  std::getline(in, line);
  for (const Json& p : json["predictions"]) {
    require(static_cast<bool>(std::getline(in, line)), "the table is too short");
    std::istringstream cells(line);
    std::string kernel, device, model, time;
    std::getline(cells, kernel, ',');
    std::getline(cells, device, ',');
    std::getline(cells, model, ',');
    std::getline(cells, time, ',');
    require(device == p["device"].get<std::string>() && model == p["model"].get<std::string>(), "other rows: " + line);
    require(p["time_s"].is_number() == !time.empty(), "a time is missing: " + line);
    if (!time.empty())
      require(
          std::abs(std::strtod(time.c_str(), nullptr) - p["time_s"].get<double>()) <= 1e-8 * p["time_s"].get<double>(),
          "time: " + line);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Device> gpus = all_gpus();
  fuzz::Drawn drawn(data, size);
  report::ForecastReport forecast;
  forecast.head = {"0", {"kernelcast"}};
  forecast.kernel = "copy";
  try {
    for (std::size_t n = 1 + drawn.below(2); n > 0; --n)
      forecast.devices.push_back(result_on(gpus[drawn.below(gpus.size())], drawn));
  } catch (const Error&) {
    return 0;
  }
  const Json json = Json::parse(report::predict_json(forecast));
  compare_text(report::predict_text(forecast, report::Style(false)), json);
  compare_csv(report::predict_csv(forecast), json);
  return 0;
}
