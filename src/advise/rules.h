// The rules. Each looks at a subject and drafts findings; what a draft gains, the model says afterwards.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "advise/what_if.h"
#include "kernelcast/advise.h"

namespace kernelcast::advice {

/// A finding before the model was asked.
struct Draft {
  SourceLine line;    // no file: the launch
  std::string token;  // what to underline in the line: a name, or a part of the text; empty: all of it
  std::string message, change;
  Change what_if;                        // counts, profile, launch
  std::optional<DeviceResult> forecast;  // in place of the what-if: the answer to a changed question
  std::vector<std::string> assumptions;
  std::string rewritten = {};          // the source with the change, where it is mechanical
  std::optional<Dim3> grid = {};       // of the rewritten source, where it differs
  std::optional<double> seconds = {};  // in place of both: a time that the model has given already, and its bound
  std::string limiter = {};
  std::optional<double> before = {};  // the time that `seconds` replaces, where it is not the kernel's alone
  AdviceEdit edit = {};               // launch and lines are found by themselves
  bool defect = false;                // it is wrong, or may be, whatever it costs: no gain is forecast
};

struct Rule {
  AdviceRule is;
  std::vector<Draft> (*drafts)(const Subject&);
};

/// All rules in the order of docs/reference/rules.md.
std::span<const Rule> rules();

// Groups of rules, one a file.
std::span<const Rule> global_memory_rules();
std::span<const Rule> reuse_rules();
std::span<const Rule> shared_memory_rules();
std::span<const Rule> register_rules();
std::span<const Rule> launch_rules();
std::span<const Rule> control_rules();
std::span<const Rule> arithmetic_rules();
std::span<const Rule> tensor_rules();
std::span<const Rule> cache_rules();
std::span<const Rule> loop_rules();
std::span<const Rule> pipeline_rules();
std::span<const Rule> host_rules();
std::span<const Rule> buffer_rules();

}  // namespace kernelcast::advice
