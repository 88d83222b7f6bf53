#include "tune/space_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "tune/ranges.h"

namespace kernelcast::tune {
namespace {

constexpr std::array<char, 3> axis_letter{'x', 'y', 'z'};

Expression read(std::string_view flag, const std::string& text, Space& space) {
  try {
    return Expression(text, Syntax::c, space.names);
  } catch (const UserError& e) {
    throw UsageError(fmt::format("{}: {}", flag, message_of(e)));
  }
}

void add_parameter(Space& space, Parameter p, std::string_view flag) {
  const bool known = std::any_of(space.parameters.begin(), space.parameters.end(),
                                 [&](const Parameter& o) { return o.name == p.name; });
  if (known) throw UsageError(fmt::format("{}: {} varies already", flag, p.name));
  space.parameter_names.push_back(space.names.number_of(p.name));
  space.parameters.push_back(std::move(p));
}

/// Axes of one flag: ranges become parameters FLAG_x, FLAG_y, FLAG_z, everything else is an expression.
std::array<Expression, 3> axes(std::string_view flag, const std::string& text, const std::string& name, Space& space) {
  std::array<Expression, 3> all;
  const std::vector<AxisText> read_axes = axes_in(flag, text);
  for (std::size_t i = 0; i < read_axes.size(); ++i) {
    std::string expression = read_axes[i].expression;
    if (!read_axes[i].values.empty()) {
      expression = fmt::format("{}_{}", name, axis_letter[i]);
      add_parameter(space, {expression, read_axes[i].values, false}, flag);
    }
    all[i] = read(flag, expression, space);
  }
  return all;
}

bool is_identifier(const std::string& name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

void add_parameters(const SpaceFlags& flags, Space& space) {
  for (const std::string& text : flags.parameters) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      throw UsageError(fmt::format(KC_SETTING(param) " {}: expected NAME=v1,v2,... or NAME=a..b:*2", text));
    }
    const std::string name = text.substr(0, equals);
    if (!is_identifier(name))
      throw UsageError(fmt::format(KC_SETTING(param) " {}: {} is no name of a macro", text, name));
    add_parameter(space, {name, values_in(KC_SETTING(param) " " + name, text.substr(equals + 1)), true},
                  KC_SETTING(param));
  }
}

void add_arguments(const SpaceFlags& flags, Space& space) {
  for (const auto& [name, value] : flags.arguments) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    const int number = space.names.number_of(name);
    const bool varies =
        std::find(space.parameter_names.begin(), space.parameter_names.end(), number) != space.parameter_names.end();
    if (whole != nullptr && !varies) space.constants.emplace_back(number, Value::whole(static_cast<double>(*whole)));
  }
}

void add_shared(const SpaceFlags& flags, Space& space) {
  if (flags.shared.empty()) return;
  if (flags.shared.find("..") == std::string::npos && parts_of(KC_SETTING(shared), flags.shared).size() == 1) {
    space.dynamic_shared = read(KC_SETTING(shared), flags.shared, space);
    return;
  }
  add_parameter(space, {"shared", values_in(KC_SETTING(shared), flags.shared), false}, KC_SETTING(shared));
  space.dynamic_shared = read(KC_SETTING(shared), "shared", space);
}

void add_tile(const SpaceFlags& flags, Space& space) {
  const std::array<Expression, 3> tile =
      flags.tile.empty() ? std::array<Expression, 3>{} : axes(KC_SETTING(tile), flags.tile, "tile", space);
  for (std::size_t i = 0; i < 3; ++i) {
    space.divisors[i].clear();
    if (!tile[i].empty()) space.divisors[i].push_back(tile[i]);
  }
  space.divide_by_block = true;
}

void add_constraints(const SpaceFlags& flags, Space& space) {
  for (const std::string& text : flags.constraints)
    space.constraints.push_back(read(KC_SETTING(constraint), text, space));
}

}  // namespace

Space space_of(const SpaceFlags& flags, bool mapped, bool block_of_file) {
  Space space;
  space.place = "the command line";
  add_parameters(flags, space);
  if (flags.block.empty() && !block_of_file)
    throw UsageError("give block sizes with " KC_SETTING(block) ", such as " KC_SETTING(block) " 32..1024:*2");
  if (flags.block.empty())
    space.block_of_kernel = true;
  else
    space.block = axes(KC_SETTING(block), flags.block, "block", space);
  const int given = !flags.grid.empty() + !flags.global.empty() + !flags.problem.empty();
  if (given > 1)
    throw UsageError(
        KC_SETTING(grid) ", " KC_SETTING(global) " and " KC_SETTING(problem) " say the same: give one of them");
  if (given == 0 && !mapped) {
    throw UsageError("give the size of the problem with " KC_SETTING(problem) ", the threads with " KC_SETTING(
        global) " or the blocks with " KC_SETTING(grid));
  }
  if (!flags.tile.empty() && flags.problem.empty())
    throw UsageError(KC_SETTING(tile) " needs " KC_SETTING(problem) ": the grid is ceil(problem / (block * tile))");
  if (!flags.grid.empty()) space.grid = axes(KC_SETTING(grid), flags.grid, "grid", space);
  if (!flags.global.empty()) space.problem = axes(KC_SETTING(global), flags.global, "global", space);
  if (!flags.problem.empty()) space.problem = axes(KC_SETTING(problem), flags.problem, "problem", space);
  if (flags.grid.empty()) add_tile(flags, space);
  add_shared(flags, space);
  add_arguments(flags, space);
  add_constraints(flags, space);
  add_launch_names(space);
  check_names(space);
  return space;
}

void apply(const SpaceFlags& flags, Space& space) {
  if (!flags.grid.empty() || !flags.global.empty()) {
    throw UsageError(KC_SETTING(grid) " and " KC_SETTING(global) ": the " KC_SETTING(
        space) " file derives the grid; give " KC_SETTING(problem));
  }
  add_parameters(flags, space);
  if (!flags.block.empty()) {
    space.block = axes(KC_SETTING(block), flags.block, "block", space);
    space.block_of_kernel = false;
  }
  if (!flags.problem.empty()) space.problem = axes(KC_SETTING(problem), flags.problem, "problem", space);
  if (!flags.tile.empty()) add_tile(flags, space);
  add_shared(flags, space);
  add_arguments(flags, space);
  add_constraints(flags, space);
  add_launch_names(space);
  check_names(space);
}

}  // namespace kernelcast::tune
