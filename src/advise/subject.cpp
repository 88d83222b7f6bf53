#include "advise/subject.h"

#include <algorithm>

#include "forecast/code_target.h"
#include "kernelcast/bind.h"
#include "kernelcast/error.h"
#include "profile/launch_check.h"

namespace kernelcast::advice {

Subject::Subject(const ForecastQuestion& question, const Frontend& frontend, const DeviceResult& base,
                 const SourceLines& sources, const AdviceLimits& limits)
    : question_(question),
      frontend_(frontend),
      base_(base),
      sources_(sources),
      limits_(limits),
      known_(known_symbols(base.workload->grid, base.workload->block, base.launch)) {
  std::size_t k = 0;
  std::map<Expr, int> shapes;
  for (std::size_t b = 0; b < profile().blocks.size(); ++b)
    for (const Access& a : profile().blocks[b].accesses) {
      const Origin origin = k < base.origin.accesses.size() ? base.origin.accesses[k] : Origin::closed;
      Site site{k, b, &a, workload().access_counts.at(k), origin};
      if (a.unknown < 0) {
        const Expr at = known(a.offset);
        site.constant = at.constant_term();
        site.shape = shapes.emplace(at - Expr(site.constant), static_cast<int>(shapes.size())).first->second;
      } else {
        site.shape = -1 - static_cast<int>(k);
      }
      sites_.push_back(std::move(site));
      ++k;
    }
}

Expr Subject::known(const Expr& e) const {
  try {
    return e.substitute(known_);
  } catch (const LimitError&) {
    return e;  // leaves 64 bits: stays as it is
  }
}

std::optional<std::int64_t> Subject::stride(const Access& a, Symbol s) const {
  if (a.unknown >= 0) return std::nullopt;
  try {
    const auto k = a.offset.substitute(known_).coefficient(s);
    return k ? k->constant() : std::nullopt;
  } catch (const LimitError&) {
    return std::nullopt;
  }
}

std::string Subject::buffer_name(const Access& a) const {
  return a.buffer < 0 ? std::string() : profile().buffers.at(static_cast<std::size_t>(a.buffer)).name;
}

std::string Subject::file(SourceLine line) const {
  return line.file < 0 || static_cast<std::size_t>(line.file) >= profile().files.size()
             ? std::string()
             : profile().files[static_cast<std::size_t>(line.file)];
}

std::string Subject::text(SourceLine line) const {
  const auto found = sources_.find(file(line));
  if (found == sources_.end() || line.line < 1 || static_cast<std::size_t>(line.line) > found->second.size()) return "";
  const std::string& text = found->second[static_cast<std::size_t>(line.line - 1)];
  return text.size() > longest_read ? std::string() : text;
}

bool Subject::in_source(SourceLine line) const {
  const std::string path = file(line);
  if (path == question_.source.path) return true;
  const auto named = sources_.find(path), own = sources_.find(question_.source.path);
  return !path.empty() && named != sources_.end() && own != sources_.end() && !own->second.empty() &&
         named->second == own->second;
}

std::vector<SourceLine> Subject::lines() const {
  std::vector<SourceLine> all;
  for (std::size_t f = 0; f < profile().files.size(); ++f) {
    const auto found = sources_.find(profile().files[f]);
    if (found == sources_.end()) continue;
    for (std::size_t l = 1; l <= found->second.size(); ++l) all.push_back({static_cast<int>(f), static_cast<int>(l)});
  }
  return all;
}

std::optional<Interval> Subject::trip_range(const Expr& trips) const {
  SymbolRanges box;
  const auto grid = workload().grid.array(), block = workload().block.array();
  for (int axis = 0; axis < 3; ++axis) {
    box[local_id(axis)] = {0, block[static_cast<std::size_t>(axis)] - 1};
    box[group_id(axis)] = {0, grid[static_cast<std::size_t>(axis)] - 1};
  }
  try {
    return trips.range(box);
  } catch (const LimitError&) {
    return std::nullopt;
  }
}

std::optional<double> Subject::trips(int loop) const {
  if (loop < 0) return 1;
  const Loop& l = profile().loops.at(static_cast<std::size_t>(loop));
  if (l.unknown >= 0) return std::nullopt;
  const Expr trips = known(l.trips);
  if (const auto constant = trips.constant()) return static_cast<double>(*constant);
  const auto between = trip_range(trips);
  if (!between || between->hi - between->lo > 2) return std::nullopt;
  return static_cast<double>(between->lo + between->hi) / 2;
}

std::optional<double> Subject::most_trips(const Loop& loop) const {
  if (loop.unknown >= 0) return std::nullopt;
  const auto between = trip_range(known(loop.trips));
  return between ? std::optional(static_cast<double>(between->hi)) : std::nullopt;
}

bool Subject::knows_data() const {
  return !launch().assume.empty() || std::any_of(launch().buffers.begin(), launch().buffers.end(),
                                                 [](const auto& b) { return !b.second.fill.empty(); });
}

double Subject::fewest_registers() const {
  constexpr double likely = 8;  // 95 % of kernels need no fewer than so many below the estimate (docs/lab/registers.md)
  const double now = workload().registers_per_thread, low = profile().registers.low;
  return low > 0 ? std::min(std::max(low, now - likely), now) : now;
}

int Subject::unit_count() const { return static_cast<int>(device().get(Field::compute_units).value_or(1)); }

const Workload& Subject::closed_forms() const {
  if (!closed_forms_) {
    Binder binder(profile(), device().geometry());
    closed_forms_ = binder.bind(launch());
  }
  return *closed_forms_;
}

std::optional<DeviceResult> Subject::ask(const ForecastQuestion& changed) const {
  const Source &now = changed.source, &was = question_.source;
  if (now.text != was.text || now.fast_math != was.fast_math) {
    const std::pair key(now.text, now.fast_math);
    if (!compiled_.contains(key) && static_cast<int>(compiled_.size()) >= limits_.most_compiled) {
      ++not_asked_;
      return std::nullopt;
    }
    compiled_.insert(key);
  }
  const Dim3 sizes = changed.grid ? *changed.grid : changed.global.value_or(Dim3{0, 0, 0});
  const auto [place, first] =
      asked_.try_emplace(Asked{now.text, now.fast_math, sizes.array(), changed.launch.block.array()});
  if (first) place->second = answered(changed);
  return place->second;
}

std::optional<DeviceResult> Subject::answered(const ForecastQuestion& changed) const {
  Forecaster forecaster(changed, frontend_);
  DeviceResult result = forecaster.on(device());
  if (!result.workload || !result.models.front().estimate || !result.models.front().estimate->time_s.value)
    return std::nullopt;
  return result;
}

namespace {

using Contents = std::map<std::string, std::vector<unsigned char>>;

std::optional<Contents> contents_after(const ForecastQuestion& q, const Subject& s, const Frontend& frontend) {
  FrontendOptions options;
  options.kernel = q.kernel;
  generate_for(s.device(), options);
  options.map = q.map;
  options.block = s.launch().block;
  options.cluster = s.launch().cluster;
  options.program = true;
  options.time_limit_s = q.compile_seconds;
  try {
    const Analysis analysis = frontend.analyze(q.source, options);
    if (!analysis.program) return std::nullopt;
    ExecuteOptions run = q.execute;
    run.locality = false;
    run.keep_buffers = true;
    const Execution done = execute(analysis.profile, *analysis.program, s.launch(), s.device().geometry(), run);
    if (!done.complete) return std::nullopt;
    return done.buffers;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

bool Subject::same_results(const ForecastQuestion& changed) const {
  const auto before = contents_after(question_, *this, frontend_);
  if (!before || before->empty()) return false;
  return before == contents_after(changed, *this, frontend_);
}

}  // namespace kernelcast::advice
