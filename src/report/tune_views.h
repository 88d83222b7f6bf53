// What `tune` found, as text, JSON and in the results format of the auto-tuners' community.
#pragma once

#include <string>
#include <vector>

#include "report/results.h"
#include "report/style.h"
#include "tune/tuner.h"

namespace kernelcast::report {

/// A configuration that was run on a real device.
struct Measured {
  std::size_t rank = 0;  // of the first device's best, from 0
  double time_s = 0;     // median of the runs
  double spread = 0;     // largest over smallest, minus 1
  std::string failure;   // instead
};

struct TuneReport {
  Head head;
  tune::TuneResult result;
  std::string measured_on;  // empty: nothing was run
  std::vector<Measured> measured;
  bool by_energy = false;  // the table has a column of energies
};

/// `verbose`: also how every bound of the best stands.
std::string tune_text(const TuneReport& report, const Style& style);
/// schema/tune.schema.json.
std::string tune_json(const TuneReport& report);
/// The configurations as a page with plots.
std::string tune_html(const TuneReport& report);
/// T4, results schema 1.0.0 of https://github.com/KernelTuner/kernel_tuner: the best configurations of one device with
/// forecasts in place of measured times, and the listed ones that cannot run.
std::string tune_t4(const TuneReport& report);

}  // namespace kernelcast::report
