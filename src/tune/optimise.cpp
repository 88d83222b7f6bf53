// Parameters are ordered lists of values, mostly sizes, so neighbours in a list behave alike: positions in the list,
// scaled to [0, 1), are what NLopt sees. A budget is shared out: half to the global methods, the rest to descents.
//
// D. R. Jones, C. D. Perttunen, B. E. Stuckmann, "Lipschitzian optimization without the Lipschitz constant", 1993
// (GN_DIRECT_L); W. L. Price, "Global optimization by controlled random search", 1983 (GN_CRS2_LM); C. H. da Silva
// Santos et al., "Designing novel photonic devices by bio-inspired computing", 2010 (GN_ESCH).
#include "tune/optimise.h"

#include <nlopt.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "kernelcast/error.h"

namespace kernelcast::tune {
namespace {

using Position = std::vector<std::size_t>;  // of every parameter in its list of values

constexpr double penalty = 1e9;  // seconds, of what has no value: optimisers cannot work with infinities
constexpr std::size_t descents = 8;

class Minimiser {
 public:
  Minimiser(const Space& space, const std::function<double(Configuration)>& objective, const SearchLimits& limits,
            const std::atomic<bool>& stop)
      : space_(space), objective_(objective), limits_(limits), stop_(stop) {
    for (std::size_t i = 0; i < space.parameters.size(); ++i) {
      if (space.parameters[i].values.size() > 1) varying_.push_back(i);
    }
    strides_.resize(space.parameters.size(), 1);
    for (std::size_t i = space.parameters.size(); i-- > 1;)
      strides_[i - 1] = strides_[i] * space.parameters[i].values.size();
  }

  Minimum run() {
    value(configuration_of(Position(space_.parameters.size(), 0)));
    if (!varying_.empty()) {
      sample();
      search_globally();
      descend_from_the_best();
    }
    Minimum m;
    for (const auto& [configuration, v] : seen_) {
      if (v < m.value) m = {configuration, v, 0};
    }
    m.tried = tried_;
    return m;
  }

 private:
  [[nodiscard]] Configuration configuration_of(const Position& p) const {
    Configuration c = 0;
    for (std::size_t i = 0; i < p.size(); ++i) c += p[i] * strides_[i];
    return c;
  }

  [[nodiscard]] Position position_of(Configuration c) const {
    Position p(space_.parameters.size());
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = c / strides_[i] % space_.parameters[i].values.size();
    return p;
  }

  [[nodiscard]] bool allowed(Configuration c) const {
    SpaceReader reader(space_);
    reader.choose(c);
    try {
      bool shaped = false;
      for (std::size_t i = 0; i < space_.constraints.size(); ++i) {
        if (!shaped && uses_launch(space_.constraints[i])) {
          (void)reader.shape();
          shaped = true;
        }
        if (!reader.holds(i)) return false;
      }
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  [[nodiscard]] bool uses_launch(const Expression& e) const {
    return std::any_of(e.names().begin(), e.names().end(), [&](int name) {
      return std::find(space_.parameter_names.begin(), space_.parameter_names.end(), name) ==
             space_.parameter_names.end();
    });
  }

  [[nodiscard]] bool over() const { return stop_ || tried_ >= limits_.budget; }

  double value(Configuration c) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = seen_.find(c);
      if (found != seen_.end()) return found->second;
    }
    double v = infinite_time;
    if (stop_) return v;
    if (allowed(c)) {
      if (over()) return infinite_time;
      ++tried_;
      v = objective_(c);
    }
    const std::lock_guard lock(mutex_);
    seen_.emplace(c, v);
    return v;
  }

  /// Configurations that satisfy the constraints are rare in some spaces: a first look, a tenth of the budget.
  void sample() {
    tbb::parallel_for(0, limits_.jobs, [&](int job) {
      std::mt19937_64 random(limits_.seed * 1000003 + static_cast<std::uint64_t>(job));
      const std::uint64_t most = limits_.budget / 10 + 16;
      for (std::uint64_t i = 0; i < 200 * most && tried_ < most && !over(); ++i) {
        Position p(space_.parameters.size(), 0);
        for (const std::size_t parameter : varying_) {
          p[parameter] =
              std::uniform_int_distribution<std::size_t>(0, space_.parameters[parameter].values.size() - 1)(random);
        }
        value(configuration_of(p));
      }
    });
  }

  struct Task {
    Minimiser* minimiser;
    nlopt_opt optimiser;
    std::uint64_t calls = 0, most_calls = 0;
  };

  bool all_seen() {
    const std::lock_guard lock(mutex_);
    return seen_.size() >= combinations(space_);
  }

  static double evaluate(unsigned count, const double* x, double*, void* data) {
    Task& task = *static_cast<Task*>(data);
    Minimiser& m = *task.minimiser;
    if (++task.calls > task.most_calls || m.stop_ || m.tried_ >= m.limits_.budget / 2 || m.all_seen())
      nlopt_force_stop(task.optimiser);
    Position p(m.space_.parameters.size(), 0);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t values = m.space_.parameters[m.varying_[i]].values.size();
      p[m.varying_[i]] =
          std::min(values - 1, static_cast<std::size_t>(std::max(0.0, x[i]) * static_cast<double>(values)));
    }
    const double v = m.value(m.configuration_of(p));
    return std::isfinite(v) ? std::log(v) : std::log(penalty);
  }

  void search_globally() {
    constexpr std::array<nlopt_algorithm, 3> methods{NLOPT_GN_DIRECT_L, NLOPT_GN_CRS2_LM, NLOPT_GN_ESCH};
    nlopt_srand(static_cast<unsigned long>(limits_.seed));
    tbb::parallel_for(std::size_t{0}, methods.size(), [&](std::size_t i) {
      const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimiser(
          nlopt_create(methods[i], static_cast<unsigned>(varying_.size())), nlopt_destroy);
      Task task{this, optimiser.get(), 0, limits_.budget * 4};
      nlopt_set_lower_bounds1(optimiser.get(), 0);
      nlopt_set_upper_bounds1(optimiser.get(), 1);
      nlopt_set_min_objective(optimiser.get(), evaluate, &task);
      std::vector<double> x(varying_.size(), 0.5);
      double best = 0;
      nlopt_optimize(optimiser.get(), x.data(), &best);  // however it ends, what was seen counts
    });
  }

  void descend_from_the_best() {
    std::vector<std::pair<double, Configuration>> starts;
    for (const auto& [configuration, v] : seen_) {
      if (std::isfinite(v)) starts.emplace_back(v, configuration);
    }
    std::sort(starts.begin(), starts.end());
    if (starts.size() > descents) starts.resize(descents);
    tbb::parallel_for(std::size_t{0}, starts.size(), [&](std::size_t i) { descend(starts[i].second); });
  }

  void descend(Configuration from) {
    double best = value(from);
    for (bool moved = true; moved && !over();) {
      moved = improve(from, best, false) || improve(from, best, true);
    }
  }

  /// The best of all configurations that differ in one parameter, or in two by a step each.
  bool improve(Configuration& at, double& best, bool pairs) {
    const Position here = position_of(at);
    const Configuration before = at;
    const auto consider = [&](const Position& p) {
      const Configuration c = configuration_of(p);
      const double v = value(c);
      if (v < best) {
        best = v;
        at = c;
      }
    };
    for (std::size_t a = 0; a < varying_.size() && !over(); ++a) {
      if (!pairs) {
        Position p = here;
        for (p[varying_[a]] = 0; p[varying_[a]] < space_.parameters[varying_[a]].values.size(); ++p[varying_[a]])
          consider(p);
        continue;
      }
      for (std::size_t b = a + 1; b < varying_.size() && !over(); ++b) {
        for (const int da : {-1, 1}) {
          for (const int db : {-1, 1}) {
            Position p = here;
            if (step(p, varying_[a], da) && step(p, varying_[b], db)) consider(p);
          }
        }
      }
    }
    return at != before;
  }

  [[nodiscard]] bool step(Position& p, std::size_t parameter, int by) const {
    if (by < 0 && p[parameter] == 0) return false;
    p[parameter] += static_cast<std::size_t>(by);
    return p[parameter] < space_.parameters[parameter].values.size();
  }

  const Space& space_;
  const std::function<double(Configuration)>& objective_;
  SearchLimits limits_;
  const std::atomic<bool>& stop_;
  std::vector<std::size_t> varying_;
  std::vector<std::uint64_t> strides_;
  std::map<Configuration, double> seen_;
  std::atomic<std::uint64_t> tried_ = 0;
  std::mutex mutex_;
};

}  // namespace

Minimum minimise(const Space& space, const std::function<double(Configuration)>& objective, const SearchLimits& limits,
                 const std::atomic<bool>& stop) {
  return Minimiser(space, objective, limits, stop).run();
}

}  // namespace kernelcast::tune
