// Kernel launches that the host part of a source makes, found by evaluating it step by step; nothing of it is run natively.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kernelcast/launch.h"
#include "kernelcast/source.h"

namespace kernelcast {

/// A value that evaluation could not tell.
struct HostUnknown {
  std::string name;                 // the host's own name for it, by which `lets` gives it; may be empty
  std::string why;                  // "rand()", "a file is read"
  int line = 0;                     // where it arose
};

/// Memory that a pointer argument points to, from there to its end.
struct HostBuffer {
  std::optional<std::int64_t> elements;  // of the parameter's type; nothing: see unknown
  HostUnknown unknown;
  std::string contents;         // all of its bytes, where each value is known and they are few; else empty
  std::int64_t repeats = 0;     // above 0: contents are those of so many elements, and stand there again and again
  std::string fill;             // contents as --buffer takes them ("iota(0,2)"), where they are no list of bytes
  bool in_host_memory = false;  // pinned: the device reads and writes it over the link to the host
  std::int64_t array = 0;  // the allocation, from 1 on; 0: not known which; -1: several, or others than kernels use it
  std::int64_t offset_bytes = 0;  // in it
};

/// A tensor map as the program encodes it (cuTensorMapEncodeTiled).
struct HostTensorMap {
  std::vector<std::int64_t> box;    // elements along its dimensions, innermost first
  std::int64_t element_bytes = 0;
  /// "64x128:2"
  [[nodiscard]] std::string text() const;
};

/// A structure that the kernel takes by value.
struct HostStructure {
  std::string bytes, known;         // as many in both; a byte is known where `known` is not 0
  std::map<std::int64_t, HostBuffer> pointers;  // by offset in bytes, where it is known what they point to
  std::map<std::int64_t, HostUnknown> unknown;  // numbers and pointers that evaluation could not tell, by offset
};

/// Functions and pointers to nothing: passed on as they are, and of no interest to a forecast.
struct HostOther {
  std::string what;                 // "function", "null pointer"
};

struct HostArgument {
  std::string name;                 // of the kernel's parameter; empty: it has none
  std::variant<std::int64_t, double, HostBuffer, HostTensorMap, HostStructure, HostOther, HostUnknown> value;
};

/// A dimension or a number of bytes, or why it is not known.
using HostNumber = std::variant<std::int64_t, HostUnknown>;

struct HostLaunch {
  std::string kernel;               // qualified, with template arguments: "reduce<256>"
  std::string symbol;               // mangled
  std::string file;
  std::string kernel_file;          // of HostOptions::more_files, where the kernel is defined; empty: the source itself
  int line = 0;
  std::array<HostNumber, 3> grid, block;
  HostNumber shared;                // dynamic shared memory in bytes
  std::array<HostNumber, 3> cluster{0, 0, 0};  // blocks of a cluster where an attribute of the launch says it
  std::vector<HostArgument> args;   // by position
  std::map<std::string, HostBuffer> globals;  // what the host copied into variables of the device, by name, with elements
  std::int64_t repetitions = 1;     // launches alike from this place
  bool more = false;                // the number of repetitions is a lower bound: see conditions
  std::vector<std::string> conditions;  // "the condition at line 40 is not known: rand() (line 38)"

  /// Everything that is not known and that the launch or an argument needs, each name once.
  [[nodiscard]] std::vector<HostUnknown> unknowns() const;
};

/// What cudaFuncGetAttributes() tells of a kernel.
struct HostKernel {
  std::int64_t registers = 0;            // per thread
  std::int64_t static_shared_bytes = 0;
  std::int64_t local_bytes = 0;          // per thread
  std::int64_t max_threads_per_block = 0;
};

/// A kernel whose resources the program asks for and HostOptions::kernels does not have.
struct HostKernelAsked {
  std::string kernel, symbol, kernel_file;  // as in HostLaunch
};

struct HostProgram {
  std::vector<HostLaunch> launches; // in order of first execution
  std::vector<std::string> notes;   // one line each: where evaluation ended early and why
  std::vector<std::string> assumed; // one line each: what was taken for granted, of random numbers and contents
  std::vector<std::string> undefined;  // functions, variables and classes that are used and defined in another file
  std::vector<HostKernelAsked> kernels_asked;
};

struct HostOptions {
  std::string target = "sm_70";     // as FrontendOptions
  std::vector<std::string> argv;    // without the program's name
  std::vector<std::string> more_files;  // further source files of the program; read behind the source as one unit
  std::map<std::string, std::variant<std::int64_t, double>> lets;  // values of unknowns by the host's names
  std::map<std::string, std::int64_t> device;  // fields of cudaDeviceProp: "multiProcessorCount"
  std::vector<std::string> data_folders;  // where relative names of files that the program reads begin; empty: none is read
  /// What kernels take of a compute unit, by HostLaunch::symbol: for occupancy queries. See HostProgram::kernels_asked.
  std::map<std::string, HostKernel> kernels;
  /// Blocks of so many threads and bytes of dynamic shared memory that one compute unit holds; empty: not known.
  std::function<std::int64_t(const HostKernel&, std::int64_t threads, std::int64_t shared_bytes)> resident_blocks;
  std::int64_t max_steps = 20'000'000;
  double time_limit_s = 60;         // processor time
};

/// Evaluates `main` of a CUDA or HIP source (without one: each host function that nobody calls and that launches, its
/// parameters unknown). Code that cannot be parsed or evaluated gives unknown values. Throws UserError for sources of other
/// languages and for what is no source, LimitError when the limit of time strikes.
HostProgram host_launches(const Source& source, const HostOptions& options);

}  // namespace kernelcast
