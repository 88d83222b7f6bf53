// A thread's share of a sweep is a range of configurations. It has a Trial of its own, whose analyses come from the
// memory that all share, and whose times do not depend on what was asked before.
#include "tune/sweep.h"

#include <algorithm>
#include <unordered_map>

#include "io/text.h"
#include "kernelcast/error.h"

namespace kernelcast::tune {
namespace {

class RowWriter {
 public:
  explicit RowWriter(SweepRows& rows) : rows_(rows) {}

  void add(Configuration configuration, std::size_t device, const LaunchShape& shape, const TrialTime& t) {
    rows_.configuration.push_back(static_cast<std::int64_t>(configuration));
    rows_.device.push_back(static_cast<std::int32_t>(device));
    const Dim3 grid = shape.grid_known ? shape.grid : Dim3{0, 0, 0},
               block = shape.block_known ? shape.block : Dim3{0, 0, 0};
    rows_.grid_x.push_back(grid.x);
    rows_.grid_y.push_back(grid.y);
    rows_.grid_z.push_back(grid.z);
    rows_.block_x.push_back(block.x);
    rows_.block_y.push_back(block.y);
    rows_.block_z.push_back(block.z);
    rows_.shared_bytes.push_back(shape.dynamic_shared_bytes);
    const bool timed = t.refusal == Refusal::none;
    rows_.time_s.push_back(timed ? t.time_s : 0);
    rows_.reason.push_back(timed ? -1 : number_of(std::string(name_of(t.refusal)) + ": " + t.reason));
  }

 private:
  std::int32_t number_of(const std::string& reason) {
    const auto [at, added] = numbers_.emplace(reason, static_cast<std::int32_t>(rows_.reasons.size()));
    if (added) rows_.reasons.push_back(reason);
    return at->second;
  }

  SweepRows& rows_;
  std::unordered_map<std::string, std::int32_t> numbers_;
};

}  // namespace

Sweep::Sweep(Space space, TuneOptions options, AnalysisMemory& memory)
    : space_(std::move(space)),
      options_(std::move(options)),
      combinations_(combinations(space_)),
      context_(context_of(space_, options_, memory)) {}

std::vector<std::pair<std::string, std::vector<std::string>>> Sweep::parameters() const {
  std::vector<std::pair<std::string, std::vector<std::string>>> found;
  for (const Parameter& p : space_.parameters) {
    std::vector<std::string> values;
    for (const Value& v : p.values) values.push_back(text_of(v));
    found.emplace_back(p.name, std::move(values));
  }
  return found;
}

SweepRows Sweep::rows(std::uint64_t begin, std::uint64_t end) const {
  SweepRows rows;
  rows.parameters.resize(space_.parameters.size());
  RowWriter writer(rows);
  Trial trial(context_);
  std::vector<std::uint64_t> strides(space_.parameters.size(), 1);
  for (std::size_t p = strides.size(); p-- > 1;) strides[p - 1] = strides[p] * space_.parameters[p].values.size();
  for (Configuration c = begin; c < std::min(end, combinations_); ++c) {
    std::optional<LaunchShape> shape;
    TrialTime refused;
    try {
      shape = trial.launch(c);
      if (!shape) continue;
    } catch (const Error& e) {
      shape.emplace().grid_known = shape->block_known = false;
      refused = {0, 0, Refusal::constraint, first_line(message_of(e))};
    }
    for (std::size_t d = 0; d < options_.devices.size(); ++d) {
      writer.add(c, d, *shape, refused.refusal != Refusal::none ? refused : trial.time(c, d));
      for (std::size_t p = 0; p < strides.size(); ++p)
        rows.parameters[p].push_back(static_cast<std::int32_t>(c / strides[p] % space_.parameters[p].values.size()));
    }
  }
  return rows;
}

}  // namespace kernelcast::tune
