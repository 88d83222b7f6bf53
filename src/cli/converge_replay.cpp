// kernelcast converge --replay.
#include "cli/common_flags.h"
#include "cli/converge.h"
#include "cli/flag_values.h"
#include "cli/output.h"
#include "cli/run.h"
#include "cli/sources.h"
#include "io/text_file.h"
#include "kernelcast/error.h"
#include "report/converge_views.h"

namespace kernelcast::cli {

int converge_replay(const ConvergeFlags& flags, const Environment& environment) {
  if (flags.policy.empty())
    throw UsageError("--replay needs --policy: plain, majority, round-robin, advance or advance-in-order");
  report::ReplayReport r;
  r.head = environment.head;
  r.policy = policy_named(flags.policy);
  if (!flags.first.empty()) {
    if (flags.first != "T" && flags.first != "F") throw UsageError("--first " + flags.first + ": expected T or F");
    r.options.first_taken = flags.first == "T";
  }
  if (!flags.flush.empty()) {
    constexpr std::int64_t most = 1'000'000;
    const std::int64_t period = whole_number("--flush", flags.flush, 1);
    if (period > most) throw UsageError("--flush " + flags.flush + ": expected at most a million");
    r.options.flush_period = static_cast<int>(period);
  }
  keep_inputs("-o", flags.forecast.output, {flags.replay});
  r.pattern = flags.replay == "-" ? "<stdin>" : flags.replay;
  const BranchPattern pattern = parse_pattern(read_text_file(flags.replay), r.pattern);
  r.statistics = statistics_of(pattern);
  r.iterations = pattern.iterations();
  r.plain = replay(pattern, Policy::plain);
  r.counts = replay(pattern, r.policy, r.options);
  r.best = best_schedule(pattern);
  const report::Style style(environment.colour && flags.forecast.output.empty());
  write_result(flags.forecast.output,
               flags.forecast.format == "json" ? report::replay_json(r) : report::replay_text(r, style));
  return done;
}

}  // namespace kernelcast::cli
