// Rows that share an analysis are one job: the profile lives as long as the job, so that a space of thirty thousand
// configurations needs no more memory than its results. Jobs are handed out in the order of their first row.
#include "validate/forecast_rows.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <tuple>

#include "count/count.h"
#include "forecast/code_target.h"
#include "io/clock.h"
#include "io/text_file.h"
#include "kernelcast/bind.h"
#include "kernelcast/error.h"
#include "kernelcast/execute.h"
#include "kernelcast/setting.h"

namespace kernelcast::validate {
namespace {

namespace fs = std::filesystem;

/// By the clock on the wall, which several jobs and a busy machine stretch; the slowest of our sources takes 10 s
/// alone.
constexpr double analysis_limit_s = 600;

double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// Devices by the name in the row; a name that is not known is remembered with the reason.
class Devices {
 public:
  explicit Devices(const DeviceCatalog& catalog) : catalog_(catalog) {}
  const Device* find(const std::string& gpu, std::string& failure) {
    auto found = known_.find(gpu);
    if (found == known_.end()) found = known_.emplace(gpu, look_up(gpu)).first;
    failure = found->second.failure;
    return found->second.device.get();
  }

 private:
  struct Entry {
    std::unique_ptr<Device> device;
    std::string failure;
  };
  Entry look_up(const std::string& gpu) const {
    try {
      auto device = std::make_unique<Device>(catalog_.find(gpu));
      if (device->kind == "cpu") return {nullptr, device->name + " is a CPU: kernels are forecast on GPUs"};
      return {std::move(device), ""};
    } catch (const Error& e) {
      return {nullptr, message_of(e)};
    }
  }
  const DeviceCatalog& catalog_;
  std::map<std::string, Entry> known_;
};

struct SourceText {
  std::string path, text, failure;
};

/// The translation units, each read once.
class SourceTexts {
 public:
  explicit SourceTexts(const ForecastOptions& options) : options_(options) {}
  const SourceText& of(const KernelEntry& kernel) {
    const auto found = texts_.find(kernel.id);
    return found != texts_.end() ? found->second : texts_.emplace(kernel.id, read(kernel)).first->second;
  }

 private:
  SourceText read(const KernelEntry& kernel) const {
    for (const std::string& folder : {options_.sources, options_.kernels_folder}) {
      const fs::path path = fs::path(folder) / kernel.path;
      std::error_code ignored;
      if (!fs::is_regular_file(path, ignored)) continue;
      try {
        return {path.string(), read_text_file(path), ""};
      } catch (const Error& e) {
        return {path.string(), "", message_of(e)};
      }
    }
    return {kernel.path, "",
            fmt::format("{}: there is no {} in {} (" KC_SETTING(sources) "){}", kernel.place, kernel.path,
                        options_.sources, options_.kernels_folder.empty() ? "" : " nor in " + options_.kernels_folder)};
  }

  const ForecastOptions& options_;
  std::map<std::string, SourceText> texts_;
};

/// What one analysis depends on.
struct Job {
  const KernelEntry* kernel = nullptr;
  const SourceText* source = nullptr;
  const Device* device = nullptr;  // the first row's: its code generation target counts
  std::vector<std::size_t> rows;
};

using JobKey = std::tuple<std::string, std::vector<std::string>, std::string, std::string, std::array<std::int64_t, 3>>;

JobKey key_of(const Measurement& m, const Device& device) {
  return {m.kernel_id, m.defines, m.symbol, code_key(device), m.launch.block.array()};
}

/// The interpreter's form of a kernel, made when the first row of a job needs it.
class Programs {
 public:
  Programs(const Analyzer& analyze, const Source& source, FrontendOptions options)
      : analyze_(analyze), source_(source), options_(std::move(options)) {}
  Kernel get(const KernelProfile& profile) {
    if (!asked_) {
      asked_ = true;
      options_.program = true;
      Analysis a = analyze_(source_, options_);
      program_ = std::move(a.program);
      reason_ = std::move(a.no_program);
    }
    // The profile outlives the kernel that is made of it here.
    return {{std::shared_ptr<const KernelProfile>(), &profile}, program_, reason_};
  }

 private:
  const Analyzer& analyze_;
  const Source& source_;
  FrontendOptions options_;
  bool asked_ = false;
  std::shared_ptr<const Program> program_;
  std::string reason_;
};

/// Execution takes the place of closed forms where data decide; where it fails these stand, and say why.
Workload with_execution(const KernelProfile& profile, Programs& programs, const Launch& launch, Workload closed,
                        const Device& device) {
  ExecuteOptions options;
  options.jobs = 1;
  options.check_shared = false;
  options.most_sample_work = ExecuteOptions::unasked_work;
  options.max_seconds = 0;  // work is bounded, and counts must not depend on the load of the machine
  const MemoryGeometry geometry = closed.geometry;
  return count(profile, launch, std::move(closed), device, Counting::automatic,
               [&](const Sharing& sharing) {
                 return execute_on(programs.get(profile), launch, geometry, sharing, options);
               })
      .workload;
}

/// A bug of ours in one row is shown as such and must not hide the others.
std::string reason(const std::exception& e) {
  return (dynamic_cast<const Error*>(&e) == nullptr ? "internal error: " : "") + message_of(e);
}

Facts facts_of(const KernelProfile& profile, const Workload& workload) {
  Facts f;
  f.workload = workload;
  for (const BranchCount& b : workload.branch_counts) f.divergent_branches += b.divergent;
  f.workload.block_counts.clear();
  f.workload.access_counts.clear();
  f.workload.branch_counts.clear();
  f.workload.block_counts.shrink_to_fit();
  f.workload.access_counts.shrink_to_fit();
  f.workload.branch_counts.shrink_to_fit();
  f.basis = workload.basis();
  f.assumptions = workload.assumptions.size() + profile.assumptions.size();
  for (const Assumption& a : profile.assumptions) {
    if (a.kind == Assumption::Kind::machine_code) f.not_assembled = a.subject;
  }
  f.workload.assumptions = {};
  f.target = profile.target;
  f.registers_method = profile.registers.method;
  f.spill_bytes = profile.registers.spill_bytes;
  f.stack_bytes = profile.stack_bytes;
  f.static_shared_bytes = profile.static_shared_bytes;
  return f;
}

RowForecast forecast_of(const Model& model, const KernelProfile& profile, const Workload& workload,
                        const Device& device) {
  RowForecast f;
  try {
    const Estimate e = model.estimate(profile, workload, device);
    const double time = e.time_s.value.value_or(0);
    if (!e.time_s.value) {
      f.failure = e.time_s.reason;
    } else if (!std::isfinite(time) || time <= 0) {
      f.failure = fmt::format("the model forecasts a time of {} s", time);
    } else {
      f.time_s = time;
    }
    f.lo_s = e.interval_lo_s;
    f.hi_s = e.interval_hi_s;
    f.limiter = e.limiter;
    for (const Bound& b : e.bounds) f.bounds_s.emplace_back(b.name, b.time.value());
  } catch (const std::exception& e) {
    f.failure = reason(e);
  }
  return f;
}

class Forecaster {
 public:
  Forecaster(Report& report, const std::map<std::string, KernelEntry>& kernels, const DeviceCatalog& catalog,
             const ForecastOptions& options)
      : report_(report), kernels_(kernels), devices_(catalog), sources_(options), options_(options) {
    for (const Model* m : options.models) report_.models.emplace_back(m->name());
  }

  void run() {
    const std::vector<Job> jobs = make_jobs();
    report_.analyses = jobs.size();
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < jobs.size(); i = next++) work_on(jobs[i]);
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < options_.jobs && static_cast<std::size_t>(i) < jobs.size(); ++i) threads.emplace_back(work);
    work();
    for (std::thread& t : threads) t.join();
  }

 private:
  std::vector<Job> make_jobs() {
    std::vector<Job> jobs;
    std::map<JobKey, std::size_t> known;
    device_of_row_.resize(report_.rows.size());
    for (std::size_t i = 0; i < report_.rows.size(); ++i) {
      RowResult& result = report_.rows[i];
      result.models.resize(options_.models.size());
      Job job = job_of(result);
      device_of_row_[i] = job.device;
      if (job.device != nullptr) result.device = job.device->id;
      if (!result.failure.empty() || !result.row.measured_s) {
        count_done();
        continue;
      }
      const auto [place, fresh] = known.try_emplace(key_of(result.row, *job.device), jobs.size());
      if (fresh) jobs.push_back(std::move(job));
      jobs[place->second].rows.push_back(i);
    }
    return jobs;
  }

  Job job_of(RowResult& result) {
    Job job;
    result.failure = result.row.failure;
    if (!result.failure.empty()) return job;
    const auto kernel = kernels_.find(result.row.kernel_id);
    if (kernel == kernels_.end()) {
      result.failure =
          fmt::format("kernel \"{}\" is not in the file of kernels (" KC_SETTING(kernels) ")", result.row.kernel_id);
      return job;
    }
    job.kernel = &kernel->second;
    result.cache_state = job.kernel->cache_state;
    job.device = devices_.find(result.row.gpu, result.failure);
    if (job.device == nullptr) return job;
    job.source = &sources_.of(*job.kernel);
    result.failure = job.source->failure;
    return job;
  }

  void work_on(const Job& job) {
    RowResult& first = report_.rows[job.rows.front()];
    const double start = steady_seconds();
    KernelProfile profile;
    std::string failure;
    const Source source = source_of(job, first.row);
    Programs programs(options_.analyze, source, frontend_options(job, first.row));
    try {
      profile = options_.analyze(source, frontend_options(job, first.row)).profile;
    } catch (const std::exception& e) {
      failure = reason(e);
    }
    first.analysis_s = steady_seconds() - start;
    std::map<MemoryGeometry, Binder> binders;
    for (std::size_t row : job.rows) {
      RowResult& result = report_.rows[row];
      result.failure = failure;
      if (failure.empty()) bind_row(row, *job.kernel, profile, programs, binders);
      count_done();
    }
  }

  [[nodiscard]] Source source_of(const Job& job, const Measurement& row) const {
    Source s;
    s.path = job.source->path;
    s.text = job.source->text;
    s.language = job.kernel->language;
    s.defines = job.kernel->defines;
    s.defines.insert(s.defines.end(), row.defines.begin(), row.defines.end());
    for (const std::string& folder : job.kernel->include_dirs)
      s.include_dirs.push_back((std::filesystem::path(options_.sources) / folder).string());
    s.include_dirs.push_back(options_.sources);
    s.standard = job.kernel->standard;
    s.fast_math = job.kernel->fast_math;
    s.tensor_maps = job.kernel->tensor_maps;
    return s;
  }

  static FrontendOptions frontend_options(const Job& job, const Measurement& row) {
    FrontendOptions o;
    o.kernel = row.symbol.empty() ? job.kernel->entry : row.symbol;
    generate_for(*job.device, o);
    o.block = row.launch.block;
    o.time_limit_s = analysis_limit_s;
    return o;
  }

  void bind_row(std::size_t index, const KernelEntry& kernel, const KernelProfile& profile, Programs& programs,
                std::map<MemoryGeometry, Binder>& binders) {
    RowResult& result = report_.rows[index];
    const Device& device = *device_of_row_[index];
    const double start = thread_seconds();
    try {
      const MemoryGeometry geometry = device.geometry();
      auto binder = binders.find(geometry);
      if (binder == binders.end()) {
        binder = binders.try_emplace(geometry, Binder(profile, geometry)).first;
        binder->second.set_reuse(options_.observe || any_reads_reuse(options_.models));
      }
      Launch launch = launch_for(result.row, kernel, profile, options_.kernels_folder);
      launch.launch_overhead_s = options_.launch_overhead_s;
      Workload workload = binder->second.bind(launch);
      if (options_.execute) workload = with_execution(profile, programs, launch, std::move(workload), device);
      result.bind_s = thread_seconds() - start;
      if (options_.observe) options_.observe(index, profile, workload, device);
      for (std::size_t m = 0; m < options_.models.size(); ++m) {
        result.models[m] = forecast_of(*options_.models[m], profile, workload, device);
      }
      result.facts = facts_of(profile, workload);
    } catch (const std::exception& e) {
      result.failure = reason(e);
      result.bind_s = thread_seconds() - start;
    }
  }

  void count_done() {
    const std::lock_guard lock(progress_mutex_);
    ++done_;
    if (options_.progress) options_.progress(done_, report_.rows.size());
  }

  Report& report_;
  const std::map<std::string, KernelEntry>& kernels_;
  Devices devices_;
  SourceTexts sources_;
  const ForecastOptions& options_;
  std::vector<const Device*> device_of_row_;
  std::mutex progress_mutex_;
  std::size_t done_ = 0;
};

}  // namespace

Report forecast_rows(std::vector<Measurement> rows, const std::map<std::string, KernelEntry>& kernels,
                     const DeviceCatalog& catalog, const ForecastOptions& options) {
  Report report;
  const double start = steady_seconds();
  for (Measurement& m : rows) {
    RowResult r;
    r.row = std::move(m);
    report.rows.push_back(std::move(r));
  }
  Forecaster(report, kernels, catalog, options).run();
  report.seconds = steady_seconds() - start;
  return report;
}

}  // namespace kernelcast::validate
