// A forecast kernel as rules see it: each access, block and line with what the launch made of it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "forecast/pipeline.h"
#include "forecast/results.h"

namespace kernelcast::advice {

/// Lines of source files by path, without their ends.
using SourceLines = std::map<std::string, std::vector<std::string>>;

/// Bytes of the longest line that rules read: patterns over longer ones take too much stack.
inline constexpr std::size_t longest_read = 2000;

/// An access with its place in profile and counts.
struct Site {
  std::size_t index = 0;  // into Workload::access_counts
  std::size_t block = 0;  // into KernelProfile::blocks
  const Access* access = nullptr;
  AccessCount count;
  Origin origin = Origin::closed;
  // The offset with the launch's values put in is a shape, numbered, and a constant: accesses of one shape are a
  // constant distance apart, no others are.
  int shape = 0;
  std::int64_t constant = 0;
  [[nodiscard]] double lanes_per_request() const { return count.requests > 0 ? count.lanes / count.requests : 0; }
};

/// What rules may spend, and what is worth it.
struct AdviceLimits {
  double least_gain = 0.02;  // of the time; findings below are left out
  int most_compiled = 2;     // changed sources of one kernel
};

class Subject {
 public:
  /// All must outlive it. `base` has a workload and the first model's time.
  Subject(const ForecastQuestion& question, const Frontend& frontend, const DeviceResult& base,
          const SourceLines& sources, const AdviceLimits& limits = {});

  [[nodiscard]] const KernelProfile& profile() const { return *base_.profile; }
  [[nodiscard]] const Workload& workload() const { return *base_.workload; }
  [[nodiscard]] const Device& device() const { return base_.device; }
  [[nodiscard]] const Launch& launch() const { return base_.launch; }
  [[nodiscard]] const DeviceResult& base() const { return base_; }
  [[nodiscard]] const ForecastQuestion& question() const { return question_; }
  [[nodiscard]] const Estimate& estimate() const { return *base_.models.front().estimate; }
  [[nodiscard]] const Model& model() const { return *question_.models.front(); }
  [[nodiscard]] const std::vector<Site>& sites() const { return sites_; }
  /// Everything is in closed form.
  [[nodiscard]] bool closed() const { return base_.origin.all_closed() && !base_.execution; }

  /// An expression with the launch's sizes and arguments put in.
  [[nodiscard]] Expr known(const Expr& e) const;
  /// Bytes that one step of `s` moves an address, where that is a constant.
  [[nodiscard]] std::optional<std::int64_t> stride(const Access& a, Symbol s) const;
  [[nodiscard]] std::string buffer_name(const Access& a) const;  // empty: not known
  /// The text of a source line; empty where it is not at hand, or too long.
  [[nodiscard]] std::string text(SourceLine line) const;
  [[nodiscard]] std::string file(SourceLine line) const;
  /// Whether the line is of the question's source, which the compiler may name relative to its folder.
  [[nodiscard]] bool in_source(SourceLine line) const;
  /// Of the profile's files that are at hand.
  [[nodiscard]] std::vector<SourceLine> lines() const;
  /// Whether the caller said what buffers hold, or how data decide: without that, data are random, and what they decide
  /// is no finding.
  [[nodiscard]] bool knows_data() const;
  /// Trip count of a loop, also where lanes differ by one or two; nothing where it depends on data or outer counters.
  [[nodiscard]] std::optional<double> trips(int loop) const;
  /// The most iterations that a thread can have; nothing where it is not known.
  [[nodiscard]] std::optional<double> most_trips(const Loop& loop) const;
  [[nodiscard]] int unit_count() const;
  /// Registers a thread that the compiler is likely to need at least.
  [[nodiscard]] double fewest_registers() const;

  [[nodiscard]] const AdviceLimits& limits() const { return limits_; }
  /// The closed forms of the unchanged launch.
  [[nodiscard]] const Workload& closed_forms() const;

  /// The same question with changes, answered in full on this device. Nothing where it has no answer, or where its
  /// source would be one more to compile than the limits allow. Equal questions are answered once.
  [[nodiscard]] std::optional<DeviceResult> ask(const ForecastQuestion& changed) const;
  /// Questions that the limit of compiled sources left without an answer.
  [[nodiscard]] int not_asked() const { return not_asked_; }

  /// Whether a sample of blocks writes the same bytes with the changed source, from the same contents. False also where
  /// one of both cannot be executed.
  [[nodiscard]] bool same_results(const ForecastQuestion& changed) const;

 private:
  [[nodiscard]] std::optional<DeviceResult> answered(const ForecastQuestion& changed) const;

  const ForecastQuestion& question_;
  const Frontend& frontend_;
  const DeviceResult& base_;
  const SourceLines& sources_;
  const AdviceLimits limits_;
  /// Values of a loop's trip count over all threads.
  [[nodiscard]] std::optional<Interval> trip_range(const Expr& trips) const;

  std::vector<Site> sites_;
  std::map<Symbol, Expr> known_;
  // Answers, kept.
  using Asked = std::tuple<std::string, bool, std::array<std::int64_t, 3>, std::array<std::int64_t, 3>>;
  mutable std::map<Asked, std::optional<DeviceResult>> asked_;
  mutable std::set<std::pair<std::string, bool>> compiled_;
  mutable std::optional<Workload> closed_forms_;
  mutable int not_asked_ = 0;
};

}  // namespace kernelcast::advice
