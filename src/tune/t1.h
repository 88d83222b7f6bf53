// Kernel Tuner's T1 files: a kernel, its arguments and the space of its parameters. What is read here is text; space.h
// has what it means.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tune/space.h"

namespace kernelcast::tune {

struct T1Parameter {
  std::string name;
  std::string values;         // an expression of Python that gives a list; empty: see `listed`
  std::vector<Value> listed;  // of a JSON list
};

struct T1File {
  std::string place;                               // its path, or what stands in for it
  std::string kernel_file, kernel_name, language;  // "cuda", "hip", "opencl"
  bool fast_math = false;
  std::vector<std::string> problem;                       // expressions, x first; empty: see `no_problem`
  std::string no_problem;                                 // why there is not one size: none, or a list of several
  std::array<std::vector<std::string>, 3> grid_divisors;  // expressions whose product divides the problem
  std::array<std::string, 3> block;                       // expressions; empty: the kernel's own
  std::string dynamic_shared = "0";
  std::vector<SpaceArgument> arguments;
  std::vector<T1Parameter> parameters;
  std::vector<std::string> conditions;  // expressions of Python
};

/// Input schema 1.0.0 ("ConfigurationSpace", "KernelSpecification"). Throws UserError with the file, and the position
/// in broken JSON.
T1File read_t1(const std::string& path, const std::string& text);

/// The space that it describes. Throws UserError naming the file for expressions without a meaning.
Space space_of(const T1File& file);

/// What Kernel Tuner does to a source before it compiles: "#pragma unroll NAME" goes where the parameter NAME is called
/// loop_unroll_factor... and is 0.
std::string without_unused_unrolls(std::string source, const std::vector<std::string>& defines);

}  // namespace kernelcast::tune
