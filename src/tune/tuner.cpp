// Steps: the configurations (all of them, or those that an optimiser asks for), a time for each on each device, the
// ranking. Everything that one configuration needs is in trial.h; here are threads, order, and what becomes of the
// answers.
#include "tune/tuner.h"

#include <fmt/format.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <numeric>
#include <set>

#include "io/clock.h"
#include "io/interrupt.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "tune/digest.h"
#include "tune/enumerate.h"
#include "tune/optimise.h"
#include "tune/ranking.h"
#include "tune/trial.h"
#include "tune/wanted_argument.h"

namespace kernelcast::tune {
namespace {

constexpr std::uint64_t most_launches = 50000000;  // kept in memory: 12 bytes each and device
constexpr std::uint64_t most_enumerated_variants = 1000000;
// Variants in no order at all that must all want the same of the user, and none anything else, before the search ends:
// if a fifth of a space did without, one such search in 35 would end too early.
constexpr std::size_t enough_variants = 16;
constexpr std::size_t most_named_at_the_end = 1000;
constexpr std::size_t chunk = 512;  // launches that a thread takes at a time
const std::atomic<bool> never = false;

class Tuner {
 public:
  Tuner(const Space& space, const TuneOptions& options, AnalysisMemory& memory)
      : space_(space),
        options_(options),
        memory_(memory),
        context_(context_of(space, options, memory)),
        stop_(options.stop != nullptr ? *options.stop : never),
        trials_([this] { return Trial(context_); }),
        unlisted_(options.devices.size()),
        listed_(options.devices.size()) {}

  TuneResult run() {
    const double start = steady_seconds();
    result_.model = options_.model->name();
    result_.devices.resize(options_.devices.size());
    for (std::size_t d = 0; d < options_.devices.size(); ++d) {
      result_.devices[d].device = options_.devices[d];
      counts_.emplace_back(static_cast<std::size_t>(Refusal::count_), 0);
    }
    // More threads than this the library would not give, and say so.
    tbb::task_arena arena(std::clamp(options_.jobs, 1, std::max(1, tbb::this_task_arena::max_concurrency())));
    arena.execute([&] { choose(); });
    for (Trial& trial : trials_) trial.flush();
    rank();
    result_.interrupted = stop_;
    result_.complete = !result_.interrupted && !result_.optimised;
    result_.compiled = memory_.compiled();
    result_.shared = memory_.shared();
    result_.found = memory_.found();
    result_.alike = memory_.alike();
    result_.messages = memory_.warnings();
    if (!memory_.trouble().empty()) result_.messages.push_back("nothing could be kept: " + memory_.trouble());
    result_.seconds = steady_seconds() - start;
    return std::move(result_);
  }

 private:
  void choose() {
    result_.combinations = combinations(space_);
    const bool many = result_.combinations > most_launches;
    if (options_.search == Search::optimise || (options_.search == Search::automatic && many && !constrained())) {
      optimise_all();
      return;
    }
    Enumeration all;
    try {
      all = enumerate(space_, context_.one_variant ? most_launches : most_enumerated_variants, options_.most_refused,
                      stop_);
    } catch (const LimitError&) {
      if (options_.search == Search::enumerate) throw;
      optimise_all();
      return;
    }
    result_.configurations = all.kept.size();
    note_excluded(all);
    note_left_out(all);
    configurations_ = std::move(all.kept);
    const std::vector<std::vector<std::uint32_t>> groups = group();
    if (options_.search == Search::automatic && result_.variants > options_.most_variants) {
      configurations_.clear();
      optimise_all();
      return;
    }
    for (std::size_t d = 0; d < options_.devices.size() && !stop_; ++d)
      times_.emplace_back(configurations_.size(), 0.0F);
    if (stop_) return times_.clear();
    all_ = configurations_.size();
    if (context_.one_variant) {
      try_launches();
    } else {
      try_variants(groups);
    }
  }

  /// A space without constraints that has too many combinations will not shrink.
  [[nodiscard]] bool constrained() const { return !space_.constraints.empty(); }

  /// Configurations of each distinct specialisation, in an order that goes all over the space, so that an interrupted
  /// run has seen a bit of everything.
  std::vector<std::vector<std::uint32_t>> group() {
    std::vector<std::vector<std::uint32_t>> groups;
    if (context_.one_variant) {
      result_.variants = configurations_.empty() ? 0 : 1;
      return groups;
    }
    std::map<std::string, std::size_t> known;
    Trial trial(context_);
    for (std::size_t i = 0; i < configurations_.size() && !stop_; ++i) {
      std::string variant;
      try {
        variant = trial.variant(configurations_[i]);
      } catch (const Error&) {  // sizes without a meaning: refused when it is its turn
        variant = fmt::format("#{}", i);
      }
      const auto [place, fresh] = known.try_emplace(digest_of(variant), groups.size());
      if (fresh) groups.emplace_back();
      groups[place->second].push_back(static_cast<std::uint32_t>(i));
    }
    result_.variants = groups.size();
    std::vector<std::vector<std::uint32_t>> spread;
    for (const auto& [digest, place] : known) spread.push_back(std::move(groups[place]));  // by digest: no order at all
    return spread;
  }

  void try_launches() {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, configurations_.size(), chunk), [&](const auto& range) {
      if (stop_ || wanted_.by_all()) return;
      Trial& trial = trials_.local();
      WantedArgument::Variant only;
      for (std::size_t i = range.begin(); i < range.end() && !stop_; ++i) try_one(trial, i, only);
      wanted_.note(only, 1);
      count_done(range.size());
    });
  }

  void try_variants(const std::vector<std::vector<std::uint32_t>>& groups) {
    std::atomic<std::size_t> next = 0;
    tbb::parallel_for(0, options_.jobs, [&](int) {
      Trial& trial = trials_.local();
      for (std::size_t g = next++; g < groups.size() && !stop_ && !wanted_.by_all(); g = next++) {
        WantedArgument::Variant variant;
        for (const std::uint32_t i : groups[g]) try_one(trial, i, variant);
        wanted_.note(variant, enough_variants);
        count_done(groups[g].size());
      }
    });
  }

  void try_one(Trial& trial, std::size_t index, WantedArgument::Variant& variant) {
    for (std::size_t d = 0; d < options_.devices.size(); ++d) {
      const TrialTime a = trial.time(configurations_[index], d, listed_[d] < options_.most_refused);
      variant.note(a);
      if (a.refusal == Refusal::none) {
        times_[d][index] = static_cast<float>(a.time_s);
        if (d == 0) note_best(a.time_s);
      } else if (!given_up(a)) {
        refuse(trial, configurations_[index], d, a);
      }
    }
  }

  /// Not refused: an interrupt ended its compilation or the evaluation of its expressions.
  bool given_up(const TrialTime& a) const {
    return stop_ && (a.refusal == Refusal::source || a.refusal == Refusal::forecast);
  }

  void note_best(double seconds) {
    double best = best_;
    while ((best == 0 || seconds < best) && !best_.compare_exchange_weak(best, seconds)) {
    }
  }

  void refuse(Trial& trial, Configuration configuration, std::size_t device, const TrialTime& a) {
    if (a.reason.empty()) {  // the list is full
      ++unlisted_[device][static_cast<std::size_t>(a.refusal)];
      return;
    }
    const std::lock_guard lock(mutex_);
    ++counts_[device][static_cast<std::size_t>(a.refusal)];
    if (failures_.size() < 8 && (a.refusal == Refusal::source || a.refusal == Refusal::forecast))
      failures_.insert(a.reason);
    std::vector<Refused>& list = result_.devices[device].refused;
    if (list.size() >= options_.most_refused) return;
    Refused r = trial.described(configuration);
    r.kind = a.refusal;
    r.reason = a.reason;
    list.push_back(std::move(r));
    listed_[device] = list.size();
  }

  void note_excluded(const Enumeration& all) {
    const std::uint64_t total = std::accumulate(all.excluded.begin(), all.excluded.end(), std::uint64_t{0});
    Trial trial(context_);
    std::vector<Refused> listed;
    for (const auto& [configuration, constraint] : all.examples) {
      Refused r = trial.described(configuration);
      r.kind = Refusal::constraint;
      r.reason = "constraint " + space_.constraints[constraint].text();
      listed.push_back(std::move(r));
    }
    for (std::size_t d = 0; d < options_.devices.size(); ++d) {
      counts_[d][static_cast<std::size_t>(Refusal::constraint)] = total;
      excluded_ = listed;
    }
  }

  void count_done(std::size_t n) {
    const std::size_t done = done_ += n;
    if (!options_.progress) return;
    const std::lock_guard lock(progress_mutex_);
    const double now = steady_seconds();
    if (done < all_ && now - shown_ < 0.1) return;
    shown_ = now;
    options_.progress({done, all_, best_});
  }

  /// Each device by itself: their optima differ.
  void optimise_all() {
    result_.optimised = true;
    const std::uint64_t budget = options_.budget > 0 ? options_.budget : context_.one_variant ? 100000 : 4000;
    all_ = budget * options_.devices.size();
    std::map<Configuration, std::vector<float>> seen;
    for (std::size_t d = 0; d < options_.devices.size() && !stop_; ++d) {
      const auto objective = [&](Configuration c) {
        {
          const std::lock_guard lock(mutex_);
          const auto found = seen.find(c);
          if (found != seen.end()) return found->second[d] > 0 ? static_cast<double>(found->second[d]) : infinite_time;
        }
        if (wanted_.by_all()) return infinite_time;
        std::vector<float> times(options_.devices.size());
        Trial& trial = trials_.local();
        WantedArgument::Variant variant;
        for (std::size_t other = 0; other < times.size(); ++other) {
          const TrialTime a = trial.time(c, other);
          variant.note(a);
          if (a.refusal == Refusal::none) {
            times[other] = static_cast<float>(a.time_s);
            if (other == 0) note_best(a.time_s);
          } else if (!given_up(a)) {
            refuse(trial, c, other, a);
          }
        }
        wanted_.note(variant, enough_variants);
        const double answer = times[d] > 0 ? static_cast<double>(times[d]) : infinite_time;
        {
          const std::lock_guard lock(mutex_);
          seen.emplace(c, std::move(times));
        }
        count_done(1);
        return answer;
      };
      minimise(space_, objective, {budget, options_.seed, options_.jobs}, stop_);
    }
    times_.assign(options_.devices.size(), {});
    for (const auto& [configuration, times] : seen) {
      configurations_.push_back(configuration);
      for (std::size_t d = 0; d < times.size(); ++d) times_[d].push_back(times[d]);
    }
    result_.configurations = configurations_.size();
  }

  void rank() {
    bool any = false;
    Trial trial(context_);
    for (std::size_t d = 0; d < options_.devices.size(); ++d) {
      DeviceTuning& device = result_.devices[d];
      const std::map<std::size_t, Recounted> recounted = recount(trial, d);
      device.recounted = recounted.size();
      const std::size_t wanted =
          options_.order == Order::time ? options_.top : std::max(options_.top, options_.most_weighed);
      const std::vector<std::size_t> best =
          times_.empty() ? std::vector<std::size_t>{} : fastest(times_[d], wanted, tie_order(trial));
      for (const std::size_t i : best) {
        const auto counted = recounted.find(i);
        device.best.push_back(counted != recounted.end() ? counted->second.candidate : describe(trial, i, d));
        if (device.best.size() == 1)
          device.assumptions = counted != recounted.end() ? counted->second.assumptions : trial.assumptions();
      }
      if (!best.empty()) {
        any = true;
        result_.kernel = trial.kernel();
        mark_ties(device, times_[d], options_.model->name());
        order(device);
      } else {
        device.failure = failures_.empty() ? "no configuration can run" : *failures_.begin();
      }
      count_refusals(device, d);
    }
    if (!any && !stop_) throw_failure();
    if (options_.portable) add_portable(trial);
  }

  /// By energy or energy * time; configurations whose energy is unknown come last, the fastest first.
  void order(DeviceTuning& device) const {
    if (options_.order == Order::time) return;
    const auto key = [&](const Candidate& c) {
      if (!c.estimate.energy_j.value) return infinite_time;
      return *c.estimate.energy_j.value * (options_.order == Order::energy ? 1 : c.time_s);
    };
    std::stable_sort(device.best.begin(), device.best.end(),
                     [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
    if (device.best.size() > options_.top) device.best.resize(options_.top);
  }

  struct Recounted {
    Candidate candidate;
    std::vector<Assumption> assumptions;
  };

  /// Counts the best as the options want them, until the best that are asked for have all been counted so: what turns
  /// out slower makes room for the next. Their new times take the place of the old ones.
  std::map<std::size_t, Recounted> recount(Trial& trial, std::size_t d) {
    std::map<std::size_t, Recounted> done;
    if (options_.counts == Counting::symbolic || times_.empty()) return done;
    std::size_t tried = 0;
    std::string reason;
    for (bool more = true; more;) {
      more = false;
      for (const std::size_t i : fastest(times_[d], options_.top, tie_order(trial))) {
        if (done.contains(i)) continue;
        if (tried++ >= options_.most_recounts || stop_) break;
        more = true;
        try {
          Candidate c = trial.recount(configurations_[i], d);
          times_[d][i] = static_cast<float>(c.time_s);
          done.emplace(i, Recounted{std::move(c), trial.assumptions()});
        } catch (const Error& e) {
          if (stop_) return done;  // the interrupt ended its execution: its time in closed form stays
          reason = message_of(e);
          times_[d][i] = 0;
          refuse(trial, configurations_[i], d, {0, 0, Refusal::forecast, reason});
        }
      }
    }
    if (done.empty() && !reason.empty() && options_.counts == Counting::executed) throw LimitError(reason);
    return done;
  }

  void count_refusals(DeviceTuning& device, std::size_t d) {
    for (std::size_t kind = 0; kind < counts_[d].size(); ++kind) {
      counts_[d][kind] += unlisted_[d][kind];
      if (counts_[d][kind] > 0) device.refusals.push_back({static_cast<Refusal>(kind), counts_[d][kind]});
    }
    for (const Refused& r : excluded_) {
      if (device.refused.size() < options_.most_refused) device.refused.push_back(r);
    }
  }

  /// After an interrupt the names of a million ties would take a second.
  TieOrder tie_order(Trial& trial) {
    TieOrder order{[this, &trial](std::size_t i) { return canonical(trial, i); }};
    if (stop_) order.most_named = most_named_at_the_end;
    return order;
  }

  /// The same text for the same configuration whatever the order of the parameters.
  std::string canonical(Trial& trial, std::size_t index) {
    const Finishing guard;
    std::set<std::string> parts;
    for (const auto& [name, value] : trial.described(configurations_[index]).parameters)
      parts.insert(name + "=" + text_of(value));
    return fmt::format("{}", fmt::join(parts, ","));
  }

  Candidate describe(Trial& trial, std::size_t index, std::size_t device) {
    const Finishing guard;
    return trial.describe(configurations_[index], device);
  }

  void add_portable(Trial& trial) {
    for (const PortableIndex& p : smallest_worst_loss(times_, options_.top, tie_order(trial))) {
      PortableChoice choice;
      choice.candidate = describe(trial, p.index, 0);
      choice.worst_loss = p.worst_loss;
      for (std::size_t d = 0; d < times_.size(); ++d) {
        choice.time_s.push_back(static_cast<double>(times_[d][p.index]));
        choice.loss.push_back(p.loss[d]);
      }
      result_.portable.push_back(std::move(choice));
    }
  }

  /// Each constraint counts what it is the first to refuse.
  void note_left_out(const Enumeration& all) {
    std::string each;
    for (std::size_t c = 0; c < all.excluded.size(); ++c) {
      if (all.excluded[c] == 0) continue;
      each +=
          fmt::format("{}{} leaves out {}", each.empty() ? "" : ", ", space_.constraints[c].text(), all.excluded[c]);
    }
    if (!each.empty()) left_out_ = fmt::format("; of {} combinations {}", all.combinations, each);
  }

  /// One block of two given numbers may have been meant as a list of two blocks.
  [[nodiscard]] std::string about_lists() const {
    const auto number = [&](std::size_t axis) {
      return !space_.block[axis].empty() && space_.block[axis].is_constant();
    };
    if (space_.kernel_tuner || !number(0) || !number(1) || !space_.block[2].empty()) return "";
    const std::string x = space_.block[0].text(), y = space_.block[1].text();
    return fmt::format(
        "; " KC_SETTING(block) " {},{} is one block of {} x {} threads, " KC_SETTING(block) " '{{{},{}}}' tries two", x,
        y, x, y, x, y);
  }

  [[nodiscard]] std::string about_the_others() const {
    if (context_.one_variant || result_.variants <= enough_variants) return "";
    return fmt::format("; the first {} of {} variants all end so, the others were not tried", enough_variants,
                       result_.variants);
  }

  [[noreturn]] void throw_failure() const {
    if (result_.configurations == 0 && !result_.optimised) {
      throw UserError(space_.place + ": no configuration satisfies the constraints" + left_out_);
    }
    if (wanted_.by_all()) throw UserError(wanted_.reason() + about_the_others());
    if (!failures_.empty()) throw UserError(*failures_.begin());
    std::string reasons;
    for (const DeviceTuning& d : result_.devices) {
      for (const Refused& r : d.refused) {
        if (r.kind == Refusal::constraint || !reasons.empty()) continue;
        reasons = r.reason;
        if (r.kind == Refusal::threads) reasons += about_lists();
      }
    }
    throw UserError(space_.place + ": no configuration can run" + (reasons.empty() ? "" : "; the first: " + reasons));
  }

  const Space& space_;
  const TuneOptions& options_;
  AnalysisMemory& memory_;
  TrialContext context_;
  const std::atomic<bool>& stop_;
  tbb::enumerable_thread_specific<Trial> trials_;
  TuneResult result_;
  std::vector<Configuration> configurations_;
  std::vector<std::vector<float>> times_;           // by device and configuration; 0: none
  std::vector<std::vector<std::uint64_t>> counts_;  // of refusals, by device and kind
  std::vector<std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Refusal::count_)>> unlisted_;
  std::vector<std::atomic<std::size_t>> listed_;  // refused configurations in the list of a device
  std::vector<Refused> excluded_;
  WantedArgument wanted_;
  std::string left_out_;  // by the constraints, for a message
  std::set<std::string> failures_;
  std::atomic<std::size_t> done_ = 0;
  std::size_t all_ = 0;
  std::atomic<double> best_ = 0;
  std::mutex mutex_, progress_mutex_;
  double shown_ = 0;
};

}  // namespace

TuneResult tune(const Space& space, const TuneOptions& options, AnalysisMemory& memory) {
  return Tuner(space, options, memory).run();
}

}  // namespace kernelcast::tune
