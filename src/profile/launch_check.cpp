// Everything a user can get wrong about a launch is found here, with the flag that puts it right. The sets of names are
// checked once and remembered, because a tuner binds the same names a million times.
#include "profile/launch_check.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <set>
#include <utility>

#include "core/int_math.h"
#include "io/nearest.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "profile/structure_fields.h"

namespace kernelcast {
namespace {

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
  const auto near = nearest_names(name, known);
  std::string text;
  for (const auto& n : near) text += (text.empty() ? "; did you mean \"" : ", \"") + n + "\"";
  if (!text.empty()) return text + "?";
  if (known.empty()) return "";
  for (const auto& n : known) text += (text.empty() ? "; there are " : ", ") + n;
  return text;
}

std::string size_text(const Dim3& d) {
  return std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z);
}

bool positive_up_to(const Dim3& d, std::int64_t most) {
  constexpr std::int64_t small = (1 << 21) - 1;  // three of them: 63 bits
  if (((d.x | d.y | d.z) & ~small) == 0) {
    const std::int64_t n = d.count();
    return n > 0 && n <= most;
  }
  if (d.x <= 0 || d.y <= 0 || d.z <= 0 || d.x > most || d.y > most || d.z > most) return false;
  const Int128 plane = static_cast<Int128>(d.x) * d.y;
  return plane <= most && plane * d.z <= most;
}

void check_positive(const Dim3& d, std::string_view what, std::string_view flag, std::int64_t most) {
  if (positive_up_to(d, most)) return;
  std::int64_t product = 1;
  for (std::int64_t n : d.array()) {
    if (n <= 0)
      throw UserError(std::string(what) + " " + size_text(d) + " has a size that is not positive: change " +
                      std::string(flag));
    if (__builtin_mul_overflow(product, n, &product) || product > most)
      throw UserError(std::string(what) + " " + size_text(d) + " is larger than " + std::to_string(most) + ": change " +
                      std::string(flag));
  }
}

}  // namespace

std::string place_of(const KernelProfile& profile, SourceLine line) {
  if (line.file >= 0 && static_cast<std::size_t>(line.file) < profile.files.size())
    return profile.files[line.file] + ":" + std::to_string(line.line);
  return line.line > 0 ? "line " + std::to_string(line.line) : "kernel " + profile.kernel;
}

std::string parameter_named(const KernelProfile& profile, const std::string& given) {
  if (given.empty() || !std::all_of(given.begin(), given.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
    return given;
  std::size_t at = profile.parameters.size();
  std::from_chars(given.data(), given.data() + given.size(), at);
  return at < profile.parameters.size() ? profile.parameters[at].name : given;
}

void name_positions(const KernelProfile& profile, Launch& launch) {
  const auto rename = [&profile](auto& values) {
    auto given = std::exchange(values, {});
    for (auto& [name, value] : given) values.emplace(parameter_named(profile, name), std::move(value));
  };
  rename(launch.args);
  rename(launch.buffers);
  rename(launch.structures);
  name_fields(profile, launch);
}

bool only_moves_addresses(const KernelProfile& profile, std::string_view argument) {
  const Symbol symbol("arg:" + std::string(argument));
  const auto decides = [symbol](const Expr& e) { return e.depends_on(symbol); };
  const auto guards = [&decides](const Guard& g) {
    return std::any_of(g.paths.begin(), g.paths.end(), [&](const Path& p) { return decides(p.condition); });
  };
  for (const auto& loop : profile.loops)
    if ((loop.unknown < 0 && decides(loop.trips)) || guards(loop.guard)) return false;
  for (const auto& branch : profile.branches)
    if (branch.unknown < 0 && decides(branch.condition)) return false;
  bool moves = false;
  for (const auto& block : profile.blocks) {
    if (guards(block.guard)) return false;
    for (const auto& a : block.accesses) {
      if (a.unknown >= 0 || !decides(a.offset)) continue;
      const std::optional<Expr> distance = a.offset.coefficient(symbol);
      if (!distance || !distance->constant()) return false;
      moves = true;
    }
  }
  return moves;
}

Assumption zero_distance(const std::string& argument) {
  return {"argument '" + argument + "', which only moves addresses", "0", KC_SETTING(arg) " " + argument + "=VALUE"};
}

std::map<Symbol, Expr> known_symbols(const Dim3& grid, const Dim3& block, const Launch& launch) {
  std::map<Symbol, Expr> known;
  const auto blocks = grid.array(), threads = block.array();
  for (int axis = 0; axis < 3; ++axis) {
    known.emplace(local_size(axis), Expr(threads[axis]));
    known.emplace(num_groups(axis), Expr(blocks[axis]));
    if (threads[axis] == 1) known.emplace(local_id(axis), Expr(0));
    if (blocks[axis] == 1) known.emplace(group_id(axis), Expr(0));
  }
  known.emplace(dynamic_shared(), Expr(launch.dynamic_shared_bytes));
  add_arguments(launch, known);
  return known;
}

LaunchReader::LaunchReader(const KernelProfile& profile) : profile_(profile) {
  for (int axis = 0; axis < 3; ++axis) symbols_.push_back(local_size(axis));
  for (int axis = 0; axis < 3; ++axis) symbols_.push_back(num_groups(axis));
  symbols_.push_back(dynamic_shared());
  std::set<Symbol> known(symbols_.begin(), symbols_.end());
  for (int axis = 0; axis < 3; ++axis) known.insert({local_id(axis), group_id(axis)});
  for (const auto& loop : profile.loops) known.insert(loop.counter);
  const auto need = [&](const Expr& e, const char* why, SourceLine line) {
    for (Symbol s : e.symbols()) {
      if (!known.insert(s).second) continue;
      const std::string& name = s.name();
      const bool real = name.starts_with("real:");
      if (!real && !name.starts_with("arg:"))
        throw InternalError("kernel " + profile.kernel + ": nothing gives a value to the symbol " + name);
      symbols_.push_back(s);
      needed_.push_back(name.substr(real ? 5 : 4));
      needed_real_.push_back(real);
      needed_why_.push_back(std::string(why) + " (" + place_of(profile, line) + ")");
    }
  };
  const auto need_guard = [&](const Guard& g, SourceLine line) {
    for (const auto& path : g.paths) need(path.condition, "decides which threads run", line);
  };
  for (const auto& loop : profile.loops) {
    if (loop.unknown < 0) need(loop.trips, "decides loop trip counts", loop.line);
    need_guard(loop.guard, loop.line);
  }
  for (const auto& block : profile.blocks) need_guard(block.guard, block.line);
  for (const auto& branch : profile.branches)
    if (branch.unknown < 0) need(branch.condition, "decides a branch", branch.line);
  for (const auto& block : profile.blocks)
    for (const auto& a : block.accesses)
      if (a.unknown < 0) need(a.offset, "decides memory addresses", a.line);
  values_.resize(symbols_.size());
}

void LaunchReader::check_sizes(const Launch& launch) const {
  check_positive(launch.grid, "the grid", KC_SETTING(grid), std::int64_t{1} << 48);
  check_positive(launch.block, "the block", KC_SETTING(block), std::int64_t{1} << 16);
  if (launch.dynamic_shared_bytes < 0)
    throw UserError("the dynamic shared memory of " + std::to_string(launch.dynamic_shared_bytes) +
                    " bytes is negative: change " KC_SETTING(shared));
  const Dim3& want = profile_.required_block;
  if (want.x > 0 && !(launch.block == want))
    throw UserError("kernel " + profile_.kernel + " requires blocks of " + size_text(want) +
                    " (reqd_work_group_size), not " + size_text(launch.block) + ": give " KC_SETTING(block) " " +
                    size_text(want));
  if (profile_.max_threads_per_block > 0 && launch.block.count() > profile_.max_threads_per_block)
    throw UserError("kernel " + profile_.kernel + " is declared for at most " +
                    std::to_string(profile_.max_threads_per_block) +
                    " threads a block (__launch_bounds__), " KC_SETTING(block) " " + size_text(launch.block) + " has " +
                    std::to_string(launch.block.count()));
}

void LaunchReader::missing(std::size_t argument) const {
  throw ArgumentError("the value of parameter \"" + needed_[argument] + "\" " + needed_why_[argument] +
                          ": give " KC_SETTING(arg) " " + needed_[argument] + "=VALUE",
                      needed_[argument]);
}

LaunchReader::Range LaunchReader::range_of(const Parameter& p) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                         least = std::numeric_limits<std::int64_t>::min();
  if (!p.integer || p.bytes < 1 || p.bytes > 8) return {least, most};
  if (p.type == "bool" || p.type == "_Bool") return {0, 1};
  const auto is = [&p](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&p](std::string_view w) { return p.type.starts_with(w); });
  };
  const bool is_unsigned = is({"unsigned", "uchar", "ushort", "uint", "ulong", "size_t"});
  const bool is_signed = is({"int", "short", "long", "char", "signed"});
  if (p.bytes == 8) return {is_unsigned ? 0 : least, most};
  const std::int64_t half = std::int64_t{1} << (8 * p.bytes - 1);
  return {is_unsigned ? 0 : -half, is_signed ? half - 1 : 2 * half - 1};  // IR types have no sign: either reading
}

void LaunchReader::check_range(const std::string& name, const ArgValue& value, const Range& range) const {
  const auto* whole = std::get_if<std::int64_t>(&value);
  if (whole == nullptr || (*whole >= range.least && *whole <= range.most)) return;
  const auto p = std::find_if(profile_.parameters.begin(), profile_.parameters.end(),
                              [&name](const Parameter& q) { return q.name == name; });
  const std::string type = p == profile_.parameters.end() ? "" : " of type " + p->type;
  throw ArgumentError(KC_SETTING(arg) " " + name + "=" + std::to_string(*whole) + ": parameter \"" + name + "\"" +
                          type + " of kernel " + profile_.kernel + " holds " + std::to_string(range.least) + " to " +
                          std::to_string(range.most) + ": give a value in this range",
                      name);
}

Assumption LaunchReader::whole_structure(const std::string& name) const {
  const std::string what = "argument '" + name + "', which is a structure: ";
  const auto field =
      std::ranges::find_if(profile_.parameters, [&](const Parameter& q) { return q.name.starts_with(name + "+"); });
  if (field == profile_.parameters.end()) return {what + "no count depends on its fields", "not used", ""};
  return {what + "its fields are given one by one", "not used", KC_SETTING(arg) " " + field->name + "=VALUE"};
}

void LaunchReader::resolve_arguments(const Launch& launch) {
  std::vector<std::string> scalars;
  for (const auto& p : profile_.parameters)
    if (!p.pointer) scalars.push_back(p.name);
  names_.clear();
  slot_of_name_.clear();
  ranges_.clear();
  assumed_arguments_.clear();
  for (const auto& [name, value] : launch.args) {
    const auto p = std::find_if(profile_.parameters.begin(), profile_.parameters.end(),
                                [&](const Parameter& q) { return q.name == name; });
    const auto needed = std::find(needed_.begin(), needed_.end(), name);
    if (p == profile_.parameters.end() && needed == needed_.end())
      throw ArgumentError("kernel " + profile_.kernel + " has no parameter \"" + name + "\" (" KC_SETTING(arg) ")" +
                              did_you_mean(name, scalars),
                          name);
    if (p != profile_.parameters.end() && p->pointer)
      throw ArgumentError("parameter \"" + name + "\" of kernel " + profile_.kernel +
                              " is a pointer: give " KC_SETTING(buffer) " " + name +
                              "=COUNT instead of " KC_SETTING(arg),
                          name);
    const std::size_t slot = static_cast<std::size_t>(needed - needed_.begin());
    const bool integer = needed != needed_.end() ? !needed_real_[slot] : p->integer;
    if (integer && !std::holds_alternative<std::int64_t>(value))
      throw ArgumentError("parameter \"" + name + "\" of kernel " + profile_.kernel + " is an integer, not " +
                              std::to_string(std::get<double>(value)) + ": give " KC_SETTING(arg) " " + name +
                              "=INTEGER",
                          name);
    names_.push_back(name);
    ranges_.push_back(range_of(p == profile_.parameters.end() ? Parameter{} : *p));
    slot_of_name_.push_back(needed == needed_.end() ? -1 : static_cast<int>(fixed + slot));
    if (p != profile_.parameters.end() && p->structure) assumed_arguments_.push_back(whole_structure(name));
  }
  for (std::size_t i = 0; i < needed_.size(); ++i) {
    if (std::find(names_.begin(), names_.end(), needed_[i]) != names_.end()) continue;
    if (!needed_real_[i]) {
      if (!only_moves_addresses(profile_, needed_[i])) missing(i);
      values_[fixed + i] = 0;  // as execution takes it
      assumed_arguments_.push_back(zero_distance(needed_[i]));
      continue;
    }
    values_[fixed + i] = *order_of(1.0);  // likewise
    assumed_arguments_.push_back({"argument '" + needed_[i] + "'", "1.0", KC_SETTING(arg) " " + needed_[i] + "=VALUE"});
  }
}

std::int64_t LaunchReader::value_in(std::size_t slot, const ArgValue& value) const {
  const auto* whole = std::get_if<std::int64_t>(&value);
  const std::size_t argument = slot - fixed;
  if (!needed_real_[argument]) return *whole;
  const auto order = order_of(whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value));
  if (!order)
    throw ArgumentError(
        KC_SETTING(arg) " " + needed_[argument] + "=nan: the parameter " + needed_why_[argument] + ": give a number",
        needed_[argument]);
  return *order;
}

void LaunchReader::resolve_unknowns(const Launch& launch) {
  std::vector<std::string> keys;
  for (const auto& u : profile_.unknowns) keys.push_back(u.key);
  for (const auto& [key, value] : launch.assume) {
    const std::string kind = key.substr(0, key.find(':'));
    if ((kind == "trips" || kind == "branch" || kind == "access") &&
        std::find(keys.begin(), keys.end(), key) == keys.end())
      throw ArgumentError(KC_SETTING(assume) " " + key + ": kernel " + profile_.kernel +
                              " leaves nothing of that name open" + (keys.empty() ? "" : did_you_mean(key, keys)),
                          key);
  }
  unknown_values_.clear();
  unknown_given_.clear();
  assumptions_ = assumed_arguments_;
  for (const auto& u : profile_.unknowns) {
    const auto given = launch.assume.find(u.key);
    const double v = given == launch.assume.end() ? u.default_value : given->second;
    const bool probability = u.kind == Unknown::Kind::probability;
    if (!std::isfinite(v) || v < 0 || (probability && v > 1) || v > 1e15)
      throw UserError(KC_SETTING(assume) " " + u.key + "=" + std::to_string(v) + ": expected " +
                      (probability ? "a probability from 0 to 1" : "a number from 0 to 1e15"));
    unknown_values_.push_back(v);
    unknown_given_.push_back(given != launch.assume.end());
    if (given != launch.assume.end()) continue;
    std::string text = std::to_string(v);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    const std::string at = place_of(profile_, u.line);
    const char* what = u.kind == Unknown::Kind::trip_count    ? "trip count of the loop at "
                       : u.kind == Unknown::Kind::probability ? "probability of the branch at "
                                                              : "bytes between neighbouring lanes of the access at ";
    Assumption a{what + at + (u.reason.empty() ? "" : ": " + u.reason), text, KC_SETTING(assume) " " + u.key + "=VALUE",
                 Assumption::Kind::unknown, u.key};
    if (std::find(assumptions_.begin(), assumptions_.end(), a) == assumptions_.end())
      assumptions_.push_back(std::move(a));
  }
  for (const Assumption& a : profile_.assumptions)
    if (a.kind == Assumption::Kind::contents) assumptions_.push_back(a);
  assume_ = launch.assume;
}

void LaunchReader::resolve_buffers(const Launch& launch) {
  std::vector<std::string> pointers;
  // PTX does not tell a pointer that nothing reads from a number.
  for (const auto& p : profile_.parameters)
    if (p.pointer || (!p.used && p.type == "i64")) pointers.push_back(p.name);
  const auto of_the_compiler = [](const std::string& n) { return n.starts_with("__hip_") || n.starts_with("__oclc_"); };
  for (const auto& b : profile_.buffers)  // arrays of the source, and pointers in structures
    if (b.parameter < 0 && (b.space == MemorySpace::global || b.space == MemorySpace::constant) &&
        !of_the_compiler(b.name))
      pointers.push_back(b.name);
  buffers_.clear();
  for (const auto& [name, spec] : launch.buffers) {
    if (std::find(pointers.begin(), pointers.end(), name) == pointers.end())
      throw ArgumentError("kernel " + profile_.kernel + " has no pointer parameter or array \"" + name +
                              "\" (" KC_SETTING(buffer) ")" + did_you_mean(name, pointers),
                          name);
    if (spec.elements < 0)
      throw UserError(KC_SETTING(buffer) " " + name + "=" + std::to_string(spec.elements) + " is negative");
    buffers_.emplace_back(name, spec.elements);
  }
  buffer_bytes_.clear();
  for (const auto& b : profile_.buffers) {
    std::int64_t bytes = b.bytes;
    if (b.parameter >= 0) {
      const Parameter& p = profile_.parameters[b.parameter];
      const auto given = launch.buffers.find(p.name);
      if (given != launch.buffers.end() && p.bytes > 0 &&
          __builtin_mul_overflow(given->second.elements, static_cast<std::int64_t>(p.bytes), &bytes))
        throw UserError(KC_SETTING(buffer) " " + p.name + "=" + std::to_string(given->second.elements) +
                        " is too large");
    }
    buffer_bytes_.push_back(bytes);
  }
}

void LaunchReader::read(const Launch& launch) {
  check_sizes(launch);
  bool same = resolved_ && launch.args.size() == names_.size();
  if (same) {
    std::size_t i = 0;
    for (const auto& [name, value] : launch.args) {
      if (name != names_[i] || (slot_of_name_[i] >= 0 && value.index() != 0 && !reads_real(slot_of_name_[i]))) {
        same = false;
        break;
      }
      ++i;
    }
  }
  if (!same) {
    resolved_ = false;
    resolve_arguments(launch);
  }
  const auto same_buffers = [&] {
    if (launch.buffers.size() != buffers_.size()) return false;
    std::size_t i = 0;
    for (const auto& [name, spec] : launch.buffers) {
      if (name != buffers_[i].first || spec.elements != buffers_[i].second) return false;
      ++i;
    }
    return true;
  };
  if (!resolved_ || launch.assume != assume_ || !same_buffers()) {
    resolved_ = false;
    resolve_unknowns(launch);
    resolve_buffers(launch);
    ++version_;
  }
  resolved_ = true;
  const auto block = launch.block.array(), grid = launch.grid.array();
  for (int axis = 0; axis < 3; ++axis) {
    values_[axis] = block[axis];
    values_[3 + axis] = grid[axis];
  }
  values_[6] = launch.dynamic_shared_bytes;
  std::size_t i = 0;
  for (const auto& [name, value] : launch.args) {
    check_range(name, value, ranges_[i]);
    if (slot_of_name_[i] >= 0) values_[slot_of_name_[i]] = value_in(static_cast<std::size_t>(slot_of_name_[i]), value);
    ++i;
  }
}

}  // namespace kernelcast
