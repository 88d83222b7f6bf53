// A tuning space: parameters with their values, constraints, and how a configuration becomes a launch. From the command
// line (space_flags.h) or a T1 file of Kernel Tuner (space_t1.h).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernelcast/launch.h"
#include "tune/expression.h"
#include "tune/value.h"

namespace kernelcast::tune {

/// One thing that varies.
struct Parameter {
  std::string name;
  std::vector<Value> values;
  bool define = false;  // passed to the compiler as -D NAME=VALUE; otherwise it only shapes the launch
};

/// A kernel argument by position, as T1 files list them. Sizes and values are expressions of Python.
struct SpaceArgument {
  std::string name;
  bool scalar = false;
  bool constant_memory = false;  // not always a parameter of the kernel
  std::string size;              // elements
  std::string value;             // of a scalar
  std::int64_t element_bytes = 4;
};

struct Space {
  std::string place;  // the T1 file or "the command line", for messages
  NameTable names;
  std::vector<Parameter> parameters;
  std::vector<int> parameter_names;              // their numbers in `names`
  std::vector<std::pair<int, Value>> constants;  // further names with values: arguments, the problem's sizes
  std::vector<Expression> constraints;
  std::array<Expression, 3> block;
  bool block_of_kernel = false;  // none is given: the one that the kernel requires
  /// Exactly one of these says the grid: blocks themselves; the problem, divided by the divisors' product and rounded
  /// up; or, when both are empty, the kernel's own mapped loops.
  std::array<Expression, 3> grid, problem;
  std::array<std::vector<Expression>, 3> divisors;
  bool divide_by_block = false;  // the divisors also hold the block
  Expression dynamic_shared;
  std::vector<SpaceArgument> arguments;  // by position; empty: given by name
  std::vector<std::string> defines;      // of every configuration, beside the parameters
  bool kernel_tuner = false;             // defines that Kernel Tuner adds: grid_size_x and the like
};

/// Number of combinations before constraints. Throws UserError beyond 2^62.
std::uint64_t combinations(const Space& space);

/// A configuration is a number: the last parameter varies fastest.
using Configuration = std::uint64_t;

/// A launch as far as the space says it.
struct LaunchShape {
  Dim3 grid, block;
  std::int64_t dynamic_shared_bytes = 0;
  bool grid_known = true, block_known = true;
  friend bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

/// Reads configurations; one for each thread.
class SpaceReader {
 public:
  explicit SpaceReader(const Space& space);
  /// Chooses the configuration that the following calls are about.
  void choose(Configuration configuration);
  /// Sets one parameter to its value number `value`.
  void set(std::size_t parameter, std::size_t value);
  void unset(std::size_t parameter);
  [[nodiscard]] bool holds(std::size_t constraint);
  /// Throws UserError naming the space's place and the configuration for sizes that are not whole numbers of at
  /// least 1.
  [[nodiscard]] LaunchShape shape();
  /// "NAME=VALUE" of the parameters that are passed to the compiler, then the space's own.
  [[nodiscard]] std::vector<std::string> defines(const LaunchShape& shape) const;
  /// Name and value of every parameter.
  [[nodiscard]] std::vector<std::pair<std::string, Value>> parameters() const;
  /// "block_size_x=32, tile=4".
  [[nodiscard]] std::string text() const;
  /// The value of an expression of Python over parameters and sizes (T1's arguments).
  [[nodiscard]] double python(const std::string& expression);

 private:
  void set_sizes(const LaunchShape& shape);
  std::int64_t size(const char* what, const Expression& e, std::int64_t minimum);
  const Space& space_;
  Scope scope_;
  std::vector<std::size_t> chosen_;
  bool all_set_ = false;  // every parameter has a value: that of chosen_
  std::vector<std::uint64_t> strides_;
  std::array<int, 3> block_names_{}, grid_names_{};
  int shared_name_ = -1, threads_name_ = -1;
};

/// Names that every space knows beside its parameters: block_x, block_y, block_z, threads, grid_x, grid_y, grid_z,
/// shared. A parameter of the same name comes first.
void add_launch_names(Space& space);

/// Names in constraints, block and grid that nothing defines: UsageError with the nearest name.
void check_names(const Space& space);

}  // namespace kernelcast::tune
