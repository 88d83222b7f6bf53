// The back end that measures the processor that we run on, with our own loops as native code.
#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "kernelcast/error.h"
#include "kernelcast/setting.h"
#include "probe/four_steps.h"
#include "probe/host/bench.h"

namespace kernelcast::probe {
namespace {

/// Bytes that the system could give to us: what is free or can be freed, and what a container may have.
double free_bytes() {
  double out = std::numeric_limits<double>::infinity();
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key; meminfo >> key;) {
    double kib = 0;
    if (key == "MemAvailable:" && meminfo >> kib) out = kib * 1024;
    meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  double limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit) out = std::min(out, limit);
  return out;
}

}  // namespace

Report probe_host(const Device& base, const Options& options) {
  if (base.kind != "cpu")
    throw UsageError(
        KC_SETTING(device) " " + base.id +
        " is no CPU; " KC_SETTING(backend) " host measures the CPU that we run on (" KC_SETTING(device) " host)");
  const native::Sets sets = native::available();
  if (sets.count == 0) throw LimitError(KC_SETTING(backend) " host: its loops are written for x86-64 and AArch64 only");
  Measurement measure;
  host::Team team(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  host::Bench bench{measure, base, team, sets};
  // Three large blocks are made; four of this size would be half of what is free.
  bench.memory_limit = static_cast<std::size_t>(std::min(free_bytes() / 8, 1e12));
  if (options.progress) options.progress("probe: memory");
  host::add_arithmetic(bench);
  host::add_core(bench);
  host::add_latency(bench);
  host::add_bandwidth(bench);
  host::add_threads(bench);
  Measurement::Limits limits;
  limits.time_limit_s = options.time_limit_s;
  if (options.quick) limits.min_rounds = limits.max_rounds = 6;
  measure.run(limits, options.progress);
  Report report;
  report.backend = "host";
  report.device = base;
  report.results = measure.results();
  for (Result& r : unseen_figures(
           {"registers are renamed", "instructions carry no control codes", "the core orders instructions by itself"}))
    report.results.push_back(std::move(r));
  return report;
}

}  // namespace kernelcast::probe
