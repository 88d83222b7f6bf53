// Kernel Tuner's rule for grids: ceil(problem / product of the divisors); --tile says the same with the block among the
// divisors.
#include "tune/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/nearest.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"

namespace kernelcast::tune {
namespace {

constexpr std::array<const char*, 3> block_name{"block_x", "block_y", "block_z"};
constexpr std::array<const char*, 3> grid_name{"grid_x", "grid_y", "grid_z"};
constexpr double largest_size = 4611686018427387904.0;  // 2^62

bool is_parameter(const Space& space, int name) {
  return std::find(space.parameter_names.begin(), space.parameter_names.end(), name) != space.parameter_names.end();
}

bool uses(const Expression& e, int name) {
  return std::find(e.names().begin(), e.names().end(), name) != e.names().end();
}

/// Whether any expression that is evaluated after the launch's sizes are known asks for the name.
bool asked_for(const Space& space, int name) {
  const auto of_name = [name](const Expression& e) { return uses(e, name); };
  const auto among = [&](const std::vector<Expression>& all) { return std::any_of(all.begin(), all.end(), of_name); };
  return among(space.constraints) || std::any_of(space.grid.begin(), space.grid.end(), of_name) ||
         std::any_of(space.divisors.begin(), space.divisors.end(), among) || of_name(space.dynamic_shared);
}

/// The number of a name of ours, -1 if a parameter has taken it or nobody reads it.
int own_name(const Space& space, const char* name) {
  const int number = space.names.find(name);
  return number < 0 || is_parameter(space, number) || !asked_for(space, number) ? -1 : number;
}

}  // namespace

std::uint64_t combinations(const Space& space) {
  std::uint64_t all = 1;
  for (const Parameter& p : space.parameters) {
    if (__builtin_mul_overflow(all, static_cast<std::uint64_t>(p.values.size()), &all) ||
        all > (std::uint64_t{1} << 62)) {
      throw UserError(space.place + ": the space has more than 2^62 combinations; give fewer values");
    }
  }
  return all;
}

void add_launch_names(Space& space) {
  for (const char* name : block_name) space.names.number_of(name);
  for (const char* name : grid_name) space.names.number_of(name);
  space.names.number_of("threads");
  space.names.number_of("shared");
}

void check_names(const Space& space) {
  std::vector<std::string> known;
  for (const Parameter& p : space.parameters) known.push_back(p.name);
  for (const auto& [name, value] : space.constants) known.push_back(space.names.name(name));
  const std::vector<std::string> sizes = known;
  for (const char* name : block_name) known.emplace_back(name);
  for (const char* name : grid_name) known.emplace_back(name);
  known.emplace_back("threads");
  known.emplace_back("shared");
  const auto check = [&](const Expression& e, const std::vector<std::string>& allowed) {
    for (const int n : e.names()) {
      const std::string& name = space.names.name(n);
      if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
      const std::vector<std::string> near = nearest_names(name, allowed, 1);
      throw UsageError(
          fmt::format("{}: expression \"{}\": nothing is called {}{}", space.place, e.text(), name,
                      near.empty() ? "; " KC_SETTING(param) " defines names" : "; did you mean " + near.front() + "?"));
    }
  };
  for (const Expression& e : space.constraints) check(e, known);
  for (const Expression& e : space.block) check(e, sizes);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    check(space.problem[axis], sizes);
    check(space.grid[axis], known);
    for (const Expression& e : space.divisors[axis]) check(e, known);
  }
  check(space.dynamic_shared, known);
}

SpaceReader::SpaceReader(const Space& space)
    : space_(space), scope_(space.names.size()), chosen_(space.parameters.size()) {
  for (const auto& [name, value] : space.constants) scope_.set(name, value);
  for (std::size_t i = 0; i < 3; ++i) {
    block_names_[i] = own_name(space, block_name[i]);
    grid_names_[i] = own_name(space, grid_name[i]);
  }
  threads_name_ = own_name(space, "threads");
  shared_name_ = own_name(space, "shared");
  strides_.resize(space.parameters.size());
  std::uint64_t stride = 1;
  for (std::size_t i = space.parameters.size(); i-- > 0;) {
    strides_[i] = stride;
    stride *= space.parameters[i].values.size();
  }
}

void SpaceReader::choose(Configuration configuration) {
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const std::uint64_t value = configuration / strides_[i];
    configuration -= value * strides_[i];
    if (!all_set_ || value != chosen_[i]) set(i, static_cast<std::size_t>(value));
  }
  all_set_ = true;
}

void SpaceReader::set(std::size_t parameter, std::size_t value) {
  chosen_[parameter] = value;
  scope_.set(space_.parameter_names[parameter], space_.parameters[parameter].values[value]);
}

void SpaceReader::unset(std::size_t parameter) {
  all_set_ = false;
  scope_.forget(space_.parameter_names[parameter]);
}

bool SpaceReader::holds(std::size_t constraint) { return space_.constraints[constraint].holds(scope_, space_.names); }

std::int64_t SpaceReader::size(const char* what, const Expression& e, std::int64_t minimum) {
  const double value = e.number(scope_, space_.names);
  if (value < static_cast<double>(minimum) || value > largest_size || value != std::floor(value)) {
    throw UserError(fmt::format("{}: the {} \"{}\" is {}{}, which is not a whole number of at least {}", space_.place,
                                what, e.text(), value, chosen_.empty() ? "" : " for " + text(), minimum));
  }
  return static_cast<std::int64_t>(value);
}

LaunchShape SpaceReader::shape() {
  LaunchShape s;
  const std::array<std::int64_t*, 3> block{&s.block.x, &s.block.y, &s.block.z}, grid{&s.grid.x, &s.grid.y, &s.grid.z};
  s.block_known = !space_.block_of_kernel;
  double threads = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!space_.block[i].empty()) *block[i] = size("block size", space_.block[i], 1);
    threads *= static_cast<double>(*block[i]);
    if (s.block_known && block_names_[i] >= 0) {
      scope_.set(block_names_[i], Value::whole(static_cast<double>(*block[i])));
    }
  }
  if (threads > largest_size) throw UserError(space_.place + ": a block of more than 2^62 threads; give smaller sizes");
  if (s.block_known && threads_name_ >= 0) scope_.set(threads_name_, Value::whole(threads));
  s.grid_known = false;
  double blocks = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!space_.problem[i].empty()) {
      double divisor = space_.divide_by_block ? static_cast<double>(*block[i]) : 1;
      for (const Expression& e : space_.divisors[i]) divisor *= e.number(scope_, space_.names);
      const double problem = static_cast<double>(size("problem size", space_.problem[i], 1));
      if (!(divisor > 0)) {
        throw UserError(
            fmt::format("{}: the grid divisors of axis {} give {} for {}", space_.place, "xyz"[i], divisor, text()));
      }
      const double needed = std::max(1.0, std::ceil(problem / divisor));
      if (!(needed <= largest_size))
        throw UserError(fmt::format("{}: the grid divisors of axis {} give {} blocks for {}", space_.place, "xyz"[i],
                                    needed, text()));
      *grid[i] = static_cast<std::int64_t>(needed);
      s.grid_known = true;
    } else if (!space_.grid[i].empty()) {
      *grid[i] = size("grid size", space_.grid[i], 1);
      s.grid_known = true;
    }
    blocks *= static_cast<double>(*grid[i]);
  }
  if (blocks * threads > largest_size)
    throw UserError(space_.place + ": a launch of more than 2^62 threads; give smaller sizes");
  for (std::size_t i = 0; i < 3 && s.grid_known; ++i) {
    if (grid_names_[i] >= 0) scope_.set(grid_names_[i], Value::whole(static_cast<double>(*grid[i])));
  }
  if (!space_.dynamic_shared.empty()) s.dynamic_shared_bytes = size("shared memory", space_.dynamic_shared, 0);
  if (shared_name_ >= 0) scope_.set(shared_name_, Value::whole(static_cast<double>(s.dynamic_shared_bytes)));
  return s;
}

std::vector<std::pair<std::string, Value>> SpaceReader::parameters() const {
  std::vector<std::pair<std::string, Value>> all;
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    all.emplace_back(space_.parameters[i].name, space_.parameters[i].values[chosen_[i]]);
  }
  return all;
}

std::string SpaceReader::text() const {
  std::string out;
  for (const auto& [name, value] : parameters()) out += (out.empty() ? "" : ", ") + name + "=" + text_of(value);
  return out.empty() ? "the only configuration" : out;
}

std::vector<std::string> SpaceReader::defines(const LaunchShape& shape) const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const Parameter& p = space_.parameters[i];
    if (p.define) all.push_back(p.name + "=" + text_of(p.values[chosen_[i]]));
  }
  all.insert(all.end(), space_.defines.begin(), space_.defines.end());
  if (!space_.kernel_tuner) return all;
  const auto add = [&](const char* name, std::int64_t value) {
    const auto given = [&](const Parameter& p) { return p.name == name; };
    if (std::none_of(space_.parameters.begin(), space_.parameters.end(), given))
      all.push_back(fmt::format("{}={}", name, value));
  };
  if (shape.grid_known) {
    add("grid_size_x", shape.grid.x);
    add("grid_size_y", shape.grid.y);
    add("grid_size_z", shape.grid.z);
  }
  if (shape.block_known) {
    add("block_size_x", shape.block.x);
    add("block_size_y", shape.block.y);
    add("block_size_z", shape.block.z);
  }
  add("kernel_tuner", 1);
  return all;
}

double SpaceReader::python(const std::string& expression) {
  Names known;
  for (const auto& [name, value] : parameters()) {
    if (value.is_number()) known[name] = {value.number};
  }
  std::vector<double> problem;
  for (const Expression& e : space_.problem) {
    if (!e.empty()) problem.push_back(e.number(scope_, space_.names));
  }
  known["ProblemSize"] = known["problem_size"] = problem;
  try {
    return evaluate(expression, known);
  } catch (const UserError& e) {
    throw UserError(fmt::format("{}: {} (for {})", space_.place, message_of(e), text()));
  }
}

}  // namespace kernelcast::tune
