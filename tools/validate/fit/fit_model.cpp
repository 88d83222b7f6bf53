// fit_model: the global constants of the model `kernelcast`, from measured times.
//   fit_model collect ROWS KERNELS SOURCES FACTS   analyse and bind every row once, keep the counts in FACTS
//   fit_model scores|rows ROWS FACTS               the current constants: scores, or every row
//   fit_model reuse ROWS FACTS KERNEL DEVICE       what the caches see of every row
//     Every command below takes several sets: ROWS FACTS [ROWS FACTS ...]; FACTS+SECONDS: the times of that set were
//     taken by a host and hold so much of its launch. Sets weigh alike in a fit.
//   fit_model ratios ROWS FACTS                    errors of ratios of two rows of one kernel on one GPU
//   fit_model fallbacks                            known numbers of devices beside what would stand in for them
//   fit_model fit ROWS FACTS                       fit all constants
//   fit_model loo ROWS FACTS                       the same, with one GPU left out, one kernel, one generation of GPUs
//   fit_model generations ROWS FACTS               the same, with one generation of GPUs left out
//   fit_model interval ROWS FACTS                  errors of rows whose kernel was left out, by what widens the
//   interval
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "io/text_file.h"
#include "kernelcast/error.h"
#include "kernelcast/frontend.h"
#include "objective.h"
#include "report.h"
#include "validate/forecast_rows.h"

namespace kernelcast::fit {
namespace {

void collect(const std::string& rows, const std::string& kernels, const std::string& sources,
             const std::string& facts) {
  validate::ForecastOptions options;
  options.jobs = static_cast<int>(std::thread::hardware_concurrency());
  options.sources = sources;
  options.kernels_folder = kernels.substr(0, kernels.find_last_of('/') + 1);
  options.analyze = analyze;
  options.models = {&model_named("kernelcast")};  // its counts are those that the fit needs
  options.progress = [](std::size_t done, std::size_t all) {
    if (done % 100 == 0) std::fprintf(stderr, "%zu of %zu\n", done, all);
  };
  const auto known = validate::read_kernels(kernels, read_text_file(kernels));
  const validate::Report report =
      validate::forecast_rows(validate::read_rows(rows, read_text_file(rows)), known, DeviceCatalog(""), options);
  for (const validate::RowResult& r : report.rows)
    if (!r.facts) std::fprintf(stderr, "%s: %s\n", r.row.place.c_str(), r.failure.c_str());
  write_facts(facts, report.rows);
}

/// What is left out of a fit: a GPU, a kernel, or a generation of GPUs ("Kepler", "CDNA": the architecture's first word).
std::string part_of(const Row& r, const std::string& what) {
  if (what == "GPU") return r.result.row.gpu;
  if (what == "kernel") return r.result.row.kernel_id;
  return r.device.architecture.substr(0, r.device.architecture.find(' '));
}

/// Fits on all rows but those of one GPU (kernel, generation), scores these, for each.
void leave_one_out(const std::vector<Row>& rows, const forecast::Constants& start, const std::string& what) {
  const auto key = [&what](const Row& r) { return part_of(r, what); };
  std::set<std::string> keys;
  for (const Row& r : rows) keys.insert(key(r));
  double inside = 0, outside = 0;
  std::vector<double> seconds_inside, seconds_outside(rows.size(), NAN);
  const forecast::Constants all = fit(rows, start, [](const Row&) { return true; });
  for (const Row& r : rows) seconds_inside.push_back(predicted(r, all));
  for (const std::string& k : keys) {
    const auto held = [&](const Row& r) { return key(r) == k; };
    const forecast::Constants c = fit(rows, all, [&](const Row& r) { return key(r) != k; });
    const double in = objective(rows, all, held), out = objective(rows, c, held);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (held(rows[i])) seconds_outside[i] = predicted(rows[i], c);
    if (std::isnan(in)) continue;
    std::printf("  without %-32s gMAE %.3f, with it in the fit %.3f\n", k.c_str(), std::exp(out), std::exp(in));
    inside += in / static_cast<double>(keys.size());
    outside += out / static_cast<double>(keys.size());
  }
  std::printf("leave one %s out: gMAE %.3f, in sample %.3f\n", what.c_str(), std::exp(outside), std::exp(inside));
  std::printf("  all rows forecast so: ");
  print_headline(scored(rows, seconds_outside).scores.at(0));
  std::printf("  in sample:            ");
  print_headline(scored(rows, seconds_inside).scores.at(0));
}

/// What an interval must cover: errors of rows whose kernel had no part in the fit.
void print_interval(const std::vector<Row>& rows, const forecast::Constants& start) {
  std::set<std::string> kernels;
  for (const Row& r : rows) kernels.insert(r.result.row.kernel_id);
  std::vector<Residual> residuals;
  for (const std::string& k : kernels) {
    const forecast::Constants c = fit(rows, start, [&](const Row& r) { return r.result.row.kernel_id != k; });
    for (const Row& r : rows)
      if (r.result.row.kernel_id == k) add_residual(r, c, residuals);
  }
  print_residuals(residuals);
}

void print_sets(const std::vector<Row>& rows, const forecast::Constants& before, const forecast::Constants& after) {
  for (std::size_t s = 0; s <= rows.back().set; ++s) {
    const auto in_set = [s](const Row& r) { return r.set == s; };
    std::printf("set %zu: gMAE %.3f with the constants of this version, %.3f with those above\n", s + 1,
                std::exp(objective(rows, before, in_set)), std::exp(objective(rows, after, in_set)));
  }
}

std::vector<Row> set_of(const std::string& rows_path, std::string facts, std::size_t number) {
  double overhead = 0;
  if (const std::size_t plus = facts.rfind('+'); plus != std::string::npos) {
    overhead = std::stod(facts.substr(plus + 1));
    facts.resize(plus);
  }
  auto rows = read_facts(facts, validate::read_rows(rows_path, read_text_file(rows_path)), DeviceCatalog(""));
  for (Row& r : rows) {
    r.set = number;
    r.launch_overhead_s = overhead;
  }
  return rows;
}

/// Takes each `--with NAME=VALUE` from the arguments: the constants of this version, but for these.
forecast::Constants constants_of(std::vector<std::string>& a) {
  forecast::Constants c = forecast::fitted_constants();
  for (std::size_t i = 1; i + 1 < a.size();) {
    if (a[i] != "--with") {
      ++i;
      continue;
    }
    const std::size_t equals = a[i + 1].find('=');
    const std::string name = a[i + 1].substr(0, equals);
    const auto known = std::ranges::find(all_parameters(), name, &Parameter::name);
    if (equals == std::string::npos || known == all_parameters().end())
      throw UsageError("--with " + a[i + 1] + ": not NAME=VALUE of a constant of the model");
    c.*known->value = std::stod(a[i + 1].substr(equals + 1));
    a.erase(a.begin() + std::ptrdiff_t(i), a.begin() + std::ptrdiff_t(i) + 2);
  }
  return c;
}

/// ln(known number / what stands in where it is not known) of every device; numbers that an architecture's devices share
/// count once.
void print_fallbacks() {
  std::map<Field, std::set<std::pair<std::string, double>>> of_field;
  const DeviceCatalog catalog("");
  for (const std::string& id : catalog.ids()) {
    const Device device = catalog.find(id);
    if (device.kind != "gpu") continue;
    Device other = device;
    for (std::size_t f = 0; f < field_count; ++f) {
      auto& value = other.values[f].value;
      if (!value) continue;
      const double known = *std::exchange(value, std::nullopt);
      const auto machine = forecast::machine_of(other, forecast::fitted_constants(), true);
      const auto found = std::ranges::find(machine.fallbacks, static_cast<Field>(f), &std::pair<Field, double>::first);
      if (found != machine.fallbacks.end() && known > 0 && found->second > 0)
        of_field[static_cast<Field>(f)].emplace(device.architecture, std::log(known / found->second));
      value = known;
    }
  }
  const auto nine_in_ten = [](std::vector<double>& sizes) {
    std::ranges::sort(sizes);
    return sizes[sizes.size() * 9 / 10];
  };
  std::vector<double> all;
  for (const auto& [field, errors] : of_field) {
    std::vector<double> sizes;
    for (const auto& error : errors) sizes.push_back(std::abs(error.second));
    all.insert(all.end(), sizes.begin(), sizes.end());
    std::printf("%s.%s: %zu numbers, nine in ten within a factor of %.2f\n", std::string(info(field).section).c_str(),
                std::string(info(field).key).c_str(), sizes.size(), std::exp(nine_in_ten(sizes)));
  }
  std::printf("all: %zu numbers, nine in ten within a factor of %.2f\n", all.size(), std::exp(nine_in_ten(all)));
}

int run(std::vector<std::string> a) {
  const forecast::Constants now = constants_of(a);
  if (a == std::vector<std::string>{"fallbacks"}) {
    print_fallbacks();
    return 0;
  }
  if (a.size() == 5 && a[0] == "collect") {
    collect(a[1], a[2], a[3], a[4]);
    return 0;
  }
  if (a.size() == 5 && a[0] == "reuse") {
    for (const Row& r : read_facts(a[2], validate::read_rows(a[1], read_text_file(a[1])), DeviceCatalog("")))
      if (r.result.row.kernel_id == a[3] && r.device.id == a[4]) print_reuse(r);
    return 0;
  }
  if (a.size() < 3 || a.size() % 2 == 0)
    throw UsageError(
        "usage: fit_model collect ROWS KERNELS SOURCES FACTS | scores|rows|ratios|fit|loo|generations|interval ROWS FACTS "
        "[--with NAME=VALUE]");
  std::vector<Row> rows;
  for (std::size_t i = 1; i + 1 < a.size(); i += 2)
    for (Row& r : set_of(a[i], a[i + 1], i / 2)) rows.push_back(std::move(r));
  if (a[0] == "rows") {
    print_rows(rows, now);
  } else if (a[0] == "ratios") {
    print_ratios(rows, now);
  } else if (a[0] == "interval") {
    print_interval(rows, now);
  } else if (a[0] == "scores") {
    print_scores(rows, now);
  } else {
    const forecast::Constants c = fit(rows, now, [](const Row&) { return true; });
    print_scores(rows, c);
    print_constants(c);
    print_sets(rows, now, c);
    if (a[0] == "loo") {
      leave_one_out(rows, c, "GPU");
      leave_one_out(rows, c, "kernel");
    }
    if (a[0] == "loo" || a[0] == "generations") leave_one_out(rows, c, "generation");
  }
  return 0;
}

}  // namespace
}  // namespace kernelcast::fit

int main(int argc, char** argv) {
  try {
    return kernelcast::fit::run({argv + 1, argv + argc});
  } catch (const kernelcast::Error& e) {
    std::fprintf(stderr, "fit_model: %s\n", e.what());
    return 1;
  }
}
