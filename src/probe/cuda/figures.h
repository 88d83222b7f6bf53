// From recorded runs to figures: a figure names the series that it needs and how they give its value.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kernelcast/probe.h"
#include "probe/cuda/plan.h"
#include "probe/series.h"

namespace kernelcast::probe::cuda {

enum class Metric : unsigned char { cycles, device_s, wall_s, issue_s };

class Figures {
 public:
  using View = Measurement::View;
  using Handle = Measurement::Handle;
  using Handles = std::vector<Handle>;
  using Value = std::function<std::optional<double>(const View&, const Handles&)>;
  using Lists = std::function<std::vector<std::vector<double>>(const View&, const Handles&)>;
  struct Source {
    std::string name;
    Metric metric = Metric::cycles;
  };

  explicit Figures(const Record& record);

  /// Where a source did not run the result is unknown for its reason.
  void figure(Result result, const std::vector<Source>& sources, const Value& value, bool step = false,
              const std::string& unknown = "");
  void table(Result result, const std::vector<Source>& sources, const Lists& lists);
  void unknown(Result result, const std::string& reason);
  /// `of` is the name of a pair of series ".short" and ".long"; what one more item takes, what stands around cancels.
  [[nodiscard]] std::vector<Source> pair(const std::string& of, Metric metric = Metric::cycles) const;
  [[nodiscard]] double items_between(const std::string& of) const;

  [[nodiscard]] const Series<Run>* launch(const std::string& name) const;
  /// Names of the series that begin so and ran, in the order of the plan.
  [[nodiscard]] std::vector<std::string> beginning(const std::string& prefix) const;
  /// The fastest runs of a series that ran.
  [[nodiscard]] double fastest_cycles(const std::string& name) const;
  [[nodiscard]] std::vector<Result> take() { return std::move(results_); }
  void add(Result result) { results_.push_back(std::move(result)); }

  /// Readings of a series, and why there are none.
  [[nodiscard]] std::vector<double> readings(const Source& source, std::string& failure) const;

 private:
  void compute(Result result, const std::vector<Source>& sources,
               const std::function<void(Measurement&, Result, const Handles&)>& add_figure);
  std::map<std::string, const Series<Run>*> launches_;
  std::map<std::string, const Series<TransferRun>*> transfers_;
  std::vector<std::string> order_;
  std::string failure_;
  std::vector<Result> results_;
};

/// What one more item takes, of a pair of lengths.
Figures::Value slope(double items);
/// Items in one unit of time, likewise.
Figures::Value rate(double items);
/// Clock of an SM: of a pair's seconds and then its cycles, which are read around one of two passes.
Figures::Value clock_rate();
inline constexpr const char* no_difference = "the longer of the two runs took no longer";

void ptx_figures(Figures& f, const Record& record);
/// Of what GPUs have had since 2017.
void tensor_figures(Figures& f, const Record& record);
/// Banks, control fields, orders; fractions are of `lanes` FP32 lanes of an SM.
void patched_figures(Figures& f, double lanes);

/// All figures of a record, over what `base` knows.
Report report_of(const Record& record, const Device& base);

}  // namespace kernelcast::probe::cuda
