// From a launch to executed counts: plan, choose blocks, run them, add up, extrapolate.
#include "kernelcast/execute.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

#include "execute/block_runner.h"
#include "execute/launch_plan.h"
#include "execute/locality.h"
#include "execute/sampling.h"
#include "io/clock.h"
#include "kernelcast/bind.h"
#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "profile/atomics.h"

namespace kernelcast {
namespace {

using namespace interpreter;

// Without --sample: so much work in all (work.h; half a second of one thread), within these numbers of blocks.
constexpr double default_budget = 3e8;
constexpr std::int64_t default_most_blocks = 256;
constexpr std::int64_t most_listed_blocks = std::int64_t{1} << 24;  // their list is written in a tenth of a second
constexpr std::int64_t default_least_blocks = 4;  // fewer where these would take more than twice the budget
constexpr std::int64_t wanted_blocks = 16;        // warps are left out where so many blocks would not fit the budget
// For the locality, as many blocks that share an SM; fewer of which most can run where warps stand for blocks.
constexpr std::int64_t most_residents = 8, most_dear_residents = 4;
/// So much more is done where no generated contents lead the block astray: what it finds is right.
constexpr double more_with_known_contents = 10;
constexpr double default_limit = 2e11;  // lane instructions of the whole execution

/// What the runners take, for as long as they live.
class HeldMemory {
 public:
  HeldMemory(Memory& memory, std::int64_t each, int runners) : memory_(memory), bytes_(each * runners) {
    memory.hold(bytes_, "the shared and private arrays and registers of " +
                            (runners == 1 ? std::string("a block") : std::to_string(runners) + " blocks"));
  }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;
  ~HeldMemory() { memory_.give_back(bytes_); }

 private:
  Memory& memory_;
  std::int64_t bytes_;
};

struct Ran {
  double instructions = 0, sectors = 0;  // of one block: warp instructions of the target, sectors of global memory
  bool done = false;
};

class Execute {
 public:
  Execute(const KernelProfile& profile, const Program& program, const Launch& launch, const MemoryGeometry& geometry,
          const ExecuteOptions& options)
      : profile_(profile),
        launch_(launch),
        geometry_(geometry),
        options_(options),
        budget_(options.sample_work > 0 ? options.sample_work : default_budget),
        plan_(profile, program, launch, geometry, options) {}

  Execution run() {
    const double start = steady_seconds();
    if (options_.max_seconds > 0) plan_.memory().set_deadline(created_ + options_.max_seconds);
    limit_ = options_.max_lane_instructions > 0 ? options_.max_lane_instructions : default_limit;
    jobs_ = options_.jobs > 0 ? options_.jobs : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    threads_ = jobs_;
    if (!plan_.order_free()) jobs_ = 1;
    choose();
    run_chosen();
    // What ran would stand for the dear blocks, too; where data decide no count, closed forms know better.
    if (options_.sample == 0 && stopped_ == more_work_than_unasked && profile_.unknowns.empty())
      throw LimitError("kernel " + profile_.kernel + ": " + std::to_string(blocks_run_) +
                       (blocks_run_ == 1 ? " block was executed and is" : " blocks were executed and are") +
                       " not like the others: " + stopped_);
    run_residents();
    Execution out;
    out.complete = stopped_.empty();
    if (blocks_run_ == 0) take_unfinished(out);
    extrapolate();
    assemble(out);
    out.seconds = steady_seconds() - start;
    return out;
  }

 private:
  /// A block that needs more work than is done unasked says how much there is at least, unless generated contents are
  /// what never lets it end.
  void take_unfinished(Execution& out) {
    if (stopped_ != more_work_than_unasked || unfinished_.warp_instructions == 0 || plan_.memory().generated())
      throw LimitError("kernel " + profile_.kernel + ": not one block could be executed: " + stopped_);
    out.unfinished = true;
    total_.add(unfinished_);
    blocks_run_ = 1;
  }

  void choose() {
    const std::int64_t all = launch_.grid.count();
    const std::int64_t asked = options_.sample < 0 ? all : std::min(options_.sample, all);
    if (asked > most_listed_blocks)
      throw LimitError("kernel " + profile_.kernel + ": a sample of " + std::to_string(asked) + " blocks; at most " +
                       std::to_string(most_listed_blocks) +
                       " can be executed: give a smaller " KC_SETTING(sample) " N");
    if (options_.sample < 0 || options_.sample >= all) {
      strata_ = choose_blocks(launch_.grid, all, options_.seed);
      return;
    }
    std::int64_t wanted = options_.sample;
    if (wanted == 0) {
      enough_ = budget_ / wanted_blocks;
      run_blocks({middle_block(launch_.grid)}, 1);
      enough_ = 0;
      most_warps_ = warps_run_ < warps_ ? warps_run_ : 0;
      pilot_work_ = work_ * warps_ / warps_run_;
      pilot_warp_ = warp_instructions_ / warps_run_;
      const double fit = budget_ / std::max(1.0, work_ + work_of_pages(plan_.memory().touched_bytes()));
      wanted = std::clamp(static_cast<std::int64_t>(fit),
                          std::clamp(static_cast<std::int64_t>(2 * fit), std::int64_t{1}, default_least_blocks),
                          default_most_blocks);
      wanted = std::min(wanted, all);
    }
    strata_ = choose_blocks(launch_.grid, wanted, options_.seed);
    if (most_warps_ > 0) choose_parts();
  }

  /// A block that is alone in its stratum runs whole where the budget allows: nothing else says how its warps differ.
  void choose_parts() {
    double left = budget_;
    for (Stratum& s : strata_) {
      s.part = static_cast<double>(most_warps_) / warps_;
      if (s.population > 1 || pilot_work_ > left || results_.contains(s.blocks.front())) continue;
      s.part = 1;
      left -= pilot_work_;
      whole_.insert(s.blocks.front());
    }
  }

  void run_chosen() {
    std::vector<std::int64_t> list;
    for (const Stratum& s : strata_)
      for (std::int64_t b : s.blocks)
        if (!results_.contains(b)) list.push_back(b);
    std::sort(list.begin(), list.end());
    run_blocks(list, jobs_);
  }

  /// Each worker adds up what it ran, by stratum; sums of whole numbers do not depend on who ran what. Each begins with
  /// a block of its own and then takes the next one that is free.
  void run_blocks(const std::vector<std::int64_t>& list, int jobs) {
    if (list.empty() || !stopped_.empty()) return;
    jobs = static_cast<int>(std::min<std::int64_t>(jobs, static_cast<std::int64_t>(list.size())));
    const std::int64_t each = BlockRunner::bytes_for(plan_.launch_plan());
    jobs = static_cast<int>(
        std::clamp<std::int64_t>(plan_.memory().room() / 2 / std::max<std::int64_t>(1, each), 1, jobs));
    const HeldMemory held(plan_.memory(), each, jobs);
    std::atomic<std::size_t> next{static_cast<std::size_t>(jobs)};
    const auto limits = LocalityLimits::of(options_.max_memory_bytes / 8, default_most_blocks);
    std::exception_ptr trouble;
    const auto work = [&](std::size_t me) {
      try {
        BlockRunner runner(plan_.launch_plan());
        runner.alone = jobs == 1;
        runner.enough = enough_;
        LocalityRecorder recorder(limits);
        const bool record = options_.locality && (most_warps_ == 0 || residents_);
        if (record) runner.recorder = &recorder;
        runner.most_instructions = most_instructions_;
        for (std::size_t k = me; k < list.size(); k = next++) {
          {
            const std::lock_guard<std::mutex> hold(mutex_);
            if (!stopped_.empty()) break;
            runner.instruction_limit = std::max(1.0, limit_ / geometry_.warp_size - warp_instructions_);
          }
          bool whole = true;
          std::string why;
          BlockTrace trace;
          try {
            runner.work_limit = work_limit_of(list[k]);
            runner.known_work_limit = runner.work_limit * (profile_.unknowns.empty() ? 1 : more_with_known_contents);
            runner.most_warps = residents_ || whole_.contains(list[k]) ? 0 : most_warps_;
            if (record) recorder.begin_block(list[k]);
            runner.run(list[k]);
            if (record) trace = recorder.end_block();
          } catch (const LimitReached& reached) {
            whole = false;
            why = reached.what;
          } catch (const LimitError& reached) {
            whole = false;
            why = message_of(reached);
          }
          const std::lock_guard<std::mutex> hold(mutex_);
          if (whole) by_thread_[me] += 1;
          collect(list[k], runner, whole);
          if (whole && record && runner.warps_run() == runner.warps()) traces_.push_back(std::move(trace));
          for (Finding& f : runner.take_findings()) add_finding(std::move(f));
          if (whole)
            for (const auto& [address, lanes] : runner.take_updates()) updates_[address] += lanes;
          if (!whole) {
            stopped_ = why;
            break;
          }
        }
      } catch (...) {
        const std::lock_guard<std::mutex> hold(mutex_);
        if (!trouble) trouble = std::current_exception();
      }
    };
    std::vector<std::thread> others;
    by_thread_.resize(std::max(by_thread_.size(), static_cast<std::size_t>(jobs)));
    for (int n = 1; n < jobs; ++n) others.emplace_back(work, static_cast<std::size_t>(n));
    work(0);
    for (std::thread& t : others) t.join();
    if (trouble) std::rethrow_exception(trouble);
  }

  /// Those that were found to fit are near the bound and must not end the sample by going a little beyond it.
  [[nodiscard]] double work_limit_of(std::int64_t block) const {
    if (options_.sample != 0 || most_instructions_ > 0) return 0;
    return options_.most_sample_work * (whole_.contains(block) ? 2 : 1);
  }

  void collect(std::int64_t block, const BlockRunner& runner, bool whole) {
    lane_instructions_ += runner.counts().lane_instructions;
    warp_instructions_ += runner.counts().warp_instructions;
    work_ += work_of(runner.counts(), profile_, geometry_.warp_size, runner.recorder != nullptr);
    warps_ = runner.warps();
    warps_run_ = runner.warps_run();
    if (residents_) return;
    BlockCounts counts;
    if (warps_run_ == warps_)
      counts.add(runner.counts());
    else
      counts.add(runner.counts(), warps_, warps_run_);
    if (!whole) {
      unfinished_ = std::move(counts);
      return;
    }
    Ran r;
    r.done = true;
    for (std::size_t b = 0; b < profile_.blocks.size(); ++b)
      r.instructions += counts.blocks[b].warps * profile_.blocks[b].ops.total();
    std::size_t k = 0;
    for (const Block& b : profile_.blocks)
      for (const Access& a : b.accesses) {
        if (a.space == MemorySpace::global || a.space == MemorySpace::texture) r.sectors += counts.accesses[k].sectors;
        ++k;
      }
    results_[block] = r;
    ++blocks_run_;
    if (options_.sample < 0 || options_.sample >= launch_.grid.count()) {
      total_.add(counts);
    } else {
      kept_[block].add(counts);
    }
  }

  /// Blocks that share an SM with the middle one.
  [[nodiscard]] std::vector<std::int64_t> residents(std::int64_t most) const {
    const auto resident = static_cast<std::int64_t>(options_.resident_blocks);
    const std::int64_t wave = std::max<std::int64_t>(1, resident * options_.processors);
    const std::int64_t middle = middle_block(launch_.grid);
    std::vector<std::int64_t> list;
    for (std::int64_t k = 0; k < std::min(resident, most); ++k)
      if (const std::int64_t b = middle / wave * wave + middle % options_.processors + k * options_.processors;
          b < launch_.grid.count())
        list.push_back(b);
    return list;
  }

  /// For the locality of residents; these blocks count nowhere else. Where warps stood for blocks, all warps run, each
  /// to the share of its instructions that half the budget allows: how warps share sectors shows in the first part of
  /// their lives as in the whole, but not in some of the warps.
  void run_residents() {
    if (!options_.locality || options_.sample != 0 || !stopped_.empty()) return;
    std::vector<std::int64_t> list = residents(most_warps_ > 0 ? most_dear_residents : most_residents);
    if (most_warps_ > 0) {
      const double each = budget_ / 2 / static_cast<double>(std::max<std::size_t>(1, list.size()));
      most_instructions_ = std::ceil(each / pilot_work_ * pilot_warp_);
    } else {
      const double cost = work_ / static_cast<double>(std::max<std::int64_t>(1, blocks_run_));
      const auto fit = static_cast<std::size_t>(budget_ / 2 / std::max(1.0, cost));
      if (fit < list.size()) list.resize(fit);
      std::erase_if(list, [&](std::int64_t b) { return results_.contains(b); });
    }
    residents_ = true;
    run_blocks(list, jobs_);
    residents_ = false;
  }

  void measure_locality(Workload& w) {
    std::vector<std::int64_t> blocks;
    for (const BlockTrace& t : traces_) blocks.push_back(t.block);
    std::sort(blocks.begin(), blocks.end());
    const auto resident = std::max<std::int64_t>(1, static_cast<std::int64_t>(options_.resident_blocks));
    const auto limits = LocalityLimits::of(options_.max_memory_bytes / 8, static_cast<std::int64_t>(blocks.size()));
    if (!options_.keep_buffers) plan_.memory().drop_contents();  // the tables of the distances take their place
    LocalityResult result = locality_of(std::move(traces_), resident_groups(blocks, resident, options_.processors),
                                        resident * options_.processors, limits, threads_);
    w.locality = std::make_shared<const Locality>(std::move(result.locality));
  }

  void add_finding(Finding f) {
    auto [it, added] = findings_.try_emplace({static_cast<int>(f.kind), f.line.file, f.line.line}, f);
    if (added) return;
    Finding& known = it->second;
    const auto number = [&](const Finding& g) {
      return g.block.x + launch_.grid.x * (g.block.y + launch_.grid.y * g.block.z);
    };
    const double count = known.count + f.count;
    if (number(f) < number(known)) known = std::move(f);
    known.count = count;
  }

  [[nodiscard]] double hottest_share() const {
    double most = 0, all = 0;
    for (const auto& [address, lanes] : updates_) {
      most = std::max(most, lanes);
      all += lanes;
    }
    return all > 0 ? most / all : 0;
  }

  void extrapolate() {
    const bool everything = kept_.empty();
    if (everything && stopped_.empty()) return;
    std::vector<std::vector<double>> instructions(strata_.size()), sectors(strata_.size());
    for (std::size_t s = 0; s < strata_.size(); ++s)
      for (std::int64_t b : strata_[s].blocks)
        if (auto it = results_.find(b); it != results_.end()) {
          instructions[s].push_back(it->second.instructions);
          sectors[s].push_back(it->second.sectors);
        }
    if (everything) {  // a limit struck in the middle of all blocks: the rest is taken to be like those that ran
      BlockCounts scaled;
      scaled.add(total_, static_cast<double>(launch_.grid.count()), static_cast<double>(blocks_run_));
      total_ = std::move(scaled);
    } else {
      std::int64_t lost = 0;
      for (std::size_t s = 0; s < strata_.size(); ++s)
        if (instructions[s].empty()) lost += strata_[s].population;
      for (std::size_t s = 0; s < strata_.size(); ++s) {
        if (instructions[s].empty()) continue;
        BlockCounts sum;
        for (std::int64_t b : strata_[s].blocks)
          if (auto it = kept_.find(b); it != kept_.end()) sum.add(it->second);
        total_.add(sum, static_cast<double>(strata_[s].population), static_cast<double>(instructions[s].size()));
      }
      if (lost > 0) {
        BlockCounts grown;
        grown.add(total_, static_cast<double>(launch_.grid.count()), static_cast<double>(launch_.grid.count() - lost));
        total_ = std::move(grown);
      }
    }
    if (blocks_run_ == launch_.grid.count() && most_warps_ == 0) return;
    error_ = std::make_shared<SampleError>();
    error_->blocks_run = static_cast<double>(blocks_run_);
    const auto relative = [&](const std::vector<std::vector<double>>& values) {
      double sum = 0;
      for (std::size_t s = 0; s < strata_.size(); ++s)
        for (double v : values[s])
          sum += v * static_cast<double>(strata_[s].population) / static_cast<double>(values[s].size());
      return sum > 0 ? half_interval(strata_, values) / sum : 0.0;
    };
    error_->instructions = results_.empty() ? std::nan("") : relative(instructions);
    error_->sectors = results_.empty() ? std::nan("") : relative(sectors);
  }

  void assemble(Execution& out) {
    Workload& w = out.workload;
    w = Binder(profile_, geometry_).bind(launch_);  // sizes and footprints
    w.counts_method = CountsMethod::executed;
    w.assumptions.clear();
    w.warp_ops = w.thread_ops = w.data_branch_ops = {};
    w.stalls = {};
    w.phases.clear();
    w.slowest = w.longest = {};
    w.block_counts = total_.blocks;
    std::size_t number = 0;
    for (const Block& block : profile_.blocks)
      for (const Access& a : block.accesses) {
        total_.accesses[number].distinct = w.access_counts[number].distinct;
        join_lanes(a, total_.accesses[number++]);
      }
    w.access_counts = total_.accesses;
    w.branch_counts = total_.branches;
    w.barriers = total_.barriers;
    w.flat_barriers = total_.flat_barriers;
    clear_other_ways(w);
    for (auto& row : w.by_space)
      for (auto& c : row) c = {};
    std::map<SourceLine, LineExecution> lines;
    std::size_t k = 0;
    for (std::size_t b = 0; b < profile_.blocks.size(); ++b) {
      const Block& block = profile_.blocks[b];
      const BlockCount& n = total_.blocks[b];
      w.warp_ops += block.ops.scaled(n.warps);
      w.thread_ops += block.ops.scaled_lanes(n.lanes);
      w.thread_ops += block.issued_elsewhere.scaled_lanes(n.lanes);
      w.stalls.add(block.stalls, n.warps);
      add_phases(w.phases, block.phases, n.warps);
      for (const LineOps& l : block.lines) {
        LineExecution& line = lines[l.line];
        line.warp_ops += l.ops.scaled(n.warps);
        line.lanes += l.ops.total() * n.lanes;
      }
      for (const Access& a : block.accesses) {
        w.by_space[static_cast<int>(a.space)][static_cast<int>(a.kind)] += total_.accesses[k];
        add_other_ways(a, total_.accesses[k], w);
        lines[a.line].accesses[static_cast<int>(a.space)] += total_.accesses[k];
        ++k;
      }
    }
    for (std::size_t b = 0; b < profile_.branches.size(); ++b) {
      lines[profile_.branches[b].line].branches += total_.branches[b].warps;
      lines[profile_.branches[b].line].divergent += total_.branches[b].divergent;
    }
    for (auto& [where, line] : lines) {
      line.line = where;
      out.lines.push_back(line);
    }
    w.warp_imbalance = total_.phase_mean > 0 ? total_.phase_longest / total_.phase_mean : 1;
    w.hottest_atomic_share = hottest_share();
    sum_atomics(profile_, w);
    w.sampled = error_;
    if (options_.locality && !traces_.empty()) measure_locality(w);
    w.assumptions = plan_.assumptions();
    if (most_warps_ > 0)
      w.assumptions.push_back({"warps that stand for each block executed",
                               std::to_string(most_warps_) + " of " + std::to_string(warps_) + ", drawn at random",
                               KC_SETTING(sample) " N"});
    if (most_instructions_ > 0 && w.locality)
      w.assumptions.push_back(
          {"reuse distances",
           "of " + std::to_string(static_cast<int>(w.locality->resident_blocks)) + " blocks of one SM, " +
               std::to_string(static_cast<std::int64_t>(most_instructions_)) + " instructions of each warp at most",
           KC_SETTING(sample) " N"});
    out.blocks_run = static_cast<double>(blocks_run_);
    out.blocks_by_thread = by_thread_;
    out.warp_instructions_run = warp_instructions_;
    out.lane_instructions_run = lane_instructions_;
    if (!stopped_.empty()) {
      Finding limit;
      limit.kind = Finding::Kind::limit;
      limit.text = stopped_;
      limit.count = 1;
      add_finding(std::move(limit));
    }
    for (auto& [key, f] : findings_) out.findings.push_back(f);
    const Memory& memory = plan_.memory();
    for (int b = 0; b < memory.size(); ++b) {
      const MemoryBuffer& m = memory.buffer(b);
      if (m.data == nullptr) continue;
      if (!m.declared && memory.touched_end(b) > 0)
        out.touched_elements[m.name] = (memory.touched_end(b) + m.element_bytes - 1) / m.element_bytes;
      if (options_.keep_buffers) out.buffers[m.name] = memory.contents(b);
    }
  }

  const double created_ = steady_seconds();  // before the buffers are filled, which is part of the time
  const KernelProfile& profile_;
  const Launch& launch_;
  MemoryGeometry geometry_;
  const ExecuteOptions& options_;
  double budget_;
  Plan plan_;
  double limit_ = 0;
  int threads_ = 1, jobs_ = 1;  // that may work; that run blocks
  std::vector<Stratum> strata_;
  std::mutex mutex_;
  std::vector<double> by_thread_;
  std::map<std::int64_t, Ran> results_;
  std::map<std::int64_t, BlockCounts> kept_;  // by block, when sampled
  BlockCounts total_, unfinished_;
  std::vector<BlockTrace> traces_;
  std::unordered_map<std::uint64_t, double> updates_;  // lanes of global atomics, by address
  std::map<std::tuple<int, int, int>, Finding> findings_;
  std::string stopped_;
  std::int64_t blocks_run_ = 0;
  double lane_instructions_ = 0, warp_instructions_ = 0, work_ = 0;
  double pilot_work_ = 0, pilot_warp_ = 0;          // of the first block, whole; of one of its warps, instructions
  double enough_ = 0;                               // work of the first block after which no warp begins
  bool residents_ = false;                          // blocks at hand are for the locality only
  double most_instructions_ = 0;                    // of a warp of these; 0: all
  std::set<std::int64_t> whole_;                    // blocks of which all warps run all the same
  int most_warps_ = 0, warps_ = 1, warps_run_ = 1;  // of a block; most: 0 is all
  std::shared_ptr<SampleError> error_;
};

}  // namespace

Execution execute(const KernelProfile& profile, const Program& program, const Launch& launch,
                  const MemoryGeometry& geometry, const ExecuteOptions& options) {
  return Execute(profile, program, launch, geometry, options).run();
}

}  // namespace kernelcast
