#include "probe/cuda/figures.h"

#include <algorithm>
#include <iterator>

namespace kernelcast::probe::cuda {

Figures::Figures(const Record& record) {
  for (const Series<Run>& s : record.launches) {
    launches_[s.name] = &s;
    order_.push_back(s.name);
  }
  for (const Series<TransferRun>& s : record.transfers) transfers_[s.name] = &s;
  for (const std::string& note : record.notes) failure_ += (failure_.empty() ? "" : "; ") + note;
}

const Series<Run>* Figures::launch(const std::string& name) const {
  const auto found = launches_.find(name);
  return found == launches_.end() ? nullptr : found->second;
}

std::vector<std::string> Figures::beginning(const std::string& prefix) const {
  std::vector<std::string> out;
  for (const std::string& name : order_)
    if (name.starts_with(prefix) && !launches_.at(name)->runs.empty()) out.push_back(name);
  return out;
}

std::vector<double> Figures::readings(const Source& source, std::string& failure) const {
  std::vector<double> out;
  if (const auto found = transfers_.find(source.name); found != transfers_.end()) {
    if (found->second->runs.empty()) failure = found->second->failure;
    for (const TransferRun& r : found->second->runs)
      out.push_back(source.metric == Metric::issue_s ? r.issue_s : r.done_s);
    return out;
  }
  const Series<Run>* s = launch(source.name);
  if (s == nullptr || s->runs.empty()) {
    failure = s != nullptr && !s->failure.empty() ? s->failure : failure_.empty() ? "it was not run" : failure_;
    return out;
  }
  for (const Run& r : s->runs)
    out.push_back(source.metric == Metric::cycles     ? r.cycles
                  : source.metric == Metric::device_s ? r.device_s
                  : source.metric == Metric::wall_s   ? r.wall_s
                                                      : r.issue_s);
  return out;
}

double Figures::fastest_cycles(const std::string& name) const {
  std::string ignored;
  std::vector<Sample> samples;
  for (double cycles : readings({name}, ignored)) samples.push_back({cycles, 1});
  return fastest(samples);
}

void Figures::compute(Result result, const std::vector<Source>& sources,
                      const std::function<void(Measurement&, Result, const Handles&)>& add_figure) {
  Measurement m;
  m.clock([] { return 1.0; });
  Handles handles;
  Measurement::Limits limits;
  std::size_t rounds = ~std::size_t{0};
  for (const Source& s : sources) {
    std::string failure;
    std::vector<double> values = readings(s, failure);
    if (values.empty()) {
      unknown(std::move(result), failure.empty() ? "it was not run" : failure);
      return;
    }
    rounds = std::min(rounds, values.size());
    handles.push_back(m.series([values = std::move(values), i = std::size_t{0}]() mutable { return values[i++]; }));
  }
  add_figure(m, std::move(result), handles);
  limits.min_rounds = limits.max_rounds = static_cast<int>(rounds);
  limits.time_limit_s = 1e9;
  m.run(limits, nullptr);
  std::ranges::move(m.results(), std::back_inserter(results_));
}

void Figures::figure(Result result, const std::vector<Source>& sources, const Value& value, bool step,
                     const std::string& unknown_for) {
  compute(std::move(result), sources, [&](Measurement& m, Result r, const Handles& handles) {
    const Measurement::Value of = [&value, handles](const View& v) { return value(v, handles); };
    if (step) {
      m.step(std::move(r), of, unknown_for);
    } else {
      m.figure(std::move(r), of, unknown_for);
    }
  });
}

void Figures::table(Result result, const std::vector<Source>& sources, const Lists& lists) {
  compute(std::move(result), sources, [&](Measurement& m, Result r, const Handles& handles) {
    m.table(std::move(r), [&lists, handles](const View& v) { return lists(v, handles); });
  });
}

void Figures::unknown(Result result, const std::string& reason) {
  result.value.reset();
  result.confidence = "none";
  result.reason = reason.substr(0, reason.find('\n'));
  results_.push_back(std::move(result));
}

std::vector<Figures::Source> Figures::pair(const std::string& of, Metric metric) const {
  return {{of + ".short", metric}, {of + ".long", metric}};
}

double Figures::items_between(const std::string& of) const {
  const Series<Run>*one = launch(of + ".short"), *two = launch(of + ".long");
  return one != nullptr && two != nullptr ? two->items - one->items : 1;
}

Figures::Value slope(double items) {
  return [items](const Figures::View& v, const Figures::Handles& h) -> std::optional<double> {
    return std::max(0.0, v(h[1]) - v(h[0])) / items;
  };
}

Figures::Value rate(double items) {
  return [items](const Figures::View& v, const Figures::Handles& h) -> std::optional<double> {
    const double time = v(h[1]) - v(h[0]);
    return time > 0 ? std::optional(items / time) : std::nullopt;
  };
}

Figures::Value clock_rate() {
  return [](const Figures::View& v, const Figures::Handles& h) -> std::optional<double> {
    const double time = v(h[1]) - v(h[0]);
    return time > 0 ? std::optional(2 * (v(h[3]) - v(h[2])) / time) : std::nullopt;
  };
}

}  // namespace kernelcast::probe::cuda
