// Launch -> numbers: checks sizes and names once, then resolves arguments to positions without searching.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "kernelcast/profile.h"

namespace kernelcast {

/// "file.cl:12", or "line 12", or the kernel's name when nothing is known.
std::string place_of(const KernelProfile& profile, SourceLine line);

/// The name of a parameter that is given by position, from 0 ("3"); any other name as it is.
std::string parameter_named(const KernelProfile& profile, const std::string& given);

/// Arguments and buffers by position get the parameter's name; fields of structures get theirs (structure_fields.h).
void name_positions(const KernelProfile& profile, Launch& launch);

/// Whether an integer argument is nothing but a constant distance that is added to addresses: no count depends on it
/// beyond where sectors begin.
bool only_moves_addresses(const KernelProfile& profile, std::string_view argument);

/// That such an argument is taken as 0.
Assumption zero_distance(const std::string& argument);

/// What a launch makes known of the symbols: its sizes, its arguments, and ids along axes of one thread or block.
std::map<Symbol, Expr> known_symbols(const Dim3& grid, const Dim3& block, const Launch& launch);

/// Turns launches into the values of launch parameters: local sizes, numbers of groups, dynamic shared bytes, then the
/// arguments that matter, in the order of `argument_names()`.
class LaunchReader {
 public:
  static constexpr std::size_t fixed = 7;  // lsz.xyz, nwg.xyz, dynamic_shared

  explicit LaunchReader(const KernelProfile& profile);
  /// Symbols of the values, in order.
  [[nodiscard]] const std::vector<Symbol>& symbols() const { return symbols_; }

  /// Throws UserError for everything that is wrong with the launch.
  void read(const Launch& launch);
  [[nodiscard]] const std::vector<std::int64_t>& values() const { return values_; }
  /// Values of profile.unknowns, given or default.
  [[nodiscard]] const std::vector<double>& unknowns() const { return unknown_values_; }
  /// Whether --assume gave the unknown.
  [[nodiscard]] bool given(std::size_t unknown) const { return unknown_given_[unknown] != 0; }
  /// One entry for each unknown that was not given.
  [[nodiscard]] const std::vector<Assumption>& assumptions() const { return assumptions_; }
  /// Declared bytes of each buffer of the profile, -1: unknown.
  [[nodiscard]] const std::vector<std::int64_t>& buffer_bytes() const { return buffer_bytes_; }
  /// Counts up whenever unknowns or buffer sizes change.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  void check_sizes(const Launch& launch) const;
  void resolve_arguments(const Launch& launch);
  /// That a structure by value, given as one number, is not used.
  [[nodiscard]] Assumption whole_structure(const std::string& name) const;
  void resolve_unknowns(const Launch& launch);
  void resolve_buffers(const Launch& launch);
  [[nodiscard]] std::int64_t value_in(std::size_t slot, const ArgValue& value) const;
  [[nodiscard]] bool reads_real(int slot) const { return needed_real_[static_cast<std::size_t>(slot) - fixed]; }
  [[noreturn]] void missing(std::size_t argument) const;
  /// What an integer parameter can hold.
  struct Range {
    std::int64_t least, most;
  };
  static Range range_of(const Parameter& parameter);
  void check_range(const std::string& name, const ArgValue& value, const Range& range) const;

  const KernelProfile& profile_;
  std::vector<Symbol> symbols_;
  std::vector<std::string> needed_;  // names of the arguments that matter
  std::vector<bool> needed_real_;    // of a floating-point parameter: values_ has its `order_of`
  std::vector<Assumption> assumed_arguments_;
  std::vector<std::string> needed_why_;  // "decides loop trip counts (matmul.cl:12)"
  std::vector<std::int64_t> values_;
  std::vector<double> unknown_values_;
  std::vector<char> unknown_given_;
  std::vector<Assumption> assumptions_;
  std::vector<std::int64_t> buffer_bytes_;

  // What the positions below were resolved for.
  std::vector<std::string> names_;
  std::vector<int> slot_of_name_;  // index into values_, -1: no count depends on it
  std::vector<Range> ranges_;      // parallel to names_
  std::map<std::string, double> assume_;
  std::vector<std::pair<std::string, std::int64_t>> buffers_;
  bool resolved_ = false;
  std::uint64_t version_ = 0;
};

}  // namespace kernelcast
