// A row counts for a model when it was measured, is not flagged as excluded and has a forecast. All averages of the
// headline are over (kernel, GPU) pairs, so that a kernel measured in many sizes weighs no more than another; gMAE goes
// on to families, so that many kernels of one data set weigh no more than one. Lists are in the order of the file.
#include "validate/summary.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace kernelcast::validate {
namespace {

using Rows = std::vector<const RowResult*>;

/// Rows that share a key, in the order in which the keys first appear.
template <class Key>
std::vector<std::pair<Key, Rows>> grouped(const Rows& rows, const std::function<Key(const RowResult&)>& key) {
  std::vector<std::pair<Key, Rows>> groups;
  std::map<Key, std::size_t> index;
  for (const RowResult* r : rows) {
    const auto [place, fresh] = index.try_emplace(key(*r), groups.size());
    if (fresh) groups.push_back({place->first, {}});
    groups[place->second].second.push_back(r);
  }
  return groups;
}

using Pair = std::pair<std::string, std::string>;

std::vector<Point> points_of(const Rows& rows, std::size_t model) {
  std::vector<Point> points;
  for (const RowResult* r : rows) {
    if (r->models[model].time_s) points.push_back({*r->row.measured_s, *r->models[model].time_s});
  }
  return points;
}

Rows kept(const Rows& rows, const std::function<bool(const RowResult&)>& condition) {
  Rows out;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(out), [&](const RowResult* r) { return condition(*r); });
  return out;
}

bool is_headline(const RowResult& r) { return !is_excluded(r.row); }

std::optional<double> coverage_of(const Rows& rows, std::size_t model) {
  std::vector<double> inside;
  for (const RowResult* r : rows) {
    const RowForecast& f = r->models[model];
    if (!f.time_s || !f.lo_s || !f.hi_s) continue;
    inside.push_back(*f.lo_s <= *r->row.measured_s && *r->row.measured_s <= *f.hi_s ? 1 : 0);
  }
  return mean(inside);
}

/// Reasons that differ in their numbers only are one kind.
std::string without_numbers(const std::string& reason) {
  std::string kind;
  for (char c : reason) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit || kind.empty() || kind.back() != '#') kind += digit ? '#' : c;
  }
  return kind;
}

bool all_models_fail_alike(const RowResult& r) {
  return !r.models.empty() && std::all_of(r.models.begin(), r.models.end(), [&](const RowForecast& f) {
    return !f.time_s && f.failure == r.models.front().failure;
  });
}

class Scorer {
 public:
  explicit Scorer(Report& report) : report_(report) {
    for (const RowResult& r : report.rows) {
      if (r.row.measured_s) all_.push_back(&r);
    }
    report_.not_measured = report.rows.size() - all_.size();
    headline_ = kept(all_, is_headline);
  }

  void run() {
    pairs();
    groups();
    flags();
    families();
    headline();
    failures();
    not_assembled();
  }

 private:
  [[nodiscard]] std::size_t models() const { return report_.models.size(); }

  void pairs() {
    for (const auto& [pair, rows] :
         grouped<Pair>(all_, [](const RowResult& r) { return Pair{r.row.kernel_id, r.row.gpu}; })) {
      for (std::size_t m = 0; m < models(); ++m) {
        PairScore s{pair.first, pair.second, report_.models[m], {}, {}, {}, 0, 0};
        const Rows counted = kept(rows, is_headline);
        const std::vector<Point> points = points_of(counted, m);
        s.errors = errors_of(points);
        s.ratios = ratios_of(points);
        s.coverage = coverage_of(counted, m);
        for (const RowResult* r : rows) {
          if (!r->models[m].time_s) {
            ++s.failed;
          } else if (is_excluded(r->row)) {
            ++s.excluded;
          }
        }
        report_.pairs.push_back(std::move(s));
      }
    }
  }

  void groups() {
    using Key = std::vector<std::string>;
    const auto key = [](const RowResult& r) { return Key{r.row.kernel_id, r.row.gpu, problem_key(r.row)}; };
    for (const auto& [names, rows] : grouped<Key>(headline_, key)) {
      if (rows.size() < smallest_group) continue;
      for (std::size_t m = 0; m < models(); ++m) {
        const std::vector<Point> points = points_of(rows, m);
        GroupScore s{names[0], names[1], rows.front()->row.problem, report_.models[m], points.size(), {}, {}};
        if (points.size() >= smallest_group) {
          s.spearman = spearman(points);
          s.top1_regret = top1_regret(points);
        }
        report_.groups.push_back(std::move(s));
      }
    }
  }

  void flags() {
    for (const std::string& flag : excluding_flags()) {
      const Rows rows = kept(all_, [&](const RowResult& r) {
        return std::find(r.row.flags.begin(), r.row.flags.end(), flag) != r.row.flags.end();
      });
      if (rows.empty()) continue;
      for (std::size_t m = 0; m < models(); ++m) {
        report_.flags.push_back({flag, report_.models[m], errors_of(points_of(rows, m))});
      }
    }
  }

  /// ln gMAE of a family: the mean over its pairs of the pairs' mean log error.
  void families() {
    std::vector<std::string> names;
    for (const PairScore& p : report_.pairs) {
      const std::string family = family_of(p.kernel_id);
      if (std::find(names.begin(), names.end(), family) == names.end()) names.push_back(family);
    }
    for (const std::string& family : names) {
      for (std::size_t m = 0; m < models(); ++m) {
        FamilyScore s{family, report_.models[m], 0, {}};
        std::vector<double> logs;
        for (const PairScore& p : report_.pairs) {
          if (p.model != s.model || !p.errors || family_of(p.kernel_id) != family) continue;
          logs.push_back(p.errors->log_error);
          s.n += p.errors->n;
        }
        if (const auto log = mean(logs)) s.gmae = std::exp(*log);
        report_.families.push_back(std::move(s));
      }
    }
  }

  void headline() {
    for (std::size_t m = 0; m < models(); ++m) {
      ModelScore s;
      s.model = report_.models[m];
      average_pairs(s);
      average_families(s);
      medians_of_groups(s);
      for (const RowResult* r : all_) {
        if (!r->models[m].time_s) {
          ++s.failed;
        } else if (is_excluded(r->row)) {
          ++s.excluded;
        } else {
          ++s.rows;
        }
      }
      s.pooled = errors_of(points_of(headline_, m));
      report_.scores.push_back(std::move(s));
    }
  }

  void average_pairs(ModelScore& s) const {
    std::vector<double> mape, median_ape, p90, bias, within, ratio_error, sign, coverage;
    for (const PairScore& p : report_.pairs) {
      if (p.model != s.model || !p.errors) continue;
      mape.push_back(p.errors->mape);
      median_ape.push_back(p.errors->median_ape);
      p90.push_back(p.errors->p90_ape);
      bias.push_back(p.errors->bias);
      within.push_back(p.errors->within_2x);
      if (p.ratios) ratio_error.push_back(p.ratios->median_error);
      if (p.ratios && p.ratios->sign_accuracy) sign.push_back(*p.ratios->sign_accuracy);
      if (p.coverage) coverage.push_back(*p.coverage);
    }
    s.mape = mean(mape);
    s.median_ape = mean(median_ape);
    s.p90_ape = mean(p90);
    s.bias = mean(bias);
    s.within_2x = mean(within);
    s.ratio_median_error = mean(ratio_error);
    s.ratio_sign_accuracy = mean(sign);
    s.interval_coverage = mean(coverage);
  }

  void average_families(ModelScore& s) const {
    std::vector<double> logs;
    for (const FamilyScore& f : report_.families) {
      if (f.model == s.model && f.gmae) logs.push_back(std::log(*f.gmae));
    }
    if (const auto log = mean(logs)) s.gmae = std::exp(*log);
  }

  void medians_of_groups(ModelScore& s) const {
    std::vector<double> rho, regret;
    for (const GroupScore& g : report_.groups) {
      if (g.model != s.model) continue;
      if (g.spearman) rho.push_back(*g.spearman);
      if (g.top1_regret) regret.push_back(*g.top1_regret);
    }
    s.groups = regret.size();
    if (!rho.empty()) s.spearman_median = median(rho);
    if (!regret.empty()) s.top1_regret_median = median(regret);
  }

  /// Adds rows to the group of their reason.
  class Grouping {
   public:
    explicit Grouping(std::vector<FailureGroup>& groups) : groups_(groups) {}
    void operator()(const std::string& model, const std::string& reason, const RowResult& r) {
      const auto [place, fresh] = known_.try_emplace({model, without_numbers(reason)}, groups_.size());
      if (fresh) groups_.push_back({model, reason, r.row.place, 0});
      ++groups_[place->second].n;
    }

   private:
    std::vector<FailureGroup>& groups_;
    std::map<std::pair<std::string, std::string>, std::size_t> known_;
  };

  void not_assembled() {
    Grouping add(report_.not_assembled);
    for (const RowResult* r : all_) {
      if (r->facts && !r->facts->not_assembled.empty()) add("", r->facts->not_assembled, *r);
    }
  }

  void failures() {
    Grouping add(report_.failures);
    for (const RowResult* r : all_) {
      if (!r->failure.empty()) {
        add("", r->failure, *r);
      } else if (all_models_fail_alike(*r)) {
        add("", r->models.front().failure, *r);
      } else {
        for (std::size_t m = 0; m < models(); ++m) {
          if (!r->models[m].time_s) add(report_.models[m], r->models[m].failure, *r);
        }
      }
    }
  }

  Report& report_;
  Rows all_, headline_;
};

}  // namespace

void score(Report& report) { Scorer(report).run(); }

std::string family_of(const std::string& kernel_id) { return kernel_id.substr(0, kernel_id.find('_')); }

}  // namespace kernelcast::validate
