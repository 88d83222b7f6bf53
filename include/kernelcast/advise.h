// What to change in a kernel or its launch, and what the model says that it gains.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelcast/launch.h"

namespace kernelcast {

/// A range of one line, columns from 1, the last one within. Column 0: the whole line. No file: the launch, not a line.
struct CodePlace {
  std::string file;
  int line = 0, column = 0, end_column = 0;
};

/// How a gain was found: counts, launch or options were changed in the model, or the source was rewritten, compiled and executed to equal
/// results.
enum class Verified : std::uint8_t { what_if, rewrite };
constexpr std::string_view name_of(Verified v) { return v == Verified::what_if ? "what-if" : "rewrite"; }

/// A line of the source with another text.
struct LineEdit {
  int line = 0;  // of the original
  std::string before, after;
};

/// The change for programs, where it is mechanical: what to launch, compile or write instead. What is empty stays.
struct AdviceEdit {
  std::optional<Dim3> grid, block;      // in blocks, in threads
  std::string option;                   // compiler's, "use_fast_math"
  std::optional<double> most_registers; // of a thread, as -maxrregcount takes it
  std::vector<LineEdit> lines;          // of the source
  [[nodiscard]] bool any() const { return grid || block || !option.empty() || most_registers || !lines.empty(); }
};

/// One finding on one device. Times are seconds; a gain is the share of the time that the change saves.
struct Advice {
  std::string rule;      // "bank-conflicts", as -Wno-RULE takes it
  CodePlace where;
  std::string message;   // what is there, and what it costs
  std::string change;    // what to do, one or two lines of code or prose
  AdviceEdit edit;       // the same for programs, as far as it is mechanical
  double time_s = 0, changed_time_s = 0;
  double gain = 0, gain_low = 0, gain_high = 0;  // 90 % interval: the model's error of ratios
  double probability = 0;                        // that the change is a gain at all
  std::string limiter, changed_limiter;          // binding bound before and after
  Verified verified = Verified::what_if;
  std::string diff;                              // the rewritten source as a unified diff, where one was asked for and can be made
  std::string rewritten;                         // that source as a whole
  std::vector<std::string> assumptions;          // what the gain takes for granted
  bool defect = false;                           // a mistake, or what looks like one: times and gain are not about it
};

/// A rule as documents and lists name it.
struct AdviceRule {
  std::string_view name, summary;
};

}  // namespace kernelcast
