// Timings of a machine that does other things too. Disturbances only ever add time, so a series of samples is estimated
// by its fastest ones; series take turns, so that a slow minute meets all of them; and a figure counts as stable when
// these lie close together, and both halves of the run, and both its odd and its even rounds, give the same by
// themselves.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernelcast/probe.h"

namespace kernelcast::probe {

/// One reading: seconds per item, and seconds of a clock cycle right beside it (0: not read).
struct Sample {
  double seconds = 0, cycle = 0;
};

/// A result that has no value yet.
Result row(std::string id, std::string unit, std::string method, std::string what, std::vector<Field> fields = {});

/// Median of the fastest twentieth, of at least three; seconds. Throws InternalError for none.
double fastest(std::vector<Sample> samples);
/// Median of seconds / cycle over the same samples. The clock of a core changes by the second; both of a pair saw the
/// same.
double fastest_cycles(std::vector<Sample> samples);
/// (largest - smallest) / median of the samples that fastest() looks at.
double fastest_spread(std::vector<Sample> samples);
/// Mean of seconds / cycle of the ten fastest (of all where there are fewer).
double mean_cycles_of_ten(std::vector<Sample> samples);

/// Which rounds an estimate looks at.
enum class Rounds : unsigned char { all, first_half, second_half, even, odd };

class Measurement {
 public:
  using Handle = int;
  /// What a figure is computed from.
  class View {
   public:
    /// Seconds per item of a series.
    double operator()(Handle series) const;
    /// Cycles per item; needs a clock.
    [[nodiscard]] double cycles(Handle series) const;
    [[nodiscard]] double mean_cycles_of_ten(Handle series) const;

   private:
    friend class Measurement;
    View(const Measurement& from, Rounds rounds) : from_(from), rounds_(rounds) {}
    [[nodiscard]] std::vector<Sample> samples(Handle series) const;
    const Measurement& from_;
    Rounds rounds_;
    mutable std::set<Handle> used_;
  };
  using Value = std::function<std::optional<double>(const View&)>;
  using Lists = std::function<std::vector<std::vector<double>>(const View&)>;

  /// `sample` returns seconds per item. Each round takes the series in another order: the clock after a wide vector
  /// loop is not the clock after a pause.
  Handle series(std::function<double()> sample);
  /// Seconds of a clock cycle, read before and after each sample; the shorter counts.
  void clock(std::function<double()> cycle) { cycle_ = std::move(cycle); }
  /// A figure in all but value, samples, spread and confidence, which come from the series that `value` reads. Where it
  /// gives nothing the result is unknown for `unknown`.
  Result& figure(Result result, Value value, std::string unknown = "");
  /// A figure that takes steps, such as a size found on a curve: agreement alone makes it stable.
  Result& step(Result result, Value value, std::string unknown);
  /// The same of a table: stable when each of its numbers agrees.
  Result& table(Result result, Lists lists);

  struct Limits {
    int min_rounds = 40, max_rounds = 1000000;
    double time_limit_s = 60;
    double tolerance = 0.05;  // of the difference of two halves
    double spread = 0.06;     // of the samples that an estimate rests on
  };
  /// Until all figures are stable, at least `min_rounds`; no new round after the time limit, except that every series
  /// has three samples. Series that only stable figures read are left alone.
  void run(const Limits& limits, const std::function<void(const std::string&)>& progress);
  /// Values and confidences as they are now, in the order of the figures.
  [[nodiscard]] std::vector<Result> results() const;
  [[nodiscard]] View view(Rounds rounds = Rounds::all) const { return {*this, rounds}; }

 private:
  struct Figure {
    Result result;
    Value value;  // of a table nothing
    Lists lists;
    std::string unknown;
    bool stepwise = false;
  };
  [[nodiscard]] bool agree(const Figure& figure, Rounds one, Rounds two) const;
  void judge(const Figure& figure, Result& out, std::set<Handle>& used) const;
  std::vector<std::function<double()>> sample_;
  std::function<double()> cycle_;
  std::vector<std::vector<Sample>> samples_;
  std::vector<Figure> figures_;
  Limits limits_;
};

}  // namespace kernelcast::probe
