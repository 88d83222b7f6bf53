// kernelcast converge FILE: find and judge the loops, execute for pattern and costs, advise, rewrite and check.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cli/catalog.h"
#include "cli/converge.h"
#include "cli/launch_size.h"
#include "cli/output.h"
#include "cli/run.h"
#include "cli/sources.h"
#include "cli/values.h"
#include "io/unified_diff.h"
#include "kernelcast/error.h"
#include "kernelcast/execute.h"
#include "report/converge_views.h"

namespace kernelcast::cli {
namespace {

constexpr const char* default_device = "nvidia-tesla-v100-pcie-16gb";
constexpr double assumed_trips = 16;        // of loops inside the paths whose trip count is no constant
constexpr double assumed_iterations = 256;  // of the loop itself

class Advisor {
 public:
  Advisor(const ConvergeFlags& flags, const Environment& environment) : flags_(flags) {
    ForecastFlags f = flags.forecast;
    launched_ = !f.block.empty();
    if (!launched_ && (!f.grid.empty() || !f.global.empty())) throw UsageError("a launch needs --block");
    if (!launched_) f.block = f.grid = "1";
    if (f.device.empty()) f.device = default_device;
    f.format = "text";
    f.assume.clear();
    request_ = checked(f);
    if (request_.devices.size() != 1 || request_.all_devices) throw UsageError("--device: converge takes one device");
    device_ = catalog_of(request_.devices_dir, environment.devices_dir).find(request_.devices.front());
    request_.source.text = read_source(request_.source.path);
    options_.kernel = request_.kernel;
    options_.target = device_.codegen_target;
    options_.block = request_.launch.block;
    for (const std::string& text : flags.forecast.assume) assume(text);
  }

  std::vector<LoopAdvice> advice() {
    std::vector<LoopAdvice> all;
    const std::int64_t line = flags_.loop.empty() ? 0 : whole_number("--loop", flags_.loop, 1);
    for (const DivergentLoop& loop : divergent_loops(request_.source, options_)) {
      if (line != 0 && loop.loop.first != line) continue;
      all.push_back(advise(loop, facts_of(loop)));
    }
    if (line != 0 && all.empty())
      throw UsageError(fmt::format("--loop {}: no divergent loop begins at that line", line));
    return all;
  }

  /// The source with the loop transformed, once both give the same results.
  std::string rewritten_source(const std::vector<LoopAdvice>& all) {
    if (!launched_) throw UsageError("--rewrite checks results by execution: give --block and --grid or --global");
    const LoopAdvice* chosen = nullptr;
    for (const LoopAdvice& a : all)
      if (chosen == nullptr && (!flags_.policy.empty() || (a.recommended && a.loop.no_rewrite.empty()))) chosen = &a;
    if (chosen == nullptr)
      throw UserError(request_.source.path + ": no loop is worth it; --loop and --policy choose one in spite of that");
    Policy policy = Policy::round_robin;
    if (!flags_.policy.empty()) {
      policy = policy_named(flags_.policy);
    } else if (chosen->recommended != Policy::majority) {
      policy = *chosen->recommended;
    }
    const std::string text = rewritten(request_.source, options_, chosen->loop, policy);
    check_same_results(text, chosen->loop);
    return text;
  }

  [[nodiscard]] const Source& source() const { return request_.source; }
  [[nodiscard]] const std::vector<Assumption>& assumptions() const { return assumptions_; }

 private:
  void assume(const std::string& text) {
    const auto [key, value] = name_and_value("--assume", text);
    const double number = real_number("--assume " + key, value);
    if (key == "p" && number >= 0 && number <= 1) {
      p_ = number;
    } else if (key == "f" && number >= 0 && number <= 1) {
      f_ = number;
    } else if (key == "iterations" && number >= 1) {
      iterations_ = number;
    } else if (key == "rho" && number > 0) {
      rho_ = number;
    } else {
      throw UsageError("--assume " + text + ": expected p or f from 0 to 1, iterations from 1 or rho above 0");
    }
  }

  struct Ran {
    Analysis analysis;
    Execution execution;
  };
  Ran run(const Source& source, const std::string& kernel, ExecuteOptions options) {
    FrontendOptions o = options_;
    o.kernel = kernel;
    o.program = true;
    Ran r;
    r.analysis = analyze(source, o);
    if (!r.analysis.program) throw LimitError("the kernel cannot be executed: " + r.analysis.no_program);
    Launch launch = request_.launch;
    set_grid(request_, r.analysis.profile, launch);
    launch_ = launch;
    r.execution = execute(r.analysis.profile, *r.analysis.program, launch, device_.geometry(), options);
    return r;
  }

  LoopFacts facts_of(const DivergentLoop& loop) {
    LoopFacts facts;
    facts.statistics.width = device_.geometry().warp_size;
    facts.statistics.iterations = iterations_.value_or(assumed_iterations);
    facts.statistics.p = p_.value_or(0.5);
    facts.statistics.f = std::min(f_.value_or(2 * facts.statistics.p * (1 - facts.statistics.p)),
                                  2 * std::min(facts.statistics.p, 1 - facts.statistics.p));
    // A condition that a macro writes has no place of its own in the source where it could be recorded.
    const bool by_macro = loop.no_rewrite.find("macro") != std::string::npos;
    if (launched_ && !by_macro) {
      executed(loop, facts);
    } else {
      add({"pattern of the branch at line " + std::to_string(loop.branch_line),
           fmt::format("p {}, f {}, {} iterations", facts.statistics.p, facts.statistics.f,
                       facts.statistics.iterations),
           "--grid and --block execute it; --assume p=, f=, iterations="});
      from_profile(loop, facts);
    }
    if (rho_) facts.costs = LoopCosts{*rho_ / 2 * 100, *rho_ / 2 * 100, 100, 0};
    return facts;
  }

  void add(const Assumption& a) {
    if (std::find(assumptions_.begin(), assumptions_.end(), a) == assumptions_.end()) assumptions_.push_back(a);
  }

  void executed(const DivergentLoop& loop, LoopFacts& facts) {
    Source recording = request_.source;
    recording.text = instrumented(request_.source, options_, loop);
    ExecuteOptions options = request_.execute;
    options.keep_buffers = true;
    options.contents["kernelcast_pattern"].assign((1 + static_cast<std::size_t>(pattern_rows) * pattern_row_words) * 4,
                                                  0);
    const Ran recorded = run(recording, loop.kernel, options);
    const std::vector<unsigned char>& bytes = recorded.execution.buffers.at("kernelcast_pattern");
    std::vector<std::uint32_t> words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), words.size() * 4);
    facts.warps = recorded_patterns(words, launch_.block.count(), device_.geometry().warp_size);
    if (facts.warps.empty()) {
      facts.costs_reason = "the loop was not reached in the blocks that were executed";
      return;
    }
    BranchPattern joined;
    for (const BranchPattern& w : facts.warps) joined.lanes.insert(joined.lanes.end(), w.lanes.begin(), w.lanes.end());
    facts.statistics = statistics_of(joined);
    facts.statistics.width = device_.geometry().warp_size;
    if (loop.calls_functions) {
      facts.costs_reason = "the paths call functions, whose instructions stand on other lines; --assume rho=N";
      return;
    }
    const Ran ran = run(request_.source, loop.kernel, request_.execute);
    double taken = 0, other = 0, whole = 0, all = 0;
    for (const LineExecution& l : ran.execution.lines) {
      const double ops = l.warp_ops.total();
      all += ops;
      if (!in_source(ran.analysis.profile, l.line)) continue;
      if (loop.loop.contains(l.line.line)) whole += ops;
      if (loop.taken.contains(l.line.line)) taken += ops;
      if (loop.other.contains(l.line.line)) other += ops;
    }
    StepCounts plain;
    for (const BranchPattern& w : facts.warps) {
      const StepCounts c = replay(w, Policy::plain);
      plain.taken += c.taken;
      plain.other += c.other;
      plain.trips += c.trips;
    }
    // Lines are of the whole launch, patterns of the warps recorded.
    const double width = facts.statistics.width;
    const double warps =
        static_cast<double>(launch_.grid.count()) * std::ceil(static_cast<double>(launch_.block.count()) / width);
    const double scale = warps / static_cast<double>(facts.warps.size());
    set_costs(facts, plain.taken > 0 ? taken / (static_cast<double>(plain.taken) * scale) : 0,
              plain.other > 0 ? other / (static_cast<double>(plain.other) * scale) : 0,
              (whole - taken - other) / (static_cast<double>(plain.trips) * scale));
    if (all > 0) facts.share_of_kernel = std::min(1.0, whole / all);
  }

  void set_costs(LoopFacts& facts, double taken, double other, double rest) {
    if (taken + other <= 0) {
      facts.costs_reason = "no instruction of the target's code stands on the lines of the paths; --assume rho=N";
      return;
    }
    facts.costs = LoopCosts{taken, other, std::max(rest, 1.0), 0};
  }

  bool in_source(const KernelProfile& profile, SourceLine line) const {
    if (line.file < 0) return false;
    const std::string& file = profile.files[static_cast<std::size_t>(line.file)];
    return file == request_.source.path || file.ends_with("/" + request_.source.path);
  }

  /// Instructions of one execution, loops inside the paths with their trips where these are constant.
  void from_profile(const DivergentLoop& loop, LoopFacts& facts) {
    if (loop.calls_functions) {
      facts.costs_reason = "the paths call functions, whose instructions stand on other lines; --assume rho=N";
      return;
    }
    FrontendOptions o = options_;
    o.kernel = loop.kernel;
    const Analysis analysis = analyze(request_.source, o);
    double taken = 0, other = 0, whole = 0;
    for (const Block& b : analysis.profile.blocks) {
      double times = 1;
      for (int k = b.loop; k >= 0 && analysis.profile.loops[static_cast<std::size_t>(k)].line.line > loop.loop.first;
           k = analysis.profile.loops[static_cast<std::size_t>(k)].parent) {
        const auto trips = analysis.profile.loops[static_cast<std::size_t>(k)].trips.constant();
        if (!trips) {
          add({fmt::format("trips of the loop at line {}",
                           analysis.profile.loops[static_cast<std::size_t>(k)].line.line),
               fmt::format("{}", assumed_trips), "--grid and --block execute it"});
        }
        times *= trips ? static_cast<double>(*trips) : assumed_trips;
      }
      for (const LineOps& l : b.lines) {
        if (!in_source(analysis.profile, l.line)) continue;
        const double ops = l.ops.total() * times;
        if (loop.loop.contains(l.line.line)) whole += ops;
        if (loop.taken.contains(l.line.line)) taken += ops;
        if (loop.other.contains(l.line.line)) other += ops;
      }
    }
    set_costs(facts, taken, other, whole - taken - other);
  }

  void check_same_results(const std::string& text, const DivergentLoop& loop) {
    ExecuteOptions options = request_.execute;
    options.sample = -1;
    options.jobs = 1;
    options.keep_buffers = true;
    Source changed = request_.source;
    changed.text = text;
    const Ran before = run(request_.source, loop.kernel, options), after = run(changed, loop.kernel, options);
    const std::string at = fmt::format("{}:{}: ", request_.source.path, loop.loop.first);
    if (!before.execution.complete || !after.execution.complete) {
      throw LimitError(at + "the results could not be compared: a limit of execution struck; use a smaller launch");
    }
    if (after.execution.findings.size() > before.execution.findings.size()) {
      throw UserError(
          at + "refused: execution finds trouble in the transformed loop: " + after.execution.findings.front().text);
    }
    for (const auto& [name, bytes] : before.execution.buffers) {
      const auto found = after.execution.buffers.find(name);
      if (found == after.execution.buffers.end() || found->second != bytes) {
        throw UserError(at + "refused: the transformed loop leaves other contents in " + name);
      }
    }
  }

  const ConvergeFlags& flags_;
  Request request_;
  Device device_;
  FrontendOptions options_;
  Launch launch_;
  bool launched_ = false;
  std::optional<double> p_, f_, iterations_, rho_;
  std::vector<Assumption> assumptions_;
};

}  // namespace

int converge_loops(const ConvergeFlags& flags, const Environment& environment) {
  if (flags.diff && !flags.rewrite) throw UsageError("--diff shows what --rewrite changes: give both");
  if (!flags.policy.empty() && !flags.rewrite) throw UsageError("--policy belongs to --rewrite or --replay");
  if (!flags.policy.empty()) policy_named(flags.policy);
  Advisor advisor(flags, environment);
  report::ConvergeReport r;
  r.head = environment.head;
  r.source = advisor.source().path;
  r.loops = advisor.advice();
  const std::string& output = flags.forecast.output;
  if (flags.rewrite) {
    const std::string text = advisor.rewritten_source(r.loops);
    write_result(output, flags.diff ? unified_diff(advisor.source().text, text, advisor.source().path) : text);
    return done;
  }
  r.assumptions = advisor.assumptions();
  const report::Style style(environment.colour && output.empty());
  write_result(output, flags.forecast.format == "json" ? report::converge_json(r) : report::converge_text(r, style));
  return done;
}

}  // namespace kernelcast::cli
