#include "probe/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>

#include "kernelcast/error.h"

namespace kernelcast::probe {
namespace {

constexpr std::size_t at_least = 3;

/// The `count` fastest in order.
std::vector<Sample> first(std::vector<Sample> samples, std::size_t count) {
  if (samples.empty()) throw InternalError("an estimate of no samples");
  std::ranges::sort(samples, {}, &Sample::seconds);
  samples.resize(std::min(samples.size(), count));
  return samples;
}

std::vector<Sample> fastest_few(std::vector<Sample> samples) {
  const std::size_t few = std::max(at_least, samples.size() / 20);
  return first(std::move(samples), few);
}

double median(std::vector<double> v) {
  std::ranges::sort(v);
  const std::size_t n = v.size();
  return n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double ratio(const Sample& s) { return s.seconds / s.cycle; }

template <class F>
std::vector<double> each(const std::vector<Sample>& samples, F f) {
  std::vector<double> out;
  std::ranges::transform(samples, std::back_inserter(out), f);
  return out;
}

}  // namespace

double fastest(std::vector<Sample> samples) {
  return median(each(fastest_few(std::move(samples)), [](const Sample& s) { return s.seconds; }));
}

double fastest_cycles(std::vector<Sample> samples) { return median(each(fastest_few(std::move(samples)), ratio)); }

double fastest_spread(std::vector<Sample> samples) {
  const std::vector<Sample> f = fastest_few(samples);
  const double middle = fastest(std::move(samples));
  return middle > 0 ? (f.back().seconds - f.front().seconds) / middle : 0;
}

double mean_cycles_of_ten(std::vector<Sample> samples) {
  const std::vector<double> ratios = each(first(std::move(samples), 10), ratio);
  return std::accumulate(ratios.begin(), ratios.end(), 0.0) / static_cast<double>(ratios.size());
}

std::vector<Sample> Measurement::View::samples(Handle series) const {
  used_.insert(series);
  const std::vector<Sample>& all = from_.samples_.at(static_cast<std::size_t>(series));
  const std::size_t half = all.size() / 2;
  std::vector<Sample> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool in = rounds_ == Rounds::all || (rounds_ == Rounds::first_half && i < half) ||
                    (rounds_ == Rounds::second_half && i >= half) || (rounds_ == Rounds::even && i % 2 == 0) ||
                    (rounds_ == Rounds::odd && i % 2 == 1);
    if (in) out.push_back(all[i]);
  }
  return out;
}

double Measurement::View::operator()(Handle series) const { return fastest(samples(series)); }
double Measurement::View::cycles(Handle series) const { return fastest_cycles(samples(series)); }
double Measurement::View::mean_cycles_of_ten(Handle series) const { return probe::mean_cycles_of_ten(samples(series)); }

Measurement::Handle Measurement::series(std::function<double()> sample) {
  sample_.push_back(std::move(sample));
  samples_.emplace_back();
  return static_cast<Handle>(sample_.size()) - 1;
}

Result& Measurement::figure(Result result, Value value, std::string unknown) {
  figures_.push_back({std::move(result), std::move(value), {}, std::move(unknown), false});
  return figures_.back().result;
}

Result& Measurement::step(Result result, Value value, std::string unknown) {
  figures_.push_back({std::move(result), std::move(value), {}, std::move(unknown), true});
  return figures_.back().result;
}

Result& Measurement::table(Result result, Lists lists) {
  figures_.push_back({std::move(result), [](const View&) { return std::nullopt; }, std::move(lists), "", true});
  return figures_.back().result;
}

bool Measurement::agree(const Figure& figure, Rounds one, Rounds two) const {
  if (figure.lists) {
    const auto a = figure.lists(view(one)), b = figure.lists(view(two));
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t k = 0; k < a[i].size(); ++k)
        if (std::abs(a[i][k] - b[i][k]) > limits_.tolerance * std::abs(a[i][k])) return false;
    return true;
  }
  const std::optional<double> a = figure.value(view(one)), b = figure.value(view(two));
  if (!a || !b) return a.has_value() == b.has_value();
  return std::abs(*a - *b) <= limits_.tolerance * std::abs(*a);
}

void Measurement::judge(const Figure& figure, Result& out, std::set<Handle>& used) const {
  const View all = view();
  if (figure.lists) {
    out.lists = figure.lists(all);
  } else {
    out.value = figure.value(all);
  }
  used = all.used_;
  std::size_t samples = used.empty() ? 0 : ~std::size_t{0};
  for (Handle h : used) {
    const std::vector<Sample>& s = samples_[static_cast<std::size_t>(h)];
    samples = std::min(samples, s.size());
    out.spread = std::max(out.spread, fastest_spread(s));
  }
  out.samples = static_cast<int>(samples);
  const bool close = figure.stepwise || out.spread <= limits_.spread;
  const bool same = samples >= 2 * at_least && agree(figure, Rounds::first_half, Rounds::second_half) &&
                    agree(figure, Rounds::even, Rounds::odd);
  const bool known = out.value || !out.lists.empty();
  out.confidence = !known ? "none" : close && same ? "high" : "unstable";
  if (!known) out.reason = figure.unknown;
  if (known && !same)
    out.reason = fmt::format("the parts of this run do not agree within {:g} %", 100 * limits_.tolerance);
  if (known && same && !close)
    out.reason = fmt::format("the fastest samples differ by more than {:g} %", 100 * limits_.spread);
}

void Measurement::run(const Limits& limits, const std::function<void(const std::string&)>& progress) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  limits_ = limits;
  std::mt19937 random(1);
  std::set<Handle> open;
  for (Handle h = 0; h < static_cast<Handle>(sample_.size()); ++h) open.insert(h);
  for (int round = 0; !open.empty(); ++round) {
    const double passed = std::chrono::duration<double>(Clock::now() - start).count();
    if (round >= static_cast<int>(at_least) && passed > limits.time_limit_s) return;
    if (progress) progress(fmt::format("probe: round {}, {} series", round + 1, open.size()));
    std::vector<Handle> order(open.begin(), open.end());
    std::ranges::shuffle(order, random);
    for (Handle h : order) {
      const double before = cycle_ ? cycle_() : 0, seconds = sample_[static_cast<std::size_t>(h)](),
                   after = cycle_ ? cycle_() : 0;
      samples_[static_cast<std::size_t>(h)].push_back({seconds, std::min(before, after)});
    }
    if (round + 1 >= limits.max_rounds) return;
    if (round + 1 < limits.min_rounds) continue;
    open.clear();
    for (const Figure& f : figures_) {
      Result result = f.result;
      std::set<Handle> used;
      judge(f, result, used);
      if (result.confidence == "unstable") open.insert(used.begin(), used.end());
    }
  }
}

std::vector<Result> Measurement::results() const {
  std::vector<Result> out;
  for (const Figure& f : figures_) {
    out.push_back(f.result);
    std::set<Handle> used;
    judge(f, out.back(), used);
  }
  return out;
}

Result row(std::string id, std::string unit, std::string method, std::string what, std::vector<Field> fields) {
  Result r;
  r.id = std::move(id);
  r.unit = std::move(unit);
  r.method = std::move(method);
  r.what = std::move(what);
  r.fields = std::move(fields);
  return r;
}

}  // namespace kernelcast::probe
