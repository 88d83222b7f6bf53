#include "cli/accepted.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "cli/sources.h"
#include "io/text_file.h"
#include "kernelcast/error.h"

namespace kernelcast::cli {
namespace {

constexpr double kRounding = 1e-6;  // times are written with seven digits

bool same_launch(const AcceptedTime& a, const report::CheckRow& r) {
  return a.device == r.device && a.launch == r.launch && a.kernel == r.name();
}

}  // namespace

std::vector<AcceptedTime> read_accepted(const std::string& path) {
  std::vector<AcceptedTime> accepted;
  if (!std::filesystem::exists(path)) return accepted;
  int number = 0;
  for (const std::string& line : lines_of(read_text_file(path))) {
    ++number;
    if (line.find_first_not_of(" \t") == std::string::npos || line[line.find_first_not_of(" \t")] == '#') continue;
    std::istringstream words(line);
    AcceptedTime a;
    words >> a.time_s >> a.device >> a.launch >> std::ws;
    std::getline(words, a.kernel);
    if (!(a.time_s > 0) || a.kernel.empty())
      throw UserError(fmt::format("{}:{}: expected TIME_S DEVICE LAUNCH KERNEL", path, number));
    accepted.push_back(std::move(a));
  }
  return accepted;
}

void apply_accepted(const std::vector<AcceptedTime>& accepted, report::CheckReport& report) {
  for (report::CheckRow& r : report.rows) {
    if (r.passed || !r.failure.empty()) continue;
    r.accepted = std::any_of(accepted.begin(), accepted.end(), [&](const AcceptedTime& a) {
      return same_launch(a, r) && *r.new_s <= a.time_s * (1 + kRounding);
    });
    r.passed = r.accepted;
  }
}

void write_accepted(const std::string& path, std::vector<AcceptedTime> accepted, const report::CheckReport& report) {
  for (const report::CheckRow& r : report.rows) {
    if (!r.failure.empty() || (r.passed && !r.accepted)) continue;
    std::erase_if(accepted, [&](const AcceptedTime& a) { return same_launch(a, r); });
    accepted.push_back({r.device, r.launch, r.name(), *r.new_s});
  }
  std::string text = "# Accepted forecasts of `kernelcast check`: TIME_S DEVICE LAUNCH KERNEL\n";
  for (const AcceptedTime& a : accepted)
    text += fmt::format("{:.7g} {} {} {}\n", a.time_s, a.device, a.launch, a.kernel);
  write_text_file(path, text);
}

}  // namespace kernelcast::cli
