// What validation found: every row with every model's forecast, and the scores. Plain values that the views print.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernelcast/workload.h"
#include "validate/measurement.h"
#include "validate/scores.h"

namespace kernelcast::validate {

/// What one model said of one row, or why it said nothing.
struct RowForecast {
  std::optional<double> time_s;  // positive and finite when there
  std::optional<double> lo_s, hi_s;
  std::string limiter;
  std::vector<std::pair<std::string, double>> bounds_s;  // the binding one first
  std::string failure;
};

/// What analysis and binding made of a row: what a model can be calibrated from.
struct Facts {
  Workload workload;  // totals only: without the lists by block and access, without assumptions
  std::size_t assumptions = 0;
  CountsBasis basis = CountsBasis::closed_form;
  std::string target, registers_method;
  std::string not_assembled;  // why --ptxas was given and the code of PTX is counted all the same
  double spill_bytes = 0, divergent_branches = 0;
  std::int64_t stack_bytes = 0, static_shared_bytes = 0;
};

struct RowResult {
  Measurement row;
  std::string device;                 // id; empty when no device file is known
  std::string cache_state;            // of the kernel
  std::optional<Facts> facts;         // nothing: see failure
  std::vector<RowForecast> models;    // parallel to Report::models
  std::string failure;                // why there is no workload
  double analysis_s = 0, bind_s = 0;  // processor time spent; the analysis is shared by rows of one source
};

/// (kernel, GPU) under one model.
struct PairScore {
  std::string kernel_id, gpu, model;
  std::optional<ErrorScores> errors;  // nothing when no row counts
  std::optional<RatioScores> ratios;
  std::optional<double> coverage;  // share of the rows with an interval whose measurement lies inside
  std::size_t excluded = 0, failed = 0;
};

/// kernel x GPU x problem with at least eight configurations, under one model.
struct GroupScore {
  std::string kernel_id, gpu, problem, model;
  std::size_t n = 0;
  std::optional<double> spearman, top1_regret;
};

/// The rows with one excluding flag, under one model.
struct FlagScore {
  std::string flag, model;
  std::optional<ErrorScores> errors;
};

/// A family of kernels (the kernel id up to the first "_"), under one model.
struct FamilyScore {
  std::string family, model;
  std::size_t n = 0;
  std::optional<double> gmae;
};

/// The headline of one model: macro-averages as docs/reference/validate.md defines them.
struct ModelScore {
  std::string model;
  std::optional<double> gmae, within_2x, mape, median_ape, p90_ape, bias, spearman_median, top1_regret_median,
      ratio_median_error, ratio_sign_accuracy, interval_coverage;
  std::optional<ErrorScores> pooled;  // every counted row alike
  std::size_t groups = 0;
  std::size_t rows = 0, excluded = 0, failed = 0;  // disjoint; their sum is the number of measured rows
};

/// Rows that could not be forecast, or not as asked, by kind of reason: reasons that differ in numbers only are one
/// kind.
struct FailureGroup {
  std::string model;   // empty: all models
  std::string reason;  // of the first row
  std::string first_place;
  std::size_t n = 0;
};

struct Report {
  std::vector<std::string> models;
  std::vector<RowResult> rows;   // in the order of the files
  std::size_t not_measured = 0;  // rows that failed on the hardware: nothing to forecast
  std::vector<PairScore> pairs;
  std::vector<GroupScore> groups;
  std::vector<FlagScore> flags;
  std::vector<FamilyScore> families;
  std::vector<ModelScore> scores;  // parallel to models
  std::vector<FailureGroup> failures;
  std::vector<FailureGroup> not_assembled;  // rows whose counts are those of PTX although --ptxas was given
  std::size_t analyses = 0;
  double seconds = 0;  // wall clock
};

}  // namespace kernelcast::validate
