// Loops with a branch that lanes may take differently: what each strategy of converge.h would change, and whether it may.
#pragma once

#include <string>
#include <vector>

#include "kernelcast/converge.h"
#include "kernelcast/frontend.h"

namespace kernelcast {

enum class Legality : std::uint8_t { yes, no, unknown };
std::string_view name_of(Legality l);

/// What stands against a strategy.
enum class Condition : std::uint8_t {
  none,
  collective,          // barrier, vote or shuffle inside the loop
  early_exit,          // break, return, continue, goto; or the loop's own condition depends on its body
  carried_dependence,  // the branch or the code in front of it reads what an iteration writes
  dependent_paths,     // one path reads or writes what the other writes
  code_after_branch,   // code behind the branch hands something on to the next iteration
  same_address,        // iterations write to the same place in memory
  aliasing,            // two pointers may mean the same memory
  atomic,
  float_reduction,     // the order of rounding would change
  volatile_access,
  opaque               // a call, assembly or fence that is not followed
};
std::string_view name_of(Condition c);

struct LegalityVerdict {
  Legality legal = Legality::unknown;
  Condition condition = Condition::none;
  std::string reason;   // one sentence; for unknown also what to assert
  int line = 0;         // of the reason, 0: none
  std::string file;     // of that line
};

/// First and last line, both 0 where there is no code.
struct LineRange {
  int first = 0, last = 0;
  [[nodiscard]] bool contains(int line) const { return first > 0 && line >= first && line <= last; }
};

/// Which lanes a branch sends the same way.
enum class LaneShape : std::uint8_t {
  data,        // whichever data decide
  neighbours,  // by their index, in one piece: whole warps agree but for those at the border
  scattered    // by their index, but lanes of one warp part
};

/// Regions of a loop: all of it, but for the others; where it begins; the branch's condition; the paths.
enum class LoopPart : std::uint8_t { rest, beginning, condition, taken, other };

/// One loop with one branch on the top level of its body that lanes may take differently.
struct DivergentLoop {
  std::string kernel;        // as the source names it; with namespaces and parameters where it means several without
  std::string file;          // that the loop stands in: the source itself, as Source names it, or a header of the user's
  /// Of a template: names of its instances, the one that is judged first; all share the text, and the verdicts are the
  /// worst of theirs. Empty: no template.
  std::vector<std::string> instances;
  /// The name to execute it by.
  [[nodiscard]] const std::string& runs_as() const { return instances.empty() ? kernel : instances.front(); }
  LineRange loop, taken, other;
  int branch_line = 0;
  std::string branch_file;   // the loop's own, unless its body is included
  std::string divergence;    // why lanes may differ: "depends on threadIdx.x"
  LaneShape shape = LaneShape::data;
  LegalityVerdict postpone;  // majority and round robin
  LegalityVerdict advance;
  LegalityVerdict advance_in_order;
  std::string no_rewrite;    // why the source cannot be rewritten even where it is legal; empty: it can
  bool same_calls = false;       // both paths call the same function or function-like code: to be hoisted out
  bool nested = false;           // more divergent branches inside the paths
  bool leaves = false;           // holds a break or return of the loop
  bool known_ahead = false;      // the next iteration's branch is known before this one runs, as the library asks
  bool can_record = true;        // instrumented() can: the branch's condition stands in the source, not in a macro
  /// Where its parts stand, in the order of LoopPart. Empty: they are written by one macro and cannot be told apart.
  std::vector<CodeRegion> regions;
  std::string function;          // that the kernel calls and the loop stands in; empty: the kernel itself
};

/// A loop without such a branch whose lanes leave it at different times.
struct UnevenLoop {
  std::string kernel;
  std::string file;        // as of DivergentLoop, like `kernel`
  std::string instance;    // of a template: the name to execute it by
  LineRange loop;
  std::string divergence;  // why lanes may differ
  std::string function;    // as of DivergentLoop
  std::vector<CodeRegion> regions;  // one: where it stands
  /// The name to execute it by.
  [[nodiscard]] const std::string& runs_as() const { return instance.empty() ? kernel : instance; }
};

struct IdleTemplate {
  std::string name, file;
};

struct LoopSurvey {
  std::vector<DivergentLoop> divergent;
  std::vector<UnevenLoop> uneven;
  std::vector<IdleTemplate> without_instance;  // kernel templates that nothing instantiates: not looked at
};

/// Finds them in all kernels of the source (or the one that is named) and in the functions of the source that these call, in
/// order of lines, the source's own first and then those of each header. Headers of the system and of toolkits are not
/// looked at. Throws as analyze() does, and UserError where there is no kernel at all.
LoopSurvey survey_loops(const Source& source, const FrontendOptions& options);
std::vector<DivergentLoop> divergent_loops(const Source& source, const FrontendOptions& options);

/// The text of the loop's file with the loop transformed for a policy: round robin, advance or advance in order, as two
/// guarded copies of the body in one loop, without votes. Throws UserError, naming the reason, where the loop may not or
/// cannot be rewritten.
std::string rewritten(const Source& source, const FrontendOptions& options, const DivergentLoop& loop, Policy policy);

/// The source that reads `text` where it would read that file: itself or a header.
Source with_text(Source source, const std::string& file, std::string text);

/// The source with that branch recorded: the kernel has one more parameter, `kernelcast_pattern`, unsigned words of
/// which the first counts rows; each thread has a row of `pattern_row_words` words: block, thread, count, then bits.
inline constexpr int pattern_rows = 4096, pattern_bits = 2048;
inline constexpr int pattern_row_words = 3 + pattern_bits / 32;
Source instrumented(const Source& source, const FrontendOptions& options, const DivergentLoop& loop);

}  // namespace kernelcast
